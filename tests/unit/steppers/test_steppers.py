"""Values validate themselves; numerics have the order they claim."""

import math

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.choices import StepperName
from kalaba.compiled import Integration, Kernels, Schedule
from kalaba.errors import IntegrationError
from kalaba.steppers import BY_NAME, KINDS, Auto, DormandPrince, Kvaerno, Radau, RungeKutta4, SemiImplicitEuler
from kalaba.tolerances import JOLT_FELT, JOLT_FELT_COARSE
from unit.steppers.sample_kernels import code, forced, oscillator, slots


@pytest.mark.parametrize("step", [0.0, -1e-3, math.nan, math.inf])
@pytest.mark.parametrize("stepper", [RungeKutta4, SemiImplicitEuler])
def test_a_step_that_is_none_is_refused(stepper, step):
    with pytest.raises(IntegrationError, match=f"{stepper.__name__}: step must be above 0"):
        stepper(step)


@pytest.mark.parametrize("stepper", [DormandPrince, Radau])
def test_tolerances_that_no_step_meets_are_refused(stepper):
    for bad in ({"rtol": -1.0}, {"atol": math.nan}, {"rtol": 0.0, "atol": 0.0}):
        with pytest.raises(IntegrationError, match="rtol and atol"):
            stepper(**bad)


def test_adaptive_steps_that_are_none_are_refused():
    with pytest.raises(IntegrationError, match="first_step"):
        DormandPrince(first_step=0.0)
    with pytest.raises(IntegrationError, match="max_step"):
        DormandPrince(max_step=-1.0)
    assert DormandPrince(max_step=math.inf).max_step == math.inf


def run(stepper, end=1.0, save_every=math.inf, motion=oscillator, start=(1.0, 0.3)):
    kernels = Kernels(slots(1, 1, 1), motion=code(motion))
    integration = Integration(kernels, stepper, Schedule(end, save_every), start)
    integration.advance()
    return integration.trajectory()


def exact(time):
    return np.stack([np.cos(time) + 0.3 * np.sin(time), 0.3 * np.cos(time) - np.sin(time)], axis=1)


def error(trajectory):
    return np.abs(trajectory.y - exact(trajectory.time)).max()


@pytest.mark.parametrize(("stepper", "order"), [(RungeKutta4, 4), (SemiImplicitEuler, 1)])
def test_fixed_steps_converge_at_their_order(stepper, order):
    coarse, fine = error(run(stepper(0.05))), error(run(stepper(0.025)))
    assert math.log2(coarse / fine) == pytest.approx(order, abs=0.1)


def test_order_holds_where_time_and_speed_enter():
    finest = run(RungeKutta4(1e-3), motion=forced).y[-1]
    coarse, fine = (np.abs(run(RungeKutta4(h), motion=forced).y[-1] - finest).max() for h in (0.1, 0.05))
    assert math.log2(coarse / fine) == pytest.approx(4, abs=0.3)


def test_dormand_prince_with_steps_all_alike_converges_at_order_five():
    """Loose tolerances and a largest step leave a fixed-step method of order 5."""

    def at(step):
        return error(run(DormandPrince(rtol=1.0, atol=1.0, first_step=step, max_step=step)))

    assert math.log2(at(0.1) / at(0.05)) == pytest.approx(5, abs=0.2)


def test_dormand_prince_keeps_its_tolerance():
    errors = [error(run(DormandPrince(rtol=tol, atol=tol), end=20.0)) for tol in (1e-6, 1e-9)]
    assert errors[0] < 1e-4  # twenty radians add up some twenty local errors
    assert errors[1] < 1e-7
    assert errors[1] < errors[0] / 100


@pytest.mark.parametrize(
    ("steppers", "order"),
    [
        ([RungeKutta4(h) for h in (0.1, 0.05)], 4),
        ([DormandPrince(1.0, 1.0, first_step=h, max_step=h) for h in (0.2, 0.1)], 4),
        ([SemiImplicitEuler(h) for h in (0.1, 0.05)], 1),
    ],
)
def test_samples_between_steps_converge_too(steppers, order):
    coarse, fine = (error(run(stepper, save_every=0.0137)) for stepper in steppers)
    assert math.log2(coarse / fine) > order - 0.3


def test_semi_implicit_euler_does_not_gain_energy():
    trajectory = run(SemiImplicitEuler(0.1), end=1000.0, save_every=1.0)
    energy = (trajectory.y**2).sum(axis=1) / 2
    assert np.abs(energy / energy[0] - 1).max() < 0.1  # of order h, at any time


def test_steps_grow_from_a_first_step_that_is_too_small():
    assert run(DormandPrince(first_step=1e-9), end=1.0).steps < 60


def test_the_default_promises_a_millionth():
    assert (Auto().rtol, Auto().atol, Auto().first_step, Auto().max_step) == (1e-6, 1e-9, None, math.inf)


@pytest.mark.parametrize("kind", [Auto, DormandPrince, Kvaerno, Radau])
def test_one_of_two_tolerances_may_be_zero(kind):
    for rtol, atol in ((1e-6, 0.0), (0.0, 1e-9)):
        assert (kind(rtol, atol).rtol, kind(rtol, atol).atol) == (rtol, atol)
    for rtol, atol in ((0.0, 0.0), (-1e-6, 1e-9), (1e-6, -1e-9), (math.inf, 0.0), (1e-6, math.nan)):
        with pytest.raises(IntegrationError, match="rtol and atol must be 0 or above and not both 0"):
            kind(rtol, atol)


def test_every_stepper_has_a_name_on_the_command_line():
    assert [name.value for name in StepperName] == list(BY_NAME)
    assert [kind.name for kind in KINDS] == list(BY_NAME)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stepper_with_a_step_takes_another_and_one_without_refuses(kind):
    if kind.has_step:
        assert kind().with_step(2e-4).pace.step == 2e-4
    else:
        with pytest.raises(IntegrationError, match=f"{kind.__name__} chooses its own steps"):
            kind().with_step(2e-4)


def test_only_steppers_of_order_four_or_more_make_small_jolts_felt():
    assert {kind for kind in KINDS if kind().jolt_felt == JOLT_FELT} == {
        Auto,
        RungeKutta4,
        DormandPrince,
        Kvaerno,
        Radau,
    }
    assert {kind().jolt_felt for kind in KINDS} == {JOLT_FELT, JOLT_FELT_COARSE}


@pytest.mark.parametrize("backend", [kb.Native(), kb.Interpreted()], ids=("compiled loop", "python loop"))
@pytest.mark.parametrize("stepper", [RungeKutta4(5e-3), SemiImplicitEuler(5e-3), Radau()], ids=str)
def test_a_run_says_what_its_stepper_makes_a_felt_jolt(backend, stepper):
    run = kb.simulate(kb.build(kb.load("four-bar"), backend=backend), 0.01, stepper=stepper)
    assert run.effort.jolt_felt == stepper.jolt_felt
