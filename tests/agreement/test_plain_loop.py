"""The plain loop does what the compiled one does: steps, samples within them, events, sampled laws, work, limits."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.results.run import Ending
from kalaba.run import StiffWarning

STEPPERS = [kb.Auto(), kb.DormandPrince(rtol=1e-9, atol=1e-11), kb.RungeKutta4(1e-3), kb.SemiImplicitEuler(1e-3)]
# Rounding of an error estimate changes the steps after it by as much of them.
ROUNDING = 1e-10


def swinging(**options: object) -> kb.System:
    """A driven pendulum with a brake: all that a work integral sees."""
    parts = (
        kb.Body("arm", kb.Rod(1.0, mass=1.0, axis=kb.X), joint=kb.Revolute(kb.Y)),
        kb.Spring("brake", "arm.angle", **({"damping": 0.3} | options)),
        kb.Actuator("motor", "arm.angle"),
    )
    return kb.System("swinging", parts, start=kb.Start(hold={"arm.angle": 0.4}))


def both(system: kb.System, duration: float, **options: object) -> tuple[kb.Run, kb.Run]:
    return tuple(
        kb.simulate(kb.build(system, backend=backend), duration, **options)
        for backend in (kb.Native(), kb.Interpreted())
    )


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda stepper: type(stepper).__name__)
def test_both_loops_take_the_same_steps_and_samples(stepper):
    """Samples off the grid of steps, and work done by a motor against a brake."""
    native, plain = both(swinging(), 0.5, stepper=stepper, save_every=0.0137, control={"motor": "2*sin(9*t)"})
    assert plain.effort.steps == native.effort.steps
    assert plain.effort.rejected == native.effort.rejected
    for name in ("time", "q", "v", "acceleration", "work", "inputs"):
        assert getattr(plain, name) == pytest.approx(getattr(native, name), rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda stepper: type(stepper).__name__)
def test_an_event_within_a_step_ends_both_at_the_same_time(stepper):
    native, plain = both(kb.load("four-bar"), 0.5, stepper=stepper, stop="crank.angle < 0.9")
    assert native.status.ending is plain.status.ending is Ending.STOPPED
    assert plain.status.time == pytest.approx(native.status.time, rel=1e-10)
    assert plain.time == pytest.approx(native.time, rel=1e-10)
    assert plain.q == pytest.approx(native.q, abs=1e-9)


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda stepper: type(stepper).__name__)
def test_steps_land_where_a_function_is_sampled(stepper):
    """At a rate that is no multiple of the steps."""

    def asked(t: float, q: np.ndarray, v: np.ndarray) -> list[float]:
        times.append(t)
        return [-3.0 * q[0] - v[0] + t]

    times: list[float] = []
    native, plain = both(swinging(), 0.3, stepper=stepper, control=kb.Sampled(asked, 77.0))
    half = len(times) // 2
    assert times[half:] == pytest.approx(times[:half], abs=1e-14)
    assert plain.q == pytest.approx(native.q, rel=ROUNDING, abs=ROUNDING)
    assert plain.actuation == pytest.approx(native.actuation, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("stepper", [kb.Auto(), kb.RungeKutta4(1e-3), kb.Radau()], ids=lambda s: type(s).__name__)
@pytest.mark.parametrize(
    ("limit", "ending"), [({"max_steps": 3}, Ending.STEP_LIMIT), ({"max_time": 1e-9}, Ending.TIME_LIMIT)]
)
def test_limits_end_a_plain_run(stepper, limit, ending):
    plant = kb.build(swinging(), backend=kb.Interpreted())
    run = kb.simulate(plant, 1.0, stepper=stepper, check=False, **limit)
    assert run.status.ending is ending
    assert run.effort.steps <= 3
    assert run.status.time < 1.0


STIFF = {"stiffness": 1e5, "damping": 1e5}  # 3e5/s: a minute of explicit steps in plain Python


def test_a_stiff_motion_goes_on_by_an_implicit_method_and_says_so():
    native, plain = both(swinging(**STIFF), 0.5, save_every=0.05, control={"motor": "2*sin(9*t)"})
    (change,) = plain.effort.changes
    assert change.stepper == "Radau"
    assert change.rate == pytest.approx(3e5, rel=0.01)
    assert plain.effort.steps < 200
    assert plain.q == pytest.approx(native.q, abs=1e-6)
    assert np.abs(plain.energy_balance).max() < 1e-4 * np.abs(plain.work).max()


def test_a_stiff_motion_with_a_sampled_law_stays_explicit_and_warns():
    plant = kb.build(swinging(**STIFF), backend=kb.Interpreted())
    law = kb.Sampled(lambda _t, _q, _v: [1.0], 100.0)
    with pytest.warns(StiffWarning, match=r"swinging: stiff from t = .* Take backend=kb.Native\(\)"):
        run = kb.simulate(plant, 0.5, control=law, max_steps=60, check=False)
    assert run.status.ending is Ending.STEP_LIMIT


def test_steps_that_fall_below_rounding_end_a_plain_run_as_they_end_a_compiled_one():
    """A force that jumps beyond all bounds."""
    native, plain = both(
        swinging(), 0.5, control={"motor": "1/(0.2 - t)^3"}, check=False, stepper=kb.DormandPrince(1e-6, 1e-8)
    )
    assert native.status.ending is plain.status.ending is Ending.STEP_UNDERFLOW
    assert plain.status.time == pytest.approx(native.status.time, rel=1e-6)


@pytest.mark.parametrize(
    "stepper",
    [
        kb.Auto(first_step=1e-3),  # a first step that is guessed is so short that its error is rounding
        kb.DormandPrince(rtol=1e-9, atol=1e-11, first_step=1e-3),
        kb.RungeKutta4(1e-3),
        kb.SemiImplicitEuler(1e-3),
    ],
    ids=lambda stepper: type(stepper).__name__,
)
def test_both_loops_tell_the_same_of_a_closed_chain(stepper):
    """Rows, their forces and choices too; a torque that jumps makes adapted steps fail on the way."""
    law = {"motor": "3*sin(40*t) + 15*(1 + tanh(400*(t - 0.05)))"}
    native, plain = both(kb.load("four-bar"), 0.08, stepper=stepper, save_every=0.0137, control=law, check=False)
    assert plain.effort.steps == native.effort.steps
    assert plain.effort.rejected == native.effort.rejected
    assert (plain.effort.rejected > 0) == (not stepper.pace.is_fixed)
    assert [rank for _, rank in plain.effort.choices] == [rank for _, rank in native.effort.choices]
    assert [t for t, _ in plain.effort.choices] == pytest.approx([t for t, _ in native.effort.choices], rel=1e-9)
    assert plain.effort.jolt == pytest.approx(native.effort.jolt, rel=1e-3, abs=1e-11)
    for name in ("time", "q", "v", "acceleration", "constraint_force", "work", "inputs"):
        size = np.abs(getattr(native, name)).max()
        assert getattr(plain, name) == pytest.approx(getattr(native, name), rel=1e-6, abs=1e-7 * size)


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda stepper: type(stepper).__name__)
def test_an_event_may_be_a_time(stepper):
    native, plain = both(swinging(), 0.5, stepper=stepper, stop="t > 0.12345")
    for run in (native, plain):
        assert run.status.ending is Ending.STOPPED
        assert run.status.time == run.time[-1] == pytest.approx(0.12345, rel=1e-12)


def test_scipys_method_records_what_the_compiled_loop_does():
    """Samples off its steps and at the end, work, forces and rows; and an event, which may be a time."""
    options = {"save_every": 0.0137, "control": {"motor": "3*sin(40*t)"}, "check": False}
    plant = kb.build(kb.load("four-bar"))
    sharp = kb.simulate(plant, 0.1, stepper=sharp_stepper(), **options)
    stiff = kb.simulate(plant, 0.1, stepper=kb.Radau(1e-9, 1e-11), **options)
    assert stiff.time == pytest.approx(sharp.time, abs=1e-14)
    assert 0 < stiff.effort.steps < 1000
    assert [rank for _, rank in stiff.effort.choices] == [rank for _, rank in sharp.effort.choices]
    for name in ("q", "v", "acceleration", "constraint_force", "work", "inputs"):
        size = np.abs(getattr(sharp, name)).max()
        assert getattr(stiff, name) == pytest.approx(getattr(sharp, name), abs=1e-6 * size)
    for stop in ("abs(crank.angle - 1) > 0.02", "t > 0.0623"):
        ends = [
            kb.simulate(plant, 0.1, stepper=s, stop=stop, **options) for s in (sharp_stepper(), kb.Radau(1e-9, 1e-11))
        ]
        assert [run.status.ending for run in ends] == [Ending.STOPPED] * 2
        assert ends[1].status.time == ends[1].time[-1] == pytest.approx(ends[0].status.time, rel=1e-6)
        assert len(ends[1].time) == len(ends[0].time)
        assert ends[1].work[-1] == pytest.approx(ends[0].work[-1], rel=1e-5)


def sharp_stepper() -> kb.DormandPrince:
    return kb.DormandPrince(1e-11, 1e-13)
