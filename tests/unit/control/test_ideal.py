"""The papers' law: the force of the goals' rows on every coordinate."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ControlError, IntegrationError

RK4 = kb.RungeKutta4(1e-3)
CENTRE = (0.21157192052098645, 0.2981304133600941)
GOALS = (
    kb.follow("leg1.link_b.tip.x", f"{CENTRE[0]!r} + 0.01*cos(t)"),
    kb.follow("leg1.link_b.tip.y", CENTRE[1]),
)


@pytest.fixture(scope="module")
def plant():
    return kb.build(kb.load("planar-parallel"))


def miss(run):
    return np.hypot(
        run["leg1.link_b.tip.x"] - CENTRE[0] - 0.01 * np.cos(run.time), run["leg1.link_b.tip.y"] - CENTRE[1]
    )


def test_the_published_force_misses_its_goal_on_the_closed_machine_and_the_stacked_one_meets_it(plant):
    published = kb.simulate(plant, 10.0, control=kb.IdealServo(GOALS), stepper=RK4)
    stacked = kb.simulate(plant, 10.0, control=kb.IdealServo(GOALS, stacked=True), stepper=RK4)
    assert miss(published).max() == pytest.approx(5.95e-3, abs=5e-5)  # of a motion of 10 mm to either side
    assert miss(stacked).max() < 1e-12
    assert not published.actuation.any()  # no motor acts


def test_the_published_force_is_that_of_udwadia_and_kalaba_for_the_goals_alone(plant):
    tracked = kb.build(kb.load("planar-parallel", tracking=True))  # its last two rows are the goals
    run = kb.simulate(plant, 0.2, control=kb.IdealServo(GOALS))
    for k in (0, 7, 20):
        M, Q, A, b = tracked.problem(tracked.inputs(run.q[k], run.v[k], run.time[k]))
        A, b = A[10:], b[10:]
        spread = np.linalg.solve(M, A.T)
        force = A.T @ np.linalg.solve(A @ spread, b - spread.T @ Q)
        assert np.abs(run.push[k] - force).max() < 1e-12 * np.abs(force).max()


def test_stacked_force_plus_structure_moves_the_machine_as_rows_do(plant):
    by_rows = kb.simulate(kb.load("planar-parallel", tracking=True), 1.0, stepper=RK4)
    pushed = kb.simulate(plant, 1.0, control=kb.IdealServo(GOALS, stacked=True), stepper=RK4)
    assert np.abs(by_rows.q - pushed.q).max() < 1e-12
    assert np.abs(pushed.energy_balance).max() < 1e-12 * np.abs(pushed.energy).max() + 1e-15  # pushes do work


def test_native_and_interpreted_runs_agree_and_a_file_keeps_the_push(plant, tmp_path):
    slow = kb.build(kb.load("planar-parallel"), backend=kb.Interpreted(), solver=kb.UdwadiaKalaba())
    control = kb.IdealServo(GOALS, frequency=10.0)
    native, python = (kb.simulate(p, 0.1, control=control, stepper=RK4) for p in (plant, slow))
    assert np.abs(native.q - python.q).max() < 1e-13
    assert np.abs(native.push - python.push).max() < 1e-11 * np.abs(native.push).max()
    again = kb.open_run(native.save(tmp_path / "run.nc"))
    assert np.array_equal(again.push, native.push)
    assert "push" in again.data


def test_laws_of_motors_push_nothing(plant):
    run = kb.simulate(plant, 0.05, control={"leg1.motor": "0.1"})
    assert not run.push.any()
    assert "push" not in run.data


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: kb.IdealServo("platform"), "expected goals such as kb.follow"),
        (lambda: kb.IdealServo(GOALS, frequency=-1.0), "IdealServo.frequency: expected zero or more"),
    ],
)
def test_wrong_settings_are_refused(make, said):
    with pytest.raises(ControlError, match=said):
        make()


def test_steppers_for_structures_refuse_it(plant):
    with pytest.raises(IntegrationError, match="pushes every coordinate"):
        kb.simulate(plant, 0.1, control=kb.IdealServo(GOALS), stepper=kb.Newmark(1e-3))
