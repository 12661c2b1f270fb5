"""Steppers for structures: coefficients, stability and damping of one oscillator, refusals and failures."""

from math import pi

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import IntegrationError
from kalaba.results.run import Ending
from kalaba.run.task import stable_step
from kalaba.steppers.scheme import Scheme

OMEGA = 100.0  # rad/s
STABLE = [
    kb.WilsonTheta(1.0),
    kb.Newmark(1.0),
    kb.Newmark(1.0, beta=0.36, gamma=0.7),
    kb.HHT(1.0, 0.3),
    kb.GeneralisedAlpha(1.0, 0.0),
    kb.GeneralisedAlpha(1.0, 0.8),
    kb.GeneralisedAlpha(1.0, 1.0),
]


def named(stepper) -> str:
    return repr(stepper).replace("kalaba.steppers.", "")


def oscillator() -> kb.System:
    """A mass of 2 kg on a spring, released 1 m from rest."""
    slide = kb.Body("mass", kb.Box((0.1, 0.1, 0.1), mass=2.0), joint=kb.Prismatic(kb.X))
    spring = kb.Spring("spring", "mass.travel", stiffness=2 * OMEGA**2)
    return kb.System("oscillator", (slide, spring), gravity=(0, 0, 0), start=kb.Start(hold={"mass.travel": 1.0}))


@pytest.fixture(scope="module")
def plant() -> kb.Plant:
    return kb.build(oscillator())


@pytest.mark.parametrize("stepper", STABLE, ids=named)
def test_a_linear_structure_is_stable_at_any_step(plant, stepper):
    run = kb.simulate(plant, 200.0, stepper=stepper, save_every=1.0)  # ωh = 100
    assert np.abs(run.q[100:]).max() <= 1.01
    assert run.energy[-1] <= 1.01 * run.energy[0]


def test_wilson_first_overshoots_what_it_does_not_resolve(plant):
    """As Goudreau and Taylor (1972) found; then it is damped."""
    run = kb.simulate(plant, 20.0, stepper=kb.WilsonTheta(0.1), save_every=0.1)
    assert np.abs(run.q).max() > 10
    assert np.abs(run.q[50:]).max() < 1e-9


@pytest.mark.parametrize("radius", [0.0, 0.5, 0.8, 1.0])
def test_fast_motion_shrinks_by_the_spectral_radius(plant, radius):
    run = kb.simulate(plant, 400.0, stepper=kb.GeneralisedAlpha(10.0, radius), save_every=10.0)  # ωh = 1000
    if radius == 0.0:
        assert np.abs(run.q[10:]).max() < 1e-3  # ρ = 0 at infinity only
        return
    size = np.hypot(run.q[:, 0], run.v[:, 0] / OMEGA)
    factor = (size[35] / size[15]) ** (1 / 20)
    assert factor == pytest.approx(radius, abs=0.06)  # a double root: the size goes as (1 + ck) ρᵏ


def test_newmark_keeps_the_energy_of_a_linear_structure(plant):
    run = kb.simulate(plant, 2.0, stepper=kb.Newmark(5e-3))
    assert np.ptp(run.energy) < 1e-9 * run.energy[0]  # where Newton's method ends, 400 times


def test_central_differences_swing_and_do_not_drift(plant):
    run = kb.simulate(plant, 20.0, stepper=kb.CentralDifference(2e-3), save_every=2e-3)
    swings = run.energy.reshape(-1)[1:].reshape(20, -1)
    assert np.ptp(swings.max(axis=1)) < 1e-3 * run.energy[0]
    assert np.ptp(run.energy) < 0.02 * run.energy[0]  # (ωh)²/4


@pytest.mark.parametrize(("kind", "lengthening"), [(kb.Newmark, 1 / 12), (kb.CentralDifference, -1 / 24)])
def test_period_error_is_that_of_theory(plant, kind, lengthening):
    """Relative lengthening of the period, in (ωh)²: β/2 - 1/24 for γ = ½."""
    h = 1e-3
    run = kb.simulate(plant, 1.0, stepper=kind(h), save_every=1.0)
    phase = np.arctan2(-run.v[-1, 0] / OMEGA, run.q[-1, 0])
    lag = (OMEGA - phase + pi) % (2 * pi) - pi
    assert lag / OMEGA / (OMEGA * h) ** 2 == pytest.approx(lengthening, rel=0.05)


def test_the_limit_of_central_differences_is_computed(plant):
    assert stable_step(plant, plant.start) == pytest.approx(2 / OMEGA, rel=1e-12)
    with pytest.raises(IntegrationError, match=r"CentralDifference\(step=0.021\) is unstable.*below 2/ω = 0.02 s"):
        kb.simulate(plant, 1.0, stepper=kb.CentralDifference(0.021))
    assert np.abs(kb.simulate(plant, 10.0, stepper=kb.CentralDifference(0.0199)).q).max() < 20


def test_nothing_limits_the_step_where_nothing_swings():
    free = kb.System("free", (kb.Body("a", kb.Box((1, 1, 1), mass=1.0), joint=kb.Prismatic(kb.X)),), gravity=(0, 0, 0))
    plant = kb.build(free)
    assert stable_step(plant, plant.start) == np.inf


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: kb.WilsonTheta(0.0), "step must be above 0"),
        (lambda: kb.WilsonTheta(theta=0.9), "theta must be 1 or above"),
        (lambda: kb.Newmark(beta=0.0), "kb.CentralDifference"),
        (lambda: kb.Newmark(gamma=0.4), "1/2 <= gamma"),
        (lambda: kb.HHT(alpha=0.4), "from 0 .* to 1/3"),
        (lambda: kb.GeneralisedAlpha(spectral_radius=1.2), "spectral_radius must be from 0 to 1"),
        (lambda: kb.GeneralisedAlpha(formulation="dae"), "'acceleration' or 'arnold-bruls'"),
        (lambda: kb.GeneralisedAlpha(rtol=-1.0), "rtol and atol"),
        (lambda: kb.CentralDifference(-1.0), "step must be above 0"),
        (lambda: Scheme(beta=0.25, gamma=0.5, alpha_f=1.0), "α below 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(make, words):
    with pytest.raises(IntegrationError, match=words):
        make()


def test_a_step_without_solution_ends_the_run_with_time_and_remedy():
    """A force that jumps from one side to the other: the step ends on neither."""
    hard = kb.Force("wall", "mass", force=("-1e5*sign(mass.travel - 1)", 0, 0))
    system = oscillator()
    plant = kb.build(kb.System("wall", (*system.parts, hard), gravity=(0, 0, 0), start=system.start))
    run = kb.simulate(plant, 1.0, start=((0.5,), (30.0,)), stepper=kb.Newmark(0.05), check=False)
    assert run.status.ending is Ending.UNSOLVED
    assert "stopped at t = " in run.status.message
    assert "Try a smaller step" in run.status.message


def test_position_rows_cannot_be_met_by_rows_of_velocities():
    wheel = kb.Body("cart", kb.Box((1, 1, 1), mass=1.0), joint=kb.Planar(kb.Z, q=("x", "y", "a")))
    blade = kb.Constraint("blade", zero="rate(y)*cos(a) - rate(x)*sin(a)")
    plant = kb.build(kb.System("skate", (wheel, blade), coordinates=("x", "y", "a"), gravity=(0, 0, 0)))
    with pytest.raises(IntegrationError, match="rows at position level only"):
        kb.simulate(plant, 1.0, stepper=kb.GeneralisedAlpha(formulation="arnold-bruls"))
    start = ((0.0, 0.0, 0.3), (np.cos(0.3), np.sin(0.3), 0.5))
    run = kb.simulate(plant, 1.0, start=start, stepper=kb.GeneralisedAlpha(1e-2))
    assert np.abs(run.observed["speed_residual"]).max() < 1e-14
    assert run.v[-1] == pytest.approx([np.cos(0.8), np.sin(0.8), 0.5], abs=1e-4)


def test_baumgarte_is_refused_where_rows_close_themselves():
    with pytest.raises(IntegrationError, match="Leave Baumgarte out"):
        kb.simulate(
            kb.load("four-bar"),
            0.1,
            stepper=kb.GeneralisedAlpha(formulation="arnold-bruls"),
            stabilisation=kb.Baumgarte(),
        )


def test_events_and_samples_lie_between_steps(plant):
    run = kb.simulate(plant, 1.0, stepper=kb.Newmark(1e-4), stop="mass.travel < 0", save_every=3.3e-4)
    assert run.status.ending is Ending.STOPPED
    assert run.status.time == pytest.approx(pi / 2 / OMEGA, rel=1e-5)
    assert run.q[:, 0] == pytest.approx(np.cos(OMEGA * run.time), abs=2e-5)  # (ωh)²/12 of the phase


def test_a_stiff_feedback_law_is_part_of_the_tangent():
    system = oscillator()
    motor = kb.Actuator("motor", "mass.travel")
    plant = kb.build(kb.System("held", (*system.parts, motor), gravity=(0, 0, 0), start=system.start))
    law = {"motor": "-1e8*(mass.travel - 0.5) - 1e5*rate(mass.travel)"}
    run = kb.simulate(plant, 1.0, control=law, stepper=kb.GeneralisedAlpha(1e-2, 0.5))
    assert run.q[-1, 0] == pytest.approx(0.5 * 1e8 / (1e8 + 2 * OMEGA**2), abs=1e-6)
