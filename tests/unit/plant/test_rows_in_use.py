"""Rows that a run keeps, at the thresholds of what it watches: pivots, gaps, speeds that a projection changes."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.plant import choice as choosing
from kalaba.plant import projection, reference
from kalaba.plant.projection import Projected, are_closed, is_open
from kalaba.plant.reference import RowError, RowsInUse, step_state
from kalaba.plant.state import State
from kalaba.tolerances import (
    PROJECTION_LOST,
    PROJECTION_SPEED_CHANGE,
    ROW_INDEPENDENT,
    ROW_OPEN,
    ROW_PIVOT_FALLEN,
    ROW_PIVOT_GONE,
    ROW_SPEED_CLOSED,
    SLOWEST,
)


@pytest.fixture(scope="module")
def plant():
    """Five rows of rank 2."""
    return kb.build(kb.load("four-bar"))


@pytest.fixture
def rows(plant):
    return RowsInUse(plant, plant.choice)


def one_of(plant, *, kept):
    """A row that is kept, or one that is left out."""
    return int(np.flatnonzero(plant.choice.left_out != kept)[0])


def with_pivots(monkeypatch, plant, row, share):
    """Let a pivot be so much of what it was at the choice."""
    kept = plant.choice.threshold > -np.inf
    pivots = np.where(kept, plant.choice.threshold / ROW_PIVOT_FALLEN, 0.0)
    pivots[row] *= share
    monkeypatch.setattr(reference, "pivots_at", lambda *_: pivots)
    return pivots


def with_projection(monkeypatch, plant, value=0.0, rate=0.0, row=0, v=None):
    """Let projections end with a value and a rate of one row, in its size, and perhaps with other speeds."""
    one = np.zeros(len(plant.constraints))
    one[row] = plant.scales.rows[row]

    def project_on(_plant, state, _t, _mask):
        return Projected(State(state.q, state.v if v is None else v), value * one, rate * one)

    monkeypatch.setattr(reference, "project_on", project_on)


@pytest.mark.parametrize(("share", "has_turned"), [(0.9, True), (1.1, False)])
def test_a_pivot_that_has_fallen_turns_the_choice(plant, rows, monkeypatch, share, has_turned):
    with_pivots(monkeypatch, plant, one_of(plant, kept=True), share * ROW_PIVOT_FALLEN)
    assert rows.has_turned(plant.pack(*plant.start)) == has_turned


@pytest.mark.parametrize(("share", "is_turned"), [(0.9, False), (1.1, True)])
def test_a_row_left_out_that_opens_turns_the_choice_where_states_are_projected(plant, monkeypatch, share, is_turned):
    row = one_of(plant, kept=False)
    at = plant.pack(*plant.start)
    here = projection.instant(plant, at)
    value = np.zeros(len(plant.constraints))
    value[row] = -share * ROW_OPEN * plant.scales.rows[row]
    monkeypatch.setattr(reference, "instant", lambda *_: here._replace(value=value))
    assert RowsInUse(plant, plant.choice).has_turned(at) == is_turned
    assert not RowsInUse(plant, plant.choice, projects=False).has_turned(at)
    value[row], value[one_of(plant, kept=True)] = 0.0, 1.0  # a row that is kept is projected instead
    assert not RowsInUse(plant, plant.choice).has_turned(at)


def test_a_change_of_speed_is_of_the_largest_so_far(plant, rows):
    sizes, q = plant.scales.velocities, plant.start.q
    zero, one = np.zeros(len(sizes)), np.eye(len(sizes))[1]
    least = SLOWEST * plant.scales.rate
    assert rows.speed_change(State(q, zero), State(q, -0.5 * least * one * sizes)) == pytest.approx(0.5)
    assert rows.speed_change(State(q, -4.0 * one * sizes), State(q, -3.0 * one * sizes)) == pytest.approx(0.25)
    assert rows.speed_change(State(q, zero), State(q, one * sizes)) == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("change", "pivot", "is_noise"), [(0.9, 0.9, False), (1.1, 0.9, True), (1.1, 1.1, False), (1.1, np.nan, True)]
)
def test_a_projection_is_noise_where_speeds_jump_and_a_row_has_vanished(
    plant, rows, monkeypatch, change, pivot, is_noise
):
    q, one = plant.start.q, np.eye(len(plant.velocities))[0] * plant.scales.velocities
    with_pivots(monkeypatch, plant, one_of(plant, kept=True), pivot * ROW_PIVOT_GONE)
    raw, settled = State(q, 2.0 * one), State(q, (2.0 + 2.0 * change * PROJECTION_SPEED_CHANGE) * one)
    assert rows.is_noise(raw, settled, 0.0) == is_noise
    assert not RowsInUse(plant, plant.choice, projects=False).is_noise(raw, settled, 0.0)


def test_after_noise_rows_are_chosen_there_and_again_at_the_next_step(plant, rows, monkeypatch):
    q, one = plant.start.q, np.eye(len(plant.velocities))[0] * plant.scales.velocities
    with_projection(monkeypatch, plant, v=9.0 * one)
    monkeypatch.setattr(rows, "is_noise", lambda *_: True)
    chosen = []
    monkeypatch.setattr(rows, "_choose", lambda _at, t: chosen.append(t))
    settled = rows.settle(State(q, one), 0.7)
    assert chosen == [0.7]
    assert settled.v.tolist() == (9.0 * one).tolist()
    assert rows.jolt == (pytest.approx(8.0 / max(1.0, SLOWEST * plant.scales.rate)), 0.7)
    rows.watch(State(q, one), 0.8)
    assert chosen == [0.7, 0.8]
    rows.watch(plant.start, 0.9)
    assert chosen == [0.7, 0.8]


def test_the_largest_jolt_is_kept_with_its_time_and_a_start_has_none(plant, monkeypatch):
    q, one = plant.start.q, np.eye(len(plant.velocities))[0] * plant.scales.velocities
    rows = RowsInUse(plant, plant.choice)
    for change, t in ((0.01, 0.1), (0.04, 0.2), (0.02, 0.3)):
        rows._note_jolt(State(q, one), State(q, (1 + change) * one), t)
    assert rows.jolt == (pytest.approx(0.04), 0.2)
    for is_start in (True, False):
        fresh = RowsInUse(plant)
        with_projection(monkeypatch, plant, v=3.0 * one)
        fresh.watch(State(q, one), 0.5, is_start=is_start)
        assert (fresh.jolt[0] == 0.0) == is_start
        assert fresh.choices == [(0.5, 2)]


@pytest.mark.parametrize(("share", "is_refused"), [(0.9, False), (1.1, True), (-1.1, True)])
def test_a_row_that_stays_open_is_refused(plant, rows, monkeypatch, share, is_refused):
    row = one_of(plant, kept=True)
    with_projection(monkeypatch, plant, value=share * PROJECTION_LOST, row=row)
    if is_refused:
        with pytest.raises(RowError, match=rf"at t = 0.4 s; {plant.constraints[row]} stays open") as caught:
            rows.project(plant.start, 0.4)
        assert not caught.value.is_left_out
    else:
        rows.project(plant.start, 0.4)
    with_projection(monkeypatch, plant, value=2 * PROJECTION_LOST, row=one_of(plant, kept=False))
    rows.project(plant.start, 0.4)  # one that is left out is judged elsewhere


@pytest.mark.parametrize(
    ("value", "rate", "is_refused"), [(0.9, 0.0, False), (1.1, 0.0, True), (0.0, 0.9, False), (0.0, 1.1, True)]
)
def test_a_row_left_out_contradicts_by_its_value_or_its_speed(plant, monkeypatch, value, rate, is_refused):
    row, v = one_of(plant, kept=False), 50.0 * plant.scales.velocities
    closed = ROW_SPEED_CLOSED * 50.0
    with_projection(monkeypatch, plant, value * PROJECTION_LOST, rate * closed, row, v)
    watch = RowsInUse(plant).watch
    if is_refused:
        with pytest.raises(RowError, match=rf"at t = 0.3 s; {plant.constraints[row]} contradicts") as caught:
            watch(plant.start, 0.3)
        assert caught.value.is_left_out
    else:
        assert watch(plant.start, 0.3).v.tolist() == v.tolist()
    RowsInUse(plant, projects=False).watch(plant.start, 0.3)  # nothing is judged
    with_projection(monkeypatch, plant, 0.0, 10 * closed, one_of(plant, kept=True), v)
    RowsInUse(plant).watch(plant.start, 0.3)  # rows that are kept have their own rule


def test_pivots_of_rows_left_out_are_infinite(plant, rows):
    pivots = rows.pivots_at(plant.start, 0.0)
    left_out = plant.choice.left_out
    assert np.isinf(pivots[left_out]).all()
    assert pivots[~left_out] == pytest.approx(plant.choice.threshold[~left_out] / ROW_PIVOT_FALLEN)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_rows_are_open_or_closed_in_their_sizes(plant, share):
    v = 50.0 * plant.scales.velocities
    for row in range(len(plant.constraints)):
        one = np.eye(len(plant.constraints))[row] * share * ROW_OPEN * plant.scales.rows
        assert is_open(plant, -one) == (share > 1)
        assert are_closed(plant, -one, 0 * one, v).all() == (share < 1)
        assert are_closed(plant, 0 * one, -50.0 * one, v).all() == (share < 1)
        assert are_closed(plant, one, one, v).sum() == len(one) - (share > 1)


def test_how_far_apart_rows_must_be_grows_with_how_far_a_state_is_off(plant):
    sizes = plant.scales.rows
    assert choosing._apart(plant, 0.0 * sizes) == ROW_INDEPENDENT
    off = 0.01 * sizes * np.array([0.0, -1.0, 0.5, 0.0, 0.0])
    assert choosing._apart(plant, off) == pytest.approx(choosing.OPEN_ROWS_APART * 0.01)


def test_a_step_of_the_reference_is_that_of_kutta_on_the_rows(plant):
    """Beside a thousand times as many steps; from a state off the rows it begins on them."""
    q, v = plant.start.q, plant.start.v
    moving = plant.project(State(q, v + 3.0))
    fine = State(*moving)
    for k in range(20):
        fine = step_state(plant, fine, np.zeros(len(plant.actuators)), reference.Span(k * 5e-4, 5e-4))
    coarse = step_state(plant, State(*moving), np.zeros(len(plant.actuators)), reference.Span(0.0, 0.01))
    np.testing.assert_allclose(coarse.q, fine.q, atol=1e-6)
    assert np.abs(plant.residual(coarse.q)).max() < 1e-12
    off = step_state(plant, State(moving[0] + 1e-3, moving[1]), np.zeros(1), reference.Span(0.0, 0.01))
    assert np.abs(plant.residual(off.q)).max() < 1e-12
