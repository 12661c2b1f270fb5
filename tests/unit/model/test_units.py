"""Units follow from those of the displacements."""

import pytest

import kalaba as kb
from kalaba.model.text.expressions import parse
from kalaba.model.units import actuator_units, row_rate_units, row_units, unit_of
from kalaba.units import acceleration_unit, force_unit

MACHINE_PARTS = (
    kb.Parameter("stroke", 0.5, "m"),
    kb.Body("arm", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.Y)),
    kb.Body("slide", kb.Solid(1.0), joint=kb.Prismatic(kb.X)),
    kb.Actuator("turn", "arm.angle"),
    kb.Actuator("push", "2*slide.travel"),
    kb.Actuator("mixed", "slide.travel*arm.angle"),
    kb.Connection("nut", "slide", parent="arm", joint=kb.Screw(kb.X)),
    kb.Constraint("rows", {"a": "arm.tip.x - stroke*(1 - cos(pi*t))", "b": "arm.angle^2"}),
    kb.Constraint("traced", lambda m: m["arm.angle"]),
)
MACHINE = kb.System("units", parts=MACHINE_PARTS).machine


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("arm.angle", "rad"),
        ("-arm.angle - pi", "rad"),
        ("rate(arm.angle)", "rad/s"),
        ("rate(arm.angle*slide.travel)", ""),
        ("distance(arm, slide)/2", "m"),
        ("max(arm.tip.x, stroke)", "m"),
        ("arm.tip.x + arm.angle", ""),
        ("2/slide.travel", ""),
        ("sqrt(arm.tip.x)", ""),
        ("sqrt(2)*stroke", "m"),
        ("3", ""),
        ("t", ""),
    ],
)
def test_an_expression_of_one_unit_has_that_unit(text, unit):
    assert unit_of(MACHINE, parse(text)) == unit


def test_forces_are_power_dual():
    assert actuator_units(MACHINE) == ("N*m", "N", "")
    assert [force_unit(unit) for unit in ("m/s", "rad/s", "1/s", "kg")] == ["N", "N*m", "J", "W/(kg)"]
    assert [acceleration_unit(unit) for unit in ("m/s", "1")] == ["m/s^2", "1/s"]


def test_rows_have_the_unit_of_what_they_measure():
    assert row_units(MACHINE) == ("m", "m", "rad", "rad", "m", "m", "", "")


def test_a_row_at_velocity_level_is_its_own_rate():
    """A wheel that rolls: its rows are speeds already; those of a pin beside it are lengths."""
    cart = kb.Body("cart", kb.Box((1, 1, 1), mass=1.0), joint=kb.Planar(kb.Z))
    rolls = kb.Constraint("rolls", {"along": "rate(cart.x) - 0.1*rate(cart.angle)", "turn": "rate(cart.angle)"})
    tied = kb.Constraint("tied", "cart.y")
    machine = kb.System("wheel", parts=(cart, rolls, tied)).machine
    assert row_units(machine)[1:] == ("rad/s", "m")
    assert row_rate_units(machine)[1:] == ["rad/s", "m/s"]
    blade = kb.Constraint("blade", "rate(cart.y)*cos(cart.angle) - rate(cart.x)*sin(cart.angle)")
    sled = kb.System("sled", parts=(cart, blade)).machine
    assert row_rate_units(sled) == list(row_units(sled))


@pytest.mark.parametrize(
    ("along", "units"),
    [
        ("arm.angle", {"stiffness": "N*m/rad", "damping": "N*m*s/rad", "rest": "rad", "friction": "N*m"}),
        ("2*slide.travel", {"stiffness": "N/m", "damping": "N*s/m", "rest": "m", "friction": "N"}),
    ],
)
def test_numbers_of_springs_have_the_units_of_what_they_act_along(along, units):
    with_spring = kb.System("sprung", parts=(*MACHINE_PARTS, kb.Spring("spring", along, 1.0)))
    by_name = {parameter.name: parameter.unit for parameter in with_spring.machine.parameters}
    assert {name: by_name[f"spring.{name}"] for name in units} == units


@pytest.mark.parametrize(("along", "unit"), [("arm.angle", "kg*m^2"), ("slide.travel", "kg")])
def test_a_rotor_has_a_mass_along_a_travel(along, unit):
    machine = kb.System("geared", parts=(*MACHINE_PARTS, kb.Rotor("rotor", along, 0.1))).machine
    assert next(p.unit for p in machine.parameters if p.name == "rotor.inertia") == unit
