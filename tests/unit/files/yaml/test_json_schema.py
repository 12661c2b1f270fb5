"""The JSON schema for editors accepts what kalaba writes, and marks what it refuses."""

import copy
from dataclasses import dataclass

import pytest

from kalaba.files.yaml.json_schema import json_schema
from kalaba.files.yaml.schema import schema
from kalaba.files.yaml.tree import parse_text
from kalaba.files.yaml.writing import to_data
from kalaba.joints import Joint, Prismatic
from kalaba.robots.catalogue import ENTRIES, scenario

SCHEMA = json_schema()
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": int | float,
    "boolean": bool,
    "null": type(None),
}


def fits(data, schema) -> bool:
    """Whether data fit a schema, for the words of JSON schemas that ours has."""
    words = dict(schema)
    words.pop("description", None)
    words.pop("$schema", None)
    words.pop("title", None)
    words.pop("$defs", None)
    answers = {
        "$ref": lambda name: fits(data, SCHEMA["$defs"][name.rpartition("/")[2]]),
        "anyOf": lambda forms: any(fits(data, form) for form in forms),
        "enum": lambda values: data in values,
        "const": lambda value: data == value,
        "type": lambda name: isinstance(data, TYPES[name]) and (not isinstance(data, bool) or name == "boolean"),
        "properties": lambda known: all(key not in known or fits(data[key], known[key]) for key in data),
        "additionalProperties": lambda rest: all(
            key in words.get("properties", {}) or (rest is not False and fits(data[key], rest)) for key in data
        ),
        "required": lambda keys: all(key in data for key in keys),
        "items": lambda one: all(fits(entry, one) for entry in data),
        "minItems": lambda least: len(data) >= least,
        "maxItems": lambda most: len(data) <= most,
        "minProperties": lambda least: len(data) >= least,
        "maxProperties": lambda most: len(data) <= most,
    }
    if "type" in words and not answers["type"](words["type"]):
        return False
    return all(answers[word](content) for word, content in words.items())


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_written_fits_the_schema(name):
    assert fits(to_data(scenario(name)), SCHEMA)


def test_every_reference_leads_somewhere():
    def references(schema):
        if isinstance(schema, dict):
            yield from ([schema["$ref"]] if isinstance(schema.get("$ref"), str) else [])
            for value in schema.values():
                yield from references(value)
        elif isinstance(schema, list):
            for value in schema:
                yield from references(value)

    assert {name.rpartition("/")[2] for name in references(SCHEMA)} <= set(SCHEMA["$defs"])


def without(data, *path):
    changed = copy.deepcopy(data)
    inner = changed
    for word in path[:-1]:
        inner = inner[word]
    del inner[path[-1]]
    return changed


def with_entry(data, value, *path):
    changed = copy.deepcopy(data)
    inner = changed
    for word in path[:-1]:
        inner = inner[word]
    inner[path[-1]] = value
    return changed


def test_what_the_reader_refuses_is_marked():
    data = to_data(scenario("four-bar"))
    assert fits(data, SCHEMA)
    for wrong in (
        without(data, "kalaba"),
        with_entry(data, 2, "kalaba"),
        with_entry(data, {}, "bodys"),
        with_entry(data, {"length": "1 m"}, "bodies", "crank", "rod"),
        with_entry(data, {"revolut": "x"}, "bodies", "crank", "joint"),
        with_entry(data, {"revolute": "w"}, "bodies", "crank", "joint"),
        with_entry(data, 3, "bodies", "crank", "parent"),
        with_entry(data, [], "actuators", "motor", "limit"),
        with_entry(data, "dp6", "run", "stepper"),
    ):
        assert not fits(wrong, SCHEMA)


def test_short_forms_fit():
    text = """\
kalaba: 1
systems: {leg: leg.urdf, arm: {frames: {tip: world}}}
bodies: {a: {box: {size: [1, 1, 1], mass: 1 kg}, joint: free, at: {position: [0, 0, 1], rpy: [0, 0, 90 deg]}}}
actuators: {m: a.x}
constraints: {c: a.x - 1, d: {zero: {x: a.y, y: 3}}}
connections: {k: {child: a, at: as-found, joint: {distance: 1 m}}}
start: {hold: {a.x: 1 m, a: [0, 0, 1]}}
run: {duration: 1 s, control: {servo: {goals: [posture]}}}
"""
    assert fits(parse_text(text, "x").data, SCHEMA)


def test_kinds_from_outside_are_not_in_it():
    @dataclass(frozen=True, slots=True)
    class Wedge(Prismatic):
        """A kind of this test."""

    assert "wedge" in schema().kinds.families[Joint][1]
    assert "wedge" not in schema(outside=False).kinds.families[Joint][1]
    assert json_schema() == SCHEMA
