"""The schema of kalaba YAML 1 as a JSON schema, by which editors complete and check files as they are written.

It is what pydantic makes of the types that the reader checks with, and says as well what a value may be shortened to
and what each entry means, from the docstrings of the classes. Only the package's own kinds are in it.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from kalaba.files.yaml.kinds import Choice, Entry, spelled
from kalaba.files.yaml.laws import run_schema
from kalaba.files.yaml.schema import VERSION, schema
from kalaba.model.acting import Force
from kalaba.model.parts import Connection, Constraint, Parameter
from kalaba.model.system import Placement

if TYPE_CHECKING:
    from pydantic import BaseModel

DIALECT = "https://json-schema.org/draft/2020-12/schema"
DEFINITIONS = "$defs"
_ARGUMENTS = re.compile(r"^Arguments:\n((?: {4,}.*\n?|\n)+)", re.MULTILINE)
_ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)
_PYTHON = re.compile(r"kb\.([A-Z]\w*)(?:\([^)]*\))?")
Json = dict[str, Any]

# Entries of a machine that are no fields of one class.
KEYS = {
    "name": "name of the machine; the file's if not given",
    "extends": "another file of any kind: its machine comes first, and what stands here is added or changed",
    "remove": "names of parts of the file that is extended which are left out",
    "coordinates": "names of coordinates of its own, which the q of joints may use in expressions",
    "gravity": "acceleration of gravity, three numbers, m/s^2; [0, 0, -9.81] if not given",
    "systems": "machines to be placed, by name: their entries, or another file",
    "parameters": "numbers that expressions and other numbers may use, by name",
    "place": "machines of `systems` that stand in this one, by name",
    "bodies": "solids on their parents, each moved by a joint",
    "frames": "named places on bodies or on the world",
    "connections": "cuts that are closed: rows",
    "constraints": "expressions that stay zero: rows",
    "actuators": "motors along displacements",
    "thrusters": "actuators that push a frame",
    "springs": "springs, dampers and friction along displacements",
    "rotors": "inertias along displacements",
    "forces": "forces and torques on frames, in world axes",
    "outputs": "expressions that a run records",
    "visuals": "shapes for pictures",
    "set": "new values of numbers of parts, by path: rocker.mass: 0.7 kg",
    "start": "where it starts",
    "cuts": "connection: body, for loops that are cut at a body's joint instead",
    "order": "names of all parts, where their order is not that of the file",
    "run": "what is to be run on it",
}
# What files say otherwise than Python.
IN_FILES: dict[object, dict[str, str]] = {
    Placement: {
        "system": "name of one of `systems`",
        "set": "new values of its numbers, by path inside it",
        "parent": "name of the frame it stands on",
        "at": "where on that frame: a place, or a place and a turn",
        "start": "where it starts; goes before its own start",
    },
    Connection: {"at": "where the child sits on that frame; as-found: where the start has it"},
    Constraint: {"zero": "one expression, or {row: expression} for several rows, in whatever unit they have"},
    Force: {
        "force": "x, y and z, N: three numbers or expressions",
        "torque": "about x, y and z, N·m: three numbers or expressions",
    },
    Parameter: {"value": "its value with its unit, or a plain number", "unit": "its unit, where the value has none"},
}


def json_schema() -> Json:
    """The JSON schema of a whole file."""
    known, runs = schema(outside=False), run_schema(outside=False)
    models = {model.__name__: model for model in (*known.kinds.made, *runs.kinds.made)}
    file, run = _plain(known.file.json_schema()), _plain(runs.entries.json_schema())
    definitions = {**file.pop(DEFINITIONS), **run.pop(DEFINITIONS)}
    definitions["Run"] = run
    machine = {key: value for key, value in file["properties"].items() if key not in {"kalaba", "run"}}
    definitions["System"] = {"type": "object", "properties": machine, "additionalProperties": False}
    placed = {"anyOf": [{"type": "string", "description": "another file"}, {"$ref": "#/$defs/System"}]}
    for properties in (machine, file["properties"]):
        properties["systems"] = {"type": "object", "additionalProperties": placed}
        for name, words in KEYS.items():
            properties[name] = {**properties.get(name, {}), "description": words}
    file["properties"] |= {"kalaba": {"const": VERSION}, "run": {"$ref": "#/$defs/Run"}}
    described = {name: _described(definition, models.get(name)) for name, definition in definitions.items()}
    head = {"$schema": DIALECT, "title": f"kalaba YAML {VERSION}", "description": "A machine, and what is run on it."}
    return {**head, **file, "required": ["kalaba"], DEFINITIONS: dict(sorted(described.items()))}


def _plain(written: Any) -> Any:
    """A schema without titles and defaults, which only repeat names and say nothing."""
    if isinstance(written, list):
        return [_plain(entry) for entry in written]
    if not isinstance(written, dict):
        return written
    is_names = "properties" in written and isinstance(written["properties"], dict)
    left_out = {"title", "default", "properties"} if is_names else {"title", "default"}
    plain = {"anyOf" if key == "oneOf" else key: _plain(value) for key, value in written.items() if key not in left_out}
    if is_names:
        plain["properties"] = {name: _plain(value) for name, value in written["properties"].items()}
    return plain


def _described(definition: Json, model: type[BaseModel] | None) -> Json:
    """A definition with the meaning of its entries and the short ways to write it."""
    if model is None or not issubclass(model, Entry):
        return definition
    words = meanings(model.source) if model.source is not None else {}
    words |= IN_FILES.get(model.source, {})
    properties = definition.get("properties", {})
    for name, entry in properties.items():
        if name in words:
            properties[name] = {**entry, "description": words[name]}
    if model.source is not None:
        definition["description"] = in_files((inspect.getdoc(model.source) or "").partition("\n")[0])
    if issubclass(model, Choice):
        return {"anyOf": [{"enum": list(properties)}, {**definition, "minProperties": 1, "maxProperties": 1}]}
    if model.first in properties:
        return {"anyOf": [definition, properties[model.first]]}
    return definition


def in_files(text: str) -> str:
    """Words about Python as words about files: kb.Z → z, kb.Rectangle(0.05, 0.05) → rectangle, None → null."""
    return _PYTHON.sub(lambda found: spelled(found[1]), text).replace("None:", "null:")


def meanings(kind: object) -> dict[str, str]:
    """What the docstring of a class says of each of its fields, or that of a function of its arguments."""
    block = _ARGUMENTS.search(inspect.getdoc(kind) or "")
    if block is None:
        return {}
    return {name: in_files(" ".join(text.split())) for name, text in _ARGUMENT.findall(block[1])}
