"""The compiled loop: what is recorded, when it stops, how rows are chosen, and that chunks and lanes change no bit."""

import math

import numpy as np
import pytest

from kalaba.compiled import Integration, Kernels, RankAtTime, Schedule, Status
from kalaba.compiled.memory import MEMORY
from kalaba.errors import IntegrationError, NativeError
from kalaba.native.batch import Code, Piece, Slots, batch
from kalaba.steppers import DormandPrince, RungeKutta4, SemiImplicitEuler
from unit.steppers.sample_kernels import (
    above,
    code,
    drifting,
    exploding,
    feedback,
    forced,
    massless_rows,
    nothing_moves,
    oscillator,
    pendulum,
    pendulum_lost,
    slots,
    square_root,
)

STEPPERS = [RungeKutta4(0.01), DormandPrince(1e-7, 1e-9), SemiImplicitEuler(0.01)]
HANGING = (0.6, -0.8, 0.8, 0.6)  # on the circle, at speed 1 along it


def oscillating(lanes=1, **kernels):
    return Kernels(slots(1, 1, 1, lanes=lanes), motion=code(oscillator, lanes), **kernels)


def run(kernels, stepper, schedule, start=(1.0, 0.0)):
    integration = Integration(kernels, stepper, schedule, start)
    integration.advance()
    return integration.trajectory()


def same(one, other):
    fields = ("time", "y", "acceleration", "constraint_force", "actuation", "gap", "gap_row", "end_y")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in fields) and one.steps == other.steps


# Samples


def test_samples_lie_on_multiples_and_at_the_end():
    trajectory = run(oscillating(), RungeKutta4(0.01), Schedule(end=0.25, save_every=0.1, start=0.05))
    assert trajectory.time.tolist() == pytest.approx([0.05, 0.15, 0.25], abs=1e-15)
    trajectory = run(oscillating(), RungeKutta4(0.01), Schedule(end=0.25, save_every=0.1))
    assert trajectory.time.tolist() == [0.0, 0.1, 0.2, 0.25]
    assert trajectory.status is Status.DONE


def test_a_last_step_is_shortened():
    trajectory = run(oscillating(), RungeKutta4(0.1), Schedule(end=1.04, save_every=math.inf))
    assert trajectory.steps == 11
    assert trajectory.end_time == 1.04
    assert trajectory.y[-1, 0] == pytest.approx(math.cos(1.04), abs=1e-6)


def test_a_grid_that_ends_a_rounding_before_the_end_is_at_the_end():
    for end in (np.nextafter(3 * 0.1, 1.0), np.nextafter(3 * 0.1, 0.0)):
        trajectory = run(oscillating(), RungeKutta4(0.1), Schedule(end=end, save_every=0.1))
        assert trajectory.steps == 3
        assert len(trajectory.time) == 4
        assert trajectory.status is Status.DONE


def test_stages_are_taken_at_their_own_times():
    """v̇ = −q (1 + cos(t)/2) − v³/10 beside a far sharper run."""
    kernels = Kernels(slots(1, 1), motion=code(forced))
    sharp, found = (
        run(kernels, stepper, Schedule(2.0), (1.0, 0.0)) for stepper in (DormandPrince(1e-12, 1e-13), RungeKutta4(0.01))
    )
    assert np.abs(found.y - sharp.y).max() < 1e-9


def test_a_run_of_no_length_records_its_start():
    trajectory = run(oscillating(), RungeKutta4(0.1), Schedule(end=0.0))
    assert trajectory.time.tolist() == [0.0]
    assert trajectory.acceleration.tolist() == [[-1.0]]
    assert trajectory.status is Status.DONE


@pytest.mark.parametrize("stepper", STEPPERS)
def test_a_sample_carries_its_own_acceleration_and_actuation(stepper):
    kernels = oscillating(control=code(feedback, 1, 2.0))
    trajectory = run(kernels, stepper, Schedule(1.0, 0.0137))
    q, v = trajectory.y.T
    np.testing.assert_array_equal(trajectory.actuation[:, 0], -2 * v)
    np.testing.assert_array_equal(trajectory.acceleration[:, 0], -2 * v - q)


def test_a_control_law_acts_at_every_stage():
    trajectory = run(oscillating(control=code(feedback, 1, 2.0)), RungeKutta4(0.01), Schedule(1.0))
    np.testing.assert_allclose(trajectory.y[:, 0], (1 + trajectory.time) * np.exp(-trajectory.time), atol=1e-9)


# Chunks


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("save_every", [0.1, 0.0137])
def test_a_limit_on_steps_changes_no_bit(stepper, save_every):
    whole = run(oscillating(), stepper, Schedule(1.0, save_every))
    for steps in (1, 7):
        cut = Integration(oscillating(), stepper, Schedule(1.0, save_every), (1.0, 0.0))
        while cut.running:
            cut.advance(steps=steps)
        assert same(whole, cut.trajectory())


def test_landing_on_the_grid_of_steps_changes_no_bit():
    whole = run(pendulum(), RungeKutta4(0.001), Schedule(2.0, 0.0137), HANGING)
    cut = Integration(pendulum(), RungeKutta4(0.001), Schedule(2.0, 0.0137), HANGING)
    for k in range(200):
        cut.advance(until=(k + 1) * 0.01)
    cut.advance()
    assert same(whole, cut.trajectory())


def test_a_landing_off_the_grid_is_exact_and_held_actuation_begins_there():
    integration = Integration(oscillating(), RungeKutta4(0.01), Schedule(0.25, 0.05), (0.0, 0.0))
    integration.advance(until=0.125)
    assert integration.time == 0.125
    integration.actuation[:] = 1.0
    integration.advance()
    trajectory = integration.trajectory()
    assert trajectory.actuation[:, 0].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    assert trajectory.y[-1, 0] == pytest.approx(1 - math.cos(0.125), abs=1e-10)


def test_samples_before_a_landing_keep_the_old_actuation():
    integration = Integration(oscillating(), RungeKutta4(0.1), Schedule(0.2, 0.025), (0.0, 0.0))
    integration.advance(until=0.1)
    integration.actuation[:] = 100.0
    integration.advance()
    trajectory = integration.trajectory()
    assert trajectory.actuation[:, 0].tolist() == [0.0] * 4 + [100.0] * 5
    assert not trajectory.y[:5].any()


def test_an_adaptive_step_lost_to_a_landing_is_taken_up_again():
    integration = Integration(oscillating(), DormandPrince(1e-6, 1e-6), Schedule(20.0, 1e9), (1.0, 0.0))
    for k in range(200):
        integration.advance(until=0.1 * (k + 1))
    integration.advance()
    assert integration.trajectory().steps <= 202  # all but the first land at once: no growing again


# Events and failures


@pytest.mark.parametrize("stepper", [RungeKutta4(0.01), DormandPrince(1e-10, 1e-12)])
def test_an_event_is_found_on_time_and_is_the_last_sample(stepper):
    kernels = oscillating(event=code(above, 1, 0.5))
    trajectory = run(kernels, stepper, Schedule(10.0, 0.1), (0.0, 1.0))
    assert trajectory.status is Status.STOPPED
    assert trajectory.end_time == trajectory.time[-1] == pytest.approx(math.pi / 6, abs=2e-10)
    assert trajectory.y[-1, 0] == pytest.approx(0.5, abs=1e-14)
    assert trajectory.end_y.tolist() == trajectory.y[-1].tolist()
    assert trajectory.time[:-1].tolist() == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4, 0.5])


def test_an_event_that_holds_at_the_start_waits_to_come_again():
    trajectory = run(oscillating(event=code(above, 1, 0.5)), RungeKutta4(0.01), Schedule(10.0, 0.1), (1.0, 0.0))
    assert trajectory.end_time == pytest.approx(2 * math.pi - math.pi / 3, abs=1e-8)


@pytest.mark.parametrize("stepper", [RungeKutta4(0.01), DormandPrince(1e-10, 1e-12)])
def test_an_event_that_is_zero_at_the_start_waits_to_come_again(stepper):
    trajectory = run(oscillating(event=code(above, 1, 0.0)), stepper, Schedule(10.0, 0.1), (0.0, 1.0))
    assert trajectory.status is Status.STOPPED
    assert trajectory.end_time == pytest.approx(2 * math.pi, abs=1e-8)


def test_an_event_that_comes_to_zero_has_come():
    """From below to exactly 0 at the end of a step of 1/2 s, without forces."""
    kernels = Kernels(slots(1, 1), motion=code(drifting), event=code(above, 1, 1.0))
    trajectory = run(kernels, RungeKutta4(0.5), Schedule(3.0, 1.0), (0.0, 1.0))
    assert trajectory.status is Status.STOPPED
    assert trajectory.end_time == 1.0


def test_a_state_that_is_no_longer_a_number_is_told_and_the_last_good_one_stays():
    kernels = Kernels(slots(1, 1), motion=code(square_root))
    trajectory = run(kernels, RungeKutta4(0.01), Schedule(10.0, 0.1), (-0.1, 0.1))
    assert trajectory.status is Status.NAN
    assert trajectory.status.failed
    assert np.isfinite(trajectory.y).all()
    assert np.isfinite(trajectory.acceleration).all()
    assert trajectory.end_time < 1.0
    assert np.isfinite(trajectory.end_y).all()


def test_a_rate_that_is_not_a_number_at_the_start_is_told():
    trajectory = run(Kernels(slots(1, 1), motion=code(square_root)), DormandPrince(), Schedule(1.0), (1.0, 0.0))
    assert trajectory.status is Status.NAN
    assert len(trajectory.time) == 0


def test_an_adaptive_step_below_rounding_is_told():
    trajectory = run(Kernels(slots(1, 1), motion=code(exploding)), DormandPrince(), Schedule(2.0, 0.1), (0.0, 1.0))
    assert trajectory.status is Status.UNDERFLOW
    assert trajectory.end_time == pytest.approx(1.0, abs=1e-6)


def test_an_adaptive_method_goes_up_to_where_there_is_no_rate_any_more():
    trajectory = run(Kernels(slots(1, 1), motion=code(square_root)), DormandPrince(), Schedule(9.0), (-0.1, 0.1))
    assert trajectory.status is Status.NAN
    assert trajectory.rejected > 0
    assert trajectory.end_y[0] == pytest.approx(0.0, abs=1e-9)


def test_nothing_moves_and_nothing_breaks():
    trajectory = run(Kernels(slots(1, 1), motion=code(nothing_moves)), DormandPrince(), Schedule(5.0, 1.0), (0.0, 0.0))
    assert trajectory.status is Status.DONE
    assert not trajectory.y.any()


# Constraints


def energy(y):
    return (y[:, 2] ** 2 + y[:, 3] ** 2) / 2 + 10 * y[:, 1]


@pytest.mark.parametrize("stepper", [RungeKutta4(0.001), DormandPrince(1e-9, 1e-11)])
def test_projection_holds_a_pendulum_with_dependent_rows(stepper):
    trajectory = run(pendulum(), stepper, Schedule(20.0, 0.0137), HANGING)
    assert trajectory.status is Status.DONE
    x, y, p, w = trajectory.y.T
    assert np.abs(np.hypot(x, y) - 1).max() < 1e-14
    assert np.abs(x * p + y * w).max() < 1e-10  # a row x φ met to 1e-12 holds φ to 1e-12/x
    assert trajectory.gap.max() < 1e-14
    assert trajectory.worst.gap < 1e-14
    assert trajectory.worst.row == 2  # 3 φ, of which x φ and y φ are at most a third
    assert np.abs(energy(trajectory.y) - energy(trajectory.y)[0]).max() < 1e-7  # of order h⁴ over 20 s


def test_the_constraint_force_is_the_tension():
    trajectory = run(pendulum(), RungeKutta4(0.001), Schedule(1.0, 0.1), HANGING)
    _, y, p, w = trajectory.y.T
    tension = p**2 + w**2 - 10 * y
    np.testing.assert_allclose(trajectory.constraint_force, -tension[:, None] * trajectory.y[:, :2], atol=1e-9)


def test_rows_are_chosen_at_the_start_and_again_when_one_vanishes():
    integration = Integration(pendulum(), RungeKutta4(0.001), Schedule(2.0), (1.0, 0.0, 0.0, 0.0))
    integration.advance(steps=1)
    assert integration.mask[:, 0].tolist() == [1.0, 0.0, 0.0]
    integration.advance()
    trajectory = integration.trajectory()
    assert trajectory.choices[0] == RankAtTime(time=0.0, rank=1)
    assert all(choice.rank == 1 for choice in trajectory.choices)
    assert 1 < trajectory.n_choices < 20
    lowest = 1.854 / math.sqrt(10)  # K(1/√2)/√g: from rest at the level to x = 0
    assert 0.4 < trajectory.choices[1].time < lowest
    assert np.abs(energy(trajectory.y)).max() < 1e-8  # 4e-9, and a sixteenth with half the step: RK4 itself


def test_without_projection_the_state_drifts_and_nothing_is_judged():
    trajectory = run(pendulum(project=None), RungeKutta4(0.01), Schedule(20.0, 0.1), HANGING)
    assert trajectory.status is Status.DONE
    assert 1e-9 < trajectory.worst.gap < 1e-2
    gaps = 1.5 * np.abs(np.square(trajectory.y[:, :2]).sum(axis=1) - 1)  # of the third row
    np.testing.assert_allclose(trajectory.gap, gaps, rtol=0, atol=1e-15)
    assert trajectory.gap_row.tolist() == [-1] + [2] * (len(gaps) - 1)  # at first none is open
    assert trajectory.worst.row == 2
    near = np.argmin(np.abs(trajectory.time - trajectory.worst.time))  # samples lie ten steps apart
    assert gaps.max() <= trajectory.worst.gap < 1.1 * gaps[near]


def test_a_start_off_the_constraints_is_projected():
    trajectory = run(pendulum(), RungeKutta4(0.001), Schedule(0.1), (0.66, -0.88, 0.9, 0.6))
    assert trajectory.gap.max() < 1e-14
    assert trajectory.worst.gap < 1e-14  # how far off a start was says nothing of the run
    assert trajectory.jolt[0] < 1e-9


def test_a_row_that_contradicts_the_others_is_named():
    trajectory = run(pendulum(offset=1e-3), RungeKutta4(0.001), Schedule(1.0), HANGING)
    assert trajectory.status is Status.INCONSISTENT
    assert trajectory.row == 2


def test_a_projection_that_does_not_close_is_told():
    trajectory = run(pendulum(project=code(pendulum_lost, 1, 0.5)), RungeKutta4(0.001), Schedule(1.0), HANGING)
    assert trajectory.status is Status.RESIDUAL
    assert trajectory.row == 0


def test_a_singular_mass_matrix_is_told():
    trajectory = run(pendulum(rows=code(massless_rows)), RungeKutta4(0.001), Schedule(1.0), HANGING)
    assert trajectory.status is Status.SINGULAR


# Lanes


def test_eight_lanes_are_bit_equal_to_one():
    angles = np.linspace(-1.5, 1.2, 8)
    starts = np.stack([np.cos(angles), np.sin(angles), -np.sin(angles), np.cos(angles)])
    schedule = Schedule(3.0, 0.0137)
    together = Integration(pendulum(8), RungeKutta4(0.002), schedule, starts)
    together.advance()
    assert set(together.status) == {Status.DONE}
    for lane in range(8):
        alone = run(pendulum(), RungeKutta4(0.002), schedule, starts[:, lane])
        assert same(alone, together.trajectory(lane))
        assert alone.choices == together.trajectory(lane).choices


def test_a_lane_that_stops_or_fails_leaves_the_others_alone():
    kernels = Kernels(slots(1, 1, lanes=4), motion=code(exploding, 4), event=code(above, 4, 0.3))
    speeds = np.array([0.1, 1.0, -1.0, math.nan])
    together = Integration(kernels, RungeKutta4(0.01), Schedule(2.0, 0.1), np.stack([np.zeros(4), speeds]))
    together.advance()
    assert together.status == (Status.DONE, Status.STOPPED, Status.DONE, Status.NAN)
    stopped = together.trajectory(1)
    assert stopped.end_time == stopped.time[-1] == pytest.approx(1 - math.exp(-0.3), abs=1e-8)  # q = -ln(1 - t)
    assert len(stopped.time) == 4
    np.testing.assert_allclose(together.trajectory(2).y[:, 1], -1 / (1 + together.trajectory(2).time), atol=1e-9)
    assert len(together.trajectory(3).time) == 0


def test_adaptive_lanes_share_their_steps():
    starts = np.array([[1.0, 0.5, 0.0, 2.0], [0.0, 0.0, 1.0, 1.0]])
    together = Integration(oscillating(4), DormandPrince(1e-9, 1e-11), Schedule(3.0, 0.1), starts)
    together.advance()
    for lane in range(4):
        trajectory, (q, v) = together.trajectory(lane), starts[:, lane]
        exact = q * np.cos(trajectory.time) + v * np.sin(trajectory.time)
        assert np.abs(trajectory.y[:, 0] - exact).max() < 1e-8


def test_held_inputs_stand_where_the_kernels_read_them():
    integration = Integration(oscillating(4), RungeKutta4(), Schedule(1.0), (1.0, 0.0))
    assert integration.actuation.shape == integration.force.shape == (1, 4)
    assert integration.weight.shape == (0, 4)  # one per row, and there is none
    with pytest.raises(ValueError, match="read-only"):
        integration.y[:] = 0.0


# The batch driver


@pytest.mark.parametrize("count", [1, 4, 37])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_batch_equals_one_state_at_a_time(count, threads):
    rng = np.random.default_rng(1)
    state, held = rng.normal(size=(count, 5))[:, 1:3], np.array([0.25])
    rates, unused = np.empty((count, 2)), np.full((count, 1), 7.0)
    given = [Piece(0, state), Piece(3, held)]
    batch(code(oscillator, 4), Slots(inputs=6, outputs=3, lanes=4), given, [Piece(0, rates), Piece(2, unused)], threads)
    np.testing.assert_array_equal(rates, np.stack([state[:, 1], 0.25 - state[:, 0]], axis=1))
    assert not unused.any()


def test_a_batch_refuses_arrays_that_do_not_fit():
    with pytest.raises(NativeError, match="slot 0: 3 states expected"):
        batch(code(oscillator, 1), Slots(6, 3, 1), [Piece(0, np.zeros((2, 2)))], [Piece(0, np.zeros((3, 2)))])
    with pytest.raises(NativeError, match="slot 5: expected float64"):
        Piece(5, np.zeros((2, 3)).T)


# Refusals


def test_what_cannot_be_run_is_refused():
    motion = code(oscillator)
    with pytest.raises(NativeError, match="2 constraint rows need the kernel 'rows'"):
        Kernels(slots(1, 1, n_rows=2), motion=motion)
    with pytest.raises(NativeError, match="either 'project' or 'normalise'"):
        Kernels(slots(1, 1), motion=motion, project=motion, normalise=motion)
    with pytest.raises(NativeError, match="contiguous float64"):
        Code(1, np.zeros((4, 2))[:, :1])
    with pytest.raises(IntegrationError, match="must end after it starts"):
        Schedule(end=-1.0)
    with pytest.raises(IntegrationError, match="save_every"):
        Schedule(end=1.0, save_every=0.0)
    with pytest.raises(IntegrationError, match=r"start has shape \(3, 1\), expected \(2, 1\)"):
        Integration(oscillating(), RungeKutta4(), Schedule(1.0), (1.0, 2.0, 3.0))


def test_no_field_of_the_record_hides_behind_one_of_numpy():
    """Read by attribute, as Python does where nothing is compiled, it would be NumPy's: size, base, diagonal."""
    assert [name for name in MEMORY.names if hasattr(np.record, name)] == []


def test_slots_follow_the_kernel_convention():
    layout = slots(n_q=7, n_v=6, n_u=2, n_rows=3)
    assert (layout.n_y, layout.t, layout.u, layout.f) == (13, 13, slice(14, 16), slice(16, 22))
    assert (layout.mask, layout.w, layout.size) == (slice(22, 25), slice(25, 28), 28)
    assert layout.outputs["motion"] == 13 + 6 + 3 + 3
