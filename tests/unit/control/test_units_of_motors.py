"""Forces and torques that share: by weights that do not depend on the units chosen, or not at all."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ControlError
from kalaba.model.units import actuator_units

RULES = (kb.LeastSquares(), kb.MinMax(), kb.Bounded())


def press(length: float = 1.0, mass: float = 1.0, *, limited: bool = True) -> kb.System:
    """A slider-crank that a torque and a force drive; a metre and a kilogram in the units in which it is described."""
    force, torque = mass * length, mass * length**2
    limits = (4.0 * torque, 25.0 * force) if limited else (np.inf, np.inf)
    return kb.System(
        "press",
        parts=(
            kb.Body("crank", kb.Rod(0.3 * length, mass=2.0 * mass), joint=kb.Revolute(-kb.Y)),
            kb.Body("rod", kb.Rod(0.8 * length, mass=1.0 * mass), parent="crank.tip", joint=kb.Revolute(-kb.Y)),
            kb.Body("ram", kb.Solid(3.0 * mass, inertia=(mass * length**2,) * 3), joint=kb.Prismatic(kb.X)),
            kb.Connection("pin", "rod.tip", parent="ram", joint=kb.Revolute(-kb.Y)),
            kb.Actuator("turn", "crank.angle", limit=limits[0]),
            kb.Actuator("push", "ram.travel", limit=limits[1]),
        ),
        gravity=(0, 0, -9.81 * length),
        start=kb.Start(hold={"crank.angle": 1.0}, guess={"rod.angle": -1.3, "ram.travel": 0.9 * length}),
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_same_machine_in_millimetres_and_grams_moves_alike_with_the_same_efforts(rule):
    """1 N is 1e6 g mm/s² and 1 N m is 1e9 g mm²/s²: motion and efforts are the same but for that."""
    goal = kb.follow("crank.angle", "1 + 0.5*sin(3*t)^2")
    metres, millimetres = (
        kb.simulate(system, 1.0, control=kb.servo(system, goal, allocation=rule))
        for system in (press(), press(1e3, 1e3))
    )
    assert np.abs(metres["crank.angle"] - millimetres["crank.angle"]).max() < 1e-9
    assert millimetres["ram.travel"] == pytest.approx(1e3 * metres["ram.travel"], abs=1e-6)
    peaks = np.abs(metres.actuation).max(axis=0)
    assert np.all(peaks > 0.1)  # both take part
    expected = millimetres.actuation / np.array([1e9, 1e6])
    assert np.abs(metres.actuation - expected).max(axis=0) == pytest.approx([0, 0], abs=1e-6 * peaks.max())


def test_without_weights_and_limits_it_is_refused_with_what_to_give():
    plant = kb.build(press(limited=False))
    goal = kb.follow("crank.angle", "1 + 0.1*t")
    for rule in (kb.LeastSquares(), kb.LeastSquares(preload=(1.0, 2.0)), kb.Bounded()):
        with pytest.raises(ControlError, match=r"turn in N\*m, push in N\. Give weights=.*or every motor a limit"):
            kb.servo(plant, goal, allocation=rule)
    with pytest.raises(ControlError, match=r"MinMax: .* turn in N\*m, push in N\. Give every motor a limit"):
        kb.servo(plant, goal, allocation=kb.MinMax())
    with pytest.raises(ControlError, match="different units"):
        kb.inverse_dynamics(plant, goal, times=[0.0])
    kb.servo(plant, goal, allocation=kb.LeastSquares((1.0, 0.04)))
    kb.servo(plant, goal, actuators="turn")  # without a spare motor there is nothing to weigh


def test_weights_that_are_given_are_taken():
    plant = kb.build(press())
    goal = kb.follow("crank.angle", "1 + 0.1*t")
    given = kb.inverse_dynamics(plant, goal, kb.LeastSquares((1.0, 1e-9)), times=[0.0]).actuation[0]
    assert abs(given[0]) < 1e-6 * abs(given[1])


def test_no_machine_of_the_catalogue_is_refused_for_it():
    """Of those whose motors have different units every motor has a limit, none is spare, or nothing is free."""
    for name, _ in kb.catalog():
        machine = kb.load(name).machine
        units = set(actuator_units(machine))
        if len(units) > 1:
            plant = kb.build(kb.load(name))
            freedoms = kb.check(plant).freedoms
            assert freedoms == 0 or len(plant.actuators) <= freedoms or np.isfinite(plant.limits).all(), name
