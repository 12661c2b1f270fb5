"""A System survives being written as plain data; nothing but the model's own kinds is read."""

import dataclasses
import json
import math

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings

import kalaba as kb
from kalaba.errors import ModelError
from kalaba.joints import kinds
from kalaba.model.serial import KINDS, NotStored, from_json, from_plain, to_json, to_plain
from kalaba.robots.catalogue import ENTRIES, load
from machines import systems


def wind(t, q, v):
    return (0.0, 0.0, 1.0)


def called(m):
    return {"p": ca.sin(m["a"]) * m["cam.tip.x"], "q": ca.if_else(m["t"] > 1, 0.5, m["a"])}


LEG = kb.System("leg", parts=(kb.Body("rod", kb.Rod(0.7, mass=1.0), joint=kb.Revolute(kb.Y)),))
BY_HAND = kb.System(
    "by hand",
    coordinates=("a",),
    gravity=(0, 0, "-g"),
    parts=(
        kb.Parameter("g", 9.8, "m/s^2", "gravity"),
        kb.Body("base", kb.Box((1, 2, 3), mass=4)),
        LEG.place("one", parent="base", at=kb.Pose((0.1, 0, 0), rpy=(0, 0, math.pi / 3))),
        LEG.place("two", parent="base", parameters={"rod.length": 0.1 + 0.2}, start=kb.Start(guess={"rod.angle": 0.3})),
        kb.Body("cam", kb.Solid(1.0, tip=(1, 0, 0)), joint=kb.Revolute(kb.Z, q="2*a", limits=(-math.inf, math.inf))),
        kb.Connection("held", "cam.tip", parent="base", at=kb.AsFound()),
        kb.Constraint("sum", {"x": "cam.tip.x - 0.3", "rolls": "rate(a) - 1"}, work={"a": "-0.1*rate(a)"}),
        kb.Constraint(
            "called", lambda m: {"p": ca.sin(m["a"]) * m["cam.tip.x"], "q": ca.if_else(m["t"] > 1, 0.5, m["a"])}
        ),
        kb.Force(
            "pull", "cam.tip", force=lambda m: (m["a"], ca.SX(1, 1), ca.sqrt(m["t"])), torque=("0", "0", "sin(t)")
        ),
        kb.Actuator("motor", "cam.angle"),
        kb.Spring("spring", "a", stiffness="2*g", damping=1e-300),
        kb.Output("reach", "cam.tip.x", "m"),
    ),
    start=kb.Start(hold={"a": np.float64(0.1)}, guess={"base": kb.Pose((0, 0, 1), quaternion=(1, 0, 0, 1))}),
)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_machine_of_the_catalogue_comes_back_equal(name):
    system = load(name)
    assert from_json(to_json(system)) == system


def test_callables_placements_infinite_limits_and_expressions_come_back_equal():
    line = to_json(BY_HAND)
    assert from_json(line) == BY_HAND
    assert to_json(from_json(line)) == line
    assert hash(from_json(line)) == hash(BY_HAND)


@given(systems(max_bodies=6))
@settings(max_examples=20)
def test_random_machines_come_back_equal(system):
    assert from_json(to_json(system)) == system


def test_the_line_is_strict_json_with_every_digit():
    def refuse(word):
        raise AssertionError(word)

    json.loads(to_json(BY_HAND), parse_constant=refuse)
    assert from_json(to_json(BY_HAND)).parts[3].parameters == (("rod.length", 0.1 + 0.2),)


def test_a_system_placed_twice_is_written_once():
    assert len(to_plain(BY_HAND)["systems"]) == 1


def test_every_public_value_of_the_model_can_be_written():
    model = [
        getattr(kb, name)
        for name in kb.__all__
        if kb._NAMES[name][0].startswith(("kalaba.model", "kalaba.joints", "kalaba.space"))
    ]
    values = {kind.__name__ for kind in model if isinstance(kind, type) and dataclasses.is_dataclass(kind)}
    assert values - set(KINDS) - set(kinds()) == {"Sampled"}


def test_a_sampled_function_leaves_a_placeholder_that_says_so():
    system = LEG.add(kb.Force("gust", "rod.tip", force=kb.Sampled(wind, 100.0)))
    found = from_json(to_json(system))
    sampled = found.parts[-1].force
    assert isinstance(sampled.function, NotStored)
    assert sampled.rate == 100.0
    with pytest.raises(ModelError, match=r"wind: a file holds no Python functions\. Remove the part"):
        sampled.function(0.0, (), ())
    assert from_json(to_json(found)) == found


def broken(change):
    plain = json.loads(to_json(BY_HAND))
    change(plain)
    return plain


def set_part(index, **entries):
    return lambda plain: plain["system"]["parts"][index].update(entries)


def set_steps(*listed):
    return lambda plain: plain["system"]["parts"][7]["zero"].update(steps=list(listed))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: p.update(kalaba=2), "expected format 1, got 2"),
        (lambda p: p.pop("system"), "expected data with an entry `system`"),
        (lambda p: p.update(system=3), "expected a System, got int"),
        (set_part(1, kind="Popen"), "unknown kind 'Popen'"),
        (set_part(1, kind="Sampled"), "base: no Sampled can be made"),
        (set_part(1, colour="red"), "base: no Body can be made .* A newer kalaba may read it"),
        (set_part(1, solid={"kind": "Rod", "length": 1.0, "mass": -1.0, "axis": [1, 0, 0]}), "base.mass: expected"),
        (set_part(1, solid=None), "base: expected a solid"),
        (set_part(2, system={"kind": "System", "same_as": "0"}), "one: no System '0' beside it"),
        (lambda p: p["systems"].update(dict.fromkeys(p["systems"], 7)), "does not contain itself"),
        (
            lambda p: p["system"]["parts"][7]["zero"].update(steps=[["system", 0]]),
            "expected an operation on earlier steps",
        ),
        (
            lambda p: p["system"]["parts"][7]["zero"].update(steps=[["sin", 0]]),
            "expected an operation on earlier steps",
        ),
        (lambda p: p["system"]["parts"][7]["zero"].update(steps=[["input", -1]]), "expected an operation on earlier"),
        (lambda p: p["system"]["parts"][7]["zero"].update(steps=[]), "expected 2 results, got 0"),
    ],
)
def test_data_that_are_not_a_system_are_refused_on_one_line(change, message):
    with pytest.raises(ModelError, match=message) as caught:
        from_plain(broken(change))
    assert "\n" not in str(caught.value)


def test_a_system_that_contains_itself_is_refused():
    plain = json.loads(to_json(kb.System("pair", parts=(kb.System("mid", parts=(LEG.place("leg"),)).place("mid"),))))
    digests = {entry["name"]: digest for digest, entry in plain["systems"].items()}
    plain["systems"][digests["mid"]]["parts"][0]["system"]["same_as"] = digests["mid"]
    with pytest.raises(ModelError, match="does not contain itself"):
        from_plain(plain)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "null", "[]"])
def test_text_that_is_no_system_is_refused(text):
    with pytest.raises(ModelError, match="system: expected"):
        from_json(text)


def test_what_has_no_plain_form_is_refused():
    with pytest.raises(ModelError, match="object cannot be written as plain data"):
        to_json(dataclasses.replace(LEG, start=kb.Start(guess={"rod.angle": object()})))


def test_an_operation_that_no_file_can_hold_is_refused():
    inner = ca.Function("inner", [x := ca.SX.sym("x")], [ca.sin(x)], {"never_inline": True})
    system = LEG.add(kb.Constraint("call", lambda m: inner(m["rod.angle"])))
    with pytest.raises(ModelError, match="no file can hold"):
        to_json(system)
