"""Laws of the steppers for structures: order 2 on flexible, closed and rotating machines, closed rows, momentum."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import kalaba as kb
from flexible import CASE_A, floating_arm

SHARP = kb.DormandPrince(rtol=1e-11, atol=1e-12)
STEPPERS = {
    "wilson-theta": kb.WilsonTheta,
    "newmark": kb.Newmark,
    "hht": kb.HHT,
    "generalised-alpha": kb.GeneralisedAlpha,
    "arnold-bruls": lambda step: kb.GeneralisedAlpha(step, formulation="arnold-bruls"),
    "central-difference": kb.CentralDifference,
}
each_stepper = pytest.mark.parametrize("name", STEPPERS)
SINGULAR = [("five-bar", 0.5), ("sarrus", 0.35)]  # at 0.234 s and 0.258 s
PASSING = kb.RungeKutta4(1e-4)  # errors below 1e-9 there, where adapted steps end too near to one


def top() -> kb.System:
    """A body turning about a point, by quaternion, fast."""
    solid = kb.Solid(2.0, com=(0, 0, 0.3), inertia=(0.1, 0.12, 0.05))
    return kb.System("top", (kb.Body("top", solid, joint=kb.Spherical()),))


@cache
def plant_of(machine: str) -> kb.Plant:
    made = {"arm": floating_arm, "top": top}
    return kb.build(made[machine]() if machine in made else kb.load(machine))


@cache
def run_of(machine: str, duration: float, stepper) -> kb.Run:
    plant, control = plant_of(machine), CASE_A if machine == "arm" else None
    start = (plant.start.q, (0.5, 0.3, 20.0)) if machine == "top" else None
    return kb.simulate(plant, duration, start=start, control=control, stepper=stepper, save_every=duration / 50)


def difference(machine: str, duration: float, stepper, exact=SHARP) -> float:
    return float(np.abs(run_of(machine, duration, stepper).q - run_of(machine, duration, exact).q).max())


@each_stepper
@pytest.mark.parametrize(("machine", "duration"), [("arm", 1.0), ("four-bar", 0.3), ("five-bar", 0.2), ("top", 0.5)])
def test_error_falls_with_the_square_of_the_step(machine, duration, name):
    coarse, fine = (difference(machine, duration, STEPPERS[name](step)) for step in (1e-3, 5e-4))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)


@each_stepper
@pytest.mark.parametrize(("machine", "duration"), [("four-bar", 0.3), ("five-bar", 0.2), ("bennett", 0.5)])
def test_rows_stay_closed_to_rounding(machine, duration, name):
    run = run_of(machine, duration, STEPPERS[name](1e-3))
    assert np.abs(run.residual).max() < 1e-14
    assert np.abs(run.observed["speed_residual"]).max() < 1e-9 * np.abs(run.v).max()


@pytest.mark.parametrize(("name", "error"), [("wilson-theta", 0.239), ("newmark", 0.109), ("generalised-alpha", 0.116)])
def test_errors_on_the_floating_arm_are_the_published_ones(name, error):
    """Of the tip of B2, mm, at 1 ms: reference/floating-flexible-arm."""
    found, exact = (run_of("arm", 1.0, stepper)["link2.tip_deflection"] for stepper in (STEPPERS[name](1e-3), SHARP))
    assert 1e3 * np.abs(found - exact).max() == pytest.approx(error, rel=0.02)


def test_wilson_leaves_angular_momentum_behind_and_newmark_less():
    def left(name):
        return np.abs(run_of("arm", 1.0, STEPPERS[name](1e-3)).observed["momentum"][:, 5]).max()

    assert left("wilson-theta") == pytest.approx(9e-3, rel=0.1)
    assert left("newmark") < 1.1e-3
    assert left("generalised-alpha") < 1.1e-3


@each_stepper
def test_energy_balance_is_of_order_2(name):
    coarse, fine = (np.abs(run_of("arm", 1.0, STEPPERS[name](h)).energy_balance).max() for h in (1e-3, 5e-4))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.2)


@each_stepper
def test_jumps_of_sampled_control_cost_no_order(name):
    def control(t, q, v):
        return [800 * np.sin(np.pi * t), 400 * np.sin(np.pi * t), 50 * np.sin(np.pi * t)]

    def tip(stepper):
        sampled = kb.Sampled(control, rate=50)
        return kb.simulate(plant_of("arm"), 0.5, control=sampled, stepper=stepper)["link2.tip_deflection"]

    exact = tip(SHARP)
    coarse, fine = (np.abs(tip(STEPPERS[name](h)) - exact).max() for h in (1e-3, 5e-4))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)


def test_arnold_and_bruls_close_the_rows_without_projection():
    alone = kb.NoStabilisation()
    found = {}
    for formulation in ("arnold-bruls", "acceleration"):
        stepper = kb.GeneralisedAlpha(1e-3, formulation=formulation)
        run = kb.simulate(plant_of("four-bar"), 0.3, stepper=stepper, stabilisation=alone)
        found[formulation] = np.abs(run.residual).max()
    assert found["arnold-bruls"] < 1e-14
    assert found["acceleration"] > 1e-7


@pytest.mark.parametrize("formulation", ["acceleration", "arnold-bruls"])
def test_adapted_steps_follow_the_tolerance(formulation):
    def error(rtol):
        return difference("arm", 1.0, kb.GeneralisedAlpha(1e-4, rtol=rtol, atol=rtol / 100, formulation=formulation))

    errors = [error(rtol) for rtol in (1e-3, 1e-4, 1e-5)]
    assert errors[2] < 2e-3
    for coarse, fine in pairwise(errors):
        assert 3 < coarse / fine < 8  # 10^(2/3) = 4.6 for a method of order 2


def test_a_massless_rod_moves_as_with_runge_kutta():
    from unit.plant.test_singular_mass import slider_crank

    plant = kb.build(slider_crank())
    exact = kb.simulate(plant, 0.3, stepper=SHARP)
    for name, stepper in STEPPERS.items():
        run = kb.simulate(plant, 0.3, stepper=stepper(2.5e-4))
        assert np.abs(run.q - exact.q).max() < 2e-5, name


def test_singular_positions_come_near():
    """What the next tests rely on: a kept row all but vanishes on the way."""
    for machine, duration in SINGULAR:
        plant, run = plant_of(machine), run_of(machine, duration, PASSING)
        states = zip(run.q, run.v, strict=True)
        least = [np.linalg.svd(plant.constraint(q, v)[0])[1][plant.choice.rank - 1] for q, v in states]
        assert min(least) < 0.1 * least[0], machine


@each_stepper
@pytest.mark.parametrize(("machine", "duration"), SINGULAR)
def test_singular_positions_cost_no_order(machine, duration, name):
    """Newton's method needs the slopes of the rows there: A vanishes, and they alone tell where the step ends."""
    coarse, fine = (difference(machine, duration, STEPPERS[name](step), PASSING) for step in (1e-3, 5e-4))
    assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)
    runs = [run_of(machine, duration, STEPPERS[name](step)) for step in (1e-3, 5e-4)]
    assert max(np.abs(run.residual).max() for run in runs) < 1e-14
    gone = [np.abs(run.energy_balance).max() / np.ptp(run.observed["kinetic"]) for run in runs]
    assert gone[0] < 1e-3
    assert np.log2(gone[0] / gone[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize(("machine", "duration"), SINGULAR)
def test_small_steps_pass_singular_positions_with_rows_at_position_level(machine, duration):
    """There the rows say little of the step, so that rounding ends Newton's method."""
    assert difference(machine, duration, STEPPERS["arnold-bruls"](1e-4), PASSING) < 3e-5
