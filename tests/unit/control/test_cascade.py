"""Forces of one set of rows after another, as published."""

# ruff: noqa: N803  (matrices are called by their letters)

from functools import cache

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ControlError, ModelError

RK4 = kb.RungeKutta4(1e-2)


@cache
def scenario() -> kb.Scenario:
    return kb.scenario("planar-parallel", control="printed")


@cache
def plant():
    return kb.build(scenario().system)


@cache
def printed() -> kb.Run:
    return kb.simulate(plant(), 10.0, control=scenario().control, stepper=RK4)


@cache
def right() -> kb.Run:
    """All rows in one set."""
    return kb.simulate(plant(), 1.0, control=kb.control.Cascade([scenario().control.goals]), stepper=RK4)


def force(M, Q, A, b):
    """Udwadia and Kalaba, literally."""
    root = np.linalg.cholesky(M)
    B = np.linalg.solve(root, A.T).T
    return root @ np.linalg.pinv(B) @ (b - A @ np.linalg.solve(M, Q))


def test_the_push_is_the_printed_formula():
    closed = kb.build(kb.load("planar-parallel", tracking=True))  # rows 0-9 the structure, 10-11 the path
    run = printed()
    for k in (0, 150, 420):
        M, Q, A, b = closed.problem(closed.inputs(run.q[k], run.v[k], run.time[k]))
        first = force(M, Q, A[:10], b[:10])
        both = first + force(M, Q + first, A[10:], b[10:])
        assert np.abs(run.push[k] - both).max() < 1e-11 * np.abs(both).max()


def test_the_last_set_of_rows_is_met_and_those_before_it_are_not():
    run, law = printed(), scenario().control
    miss = np.hypot(run["end_x"] - 0.21157192052098645 - 0.01 * np.cos(run.time), run["end_y"] - 0.2981304133600941)
    assert miss.max() < 1e-8  # of the stepper
    assert run["gap2"].max() == pytest.approx(0.01998, abs=1e-5)
    assert run["gap3"].max() == pytest.approx(0.01998, abs=1e-5)
    assert run["base1_moved"].max() == pytest.approx(0.00544, abs=1e-5)
    assert kb.control.goal_errors(run, law.goals)["m"].max() == pytest.approx(0.02877, abs=1e-5)


def test_all_rows_in_one_set_move_the_machine_as_rows_do():
    by_rows = kb.simulate(kb.load("planar-parallel", tracking=True), 1.0, stepper=RK4)
    assert np.abs(by_rows.q - right().q).max() < 1e-9  # no row is projected on the open machine
    assert not right().actuation.any()


def test_motors_give_their_entries_of_a_force_and_nothing_is_pushed():
    robot, goals = kb.build(kb.load("planar-parallel")), scenario().control.levels[1]
    pushed = kb.simulate(robot, 0.05, control=kb.IdealServo(goals), stepper=RK4)
    driven = kb.simulate(robot, 0.05, control=kb.IdealServo(goals, motors_only=True), stepper=RK4)
    assert np.abs(driven.actuation[0] - pushed.push[0][[0, 4, 8]]).max() < 1e-15
    assert not driven.push.any()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: kb.control.Cascade("rows"), "Cascade.levels: expected sets of goals"),
        (lambda: kb.control.Cascade([["rows"]]), "expected goals such as kb.follow"),
        (lambda: kb.control.Cascade([kb.posture()]), "Cascade: expected goals of kb.follow"),
        (lambda: kb.control.Cascade([kb.follow("leg1.qa", 0.0)], damping=-1.0), "Cascade.damping: expected zero or"),
        (
            lambda: kb.control.Cascade([*scenario().control.levels, kb.follow("leg1.xa", 0.0)]).law(
                plant(), plant().start
            ),
            "rows of a Cascade say nothing new beside those before them: leg1.xa. Leave their goals out.",
        ),
    ],
)
def test_wrong_settings_are_refused(make, said):
    with pytest.raises(ControlError, match=said):
        make()


def test_rows_and_a_law_are_not_both_taken():
    with pytest.raises(ModelError, match="tracking=True leads the end point by rows; take it or control='printed'"):
        kb.load("planar-parallel", tracking=True, control="printed")
