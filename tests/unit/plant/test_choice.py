"""Whether rows chosen elsewhere hold at a state, by value."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import NotFiniteError
from kalaba.plant.choice import Health, holds, rows_at
from kalaba.tolerances import MEASURED_SLACK, ROW_SLACK


@pytest.fixture(scope="module")
def plant():
    """Five rows of rank 2."""
    return kb.build(kb.load("four-bar"))


def health(plant, gap=0.0, rate=0.0, slack=0.0, pivots=2.0):
    """A state whose gap, rate and slack have these lengths, in the sizes of the rows."""
    rows = plant.scales.rows
    one = np.zeros(len(rows))
    one[1] = 1.0
    fine = np.where(np.isfinite(plant.choice.threshold), pivots * plant.choice.threshold, 0.0)
    return Health(fine, *(size * one * rows for size in (gap, rate, slack)))


def motion(plant, turn, speed):
    one = np.zeros(len(plant.velocities))
    one[0] = 1.0
    return turn * one * plant.scales.velocities, speed * one * plant.scales.velocities


@pytest.mark.parametrize(
    ("gap", "rate", "turn", "speed"),
    [
        (1e-4, 0.0, 3.0, 0.0),
        (1e-4, 0.0, 0.0, 2.0),
        (0.0, 1e-3, 0.0, 2.0),
        (0.0, 0.05, 0.0, 0.0),
        (1e-4, 1e-3, 3.0, 2.0),
    ],
)
def test_slack_may_be_as_large_as_gap_and_rate_explain(plant, gap, rate, turn, speed):
    """30 (φ (|v̇| + |v|²) + φ̇ (|v| + φ̇))."""
    acceleration, v = motion(plant, turn, speed)
    allowed = MEASURED_SLACK * (gap * (turn + speed**2) + rate * (speed + rate))
    for part, is_fine in ((0.9, True), (1.1, False)):
        found = holds(plant, plant.choice, health(plant, gap, rate, part * allowed), acceleration, v)
        assert bool(found) == is_fine


def test_on_the_manifold_no_slack_is_allowed(plant):
    acceleration, v = motion(plant, 3.0, 2.0)
    assert holds(plant, plant.choice, health(plant), acceleration, v)
    assert not holds(plant, plant.choice, health(plant, slack=1e3 * ROW_SLACK), acceleration, v)


def test_a_pivot_that_has_fallen_or_a_motion_without_value_does_not_hold(plant):
    acceleration, v = motion(plant, 3.0, 2.0)
    assert not holds(plant, plant.choice, health(plant, pivots=0.5), acceleration, v)
    assert not holds(plant, plant.choice, health(plant), np.full_like(acceleration, np.nan), v)


def test_a_row_without_a_value_is_told_though_masses_are_finite():
    parts = (
        kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X)),
        kb.Constraint("row", "sqrt(1 + cart.travel) - 1"),
    )
    plant = kb.build(kb.System("cart", parts))
    assert rows_at(plant, plant.pack(np.zeros(1), np.zeros(1))).rank == 1
    with pytest.raises(NotFiniteError):
        rows_at(plant, plant.pack(np.array([-2.0]), np.zeros(1)))


def test_a_row_whose_slope_alone_has_no_value_is_told():
    """√x at x = 0: the row is closed, and its slope infinite."""
    parts = (kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X)), kb.Constraint("row", "sqrt(cart.travel)"))
    plant = kb.build(kb.System("cart", parts, start=kb.Start(guess={"cart.travel": 1.0})))
    with pytest.raises(NotFiniteError):
        rows_at(plant, plant.pack(np.zeros(1), np.zeros(1)))
