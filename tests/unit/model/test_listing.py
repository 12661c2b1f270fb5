"""A machine as tables: the same facts in the same words for the terminal, a notebook, a report and C."""

import json
from html import escape

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.export.c.contents import machine_tables
from kalaba.model import listing
from kalaba.robots.catalogue import ENTRIES
from kalaba.units import printed


def every_part() -> kb.System:
    """One of each kind of part."""
    arm = kb.Body("arm", kb.Rod(length=0.5, mass=0.2), joint=kb.Revolute(-kb.Y))
    hand = kb.Body("hand", kb.Solid(1.0), "arm.tip", joint=kb.Revolute(kb.Axis(3.0, 0.0, 4.0), q="turn - arm.angle"))
    return kb.System(
        "all",
        (
            arm,
            hand,
            kb.Connection("pin", "hand", "world", joint=kb.Spherical(), at=kb.AsFound()),
            kb.Constraint("mixed", zero={"reach": "hand.x - 0.1", "turn": "arm.angle - turn"}),
            kb.Actuator("motor", "arm.angle", limit=2.5),
            kb.Actuator("strong", "hand.angle"),
            kb.Spring("spring", "arm.angle", stiffness=3.0),
            kb.Force("wind", "hand", force=("sin(t)", 0, 0)),
            kb.Output("height", "hand.z", unit="m"),
        ),
        coordinates=("turn",),
    )


def test_every_kind_of_part_is_told():
    machine = every_part().machine
    told = {table.title: table.records for table in listing.parts(machine)}
    arm, hand = told["bodies"]
    assert arm == {"name": "arm", "on": "world", "joint": "Revolute(-y)", "displacements": "angle", "solid": "Rod"}
    assert (hand["on"], hand["joint"]) == ("arm.tip", "Revolute([0.6 0 0.8])")
    assert hand["displacements"] == "angle = turn - arm.angle"
    pin, mixed = told["connections and constraints"]
    assert pin == {"name": "pin", "joins": "hand to world", "joint": "Spherical", "rows": "x, y, z", "units": "m"}
    assert mixed["units"] == "m, rad"
    assert [(row["limit"], row["unit"]) for row in told["actuators"]] == [("2.5", "N*m"), ("none", "N*m")]
    assert told["springs"] == [{"name": "spring", "along": "arm.angle"}]
    assert told["forces"] == [{"name": "wind", "on": "hand", "force": "(sin(t), 0, 0)", "torque": ""}]
    assert told["outputs"] == [{"name": "height", "value": "hand.z", "unit": "m"}]


def test_zeros_are_listed_on_request():
    machine = every_part().machine
    assert len(listing.parameters(machine, zeros=True).rows) == len(machine.parameters)
    assert {float(value) for value in listing.parameters(machine).column("value")} & {0.0} == set()


@pytest.mark.parametrize("name", ENTRIES)
def test_the_terminal_and_a_notebook_tell_the_same(capsys, name):
    machine = kb.load(name).machine
    tables = (*listing.parts(machine), listing.parameters(machine))
    assert invoke(["show", name, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    html = kb.load(name)._repr_html_()
    for table in tables:
        assert shown[table.title] == table.records
        for cell in {cell for row in table.rows[: listing.MOST] for cell in row}:
            assert escape(cell) in html or escape(printed(cell)) in html


def test_c_lists_the_same_limits():
    plant = kb.build(every_part().remove("pin", "mixed"), backend=kb.Interpreted())
    assert machine_tables(plant)["motors"].lines == ("[0] motor, N*m, at most 2.5", "[1] strong, N*m")


def test_units_in_html_are_as_people_write_them():
    made = listing.html(listing.table("", ("name", "unit"), [("a*b", "kg*m^2")]))
    assert "kg·m²" in made
    assert "a*b" in made


@pytest.mark.parametrize("normal", [kb.X, kb.Y, kb.Z, -kb.X, -kb.Y, -kb.Z])
def test_a_plane_says_along_which_axes_its_travels_go(normal):
    """What the table says is where the body goes."""
    box = kb.Box((0.1, 0.2, 0.3), mass=1.0)
    system = kb.System("s", (kb.Body("p", box, joint=kb.Planar(normal)),))
    words = listing.bodies(system.machine).records[0]["displacements"].split(", ")
    plant = kb.build(system, backend=kb.Interpreted())
    for index, (said, name) in enumerate(zip(words, ("x", "y"), strict=False)):
        axis = said.partition(" along ")[2] or name
        assert said.partition(" ")[0] == name
        way = np.eye(3)["xyz".index(axis[-1])] * (-1 if axis.startswith("-") else 1)
        assert plant.pose("p", np.eye(3)[index]).position == pytest.approx(way)
