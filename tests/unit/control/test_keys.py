"""Laws that differ in one setting do not share their compiled code, and motors give no more than their limits."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.plant.laws import controller, law_function

HINGE = kb.Revolute(-kb.Y)
Q, V, T = np.array([0.85, -1.1]), np.array([0.3, -0.2]), 0.3  # off the path, so that every gain counts


def arm(limits=(60.0, 50.0, 40.0)) -> kb.System:
    """Two links; the second is driven twice."""
    driven = ("upper.angle", "lower.angle", "lower.angle")
    return kb.System(
        "arm",
        parts=(
            kb.Body("upper", kb.Rod(0.5, mass=2.0), joint=HINGE),
            kb.Body("lower", kb.Rod(0.4, mass=1.0), parent="upper.tip", joint=HINGE),
            *(
                kb.Actuator(f"motor{i}", name, limit=limit)
                for i, (name, limit) in enumerate(zip(driven, limits, strict=True), 1)
            ),
        ),
        start=kb.Start(hold={"upper.angle": 0.9, "lower.angle": -1.2}),
    )


def goals(amplitude=0.2):
    return kb.follow("upper.angle", f"0.9 + {amplitude}*sin(3*t)"), kb.follow("lower.angle", "-1.2 + 0.1*t")


def servo(plant, **how):
    return kb.servo(plant, **({"goals": goals()} | how))


SETTINGS = {
    "plain": {},
    "frequency": {"frequency": 7.0},
    "damping": {"damping": 0.4},
    "model": {"model": {"lower.mass": 1.5}},
    "other model": {"model": {"lower.mass": 2.5}},
    "robust": {"correction": kb.Robust(5.0, 0.1)},
    "wider": {"correction": kb.Robust(5.0, 0.3)},
    "firmer": {"correction": kb.Robust(9.0, 0.1)},
    "two motors": {"actuators": ("motor1", "motor2")},
    "other motors": {"actuators": ("motor1", "motor3")},
    "weights": {"allocation": kb.LeastSquares((1.0, 1.0, 3.0))},
    "other weights": {"allocation": kb.LeastSquares((1.0, 1.0, 5.0))},
    "flat": {"allocation": kb.MinMax()},
    "bounded": {"allocation": kb.Bounded((-50.0, -1.0, -50.0), (50.0, 1.0, 50.0))},
    "other bounds": {"allocation": kb.Bounded((-50.0, -0.5, -50.0), (50.0, 0.5, 50.0))},
    "path": {"goals": goals(0.25)},
    "held": {"goals": (kb.posture(),)},
}


def efforts(plant, control):
    law = control.law(plant, control.start(plant))
    return law_function(plant, law)(plant.pack(Q, V, T, rows="start"))[:3]


@pytest.fixture(scope="module")
def one_plant():
    return kb.build(arm())


@pytest.fixture(scope="module")
def expected():
    """Each alone, on a machine of its own, interpreted: nothing is kept from one to the next."""
    return {
        name: efforts(plant := kb.build(arm(), backend=kb.Interpreted()), servo(plant, **how))
        for name, how in SETTINGS.items()
    }


def test_every_setting_changes_the_efforts(expected):
    names = list(expected)
    apart = [np.abs(expected[a] - expected[b]).max() for i, a in enumerate(names) for b in names[:i]]
    assert min(apart) > 1e-3  # N·m: what follows would notice a law that took another's code


@pytest.mark.parametrize("name", SETTINGS)
def test_servos_that_differ_in_one_setting_are_compiled_apart(name, one_plant, expected):
    """On one plant, one after the other."""
    assert efforts(one_plant, servo(one_plant, **SETTINGS[name])) == pytest.approx(expected[name], abs=1e-10)


@pytest.mark.parametrize("name", SETTINGS)
def test_so_are_the_numbers_of_inverse_dynamics_and_solvers(name, one_plant):
    """S and r of each servo on the one plant, and on an interpreted one of its own."""
    how = SETTINGS[name]
    oracle = kb.build(arm(), backend=kb.Interpreted())
    found, wanted = (servo(plant, **how).bind(plant).numbers(kb.State(Q, V), T) for plant in (one_plant, oracle))
    for part, same in zip(found, wanted, strict=True):
        np.testing.assert_allclose(part, same, rtol=0, atol=1e-10)


@pytest.mark.parametrize("rule", [kb.MinMax(), kb.Bounded()])
def test_limits_of_other_motors_are_other_numbers(rule):
    """The share of the third motor depends on how strong it is; kernels are kept in memory from machine to machine."""
    found = []
    for limits in ((60.0, 50.0, 40.0), (60.0, 50.0, 0.3), (60.0, 50.0, 0.1)):
        native, oracle = kb.build(arm(limits)), kb.build(arm(limits), backend=kb.Interpreted())
        given = efforts(native, servo(native, allocation=rule))
        assert given == pytest.approx(efforts(oracle, servo(oracle, allocation=rule)), abs=1e-10)
        found.append(given[2])
    assert abs(found[1]) <= 0.3
    assert abs(found[2]) <= 0.1
    assert len(set(np.round(found, 6))) == 3


def test_an_estimate_is_kept_apart_by_gain_and_feedback(one_plant):
    """Adaptive laws are sampled: d̂ grows by Γ z / rate with z = ė + λ e."""
    for frequency, damping, gain in ((20.0, 1.0, 50.0), (7.0, 1.0, 50.0), (20.0, 0.4, 50.0), (20.0, 1.0, 90.0)):
        how = {"frequency": frequency, "damping": damping, "correction": kb.Adaptive(gain)}
        made = servo(one_plant, **how)
        law = made.law(one_plant, made.start(one_plant))
        _, estimate = law.function(T, Q, V, law.state)
        wanted = np.array([0.9 + 0.2 * np.sin(3 * T), -1.2 + 0.1 * T])
        speed = np.array([0.6 * np.cos(3 * T), 0.1])
        z = speed - V + damping * frequency * (wanted - Q)
        assert estimate == pytest.approx(gain / 1000.0 * z, rel=1e-10)


def test_laws_in_words_are_compiled_apart(one_plant):
    for text, value in (("2*t", 0.6), ("3*t", 0.9), ("3*t + upper.angle", 1.75), ("rate(upper.angle)", 0.3)):
        law = controller({"motor2": text}, "test").law(one_plant, one_plant.start)
        given = law_function(one_plant, law)(one_plant.pack(Q, V, T, rows="start"))[:3]
        assert given == pytest.approx([0.0, value, 0.0], abs=1e-14)


@pytest.mark.parametrize("rule", [kb.LeastSquares(), kb.MinMax(), kb.Bounded((-500.0,) * 3, (500.0,) * 3)])
def test_motors_give_no_more_than_their_limits_whatever_the_rule_allows(rule):
    """Bounds wider than the limits do not widen them; far from its path the servo asks for more."""
    limits = (4.0, 2.0, 1.0)
    plant = kb.build(arm(limits))
    control = servo(plant, allocation=rule)
    law = control.law(plant, control.start(plant))
    packed = plant.pack(Q + np.array([-0.8, 0.9]), V, T, rows="start")
    asked = law_function(plant, law, limited=False)(packed)[:3]
    assert (np.abs(asked) > limits).all()
    assert law_function(plant, law)(packed)[:3] == pytest.approx(np.sign(asked) * limits, abs=1e-14)


def test_bounds_narrower_than_the_limits_hold_on_each_side():
    plant = kb.build(arm())
    control = servo(plant, allocation=kb.Bounded((-3.0, -0.5, -0.25), (2.0, 0.75, 0.125)))
    low, high = control.law(plant, control.start(plant)).range(plant)
    assert low.tolist() == [-3.0, -0.5, -0.25]
    assert high.tolist() == [2.0, 0.75, 0.125]
