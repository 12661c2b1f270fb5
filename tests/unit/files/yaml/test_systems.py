"""A System comes back equal from a file that people can read; order, units, placed systems and callables included."""

import itertools
import json
import math

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.yaml.layout import laid_out
from kalaba.files.yaml.reading import read
from kalaba.files.yaml.tree import parse_text
from kalaba.files.yaml.writing import to_data
from kalaba.robots.catalogue import ENTRIES, load
from machines import systems

FOUR_BAR = """\
kalaba: 1
name: four-bar
parameters:
  ground: {value: 0.45 m, description: distance between the ground pivots}
bodies:
  crank:   {rod: {length: 0.15 m, mass: 0.3 kg}, parent: world,       joint: {revolute: -y}}
  coupler: {rod: {length: 0.40 m, mass: 0.8 kg}, parent: crank.tip,   joint: {revolute: -y}}
  rocker:  {rod: {length: 0.30 m, mass: 0.6 kg}, parent: coupler.tip, joint: {revolute: -y}}
connections:                                    # the loop
  pin: {child: rocker.tip, parent: world, at: [ground, 0, 0], joint: {revolute: -y}}
actuators:
  motor: {displacement: crank.angle, limit: 2 N*m}
start:
  hold:  {crank.angle: 1 rad}
  guess: {coupler.angle: -30 deg, rocker.angle: -115 deg}
run: {duration: 5 s, control: {motor: 0.2*(10 - rate(crank.angle))}}
"""
HINGE = kb.Revolute(-kb.Y)
SAME = kb.System(
    "four-bar",
    parts=(
        kb.Parameter("ground", 0.45, "m", "distance between the ground pivots"),
        kb.Body("crank", kb.Rod(0.15, mass=0.3), joint=HINGE),
        kb.Body("coupler", kb.Rod(0.40, mass=0.8), parent="crank.tip", joint=HINGE),
        kb.Body("rocker", kb.Rod(0.30, mass=0.6), parent="coupler.tip", joint=HINGE),
        kb.Connection("pin", "rocker.tip", at=("ground", 0, 0), joint=HINGE),
        kb.Actuator("motor", "crank.angle", limit=2.0),
    ),
    start=kb.Start(
        hold={"crank.angle": 1.0}, guess={"coupler.angle": math.radians(-30), "rocker.angle": -115 * math.pi / 180}
    ),
)
LEG = kb.System("leg", parts=(kb.Body("rod", kb.Rod(0.7, mass=1.0), joint=kb.Revolute(kb.Y)),))
OTHER_LEG = kb.System("leg", parts=(kb.Body("rod", kb.Rod(0.8, mass=1.0), joint=kb.Revolute(kb.Y)),))
PAIR = kb.System("pair", parts=(LEG.place("a"), LEG.place("b", at=(0, 1, 0))), gravity=(0, 0, -1.62))
ALL = kb.System(
    "all of it: # & [texts]",
    coordinates=("a",),
    gravity=(0, 0, "-g"),
    parts=(
        kb.Parameter("g", 9.8, "m/s^2", 'gravity, here: "on" the moon\'s # sister'),
        kb.Parameter("odd", -0.0, "furlongs per fortnight"),
        kb.Body("base", kb.Box((1, 2, 3), mass=4)),
        LEG.place("one", parent="base", at=kb.Pose((0.1, 0, 0), rpy=(0, 0, math.pi / 3))),
        OTHER_LEG.place(
            "two", parent="base", parameters={"rod.length": 0.1 + 0.2}, start=kb.Start(guess={"rod.angle": 0.3})
        ),
        PAIR.place("three", parent="base"),
        kb.Body("cam", kb.Solid(1.0, tip=(1, 0, 0)), joint=kb.Revolute(kb.Z, q="2*a", limits=(-math.inf, math.inf))),
        kb.Body("null", kb.Solid("0.5", inertia=(1, 1, 1, 0.1, 0, 0)), parent="cam", joint=kb.Planar((1, 2, 2))),
        kb.Body(
            "boom",
            kb.Beam(
                "2*g/9.8",
                kb.Tube(0.02, 0.018),
                density=2700,
                young=70e9,
                shapes=kb.Tabulated(np.linspace(0, 1, 7), [np.linspace(0, 1, 7) ** 2]),
                bending=(kb.Z, kb.Y),
                torsion=1,
            ),
            parent="base",
            joint=kb.Weld(),
        ),
        kb.Connection("held", "cam.tip", parent="base", at=kb.AsFound()),
        kb.Constraint("sum", {"x": "cam.tip.x - 0.3", "rolls": "rate(a) - 1"}, work={"a": "-0.1*rate(a)"}),
        kb.Constraint("one_row", "min(a, 3) - a"),
        kb.Constraint(
            "called", lambda m: {"p": ca.sin(m["a"]) * m["cam.tip.x"], "q": ca.if_else(m["t"] > 1, 0.5, m["a"])}
        ),
        kb.Constraint("list", lambda m: [m["a"] ** 2, m["cam.tip.y"]]),
        kb.Force(
            "pull", "cam.tip", force=lambda m: (m["a"], ca.SX(1, 1), ca.sqrt(m["t"])), torque=("0", "0", "sin(t)")
        ),
        kb.Frame("hub", parent="base", at=kb.Pose((0, 0, 1), quaternion=(0.6, 0, 0.8, 0))),
        kb.Actuator("motor", "cam.angle"),
        kb.Thruster("jet", "hub", axis=(0.6, 0, 0.8), limit=3),
        kb.Actuator("other", "null.x + 2*null.y", limit=1e-3),
        kb.Spring("spring", "a", stiffness="2*g", damping=1e-300, friction=0.1, creep=0.5),
        kb.Spring("soft", "null.x", stiffness=3.0, rest=0.2),
        kb.Rotor("armature", "cam.angle", 0.01),
        kb.Output("reach", "cam.tip.x", "m"),
        kb.Output("true", "distance(hub, cam.tip)"),
    ),
    start=kb.Start(
        hold={"a": np.float64(0.1), "null": (1, 0, 0.5)},
        guess={"base": kb.Pose((0, 0, 1), quaternion=(1, 0, 0, 1)), "cam": kb.Pose()},
        speed={"base": (0, 0, 1, 0.5, 0, 0), "null.angle": 3},
    ),
    parameters={"gravity.x": 0.1, "cam.mass": 2.0, "one.rod.length": 0.65},
)


def from_text(tmp_path, text, name="machine.yaml"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read(path).system


def test_the_four_bar_of_the_documentation_is_what_it_says(tmp_path):
    assert from_text(tmp_path, FOUR_BAR) == SAME


def test_the_four_bar_of_the_documentation_runs_as_it_says(tmp_path):
    path = tmp_path / "four-bar.yaml"
    path.write_text(FOUR_BAR, encoding="utf-8")
    assert read(path).scenario == kb.Scenario(SAME, 5.0, control={"motor": "0.2*(10 - rate(crank.angle))"})


def test_a_saved_four_bar_reads_like_one_that_a_person_writes(tmp_path):
    text = SAME.save(tmp_path / "saved.yaml").read_text(encoding="utf-8")
    assert "  crank:   {rod: {length: 0.15 m, mass: 0.3 kg}, parent: world, joint: {revolute: -y}}\n" in text
    assert "  pin: {child: rocker.tip, parent: world, at: [ground, 0, 0], joint: {revolute: -y}}\n" in text
    assert "  motor: {displacement: crank.angle, limit: 2 N*m}\n" in text
    assert "order" not in text
    assert from_text(tmp_path, text) == SAME


def choices(entry):
    """The machine as it is by default, and with each value of each option that can stand alone."""
    yield {}
    for name, option in entry.options.items():
        yield from ({name: value} for value in itertools.islice(option.allowed, 5))


@pytest.mark.parametrize("name", ENTRIES)
def test_every_machine_of_the_catalogue_comes_back_equal(name, tmp_path):
    for count, options in enumerate(choices(ENTRIES[name])):
        try:
            system = load(name, **options)
        except kb.KalabaError:
            continue  # options that do not go alone
        for suffix in (".yaml", ".json") if not count else (".yaml",):
            assert read(system.save(tmp_path / f"machine{suffix}")).system == system, options


def test_all_that_a_system_can_say_comes_back_equal(tmp_path):
    for suffix in (".yaml", ".yml", ".json"):
        found = read(ALL.save(tmp_path / f"all{suffix}")).system
        assert found == ALL
        assert hash(found) == hash(ALL)
        assert found.machine == ALL.machine
    assert to_data(found) == to_data(ALL)


def test_placed_systems_are_written_once_and_those_of_one_name_told_apart():
    data = to_data(ALL)
    assert list(data["systems"]) == ["leg", "leg-2", "pair"]
    assert data["systems"]["leg-2"]["name"] == "leg"
    assert data["place"]["two"]["set"] == {"rod.length": "0.30000000000000004 m"}


@given(systems(max_bodies=6))
@settings(max_examples=20, deadline=None)
def test_random_machines_come_back_equal(tmp_path_factory, system):
    path = tmp_path_factory.mktemp("random") / "machine.yaml"
    assert read(system.save(path)).system == system


def test_json_is_strict_and_the_same_data(tmp_path):
    def refuse(word):
        raise AssertionError(word)

    text = SAME.save(tmp_path / "four-bar.json").read_text(encoding="utf-8")
    assert json.loads(text, parse_constant=refuse) == parse_text(laid_out(to_data(SAME)), "x").data


def test_parts_have_the_order_of_the_file_unless_it_gives_one(tmp_path):
    text = "kalaba: 1\noutputs: {t1: t}\nbodies: {a: {box: {size: [1, 1, 1], mass: 1}}}\nframes: {b: a}\n"
    assert [part.name for part in from_text(tmp_path, text).parts] == ["t1", "a", "b"]
    ordered = from_text(tmp_path, f"{text}order: [b, a, t1]\n")
    assert [part.name for part in ordered.parts] == ["b", "a", "t1"]
    assert from_text(tmp_path, text).name == "machine"


def test_a_python_function_that_is_sampled_is_refused_by_name(tmp_path):
    def gust(t, q, v):
        return (0.0, 0.0, 1.0)

    system = LEG.add(kb.Force("gust", "rod.tip", force=kb.Sampled(gust, 100.0)))
    with pytest.raises(FileError, match=r"leg\.gust\.force: the Python function .*gust cannot be written to a file"):
        system.save(tmp_path / "leg.yaml")
    assert not (tmp_path / "leg.yaml").exists()
