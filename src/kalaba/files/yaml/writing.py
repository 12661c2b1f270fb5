"""Machines → files: plain data in the order in which people read, numbers with their units, defaults left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from numbers import Integral, Real
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from kalaba.errors import FileError, KalabaError
from kalaba.files.quantities import unit as known_unit
from kalaba.files.yaml.kinds import acts_along_displacement, default_of, entries_of, units_of, word
from kalaba.files.yaml.layout import laid_out, laid_out_json
from kalaba.files.yaml.schema import AS_FOUND, SECTIONS, TRACED, VERSION
from kalaba.files.yaml.values import AXES
from kalaba.model.parts import Body, Connection, Parameter, Sampled, Start
from kalaba.model.serial import function_name
from kalaba.model.system import Placement, System
from kalaba.model.text.syntax import number_text
from kalaba.model.text.traced import Traced, steps
from kalaba.model.units import unit_of
from kalaba.space.pose import AsFound, Axis, Pose

if TYPE_CHECKING:
    from kalaba.model.system import AnyPart
    from kalaba.run.scenario import Scenario

SECTION_OF = {kind: section for section, kind in SECTIONS.items()}
SHOWN_ALWAYS = {Body: ("parent", "joint"), Connection: ("parent",)}  # entries that are written with their defaults too
DEFAULTS = {entry.name: entry.default for entry in fields(System)}
Data = dict[str, Any]


def write(described: System | Scenario, path: FilePath) -> tuple[str, ...]:
    """Write a machine, or what is to be run on one, to a .yaml or .json file. All of it is held: there are no notes."""
    data = to_data(described)
    text = laid_out_json(data) if path.suffix.lower() == ".json" else laid_out(data)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"{path}: cannot be written, {str(error.strerror).lower()}.") from error
    return ()


def to_data(described: System | Scenario) -> Data:
    """A machine, or what is to be run on one, as the data of a file."""
    system = described if isinstance(described, System) else described.system
    templates = _Templates()
    inner = system_data(system, templates)
    data: Data = {"kalaba": VERSION, "name": system.name}
    data |= ({"systems": templates.data} if templates.data else {}) | inner
    if isinstance(described, System):
        return data
    from kalaba.files.yaml.running import run_data  # which imports the steppers and the laws of control

    return data | {"run": run_data(described)}


@dataclass
class _Templates:
    """Placed machines, each written once."""

    names: dict[System, str] = field(default_factory=dict)
    data: Data = field(default_factory=dict)

    def name(self, system: System) -> str:
        """Its name in the file."""
        if system not in self.names:
            inner = system_data(system, self)
            name = next(n for n in _numbered(system.name) if n not in self.data)
            self.names[system] = name
            self.data[name] = inner if name == system.name else {"name": system.name, **inner}
        return self.names[system]


def _numbered(name: str) -> Any:
    yield name
    count = 2
    while True:
        yield f"{name}-{count}"
        count += 1


def system_data(system: System, templates: _Templates) -> Data:
    """The entries of a machine, without its name."""
    data: Data = {}
    if system.coordinates:
        data["coordinates"] = list(system.coordinates)
    if system.gravity != DEFAULTS["gravity"]:
        data["gravity"] = encoded(system.gravity, ("m/s^2",), f"{system.name}.gravity")
    for part in system.parts:
        section = data.setdefault(SECTION_OF[type(part)], {})
        section[part.name] = _part(part, system, templates)
    if system.parameters:
        units = {parameter.name: parameter.unit for parameter in system.machine.parameters}
        data["set"] = {path: _quantity(value, units.get(path, "1")) for path, value in system.parameters}
    if system.start != Start():
        data["start"] = start_data(system.start, system)
    if system.cuts:
        data["cuts"] = dict(system.cuts)
    by_section = [name for section in data if section in SECTIONS for name in data[section]]
    if by_section != [part.name for part in system.parts]:
        data["order"] = [part.name for part in system.parts]
    return data


def _part(part: AnyPart, system: System, templates: _Templates) -> Any:
    """The entry of a part."""
    path = f"{system.name}.{part.name}"
    if isinstance(part, Parameter):
        return _parameter(part)
    data = written_entries(part, path, ("name",), SHOWN_ALWAYS.get(type(part), ()))
    if acts_along_displacement(type(part)):
        data |= _acting(part, system, data)
    if isinstance(part, Body):
        return {**kind_data(part.solid, path, short=False), **{key: data[key] for key in data if key != "solid"}}
    if isinstance(part, Placement):
        data.pop("parameters", None)
        data["system"] = templates.name(part.system)
        units = {parameter.name: parameter.unit for parameter in part.system.machine.parameters}
        if part.parameters:
            data["set"] = {name: _quantity(value, units.get(name, "1")) for name, value in part.parameters}
        if "start" in data:
            data["start"] = start_data(part.start, part.system)
    return data


def _acting(part: Any, system: System, data: Data) -> Data:
    """Numbers of a part along a displacement with the units that this gives them."""
    machine = system.machine
    acting: list[Any] = [*machine.actuators, *machine.springs, *machine.rotors]
    resolved = next(entry for entry in acting if entry.name == part.name)
    is_angle = {"m": 0, "rad": 1}.get(unit_of(machine, resolved.displacement))
    units = {entry.name: units_of(type(part), entry) for entry in entries_of(type(part))}
    if is_angle is None:
        return {}
    numbers = {name: value for name, value in data.items() if len(units[name]) == 2 and not isinstance(value, str)}
    return {name: _quantity(value, units[name][is_angle]) for name, value in numbers.items()}


def _parameter(part: Parameter) -> Any:
    known = known_unit(part.unit)
    is_plain = part.unit == "1" or known is None or known.scale != 1 or known.turn != 1.0
    data: Data = {"value": float(part.value) if is_plain else _quantity(part.value, part.unit)}
    if is_plain and part.unit != "1":
        data["unit"] = part.unit
    if part.description:
        data["description"] = part.description
    return data


def start_data(start: Start, system: System) -> Data:
    """The entries of a start of a machine."""
    machine = system.machine
    units = {coordinate.name: coordinate.unit for coordinate in machine.coordinates}
    units |= {name: displacement.unit for name, displacement in machine.displacements.items()}
    data: Data = {}
    for section in ("hold", "guess", "speed"):
        rate = "/s" if section == "speed" else ""
        pairs = getattr(start, section)
        if pairs:
            path = f"{system.name}.start.{section}"
            data[section] = {
                name: _start_value(value, f"{units[name]}{rate}" if name in units else "1", f"{path}.{name}")
                for name, value in pairs
            }
    return data


def _start_value(value: Any, unit: str, path: str) -> Any:
    if isinstance(value, Real):
        return _quantity(float(value), unit)
    if isinstance(value, Pose):
        return written_entries(value, path)
    return encoded(tuple(value), (), path)


def written_entries(value: Any, path: str, without: tuple[str, ...] = (), always: tuple[str, ...] = ()) -> Data:
    """The fields of a value that differ from their defaults, and those that are always written, as axes of joints."""
    data: Data = {}
    for entry in entries_of(type(value)):
        content = getattr(value, entry.name)
        is_shown = entry.name in always or "is_axis" in entry.metadata
        if entry.name in without or (not is_shown and _is_default(value, entry, content)):
            continue
        data[entry.name] = encoded(_short(value, entry, content), units_of(type(value), entry), f"{path}.{entry.name}")
    return data


def _is_default(value: Any, entry: Field[Any], content: Any) -> bool:
    default = default_of(entry)
    return default is not MISSING and (content == default or _is_same(value, entry, default))


def _short(value: Any, entry: Field[Any], content: Any) -> Any:
    """The first three of six numbers, where the others follow from them."""
    is_long = isinstance(content, tuple) and len(content) == 6
    return content[:3] if is_long and _is_same(value, entry, content[:3]) else content


def _is_same(value: Any, entry: Field[Any], content: Any) -> bool:
    """Whether a value is the same with other content of a field."""
    if not isinstance(content, tuple):
        return False
    try:
        return bool(replace(value, **{entry.name: content}) == value)
    except KalabaError:
        return False


def kind_data(value: Any, path: str, *, short: bool = True) -> Any:
    """A value of a kind: its word, {word: first entry} or {word: entries}."""
    data, name = written_entries(value, path), word(type(value))
    if not data:
        return name if short else {name: {}}
    first = entries_of(type(value))[0].name
    is_first = list(data) == [first] and not isinstance(data[first], Mapping | str)
    is_axis = list(data) == [first] and isinstance(getattr(value, first), Axis)
    return {name: data[first]} if is_first or is_axis else {name: data}


def encoded(value: Any, units: tuple[str, ...], path: str) -> Any:  # noqa: C901, PLR0911  (one case per kind of value)
    """One value as plain data."""
    match value:
        case None | bool() | str():
            return value
        case Integral() if not units:
            return int(value)
        case Real():
            return _quantity(float(value), units[0] if len(units) == 1 else "1")
        case Axis():
            return _axis(value)
        case Traced():
            return _traced(value)
        case Sampled():
            raise FileError(_no_function(value, path))
        case AsFound():
            return AS_FOUND
        case Pose():
            return _pose(value, path)
        case tuple() | list():
            return _pairs_or_list(value, units, path)
        case _ if is_dataclass(value):
            return kind_data(value, path)
    raise FileError(f"{path}: {type(value).__name__} cannot be written to a file: {value!r}.")


def _quantity(value: float, unit: str) -> Any:
    """A number with its unit; SI texts that the reader would not know are left out."""
    if unit in {"", "1"} or not math.isfinite(value) or known_unit(unit) is None:
        return _plain_number(value)
    sign = "-" if value < 0 else ""
    return f"{sign}{number_text(abs(float(value)))} {unit}"


def _plain_number(value: float) -> float | int:
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _list(value: Any, units: tuple[str, ...], path: str) -> list[Any]:
    is_zero = [isinstance(entry, Real) and not isinstance(entry, bool) and entry == 0 for entry in value]
    return [0 if zero else encoded(entry, units, path) for zero, entry in zip(is_zero, value, strict=True)]


def _pairs_or_list(value: Any, units: tuple[str, ...], path: str) -> Any:
    """A tuple of pairs with names is a map; one row without a name is its expression."""
    if value and all(isinstance(e, tuple) and len(e) == 2 and isinstance(e[0], str) for e in value):
        if len(value) == 1 and not value[0][0]:
            return encoded(value[0][1], units, path)
        return {name: encoded(content, units, f"{path}.{name}") for name, content in value}
    return _list(value, units, path)


def _axis(value: Axis) -> Any:
    letters = [letters for letters, axis in AXES.items() if axis == value]
    return letters[0] if letters else [float(component) for component in value.components]


def _traced(value: Traced) -> Data:
    body = [[step[0], *map(_plain_number, step[1:])] for step in steps(value)]
    return {TRACED: {"arguments": list(value.arguments), "results": list(value.results), "steps": body}}


def _no_function(value: Sampled, path: str) -> str:
    name = function_name(value.function)
    return (
        f"{path}: the Python function {name} cannot be written to a file. Write it as expressions, or add the part "
        "after the file is loaded."
    )


def _pose(value: Pose, path: str) -> Any:
    """A place alone, or a place and a turn."""
    data = written_entries(value, path)
    return data.get("position", [0, 0, 0]) if set(data) <= {"position"} else data
