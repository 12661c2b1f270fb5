"""Machines → files: plain data in the order in which people read, numbers with their units, defaults left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from itertools import count
from numbers import Real
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from kalaba.errors import FileError
from kalaba.files.quantities import unit as known_unit
from kalaba.files.yaml.encoding import Data, Encoder, quantity
from kalaba.files.yaml.kinds import acts_along_displacement, entries_of, units_of
from kalaba.files.yaml.layout import laid_out, laid_out_json
from kalaba.files.yaml.schema import SECTIONS, VERSION
from kalaba.model.parts import Body, Connection, Parameter, Start
from kalaba.model.system import Placement, System
from kalaba.model.units import unit_of
from kalaba.space.pose import Pose

if TYPE_CHECKING:
    from kalaba.model.system import AnyPart
    from kalaba.run.scenario import Scenario

SECTION_OF = {kind: section for section, kind in SECTIONS.items()}
SHOWN_ALWAYS = {Body: ("parent", "joint"), Connection: ("parent",)}  # entries that are written with their defaults too
PARTS = Encoder()
DEFAULTS = {entry.name: entry.default for entry in fields(System)}


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


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}-{number}" for number in count(2))


def system_data(system: System, templates: _Templates) -> Data:
    """The entries of a machine, without its name."""
    data: Data = {}
    if system.coordinates:
        data["coordinates"] = list(system.coordinates)
    if system.gravity != DEFAULTS["gravity"]:
        data["gravity"] = PARTS.value(system.gravity, ("m/s^2",), f"{system.name}.gravity")
    for part in system.parts:
        section = data.setdefault(SECTION_OF[type(part)], {})
        section[part.name] = _part(part, system, templates)
    if system.parameters:
        units = {parameter.name: parameter.unit for parameter in system.machine.parameters}
        data["set"] = {path: quantity(value, units.get(path, "1")) for path, value in system.parameters}
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
    data = PARTS.entries(part, path, ("name",), SHOWN_ALWAYS.get(type(part), ()))
    if acts_along_displacement(type(part)):
        data |= _acting(part, system, data)
    if isinstance(part, Body):
        return {**PARTS.kind(part.solid, path, short=False), **{key: data[key] for key in data if key != "solid"}}
    if isinstance(part, Placement):
        data.pop("parameters", None)
        data["system"] = templates.name(part.system)
        units = {parameter.name: parameter.unit for parameter in part.system.machine.parameters}
        if part.parameters:
            data["set"] = {name: quantity(value, units.get(name, "1")) for name, value in part.parameters}
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
    return {name: quantity(value, units[name][is_angle]) for name, value in numbers.items()}


def _parameter(part: Parameter) -> Any:
    known = known_unit(part.unit)
    is_plain = part.unit == "1" or known is None or known.scale != 1 or known.turn != 1.0
    data: Data = {"value": float(part.value) if is_plain else quantity(part.value, part.unit)}
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
        return quantity(float(value), unit)
    if isinstance(value, Pose):
        return PARTS.entries(value, path)
    return PARTS.value(tuple(value), (), path)
