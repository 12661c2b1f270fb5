"""The default stepper keeps its tolerance, and its implicit pair does all that the explicit one does."""

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import kalaba as kb
from kalaba.results.run import Ending

G = 9.81
SHARP = kb.DormandPrince(rtol=1e-11, atol=1e-13)
RTOL = 1e-6  # of the default
RUN = 5.0  # a run of some hundred steps ends within so many of its tolerance
FAST = 1e4  # 1/s, of a motion that is stiff beside one of 1 /s


def slider(stiffness: float, damping: float = 0.0, place: float = 0.1) -> kb.System:
    """One kilogram on a spring and a damper."""
    parts = (
        kb.Body("m", kb.Box((0.1, 0.1, 0.1), mass=1.0), joint=kb.Prismatic(kb.X)),
        kb.Spring("spring", "m.travel", stiffness=stiffness, damping=damping),
        kb.Actuator("motor", "m.travel"),
    )
    return kb.System("slider", parts, gravity=(0, 0, 0), start=kb.Start(hold={"m.travel": place}))


def swinging(t: np.ndarray) -> np.ndarray:
    return 0.1 * np.cos(10.0 * t)


def damped(t: np.ndarray) -> np.ndarray:
    """Of 10 rad/s, with a tenth of the critical damping."""
    rate = 10.0 * np.sqrt(0.99)
    return 0.1 * np.exp(-t) * (np.cos(rate * t) + np.sin(rate * t) / rate)


def pendulum() -> kb.System:
    """A rod of 1 m, let go from the horizontal."""
    return kb.System("pendulum", (kb.Body("rod", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.Y)),))


def falling(t: np.ndarray) -> np.ndarray:
    """Angle about y from the horizontal: sin(φ/2) = k sn(K - ω t), φ from the vertical."""
    rate, m = np.sqrt(1.5 * G), 0.5
    sn = ellipj(ellipk(m) - rate * t, m)[0]
    return np.pi / 2 - 2 * np.arcsin(np.sqrt(m) * sn)


CLOSED_FORMS = {
    "spring": (lambda: slider(100.0), swinging),
    "damped spring": (lambda: slider(100.0, 2.0), damped),
    "pendulum": (pendulum, falling),
}


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_a_run_ends_within_its_tolerance(name, rtol):
    made, exact = CLOSED_FORMS[name]
    run = kb.simulate(made(), 5.0, stepper=kb.Auto(rtol=rtol, atol=1e-3 * rtol))
    motion = exact(run.time)
    off = np.abs(run.q[:, 0] - motion).max() / np.abs(motion - motion[0]).max()
    assert off < RUN * rtol
    assert run.accuracy.error.size < RUN * rtol
    assert run.accuracy.error.size > off / 20  # what it says of itself is no flattery


def test_a_free_body_turns_by_its_tolerance():
    """Euler's equations of a symmetric body: ω turns about the axis of symmetry at (I₃ - I₁) ω₃ / I₁."""
    body = kb.Body("body", kb.Solid(1.0, inertia=(0.2, 0.2, 0.3)), joint=kb.Free())
    run = kb.simulate(
        kb.System("body", (body,), gravity=(0, 0, 0)), 5.0, start=((0, 0, 0, 1, 0, 0, 0), (1, 0, 0, 2, 0, 5))
    )
    angle = 0.5 * 5 * run.time
    exact = np.stack([2 * np.cos(angle), 2 * np.sin(angle), np.full_like(angle, 5.0)], axis=1)
    assert np.abs(run.v[:, 3:] - exact).max() < 5.0 * RUN * RTOL
    assert np.abs(np.linalg.norm(run.q[:, 3:], axis=1) - 1).max() < 1e-15
    assert np.abs(run.q[:, 0] - run.time).max() < 5.0 * RUN * RTOL


@cache
def plant_of(name: str) -> kb.Plant:
    made = {"slider": lambda: slider(FAST, 20.0), "top": top, "beam": beam}
    return kb.build(made[name]() if name in made else kb.load(name))


def top() -> kb.System:
    solid = kb.Solid(2.0, com=(0, 0, 0.3), inertia=(0.1, 0.12, 0.05))
    return kb.System("top", (kb.Body("top", solid, joint=kb.Spherical()),))


def beam() -> kb.System:
    """A satellite with a beam of three modes."""
    blade = kb.Beam(
        2.0, kb.Rectangle(0.05, 0.01), density=2700, young=70e9, shapes=kb.ClampedFree(3), bending=(kb.Y,), damping=0.01
    )
    base = kb.Body("base", kb.Box((0.5, 0.5, 0.5), mass=50.0))
    arm = kb.Body("arm", blade, parent="base", at=(0.25, 0, 0), joint=kb.Revolute(kb.Z))
    return kb.System("satellite", (base, arm, kb.Actuator("motor", "arm.angle")), gravity=(0, 0, 0))


def sampled() -> kb.Sampled:
    return kb.Sampled(lambda t, q, v: {"motor": 2.0 * np.cos(8.0 * t) - 3.0 * v[0]}, 37.0)


def servo(name: str) -> Callable[[], object]:
    return lambda: kb.scenario(name).control


# machine, what drives it, duration, stabilisation
CASES: dict[str, tuple[str, Callable[[], object], float, object]] = {
    "rows": ("four-bar", lambda: {"motor": "0.2*(10 - rate(crank.angle))"}, 0.5, kb.Projection()),
    "dependent rows": ("bennett", lambda: None, 0.5, kb.Projection()),
    "quaternions": ("top", lambda: None, 0.3, kb.Projection()),
    "velocity rows": ("differential-drive", servo("differential-drive"), 0.5, kb.Projection()),
    "Baumgarte": ("four-bar", lambda: None, 0.5, kb.Baumgarte()),
    "no stabilisation": ("four-bar", lambda: None, 0.5, kb.NoStabilisation()),
    "structure": ("beam", lambda: {"motor": "5*sin(5*t)"}, 0.2, kb.Projection()),
    "sampled law": ("slider", sampled, 1.0, kb.Projection()),
    "servo": ("planar-parallel", servo("planar-parallel"), 0.3, kb.Projection()),
    "carry": ("two-arm-carry", servo("two-arm-carry"), 0.1, kb.Projection()),
}


@cache
def run_of(name: str, stepper: kb.steppers.Stepper) -> kb.Run:
    machine, drive, duration, stabilisation = CASES[name]
    plant = plant_of(machine)
    options = {"control": drive(), "stabilisation": stabilisation, "save_every": 0.0137}
    if machine == "top":
        options["start"] = (plant.start.q, (0.5, 0.3, 20.0))
    return kb.simulate(plant, duration, stepper=stepper, **options)


SLOW = {"carry"}  # to compile the tangent of its law
IMPLICIT = kb.Kvaerno(1e-8, 1e-11)


@pytest.mark.parametrize(
    ("name", "stepper"),
    [
        *(pytest.param(name, kb.Auto(), id=f"{name}-auto") for name in CASES),
        *(
            pytest.param(name, IMPLICIT, id=f"{name}-kvaerno", marks=[pytest.mark.long] if name in SLOW else [])
            for name in CASES
        ),
    ],
)
def test_both_methods_give_the_motion_of_a_sharp_run(name, stepper):
    """Samples lie between steps."""
    run, exact = run_of(name, stepper), run_of(name, SHARP)
    assert run.status.ending is Ending.DONE
    for ours, theirs, origin in ((run.q, exact.q, exact.q[0]), (run.v, exact.v, 0.0)):
        extent = np.maximum(np.abs(theirs - origin).max(axis=0), 1e-2 * np.abs(theirs - origin).max())
        assert (np.abs(ours - theirs).max(axis=0) / extent).max() < 20 * RTOL
    if run.plant.constraints and not isinstance(CASES[name][3], kb.Baumgarte | kb.NoStabilisation):
        assert run.worst.value < 1e-9


def changes(run: kb.Run) -> list[str]:
    return [change.stepper for change in run.effort.changes]


def test_a_stiff_damper_is_stepped_implicitly():
    """k = 1e4 N/m and c = 1e5 N s/m on 1 kg: x = x₀ exp(-0.1 t) but for 1e-5 of it, beside rates of 1e5 /s."""
    run = kb.simulate(slider(1e4, 1e5), 20.0)
    fast, slow = np.roots([1.0, 1e5, 1e4])
    exact = 0.1 * (fast * np.exp(slow * run.time) - slow * np.exp(fast * run.time)) / (fast - slow)
    assert np.abs(run.q[:, 0] - exact).max() < 0.1 * RUN * RTOL
    assert changes(run) == ["Kvaerno"]
    change = run.effort.changes[0]
    assert change.rate == pytest.approx(1e5, rel=0.01)  # measured by the stages
    assert change.time < 0.01
    assert run.effort.steps < 200  # of 600,000 that stability allows explicit ones
    assert (
        run.effort.method
        == f"Kvaerno from t = {change.time:.4g} s on: stability limits explicit steps, rates up to 1e+05 /s"
    )
    assert run.accuracy.verdict.value == "good"


FADING = "1e6/(1 + exp(min(40*(t - 5), 200)))"  # N s/m, gone after 5 s


def test_where_a_motion_is_stiff_no_longer_steps_are_explicit_again():
    law = {"motor": f"5*sin(9*t) - {FADING}*rate(m.travel)"}
    plant = kb.build(slider(100.0, 0.1))
    run = kb.simulate(plant, 40.0, control=law)
    assert changes(run) == ["Kvaerno", "DormandPrince"]
    forth, back = run.effort.changes
    assert forth.time < 0.1
    assert 5 < back.time < 15
    assert run.effort.method.endswith("s on: no longer stiff")
    exact = kb.simulate(plant, 40.0, control=law, stepper=kb.Kvaerno(1e-10, 1e-13))
    assert np.abs(run.q - exact.q).max() < 20 * RTOL * np.ptp(exact.q)


def test_a_motion_that_is_not_stiff_stays_explicit_and_says_so():
    run = kb.simulate(pendulum(), 1.0)
    assert run.effort.changes == ()
    assert run.effort.method == "explicit throughout: the motion is not stiff"
    assert not run.effort.is_stiff


def test_few_stiff_steps_are_taken_as_they_are():
    run = kb.simulate(slider(1e4, 1e3), 0.5)
    assert run.effort.changes == ()
    assert run.effort.is_stiff
    assert re.fullmatch(
        r"explicit throughout: rates up to [\d.e+]+ /s limit the steps, but few lie ahead", run.effort.method
    )


def test_a_law_on_every_coordinate_stays_explicit_and_says_so():
    law = kb.control.IdealServo((kb.follow("m.travel", "0.1 + 0.01*sin(t)"),), frequency=1e5)
    run = kb.simulate(slider(100.0), 1.0, start=((0.11,), (0.0,)), control=law)
    assert run.effort.changes == ()
    assert "limit the steps, but implicit steps do not know a law that pushes every coordinate" in run.effort.method


STEPPERS = [
    kb.Auto(),
    kb.DormandPrince(),
    kb.Kvaerno(),
    kb.RungeKutta4(1e-3),
    kb.Newmark(1e-3),
    kb.SemiImplicitEuler(1e-3),
]


@pytest.mark.parametrize("stepper", STEPPERS, ids=lambda stepper: stepper.name)
def test_limits_end_a_run_with_a_status(stepper):
    plant = plant_of("four-bar")
    run = kb.simulate(plant, 100.0, stepper=stepper, max_steps=20, check=False)
    assert run.status.ending is Ending.STEP_LIMIT
    assert run.effort.steps == 20
    assert 0 < run.status.time < 10
    assert "the limit of steps is reached. Raise max_steps" in run.status.message
    run = kb.simulate(plant, 1e6, stepper=stepper, max_time=0.2, check=False, save_every=1e3)
    assert run.status.ending is Ending.TIME_LIMIT
    assert 0.2 <= run.effort.wall_time < 2.0
    with pytest.raises(kb.errors.IntegrationError, match=r"the limit of wall time is reached\. Raise max_time"):
        kb.simulate(plant, 1e6, stepper=stepper, max_time=0.05, save_every=1e3)


@pytest.mark.parametrize("stepper", [kb.Auto(), IMPLICIT], ids=("auto", "kvaerno"))
def test_an_event_between_steps_is_the_last_sample(stepper):
    run = kb.simulate(plant_of("slider"), 1.0, stepper=stepper, stop="m.travel < 0.05")
    assert run.status.ending is Ending.STOPPED
    rate = np.sqrt(FAST - 100.0)
    at = 10.0 * run.status.time, rate * run.status.time
    assert np.exp(-at[0]) * (np.cos(at[1]) + 10 / rate * np.sin(at[1])) == pytest.approx(0.5, abs=20 * RTOL)
    assert run.q[-1, 0] == pytest.approx(0.05, abs=1e-9)
    assert run.time[-1] == run.status.time


@pytest.mark.parametrize("machine", ["slider", "four-bar", "top"])
def test_errors_of_the_implicit_pair_fall_with_a_power_of_its_steps(machine):
    """A step's error estimate is of order 5 in it, and so is what Newton's method leaves: all of them, of order 4."""
    plant = plant_of(machine)
    start = (plant.start.q, (0.5, 0.3, 20.0)) if machine == "top" else None

    def end(stepper):
        run = kb.simulate(plant, 0.5, start=start, stepper=stepper, save_every=0.5)
        return run.q[-1], run.effort.steps

    exact, _ = end(SHARP)
    (coarse, few), (fine, many) = (end(kb.Kvaerno(rtol, 1e-3 * rtol)) for rtol in (1e-5, 1e-9))
    assert np.log(np.abs(coarse - exact).max() / np.abs(fine - exact).max()) / np.log(many / few) > 3.7


@pytest.mark.parametrize("modes", [2, 3, 4, 5])
def test_a_beam_with_fast_modes_takes_no_energy_from_nowhere(modes):
    """Up to 900 Hz, where steps of 1 ms are far beyond stability."""
    blade = kb.Beam(
        2.0,
        kb.Rectangle(0.05, 0.01),
        density=2700,
        young=70e9,
        shapes=kb.ClampedFree(modes),
        bending=(kb.Y,),
        damping=0.005,
    )
    base = kb.Body("base", kb.Box((0.5, 0.5, 0.5), mass=50.0))
    arm = kb.Body("arm", blade, parent="base", at=(0.25, 0, 0), joint=kb.Revolute(kb.Z))
    system = kb.System("satellite", (base, arm, kb.Actuator("motor", "arm.angle")), gravity=(0, 0, 0))
    run = kb.simulate(system, 1.0, control={"motor": "5*sin(5*t)"})
    assert np.abs(run.energy_balance).max() < 1e-5 * np.abs(run.work).max()
    assert run.accuracy.verdict.value == "good"


def four_bar(size: float, speed: float = 0.0) -> kb.System:
    """Links of 1, 2 and 1.5 sizes under gravity, whose rates grow as the size falls."""
    hinge = kb.Revolute(-kb.Y)
    links = (
        kb.Body("crank", kb.Rod(size, mass=1.0), joint=hinge),
        kb.Body("coupler", kb.Rod(2 * size, mass=2.0), parent="crank.tip", joint=hinge),
        kb.Body("rocker", kb.Rod(1.5 * size, mass=1.5), parent="coupler.tip", joint=hinge),
    )
    pin = kb.Connection("pin", "rocker.tip", at=(2 * size, 0, 0), joint=hinge)
    start = kb.Start(
        hold={"crank.angle": 1.0}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0}, speed={"crank.angle": speed}
    )
    return kb.System("four-bar", (*links, pin), start=start)


@pytest.mark.parametrize(
    ("size", "speed", "duration"), [(1e-6, 0.0, 1e-3), (1e-4, 0.0, 1e-2), (1e-4, 0.0, 0.5), (1.0, 250.0, 0.5)]
)
def test_fast_machines_keep_their_energy(size, speed, duration):
    """Far faster than a step of 1 ms follows: energy to 1e-4 of what moves, over some hundred turns."""
    run = kb.simulate(four_bar(size, speed), duration, save_every=duration / 50)
    exchanged = max(run.observed["kinetic"].max(), np.ptp(run.observed["potential"]))
    assert np.abs(run.energy_balance).max() < 1e-4 * exchanged
