"""The steps of the plain loop by value: those that stand, those taken again, the first, the last."""

from types import SimpleNamespace

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import NotFiniteError
from kalaba.plant.reference import Span, Stages
from kalaba.plant.state import State
from kalaba.run.plain_pace import AdaptedPace, FixedPace, StepUnderflowError, absolute_tolerances
from kalaba.steppers.step_length import MILD_STEPS, STIFF_STEPS, first_length, next_factor, retry_factor
from kalaba.tolerances import PIVOT_BESIDE, PIVOT_FADED, SHORTEST_STEP, STIFF_PAYS, STIFF_STEP

RTOL, ATOL, DURATION, EXPONENT = 1e-4, 1e-5, 8.0, 5
COORDINATES, VELOCITIES = np.array([2.0, 3.0]), np.array([0.5, 7.0])
START = np.array([0.3, 1.0, -2.0, 0.4, 0.6])  # work, q, v


class Rows:
    """Rows whose pivots are told one after the other, and which hold the first coordinate and velocity."""

    def __init__(self, *pivots, projects=True):
        self.projects, self._pivots = projects, [np.array(pivot) for pivot in pivots]

    def pivots_at(self, _state, _t):
        return self._pivots.pop(0) if len(self._pivots) > 1 else self._pivots[0]

    def tangent_part(self, _state, _t, error):
        return State(error.q * [0.0, 1.0], error.v * [0.0, 1.0])


def task_of(stepper):
    scales = SimpleNamespace(coordinates=COORDINATES, velocities=VELOCITIES)
    plant = SimpleNamespace(scales=scales, coordinates=("a", "b"), constraints=("row",))
    return SimpleNamespace(stepper=stepper, plant=plant, duration=DURATION, save_every=0.1, name="machine")


def adapted(*pivots, projects=True, **options):
    stepper = kb.DormandPrince(RTOL, ATOL, **options)
    return AdaptedPace(task_of(stepper), START, Rows(*(pivots or ([1.0],)), projects=projects))


def told(pace, *errors):
    """Let attempts end with these errors, one after the other; None: without a value. The lengths that were tried."""
    lengths, waiting = [], list(errors)

    def attempt(_rate, y, span):
        lengths.append(span.length)
        error = waiting.pop(0)
        rates = [np.zeros(5)] * 7
        return (None, np.inf) if error is None else (Stages(y, span, rates, y), error)

    pace._attempt = attempt
    return lengths


def test_what_is_allowed_at_least_is_of_the_machines_sizes_and_of_the_run():
    floors = absolute_tolerances(task_of(kb.DormandPrince(RTOL, ATOL)))
    np.testing.assert_allclose(floors, ATOL * np.array([2.0, 3.0, 0.5 / 8.0, 7.0 / 8.0]))


def test_the_norm_is_a_root_mean_square_in_scales_of_the_motion():
    pace = adapted()
    pace.widen(START + np.array([0, 0.5, 0.0, -3.0, 0.0]))
    trial = START + np.array([9.0, 0.1, -0.7, 0.0, 0.2])
    extents = np.array([0.5, 0.7, 2.6, 0.8])  # from where q began, and from rest
    values = np.array([1e9, 1.0, 2.0, 3.0, 4.0])
    scale = absolute_tolerances(pace._task) + RTOL * extents
    assert pace._norm(values, trial) == pytest.approx(np.sqrt(np.mean((values[1:] / scale) ** 2)), rel=1e-12)
    nothing = AdaptedPace(task_of(kb.DormandPrince(RTOL, 0.0)), START, Rows([1.0]))
    assert nothing._norm(np.array([0.0, 0.0, 0.0, 1.0, 1.0]), START) < np.inf
    assert nothing._norm(np.array([0.0, 1e-9, 0.0, 1.0, 1.0]), START) == np.inf


def test_the_first_step_is_guessed_from_rates_and_their_change():
    pace = adapted()
    times = []

    def rate(t, y):
        times.append(t)
        return np.sin(y + t)

    found = pace._first(rate, 0.5, START)
    probe = 1e-6 * DURATION
    here = np.sin(START + 0.5)
    moved = START + probe * here
    change = np.sin(moved + 0.5 + probe) - here
    assert times == pytest.approx([0.5, 0.5 + probe], rel=1e-15)
    expected = first_length(pace._norm(here, moved), pace._norm(change, moved) / probe, probe, EXPONENT)
    assert found == pace._next == pytest.approx(expected, rel=1e-9)


def test_steps_that_stand_follow_the_controller():
    pace = adapted(first_step=0.01)
    h, before = 0.01, 0.0
    lengths = told(pace, 0.2, 1.0, 1e-9)
    for error in (0.2, 1.0, 1e-9):
        ahead, _ = pace.take(None, 1.0, START, 100.0)
        assert lengths[-1] == pytest.approx(h, rel=1e-12)
        assert ahead == pytest.approx(1.0 + h)
        h, before = h * next_factor(error, before, EXPONENT), max(error, 1e-4)
    assert pace.rejected == 0


def test_steps_that_fail_are_shortened_and_the_next_one_is_no_longer():
    pace = adapted(first_step=0.01)
    lengths = told(pace, 3.0, None, 1e-6, 1e-6)
    pace.take(None, 1.0, START, 100.0)
    second = 0.01 * retry_factor(3.0, EXPONENT)
    assert lengths == pytest.approx([0.01, second, 0.2 * second])
    assert pace.rejected == 2
    pace.take(None, 1.0, START, 100.0)
    assert lengths[-1] == pytest.approx(0.2 * second)


def test_a_step_cut_short_by_an_end_is_followed_by_one_as_it_was():
    pace = adapted(first_step=0.5)
    lengths = told(pace, 0.9, 0.9)
    ahead, _ = pace.take(None, 1.0, START, 1.1)
    assert (ahead, lengths[0]) == (1.1, pytest.approx(0.1))
    pace.take(None, 1.1, START, 9.0)
    assert lengths[1] == 0.5


def test_a_step_is_at_most_the_longest_and_stretched_by_a_hundredth_to_land():
    pace = adapted(first_step=0.5, max_step=0.2)
    lengths = told(pace, 0.5)
    assert pace.take(None, 1.0, START, 9.0)[0] == 1.2
    assert lengths == [0.2]
    assert pace._reach(1.0, 0.4, 1.5, has_rate=True) == (0.4, 1.4)
    assert pace._reach(1.0, 0.496, 1.5, has_rate=True) == (0.5, 1.5)


def test_a_step_below_rounding_is_none():
    pace = adapted()
    least = SHORTEST_STEP * 2.0
    assert pace._reach(2.0, 2 * least, 3.0, has_rate=True)[0] == 2 * least
    with pytest.raises(StepUnderflowError, match=r"machine: steps fall below rounding at t = 2 s"):
        pace._reach(2.0, 0.5 * least, 3.0, has_rate=True)
    with pytest.raises(NotFiniteError, match=r"machine: the motion is not finite after t = 2 s"):
        pace._reach(2.0, 0.5 * least, 3.0, has_rate=False)


def test_a_step_that_ends_beside_a_singular_position_is_halved_once():
    beside = 0.9 * PIVOT_BESIDE
    pace = adapted([1.0], [beside], [beside], [1.0], first_step=0.4)
    lengths = told(pace, 0.5, 0.9, 0.5)
    ahead, _ = pace.take(None, 1.0, START, 9.0)
    assert (ahead, lengths, pace.rejected) == (1.2, [0.4, 0.2], 0)
    pace.take(None, 1.2, START, 9.0)
    assert lengths[2] == 0.4  # through it
    far = adapted([1.0], [1.1 * PIVOT_BESIDE], first_step=0.4)
    lengths = told(far, 0.5)
    assert far.take(None, 1.0, START, 9.0)[0] == 1.4
    last = adapted([1.0], [beside], first_step=0.4)
    lengths = told(last, 0.5)
    assert last.take(None, 1.0, START, 1.4)[0] == 1.4  # the end is where it is


@pytest.mark.parametrize(
    ("depth", "projects", "counts"),
    [
        ("shallow", True, False),
        ("faded", True, True),
        ("deep", True, True),
        ("gone", True, False),
        ("deep", False, False),
    ],
)
def test_what_projection_takes_away_counts_for_nothing_beside_a_singular_position(depth, projects, counts):
    error = np.array([0.0, 5.0, 0.3, 0.2, 0.1])
    whole, left = np.sqrt(np.mean(error[1:] ** 2)), np.sqrt(np.mean((error[1:] * [0, 1, 0, 1]) ** 2))
    least = whole**4 * (RTOL + ATOL) ** 2
    faded = {"shallow": 1.1 * PIVOT_FADED, "faded": 0.9 * PIVOT_FADED, "deep": 1.1 * least, "gone": 0.9 * least}[depth]
    pace = adapted([3.0], [3.0 * faded], projects=projects)
    pace._first_pivots, pace._largest_pivots = np.array([3.0 * faded]), np.array([3.0])
    tableau, h = pace._task.stepper.tableau, 1e-9
    weight = h * (tableau.weights[0] - tableau.embedded[0])
    pace._extents[:] = 1e6  # more than it moves in the step
    scale = absolute_tolerances(pace._task) + RTOL * pace._extents
    rates = iter([np.append(0.0, error[1:] * scale / weight), *[np.zeros(5)] * 6])
    _, found = pace._attempt(lambda _t, _y: next(rates), START, Span(1.0, h))
    assert found == pytest.approx(left if counts else whole, rel=1e-3)


def test_the_least_pivot_is_of_the_largest_that_each_row_had():
    pace = adapted([0.3, np.inf, 0.9])
    pace._first_pivots, pace._largest_pivots = np.array([0.8, np.inf, 0.2]), np.array([2.0, 1.0, 0.5])
    stages = Stages(START, Span(0.0, 0.1), [], START)
    assert pace._least_pivot(0.1, stages) == pytest.approx(0.3 / 2.0)
    pace._largest_pivots = np.array([0.0, 1.0, 0.5])
    assert pace._least_pivot(0.1, stages) == pytest.approx(0.2 / 0.5)
    pace._largest_pivots = np.zeros(3)
    assert pace._least_pivot(0.1, stages) == 1.0


def gauged(ratio, h):
    """Stages whose last two are apart, and their rates by ratio/h times as much."""
    tableau = kb.DormandPrince().tableau
    matrix = tableau.square_matrix()
    rates = [np.zeros(5) for _ in range(7)]
    rates[0][1] = 1.0
    rates[6][1] = ratio * abs(matrix[-1, 0] - matrix[-2, 0])
    return Stages(START, Span(1.0, h), rates, START)


def test_fifteen_steps_at_the_limit_of_stability_are_stiff_and_six_others_are_not():
    pace, h = adapted(), 1e-5
    pace._taken = h
    stiff, mild = gauged(1.01 * STIFF_STEP, h), gauged(0.99 * STIFF_STEP, h)
    for k in range(STIFF_STEPS):
        assert pace.stiffest == 0.0
        assert not pace.is_stiff(1.0)
        pace._watch_stiffness(stiff)
        assert pace._n_stiff == k + 1
    assert pace.stiffest == pytest.approx(1.01 * STIFF_STEP / h, rel=1e-6)
    for left, is_stiff in ((1.1, True), (0.9, False)):
        assert pace.is_stiff(DURATION - left * STIFF_PAYS * h) == is_stiff
    for k in range(MILD_STEPS - 1):
        pace._watch_stiffness(mild)
        assert (pace._n_stiff, pace._n_mild) == (STIFF_STEPS, k + 1)
    pace._watch_stiffness(stiff)
    assert (pace._n_stiff, pace._n_mild) == (STIFF_STEPS + 1, 0)
    for _ in range(MILD_STEPS):
        pace._watch_stiffness(mild)
    assert pace._n_stiff == 0


def test_fixed_steps_are_counted_on_a_grid_that_an_end_moves():
    pace = FixedPace(task_of(kb.RungeKutta4(0.3)))
    assert pace.slack == pytest.approx(1e-9 * 0.3, rel=1e-3)
    t, ends = 0.0, []
    for until in (9.0, 9.0, 0.7, 9.0, 1.3):
        ahead, stages = pace.take(lambda _t, y: np.zeros_like(y), t, START, until)
        ends.append((ahead, stages.span.length))
        t = ahead
    assert ends == [pytest.approx(pair) for pair in ((0.3, 0.3), (0.6, 0.3), (0.7, 0.1), (1.0, 0.3), (1.3, 0.3))]
    assert not pace.is_stiff(0.0)
