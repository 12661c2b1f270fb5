"""Laws that believe wrong numbers: what is left of the error, and what a robust or an adaptive term takes away."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import brentq

import kalaba as kb
from kalaba.errors import ControlError

MASS, GRAVITY, FREQUENCY = 2.0, 9.81, 20.0
WRONG = 1.6  # kg, what the law believes


def lift() -> kb.System:
    """One mass on a vertical slider."""
    body = kb.Body("load", kb.Solid(MASS), joint=kb.Prismatic(kb.Z))
    return kb.System("lift", parts=(body, kb.Actuator("motor", "load.travel")), gravity=(0, 0, -GRAVITY))


def error_at_rest(damping: float = 1.0, correction: object = None, model: float = WRONG) -> float:
    """Wanted minus found after 3 s at one place."""
    made = kb.servo(
        lift(),
        kb.follow("load.travel", 0.0),
        frequency=FREQUENCY,
        damping=damping,
        model={"load.mass": model},
        correction=correction,
    )
    return -float(kb.simulate(lift(), 3.0, control=made, stepper=kb.RungeKutta4(1e-3))["load.travel"][-1])


def missing(model: float = WRONG) -> float:
    """What u = m̂ (g + a) leaves out: the mass has ẍ = (m̂/m) (a − d), d = (m/m̂ − 1) g."""
    return GRAVITY * (MASS / model - 1)


@pytest.mark.parametrize("model", [WRONG, 2.4])
def test_a_wrong_mass_leaves_the_error_of_its_missing_weight(model):
    assert error_at_rest(model=model) == pytest.approx(missing(model) / FREQUENCY**2, rel=1e-9)


def test_the_right_mass_leaves_none():
    assert abs(error_at_rest(model=MASS)) < 1e-12


@pytest.mark.parametrize(("damping", "slope"), [(0.6, 12.0), (1.0, 20.0), (1.25, 10.0)])
def test_a_robust_term_leaves_the_error_of_its_equation(damping, slope):
    """At rest z = λ e, and ω² e + ρ z/(|z| + ε) = d; for ζ = 1.25 λ = ω (1.25 − 0.75)."""
    bound, width, d = 6.0, 0.05, missing()

    def left(e: float) -> float:
        return FREQUENCY**2 * e + bound * slope * e / (slope * e + width) - d

    found = error_at_rest(damping, kb.Robust(bound, width))
    assert found == pytest.approx(brentq(left, 0.0, d / FREQUENCY**2, xtol=1e-15), rel=1e-6)
    assert slope * found <= width * d / (bound - d)


@pytest.mark.parametrize("damping", [0.6, 1.0, 1.25])
def test_an_estimate_ends_at_what_is_missing(damping):
    assert abs(error_at_rest(damping, kb.Adaptive(300.0))) < 1e-6
    assert abs(error_at_rest(damping)) > 5e-3


def test_an_estimate_grows_by_its_gain_times_the_error():
    """Samples by hand: u = m̂ (g + 2 ω ė + ω² e + d̂), d̂ the sum of Γ z/rate so far."""
    plant = kb.build(lift())
    made = kb.servo(plant, kb.follow("load.travel", 0.0), model={"load.mass": WRONG}, correction=kb.Adaptive(300.0))
    law = made.law(plant, made.start(plant))
    assert isinstance(law, kb.Sampled)
    state, estimate = law.state, 0.0
    for place, speed in ((-0.01, 0.2), (-0.02, 0.2), (0.005, -0.3)):
        found, state = law.function(0.0, np.array([place]), np.array([speed]), state)
        e, rate = -place, -speed
        estimate += 300.0 * (rate + 20.0 * e) / 1000.0
        assert found[0] == pytest.approx(WRONG * (GRAVITY + 2 * 20.0 * rate + 400.0 * e + estimate), rel=1e-12)


PLANT = kb.build(kb.load("pus-upu"))
CIRCLE = kb.follow("platform", kb.path.circle(0.2, 0.125, 0.25, centre=tuple(PLANT.pose("platform", PLANT.start.q)[0])))
MASSES = {p.name: p.value for p in PLANT.machine.parameters if p.name.endswith(".mass")}


def test_a_law_that_believes_a_model_is_the_law_of_that_machine():
    model = {name: value * (0.8 if "rod" in name else 1.2) for name, value in MASSES.items()}
    other = PLANT.with_parameters(model)
    believing, right = kb.servo(PLANT, CIRCLE, model=model), kb.servo(other, CIRCLE)
    course = right.bind(other).course
    state = course.at(0.7, course.start.q)
    bound = (believing.bind(PLANT), right.bind(other), right.bind(PLANT))
    for own, expected, unlike in zip(*(each.numbers(state, 0.7) for each in bound), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
        assert np.abs(own - unlike).max() > 1e-3 * np.abs(unlike).max()


@cache
def furthest(factor: float, correction: object = None) -> float:
    """How far the platform is from its circle, at most in a second, with all masses taken for `factor` times."""
    model = {name: factor * value for name, value in MASSES.items()}
    made = kb.servo(PLANT, CIRCLE, model=model, correction=correction)
    run = kb.simulate(PLANT, 1.0, control=made)
    found = np.column_stack([run[f"platform.{axis}"] for axis in "xyz"])
    return float(np.linalg.norm(found - CIRCLE.path.at(run.time).position, axis=1).max())


@pytest.mark.parametrize("factor", [0.8, 1.2])
@pytest.mark.parametrize("correction", [kb.Robust(6.0, 0.01), kb.Adaptive(1e4)], ids=["robust", "adaptive"])
def test_masses_wrong_by_a_fifth_leave_a_tenth_of_the_error_at_most(factor, correction):
    plain, kept = furthest(factor), furthest(factor, correction)
    assert plain > 3e-3
    assert kept < plain / 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": {"load.mas": 1.0}}, "servo.model: lift has no parameter 'load.mas'; did you mean load.mass"),
        ({"model": {"load.mass": "heavy"}}, "servo.model: expected {a text: a number}, got {'load.mass': 'heavy'}."),
        ({"correction": 3.0}, "servo.correction: expected a Correction or None, got 3.0."),
    ],
)
def test_what_is_no_model_or_correction_is_refused(options, message):
    with pytest.raises(ControlError) as caught:
        kb.servo(lift(), kb.follow("load.travel", 0.0), **options)
    assert str(caught.value).startswith(message)


def test_a_number_that_shapes_the_equations_cannot_be_believed_otherwise():
    plant = kb.build(kb.load("flexible-four-bar"))
    structural = next(p.name for p in plant.machine.parameters if p.is_structure)
    with pytest.raises(ControlError, match="shapes the equations"):
        kb.servo(plant, kb.posture(), model={structural: 1.0})


@pytest.mark.parametrize("made", [lambda: kb.Robust(0.0, 1.0), lambda: kb.Robust(1.0, -1.0), lambda: kb.Adaptive(0.0)])
def test_gains_are_above_zero(made):
    with pytest.raises(ControlError, match="expected a number above zero"):
        made()
