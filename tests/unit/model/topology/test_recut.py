"""Loops cut elsewhere: what becomes of names, coordinates, rows and starts, and what is refused."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError
from kalaba.model.serial import from_json, to_json
from kalaba.model.topology.recut import loop_of
from kalaba.native.backend import Interpreted

HINGE = kb.Revolute(-kb.Y)
START = kb.Start(hold={"crank.angle": 1.0}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0})


def four_bar(**joints: kb.joints.Joint) -> tuple[kb.Body | kb.Connection | kb.Actuator, ...]:
    return (
        kb.Body("crank", kb.Rod(0.15, mass=0.3), joint=joints.get("crank", HINGE)),
        kb.Body("coupler", kb.Rod(0.40, mass=0.8), parent="crank.tip", joint=HINGE),
        kb.Body("rocker", kb.Rod(0.30, mass=0.6), parent="coupler.tip", joint=HINGE),
        kb.Connection("pin", "rocker.tip", at=(0.45, 0, 0), joint=HINGE),
        kb.Actuator("motor", "crank.angle"),
    )


def acceleration(system: kb.System, name: str) -> float:
    """Of a displacement, under a push of the first motor: J v̇ at rest."""
    plant = kb.build(system, backend=Interpreted())
    q, v = plant.start
    v_dot = plant.motion(q, v, actuation=np.eye(len(plant.actuators))[0]).acceleration
    return float(plant.watch((name,), plant.inputs(q))[0][1:] @ v_dot)


def test_a_loop_has_the_joints_between_the_ends_of_its_connection():
    machine = kb.load("five-bar").machine
    assert set(loop_of(machine, machine.connections[0])) == {"left.crank", "left.rod", "right.crank", "right.rod"}


def test_names_keep_their_meaning():
    system = kb.System("bars", four_bar(), start=START)
    cut = kb.cuts(system)["crank"].system
    machine = cut.machine
    assert [c.name for c in machine.coordinates] == ["coupler.angle", "rocker.angle", "pin.angle"]
    assert machine.rows == tuple(f"crank.joint.{row}" for row in ("x", "y", "z", "rx", "rz"))
    plant = kb.build(cut, backend=Interpreted())
    assert plant.watch(("crank.angle",), plant.inputs(plant.start.q))[0][0] == pytest.approx(1.0, abs=1e-12)
    for name in ("crank.angle", "rocker.angle"):
        assert acceleration(cut, name) == pytest.approx(acceleration(system, name), rel=1e-9)


def test_a_cut_system_is_written_and_read():
    cut = kb.System("bars", four_bar(), start=START, cuts={"pin": "coupler"})
    assert from_json(to_json(cut)) == cut
    assert cut.cuts == (("pin", "coupler"),)


def test_gears_on_what_is_cut_are_kept_by_a_row():
    """Two joints share one coordinate: the cut one follows the other by a row of its own."""
    parts = (
        *four_bar(crank=kb.Revolute(-kb.Y, q="a")),
        kb.Body("wheel", kb.Cylinder(0.05, 0.01, mass=0.2), at=(0, 0.1, 0), joint=kb.Revolute(-kb.Y, q="3*a")),
    )
    start = kb.Start(hold={"a": 1.0}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0})
    system = kb.System("geared", parts, coordinates=("a",), start=start)
    cuts = kb.cuts(system)
    cut = cuts["crank"].system
    assert "crank.kept.angle" in cut.machine.rows
    assert cuts["crank"].freedoms == cuts.described.freedoms == 1
    for name in ("a", "wheel.angle", "rocker.angle"):
        assert acceleration(cut, name) == pytest.approx(acceleration(system, name), rel=1e-9)


def test_absolute_angles_are_expressions_of_what_is_left():
    machine = kb.load("dual-mobile-arm", path=False).machine
    system = kb.load("dual-mobile-arm", path=False)
    cut = kb.System(system.name, system.parts, gravity=system.gravity, cuts={"cut": "left.link2"}).machine
    readings = {d.name: d.expression.text for body in cut.bodies for d in body.readings}
    assert readings == {
        "left.theta2": "left.link2.angle + left.theta1",
        "left.theta3": "left.link2.angle + left.link3.angle + left.theta1",
    }
    assert len(cut.velocities) == len(machine.velocities) + 2  # a ball more, a hinge less


def test_cuts_inside_a_placed_system_and_two_of_them():
    inner = kb.System("bars", four_bar(), start=START, cuts={"pin": "coupler"})
    two = kb.System("two", (inner.place("a"), inner.place("b", at=(0, 1, 0))))
    assert {row.rpartition(".")[0] for row in two.machine.rows} == {"a.coupler.joint", "b.coupler.joint"}
    back = kb.System("bars", four_bar(), start=START, cuts=(("pin", "coupler"), ("coupler.joint", "pin")))
    assert acceleration(back, "rocker.angle") == pytest.approx(
        acceleration(kb.System("bars", four_bar(), start=START), "rocker.angle"), rel=1e-9
    )


def test_grasps_as_found_are_settled_first():
    parts = (*four_bar()[:3], kb.Connection("pin", "rocker.tip", at=kb.AsFound(), joint=HINGE))
    start = kb.Start(hold={"crank.angle": 1.0, "coupler.angle": -0.6, "rocker.angle": -1.9})
    cuts = kb.cuts(kb.System("grasped", parts, start=start))
    assert len(cuts) == 4
    assert {cut.freedoms for cut in cuts} == {1}


def test_what_cannot_be_cut_says_why():
    with pytest.raises(ModelError, match=r"bars.cuts: no connection 'pen'; did you mean pin\?"):
        kb.System("bars", four_bar(), cuts={"pen": "crank"})
    with pytest.raises(ModelError, match=r"no body 'lever' in the loop of 'pin'"):
        kb.System("bars", four_bar(), cuts={"pin": "lever"})
    with pytest.raises(ModelError, match=r"expected \{connection: body\}, both names"):
        kb.System("bars", four_bar(), cuts={"pin": 3})
    rod = (*four_bar()[:2], kb.Connection("rod", "coupler.tip", at=(0.3, 0, 0.5), joint=kb.Distance(0.5)))
    cuts = kb.cuts(kb.System("strut", rod, start=kb.Start(guess={"crank.angle": 1.0})))
    assert [reason for _, _, reason in cuts.impossible] == ["Distance closes loops only. Leave this loop as it is."] * 2
    assert kb.cuts(kb.load("flexible-four-bar")).impossible[0][1:] == (
        "coupler",
        "coupler bends, and would hang on its tip. Cut between the beam and its root.",
    )


def test_a_cut_that_is_not_there_is_said_with_names_that_are():
    cuts = kb.cuts(kb.System("bars", four_bar(), start=START))
    with pytest.raises(ModelError, match=r"bars: no cut at 'rockr'; did you mean rocker\?"):
        cuts["rockr"]
    with pytest.raises(ModelError, match=r"bars: no connection 'pen'"):
        kb.cuts(kb.System("bars", four_bar(), start=START), ("pen",))
