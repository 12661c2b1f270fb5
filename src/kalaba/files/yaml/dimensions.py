"""Units that only the whole machine can judge: of starts, of new values, and of what acts along a displacement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kalaba.files.quantities import expected_words, is_expected, split, unit
from kalaba.files.yaml.kinds import acts_along_displacement, entries_of, units_of
from kalaba.files.yaml.schema import SECTIONS
from kalaba.files.yaml.tree import Document, Path, shown
from kalaba.model.machine import Machine
from kalaba.model.system import Placement, System
from kalaba.model.units import unit_of
from kalaba.units import ALONG

Expected = tuple[Path, object, str]  # where a value stands, the value, and its unit


def check_units(document: Document, system: System, data: Mapping[str, Any], path: Path) -> None:
    """Refuse numbers of a machine whose units measure something else than their places.

    Arguments:
        document: the file
        system: the machine that was made of the data
        data: its entries in the file
        path: where in the file they are
    """
    for place, value, expected in _expected(system, data):
        if problem := _problem(value, expected):
            raise document.error((*path, *place), problem)


def _problem(value: object, expected: str) -> str:
    parts = split(value) if isinstance(value, str) else None
    written = unit(parts[1]) if parts is not None else None
    if written is None or unit(expected) is None or is_expected(written, (expected,)):
        return ""
    return f"expected {expected_words((expected,))}, got {shown(value)}."


def _expected(system: System, data: Mapping[str, Any]) -> Iterator[Expected]:
    """Values whose units follow from the machine."""
    yield from _of_machine(system.machine, data, ())
    placed = {part.name: part.system for part in system.parts if isinstance(part, Placement)}
    for name, entry in _maps(data.get("place")):
        yield from _of_machine(placed[name].machine, entry, ("place", name))
    acting = {part.name: part for part in _acting(system.machine)}
    for section in (section for section, kind in SECTIONS.items() if acts_along_displacement(kind)):
        units = {entry.name: units_of(SECTIONS[section], entry) for entry in entries_of(SECTIONS[section])}
        for name, entry in _maps(data.get(section)):
            along = unit_of(system.machine, acting[name].displacement)
            for key in (key for key in entry if along in ALONG[0] and units.get(key) in ALONG):
                yield (section, name, key), entry[key], units[key][ALONG[0].index(along)]


def _of_machine(machine: Machine, data: Mapping[str, Any], path: Path) -> Iterator[Expected]:
    """Values of a start, and values that replace parameters."""
    units = {parameter.name: parameter.unit for parameter in machine.parameters}
    for name, value in _entries(data.get("set")):
        yield (*path, "set", name), value, units.get(name, "")
    known = {coordinate.name: coordinate.unit for coordinate in machine.coordinates}
    known |= {name: displacement.unit for name, displacement in machine.displacements.items()}
    for section, rate in (("hold", ""), ("guess", ""), ("speed", "/s")):
        for name, value in _entries(_entry(data.get("start"), section)):
            if known.get(name, "1") != "1":  # a declared coordinate that moves nothing has no unit
                yield (*path, "start", section, name), value, f"{known[name]}{rate}"


def _acting(machine: Machine) -> list[Any]:
    return [*machine.actuators, *machine.springs, *machine.rotors]


def _entry(data: object, key: str) -> object:
    return data.get(key) if isinstance(data, Mapping) else None


def _entries(data: object) -> list[tuple[str, Any]]:
    return list(data.items()) if isinstance(data, Mapping) else []


def _maps(data: object) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, entry) for name, entry in _entries(data) if isinstance(entry, Mapping)]
