"""The parts that decide how long a step is, one by one: by formula, in several lanes, at their limits."""

import numpy as np
import pytest

from kalaba.compiled.kernels import Units
from kalaba.compiled.memory import DONE, NAN, RUNNING, UNDERFLOW, UNSOLVED
from kalaba.constrain.layout import Layout
from kalaba.steppers import DormandPrince, Newmark, RungeKutta4
from kalaba.steppers.step_length import MILD_STEPS, STIFF_STEPS, first_length, next_factor, retry_factor
from kalaba.tolerances import PIVOT_BESIDE, PIVOT_FADED, SHORTEST_STEP, STIFF_PAYS, STIFF_STEP
from unit.compiled.as_python import as_python, memory_of

N, M, LANES = 2, 3, 4
LAYOUT = Layout(3, N, 1, M, LANES)
ADAPTED = DormandPrince(1e-4, 1e-6)


@pytest.fixture
def plain():
    return as_python()


@pytest.fixture
def begun():
    return with_rows(ADAPTED)


def with_rows(stepper, **functions):
    """A run of four lanes, of which the last is over, at t = 2 s of 1 to 9 s, with random pivots."""
    rng = np.random.default_rng(11)
    y = rng.normal(size=(LAYOUT.n_y, LANES))
    none = {"rows": lambda _: [np.zeros(LAYOUT.outputs["rows"] * LANES)]}
    memory, arrays = memory_of(LAYOUT, stepper, y, 9.0, start=1.0, **(none | functions))
    memory.time, arrays.status[-1] = 2.0, DONE
    arrays.active[:] = [1, 1, 1, 0]
    arrays.inputs[LAYOUT.mask] = [[1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 0, 1]]
    pivots_of(arrays)[:] = rng.uniform(0.5, 1.0, size=(M, LANES))
    return memory, arrays


def pivots_of(arrays):
    """Where the motion kernel leaves them: after ẏ and the constraint forces."""
    return arrays.rates[LAYOUT.n_y + N : LAYOUT.n_y + N + M]


def test_pivots_are_kept_with_the_largest_of_rows_in_use(begun, plain):
    memory, arrays = begun
    arrays.largest_pivots[:] = 0.7
    plain.pace._keep_pivots(memory)
    pivots, kept = pivots_of(arrays), arrays.inputs[LAYOUT.mask] > 0
    assert arrays.first_pivots.tolist() == pivots.tolist()
    assert arrays.largest_pivots.tolist() == np.where(kept, np.maximum(0.7, pivots), 0.7).tolist()


def test_the_least_pivot_is_that_of_a_row_in_use_in_a_lane_that_counts(begun, plain):
    memory, arrays = begun
    arrays.first_pivots[:], arrays.largest_pivots[:] = 0.8, 2.0
    pivots = pivots_of(arrays)
    counted = (arrays.inputs[LAYOUT.mask] > 0) & (arrays.active > 0)
    assert plain.pace.least_pivot(memory) == np.minimum(0.8, pivots)[counted].min() / 2.0
    pivots[:] = np.where(counted, 0.9, 1e-9)  # rows left out, and lanes that are over
    assert plain.pace.least_pivot(memory) == 0.8 / 2.0
    arrays.first_pivots[0, 2] = 0.1
    assert plain.pace.least_pivot(memory) == 0.1 / 2.0
    arrays.largest_pivots[0, 2] = 0.0  # never known
    assert plain.pace.least_pivot(memory) == 0.8 / 2.0
    arrays.largest_pivots[:] = 0.05
    assert plain.pace.least_pivot(memory) == 1.0


def test_a_step_ends_beside_a_singular_position_where_a_row_in_use_has_all_but_vanished(begun, plain):
    memory, arrays = begun
    arrays.first_pivots[:] = 2.0
    pivots = pivots_of(arrays)
    pivots[:] = 2.0
    assert not plain.pace._ends_beside(memory)
    for row, lane, is_beside in ((0, 0, True), (1, 0, False), (2, 3, False), (1, 2, True)):
        pivots[row, lane] = 0.9 * PIVOT_BESIDE * 2.0
        assert plain.pace._ends_beside(memory) == is_beside
        pivots[row, lane] = 1.1 * PIVOT_BESIDE * 2.0
        assert not plain.pace._ends_beside(memory)


def decided(plain, memory, error, until=9.0):
    return plain.pace.is_repeated(memory, error, until), float(memory.taken), float(memory.ahead)


def taken(memory, h, before=0.3):
    """A step of so much is under way."""
    memory.taken, memory.ahead, memory.error, memory.rejected, memory.passing = h, 2.0 + h, before, 0, 0.0
    memory.next_step = h


@pytest.mark.parametrize("before", [0.0, 0.3])
def test_a_step_within_its_tolerance_stands_and_says_how_long_the_next_one_is(begun, plain, before):
    memory, _ = begun
    for error in (1.0, 0.2, 1e-7):
        taken(memory, 0.05, before)
        assert decided(plain, memory, error) == (False, 0.05, 2.05)
        assert memory.next_step == pytest.approx(0.05 * next_factor(error, before, memory.exponent), rel=1e-14)
        assert memory.error == max(error, 1e-4)
        assert memory.n_rejected == 0


def test_a_step_beyond_its_tolerance_is_shortened_and_the_next_one_is_no_longer(begun, plain):
    memory, _ = begun
    for error in (1.0000001, 3.0, np.inf, np.nan):
        taken(memory, 0.05)
        shorter = 0.05 * retry_factor(error, memory.exponent)
        assert decided(plain, memory, error) == (True, pytest.approx(shorter), pytest.approx(2.0 + shorter))
    assert (memory.n_rejected, memory.rejected) == (4, 1)
    assert decided(plain, memory, 1e-3)[0] is False
    assert memory.next_step == pytest.approx(shorter)


def test_a_step_cut_short_by_an_end_is_followed_by_one_as_it_was(begun, plain):
    memory, _ = begun
    taken(memory, 0.05)
    memory.next_step = 0.4
    assert not decided(plain, memory, 0.9, until=2.05)[0]
    assert memory.next_step == 0.4
    assert not decided(plain, memory, 0.9, until=9.0)[0]
    assert memory.next_step < 0.06


def test_a_step_that_ends_beside_a_singular_position_is_halved_once(begun, plain):
    memory, arrays = begun
    arrays.first_pivots[:], pivots_of(arrays)[:] = 2.0, 1e-3
    taken(memory, 0.4)
    assert decided(plain, memory, 0.5) == (True, 0.2, 2.2)
    assert (memory.passing, memory.n_rejected) == (0.4, 0)
    assert decided(plain, memory, 0.9) == (False, 0.2, 2.2)
    assert memory.next_step == 0.4  # through it
    taken(memory, 0.4)
    assert decided(plain, memory, 0.5, until=2.4) == (False, 0.4, 2.4)  # the end is where it is


def test_a_step_below_rounding_ends_the_lanes_that_run(begun, plain):
    """As not finite where the last stage had no rate."""
    memory, arrays = begun
    arrays.rates[2, 1] = np.nan
    least = SHORTEST_STEP * 2.0
    for h, goes_on in ((2 * least, True), (0.5 * least, False)):
        assert plain.pace._reach(memory, h, 9.0) == goes_on
        assert memory.ahead == (2.0 + h if goes_on else 2.0)
    assert arrays.status.tolist() == [UNDERFLOW, NAN, UNDERFLOW, DONE]
    assert not decided(plain, memory, 5.0)[0]  # it went nowhere, and is not tried again
    assert memory.n_rejected == 0


def test_a_step_is_stretched_by_a_hundredth_to_land(begun, plain):
    memory, _ = begun
    for h, lands in ((0.4, False), (0.496, True), (0.6, True)):
        assert plain.pace._reach(memory, h, 2.5)
        assert (memory.taken, memory.ahead) == ((0.5, 2.5) if lands else (h, 2.0 + h))


def test_a_fixed_step_without_a_solution_ends_where_it_began(plain):
    layout = Layout(3, N, 1)
    none = {"displace": lambda _: [np.zeros(3)], "tangent": lambda _: [np.zeros(3 * N * N)]}
    for rate, status in ((0.0, UNSOLVED), (np.nan, NAN)):
        memory, arrays = memory_of(layout, Newmark(0.1), np.ones(6), **none)
        memory.taken, memory.ahead, memory.unsolved = 0.1, 0.1, 0
        assert not decided(plain, memory, 0.0)[0]
        assert (memory.ahead, arrays.status[0]) == (0.1, RUNNING)
        memory.unsolved, arrays.rates[1] = 1, rate
        assert not decided(plain, memory, 0.0)[0]
        assert (memory.ahead, arrays.status[0]) == (0.0, status)


def test_fixed_steps_are_counted_on_a_grid_that_an_end_moves(plain):
    memory, _ = with_rows(RungeKutta4(0.3))
    memory.time = memory.origin
    for until, taken_, ahead in ((9.0, 0.3, 1.3), (9.0, 0.3, 1.6), (1.7, 0.1, 1.7), (9.0, 0.3, 2.0), (2.3, 0.3, 2.3)):
        plain.pace.aim(memory, until)
        assert (memory.taken, memory.ahead) == (pytest.approx(taken_), pytest.approx(ahead))
        memory.time = memory.ahead
    assert (memory.origin, memory.since_origin) == (1.7, 2)


def test_an_adapted_step_is_at_most_the_longest(begun, plain):
    memory, arrays = begun
    memory.max_step, memory.rejected, memory.passing = 0.25, 3, 1.0
    for wanted, reached in ((0.1, 0.1), (0.4, 0.25)):
        memory.next_step = wanted
        plain.pace.aim(memory, 9.0)
        assert memory.taken == reached
    assert (memory.rejected, memory.passing) == (0, 0.0)
    assert arrays.active.tolist() == [1, 1, 1, 0]
    assert arrays.first_pivots.tolist() == pivots_of(arrays).tolist()


def test_the_first_step_looks_a_millionth_of_the_run_ahead(plain):
    """In every lane; the least of what their rates and the change of these allow."""
    seen = []

    def motion(inputs):
        packed = inputs.reshape(-1, LANES)
        seen.append(packed.copy())
        return [np.sin(packed[: LAYOUT.n_y] + packed[LAYOUT.t]), np.zeros(LANES * (N + 2 * M))]

    memory, arrays = with_rows(ADAPTED, motion=motion)
    plain.engine.start(memory)
    here, y = arrays.stages[0].copy(), arrays.y.copy()
    found = plain.pace.first_step(memory, 2.0)
    probe = 1e-6 * 8.0
    np.testing.assert_allclose(seen[-1][: LAYOUT.n_y], y + probe * here, rtol=1e-15)
    assert seen[-1][LAYOUT.t] == pytest.approx(2.0 + probe)
    floors = np.concatenate([np.full(3, 1e-6), np.full(N, 1e-6 / 8.0)])[:, None]
    extents = np.maximum(arrays.extents, np.abs(y + probe * here - arrays.origins))[1:]
    change = np.sin(seen[-1][: LAYOUT.n_y] + seen[-1][LAYOUT.t]) - here
    sizes = [
        np.sqrt(np.square(part[1:] / (floors + 1e-4 * extents)).mean(axis=0))[:3].max()
        for part in (here, change / probe)
    ]
    assert found == pytest.approx(first_length(*sizes, probe, memory.exponent), rel=1e-9)


@pytest.mark.parametrize(("slope", "change", "length"), [(0.0, 0.0, 1e-2), (1e-30, 1.0, 0.1), (1e9, 1.0, 1e-5)])
def test_a_guess_stays_between_one_probe_and_a_thousand(slope, change, length):
    assert first_length(slope, change, 1e-5, 2) == pytest.approx(min(length, 1e-2))
    assert first_length(np.inf, change, 1e-5, 2) == 1e-5


# Stiffness


def gauged(ratio, h=0.01, time=2.0):
    """A step whose last two stages are apart by v and their rates by ratio/h times as much."""
    memory, arrays = with_rows(ADAPTED)
    memory.gauges, memory.time, memory.taken, memory.ahead = 1, time, h, time + h
    arrays.stages[:] = 0.0
    apart = h * float(arrays.last_difference[0])  # per rate of the first stage
    arrays.stages[0, 2] = 1.0
    last = memory.n_stages - 1
    arrays.stages[last, 2] = ratio / h * abs(apart)
    return memory, arrays


def test_fifteen_steps_at_the_limit_of_stability_are_stiff_and_six_others_are_not(plain):
    memory, _ = gauged(1.01 * STIFF_STEP, h=1e-5)
    for k in range(STIFF_STEPS):
        assert memory.paused == 0
        assert memory.stiffest == 0.0
        memory.n_mild = 3
        plain.explicit.watch_stiffness(memory)
        assert (memory.n_stiff, memory.n_mild) == (k + 1, 0)
    assert memory.paused == 1
    assert memory.stiffest == pytest.approx(1.01 * STIFF_STEP / 1e-5, rel=1e-9)
    mild, _ = gauged(0.99 * STIFF_STEP, h=1e-5)
    mild.n_stiff = STIFF_STEPS - 1
    for k in range(MILD_STEPS):
        assert mild.n_stiff == STIFF_STEPS - 1
        plain.explicit.watch_stiffness(mild)
        assert mild.n_mild == k + 1
    assert (mild.n_stiff, mild.paused, mild.stiffest) == (0, 0, 0.0)


def test_a_stiff_motion_near_its_end_goes_on(plain):
    for left, paused in ((0.9 * STIFF_PAYS, 0), (1.1 * STIFF_PAYS, 1)):
        memory, _ = gauged(2.0, h=1e-5, time=9.0 - (left + 1) * 1e-5)
        memory.n_stiff = STIFF_STEPS
        plain.explicit.watch_stiffness(memory)
        assert memory.paused == paused


def test_nothing_is_gauged_where_nobody_asks_or_nothing_moved(plain):
    for gauges, ahead in ((0, 2.01), (1, 2.0)):
        memory, _ = gauged(2.0)
        memory.gauges, memory.ahead = gauges, ahead
        plain.explicit.watch_stiffness(memory)
        assert memory.n_stiff == memory.n_mild == 0


# The error beside a singular position


@pytest.mark.parametrize(("pivot", "counts"), [("shallow", False), ("faded", True), ("deep", True), ("gone", False)])
def test_what_projection_takes_away_counts_for_nothing_beside_a_singular_position(pivot, counts, plain):
    """Where σ² is less than PIVOT_FADED, and error⁴ tolerance² less than σ²: the way along the rows is taken out."""
    layout = Layout(2, 2, 0, 1)
    units = Units(np.array([2.0, 2.0]), np.ones(2), np.ones(1), np.ones(1), 1.0)
    rows = {"rows": lambda _: [np.zeros(layout.outputs["rows"])]}

    def project(inputs):  # the first coordinate and velocity are held at 0
        return [inputs[:1], [0.0], inputs[2:3], [0.0], inputs[4:5], np.zeros(2)]

    rtol, atol = 1e-4, 1e-5
    memory, arrays = memory_of(layout, DormandPrince(rtol, atol), np.zeros(5), 10.0, units, project=project, **rows)
    memory.time, memory.taken, memory.ahead = 1.0, 0.1, 1.1
    arrays.active[:], arrays.inputs[layout.mask], arrays.extents[:] = 1, 1.0, 1.0
    arrays.trial[:, 0] = 0.7, 0.0, 0.4, 0.0, -0.3  # on the rows, and within the extents
    weight = float(arrays.error_weights[0]) * 0.1
    scale = np.array([2 * atol + rtol, 2 * atol + rtol, atol / 10 + rtol, atol / 10 + rtol])
    error = np.array([5.0, 0.3, 0.2, 0.1])
    arrays.stages[0, 1:, 0] = error * scale / weight
    whole, left = np.sqrt(np.mean(error**2)), np.sqrt(np.mean((error * [0, 1, 0, 1]) ** 2))
    least = whole**4 * (rtol + atol) ** 2
    faded = {"shallow": 1.1 * PIVOT_FADED, "faded": 0.9 * PIVOT_FADED, "deep": 1.1 * least, "gone": 0.9 * least}[pivot]
    arrays.first_pivots[:], arrays.largest_pivots[:] = 3.0, 3.0
    arrays.rates[layout.n_y + 2] = 3.0 * faded
    assert plain.explicit.embedded_error(memory, 0.1) == pytest.approx(left if counts else whole, rel=1e-6)
