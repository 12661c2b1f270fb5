"""Static equilibrium: springs, hanging chains, closed loops, motors, and what cannot be balanced."""

from dataclasses import replace
from math import asin, atan2, pi

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ConstraintError, ModelError

G = 9.81


def chain(*angles: float, damping: float = 0.0) -> kb.System:
    hinge = kb.Revolute(kb.Y)
    return kb.System(
        "chain",
        (
            kb.Body("a", kb.Rod(1.0, mass=2.0, axis=-kb.Z), joint=hinge),
            kb.Body("b", kb.Rod(0.7, mass=1.0, axis=-kb.Z), parent="a.tip", joint=hinge),
            kb.Spring("friction", "b.angle", damping=damping),
            kb.Actuator("motor", "a.angle"),
        ),
        start=kb.Start(guess={"a.angle": angles[0], "b.angle": angles[1]}),
    )


def test_a_mass_on_a_spring_hangs_where_hooke_says():
    parts = (
        kb.Body("m", kb.Solid(3.0), joint=kb.Prismatic(kb.Z)),
        kb.Spring("s", "m.travel", stiffness=200.0, rest=0.1),
    )
    found = kb.equilibrium(kb.System("hanging", parts))
    assert found.q == pytest.approx([0.1 - 3.0 * G / 200.0], abs=1e-14)
    assert found.v == pytest.approx([0.0], abs=0.0)


@pytest.mark.parametrize("angles", [(1.0, 0.5), (pi / 2, 0.0), (3.0, -2.0), (-2.5, 3.0)])
def test_a_chain_hangs_down_from_any_start(angles):
    q, _ = kb.equilibrium(chain(*angles))
    assert np.sin(q) == pytest.approx([0, 0], abs=1e-12)
    assert np.cos(q) == pytest.approx([1, 1], abs=1e-12)


def test_an_unstable_equilibrium_near_the_start_is_the_one_meant():
    q, _ = kb.equilibrium(chain(pi - 0.03, 0.02))
    assert q == pytest.approx([pi, 0.0], abs=1e-12)


def test_a_motor_holds_a_chain_up():
    torque = 1.2
    q, _ = kb.equilibrium(chain(0.2, 0.1), actuation={"motor": torque})
    assert q[0] == pytest.approx(asin(torque / (G * (2.0 * 0.5 + 1.0))), abs=1e-12)
    assert q[1] == pytest.approx(-q[0], abs=1e-12)
    plant = kb.build(chain(0.2, 0.1), backend=kb.Interpreted())
    assert kb.equilibrium(plant, actuation=[torque]).q == pytest.approx(q, abs=1e-12)
    assert plant.motion(q, np.zeros(2), actuation=[torque]).acceleration == pytest.approx([0, 0], abs=1e-10)


def test_what_is_held_stays_and_the_rest_hangs():
    found = kb.equilibrium(chain(0.3, 0.3), hold={"a.angle": 0.8})
    assert found.q == pytest.approx([0.8, -0.8], abs=1e-12)


def four_bar() -> kb.System:
    machine = kb.load("four-bar")
    spring = kb.Spring("spring", "distance(crank.tip, anchor)", stiffness=300.0, rest=0.2)
    return machine.add(kb.Frame("anchor", at=(0.1, 0, 0.4)), spring)


@pytest.mark.parametrize("system", [kb.load("four-bar"), four_bar()], ids=["bare", "with spring"])
def test_a_closed_loop_rests_where_the_potential_is_stationary(system):
    plant = kb.build(system, backend=kb.Interpreted())
    q, v = kb.equilibrium(plant)
    assert np.abs(plant.residual(q)).max() < 1e-12
    assert np.abs(plant.motion(q, v).acceleration).max() < 1e-8
    here = kb.Start(guess=dict(zip(plant.coordinates, q, strict=True)))  # on the same branch of the loop
    there = replace(system, start=here)
    near = [kb.equilibrium(there, hold={"crank.angle": q[0] + step}).q for step in (-1e-3, 1e-3)]
    lowest = plant.energy(q, v).potential
    assert all(plant.energy(other, v).potential > lowest for other in near)  # a stable one


def test_a_ball_on_its_pivot_hangs_down():
    body = kb.Body("bob", kb.Rod(0.5, mass=1.0, axis=-kb.Z), joint=kb.Spherical())
    start = kb.Start(guess={"bob.qw": 0.8, "bob.qx": 0.6})
    plant = kb.build(kb.System("ball", (body,), start=start), backend=kb.Interpreted())
    q, _ = kb.equilibrium(plant)
    assert plant.pose("bob.tip", q).position == pytest.approx([0, 0, -0.5], abs=1e-12)


def test_a_beam_sags_as_much_as_the_closed_form():
    """A cantilever under its own weight: w = ρA g L⁴/8EI, which three polynomial shapes hold exactly."""
    beam = kb.Beam(2.0, kb.Rectangle(0.03, 0.02), density=2700, young=7e10, shapes=kb.Polynomial(4))
    plant = kb.build(
        kb.System("cantilever", (kb.Body("b", beam, joint=kb.Weld()),), gravity=(0, -G, 0)), backend=kb.Interpreted()
    )
    q, _ = kb.equilibrium(plant)
    area, inertia = 0.03 * 0.02, _second_moment(plant)
    tip = plant.pose("b.tip", q).position
    assert tip[1] == pytest.approx(-2700 * area * G * 2.0**4 / (8 * 7e10 * inertia), rel=1e-10)
    slope = atan2(*plant.pose("b.tip", q).rotation[[1, 0], 0])
    assert slope == pytest.approx(-2700 * area * G * 2.0**3 / (6 * 7e10 * inertia), rel=1e-10)


def _second_moment(plant) -> float:
    """Either way the section may lie; told apart by the stiffness."""
    return float(plant.machine.bodies[0].solid.section.second_moment(1, lambda e: float(_value(plant, e))))


def _value(plant, entry):
    from kalaba.model.text.expressions import Values, evaluate

    return evaluate(entry, Values({p.name: p.value for p in plant.machine.parameters}))


def test_a_floating_machine_stays_where_it_is():
    parts = (
        kb.Body("sat", kb.Box((1, 1, 1), mass=5.0)),
        kb.Body("arm", kb.Rod(1.0, mass=1.0), parent="sat", joint=kb.Revolute(kb.Z)),
        kb.Spring("s", "arm.angle", stiffness=10.0, rest=0.4),
    )
    q, _ = kb.equilibrium(kb.System("floating", parts, gravity=(0, 0, 0)))
    assert q[7] == pytest.approx(0.4, abs=1e-12)


def test_what_stays_unbalanced_is_named():
    parts = (kb.Body("m", kb.Solid(3.0), joint=kb.Prismatic(kb.Z)),)
    with pytest.raises(ConstraintError, match=r"falling: no equilibrium .* m.travel by -29.4.*nothing resists it"):
        kb.equilibrium(kb.System("falling", parts))
    with pytest.raises(ConstraintError, match=r"unbalanced: a.angle by"):
        kb.equilibrium(chain(0.1, 0.1), actuation={"motor": 100.0})


def test_rows_that_move_leave_no_rest():
    driven = chain(0.1, 0.1).add(kb.Constraint("drive", "a.angle - 0.1 - 2*t"))
    with pytest.raises(ConstraintError, match=r"drive moves by itself at t = 0 \(2/s\)"):
        kb.equilibrium(driven)


def test_bad_names_and_values_are_refused():
    with pytest.raises(ModelError, match=r"hold: no coordinate or displacement 'angle'; did you mean b.angle, a.angle"):
        kb.equilibrium(chain(0, 0), hold={"angle": 1.0})
    with pytest.raises(ModelError, match=r"equilibrium.hold: expected {a text: a number}"):
        kb.equilibrium(chain(0, 0), hold={"a.angle": "x"})
    with pytest.raises(ModelError, match="has no actuator 'moter'; did you mean motor"):
        kb.equilibrium(chain(0, 0), actuation={"moter": 1.0})
    with pytest.raises(ModelError, match="actuation: expected 1 number "):
        kb.equilibrium(chain(0, 0), actuation=[1.0, 2.0])
