"""Files → machines: the entries of a file, checked, become parts, and the parts a System; errors name the place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from kalaba.errors import FileError, KalabaError, near
from kalaba.files.source import Source
from kalaba.files.yaml.checking import validated
from kalaba.files.yaml.dimensions import check_units
from kalaba.files.yaml.kinds import entries_of, is_needed
from kalaba.files.yaml.schema import SECTIONS, VERSION, Schema, schema
from kalaba.files.yaml.tree import Document, Path, parse, shown
from kalaba.model.formats import Described, format_of
from kalaba.model.parts import Body, Parameter, Start
from kalaba.model.system import Placement, System

if TYPE_CHECKING:
    from kalaba.files.yaml.kinds import Entry
    from kalaba.model.system import AnyPart

MOST_PARTS = 5_000  # of a machine, those of placed ones counted each time
HEAD = ("kalaba", "run")
NOTHING = System("", parts=())


def read(path: FilePath, roots: tuple[FilePath, ...] = ()) -> Described:
    """Read a file.

    Arguments:
        path: the file
        roots: folders beside its own that files which it names may be in
    """
    return read_source(Source(path, roots))


def read_source(source: Source, onto: System = NOTHING) -> Described:
    """Read a file that may itself be named by another.

    Arguments:
        source: the file
        onto: the machine that it adds to where it extends none itself, as a file of loops does
    """
    document = parse(source)
    reader = _Reader(source, document, schema(), onto)
    data = document.data
    if not isinstance(data, Mapping):
        raise document.error((), f"expected a map that begins with kalaba: {VERSION}, got {shown(data)}.")
    if data.get("kalaba") != VERSION or isinstance(data["kalaba"], bool):
        got = shown(data["kalaba"]) if "kalaba" in data else "none"
        raise document.error(("kalaba",), f"expected kalaba: {VERSION}, the version of the format, got {got}.")
    system = reader.machine({key: value for key, value in data.items() if key not in HEAD}, (), {}, source.path.stem)
    if "run" not in data:
        return Described(system, None, source.notes.lines)
    from kalaba.files.yaml.running import scenario  # which imports the steppers and the laws of control

    return Described(system, scenario(document, system), source.notes.lines)


Templates = Mapping[str, System]


@dataclass
class _Reader:
    """Makes the machines of one file."""

    source: Source
    document: Document
    schema: Schema
    onto: System = NOTHING
    sizes: dict[int, int] = field(default_factory=dict)  # parts of a System, by its identity
    total: int = 0  # parts of all Systems of the file

    def machine(self, data: Any, path: Path, outer: Templates, name: str) -> System:
        """The System that entries describe; `outer` are the templates of the machine around it."""
        said = validated(self.document, self.schema.system, data, path).said()
        entry = {key: said[key] for key in data if key in said}  # as they stand in the file
        base = self._base(entry, path)
        templates = self._templates(entry.get("systems", {}), path, outer)
        parts = self._parts(entry, path, templates, base)
        values = {
            "name": entry.get("name", base.name or name),
            "parts": tuple(self._ordered(entry.get("order", ()), parts, (*path, "order")).values()),
            "coordinates": (*base.coordinates, *entry.get("coordinates", ())),
            "gravity": entry.get("gravity", base.gravity),
            "start": entry.get("start", Start()).over(base.start),
            "parameters": {**dict(base.parameters), **entry.get("set", {})},
            "cuts": {**dict(base.cuts), **entry.get("cuts", {})},
        }
        count = self._check_size(values["parts"], path)
        try:
            system = System(**values)
        except KalabaError as error:
            raise self._placed(error, path, values["name"], data) from error
        self.sizes[id(system)] = count
        check_units(self.document, system, data, path)
        return system

    def _base(self, entry: dict[str, Any], path: Path) -> System:
        """The machine that is extended, or one without parts."""
        base = self.onto if not path else NOTHING
        if "extends" in entry:
            base = self._file(entry["extends"], (*path, "extends"))
        elif "remove" in entry and base is NOTHING:
            raise self.document.error((*path, "remove"), "expected extends: beside it, the file to remove from.")
        try:
            return base.remove(*entry.get("remove", ()))
        except KalabaError as error:
            raise self.document.error((*path, "remove"), str(error)) from error

    def _file(self, name: str, path: Path) -> System:
        """The machine of another file."""
        where = self.document.where(path)
        included = self.source.including(name, where)
        try:
            kind = format_of(included.path)
            if kind.read is read:
                return read_source(included).system
            if kind.read is None:
                raise self.document.error(path, f"{kind.name} files are written only; {name} cannot be read.")
            described = kind.read(included.path, included.roots)
        except KalabaError as error:
            raise FileError(f"{where}: {error}") from error
        for note in described.notes:
            self.source.notes.add(note)
        return described.system

    def _templates(self, systems: Mapping[str, Any], path: Path, outer: Templates) -> Templates:
        """Machines to be placed, by name: those of the machine around, and its own."""
        templates = dict(outer)
        for name, content in systems.items():
            place = (*path, "systems", name)
            if isinstance(content, str):
                templates[name] = self._file(content, place)
            else:
                templates[name] = self.machine(content, place, templates, name)
        return templates

    def _parts(self, entry: dict[str, Any], path: Path, templates: Templates, base: System) -> dict[str, AnyPart]:
        """All parts by name, in order: sections, and parts in them, as they stand in the file."""
        parts: dict[str, AnyPart] = {part.name: part for part in base.parts}
        mine: set[str] = set()
        for section, contents in entry.items():
            for name, content in contents.items() if section in SECTIONS else ():
                place = (*path, section, name)
                if name in mine:
                    raise self.document.error(place, "a second part of that name. Rename one of them.")
                mine.add(name)
                parts[name] = self._part(section, name, content, place, templates, parts.get(name))
        return parts

    def _ordered(self, order: Sequence[str], parts: dict[str, AnyPart], path: Path) -> dict[str, AnyPart]:
        if not order:
            return parts
        for index, name in enumerate(order):
            if name not in parts:
                raise self.document.error((*path, index), f"no part {name!r}; {near(name, parts)}")
        left = [name for name in parts if name not in order]
        if left or len(set(order)) != len(order):
            problem = f"{', '.join(left[:6])} missing" if left else "a name twice"
            raise self.document.error(path, f"expected the name of every part once, got {problem}.")
        return {name: parts[name] for name in order}

    def _part(
        self, section: str, name: str, content: Entry, path: Path, templates: Templates, known: AnyPart | None
    ) -> AnyPart:
        kind = SECTIONS[section]
        values = self._values(kind, content, path, templates)
        try:
            if known is not None:
                if type(known) is not kind:
                    raise self.document.error(path, f"the file that is extended has it as a {type(known).__name__}.")
                return replace(known, **values)
            for entry in entries_of(kind):
                if is_needed(entry) and entry.name not in {"name", *values}:
                    raise self.document.error(path, _missing(kind, entry.name, self.schema))
            part: AnyPart = kind(name, **values)
        except KalabaError as error:
            raise self._at(error, path, name) from error
        return part

    def _values(self, kind: type, content: Entry, path: Path, templates: Templates) -> dict[str, Any]:
        values = content.said()
        if kind is Body:
            solids = [key for key in self.schema.solids if key in values]
            if len(solids) > 1:
                raise self.document.error(path, f"expected one solid, got {' and '.join(solids)}.")
            if solids:
                values["solid"] = values.pop(solids[0])
        if kind is Placement:
            if "set" in values:
                values["parameters"] = values.pop("set")
            if "system" in values:
                name = values["system"]
                if name not in templates:
                    raise self.document.error((*path, "system"), f"no system {name!r}; {near(name, templates)}")
                values["system"] = templates[name]
        if kind is Parameter and "value" in values:
            values["value"], unit = values["value"]
            if unit and values.setdefault("unit", unit) != unit:
                raise self.document.error((*path, "unit"), f"expected the unit of the value, {unit}, or none.")
        return values

    def _check_size(self, parts: tuple[AnyPart, ...], path: Path) -> int:
        """How many parts a machine has, those of placed ones counted each time; too many in the file are refused."""
        count = len(parts) + sum(self._size(part.system) for part in parts if isinstance(part, Placement))
        self.total += count
        if self.total > MOST_PARTS:
            raise self.document.error(
                (*path, "place"), f"expected at most {MOST_PARTS} parts in a file, placed ones counted each time."
            )
        return count

    def _size(self, system: System) -> int:
        if id(system) not in self.sizes:  # of another file
            placed = (part.system for part in system.parts if isinstance(part, Placement))
            self.sizes[id(system)] = len(system.parts) + sum(self._size(inner) for inner in placed)
        return self.sizes[id(system)]

    def _at(self, error: KalabaError, path: Path, name: str) -> KalabaError:
        """The same error with the place."""
        if isinstance(error, FileError):
            return error
        return self.document.error(path, str(error).removeprefix(f"{name}: "))

    def _placed(self, error: KalabaError, path: Path, name: str, data: object) -> KalabaError:
        """An error of the whole machine, at the part that it begins with."""
        text = str(error).removeprefix(f"{name}.").removeprefix(f"{name}: ")
        words = text.partition(":")[0].partition(" ")[0].split(".")
        entries = data if isinstance(data, Mapping) else {}
        if words[0] in {"start", "coordinates", "set", "cuts"}:
            return self.document.error((*path, words[0]), text.removeprefix(f"{words[0]}: "))
        for count in range(len(words), 0, -1):
            name, rest = ".".join(words[:count]), words[count:]
            for section in (section for section in SECTIONS if name in entries.get(section, {})):
                place = (*path, section, name, *rest[:1])
                return self.document.error(place, text.removeprefix(f"{name}: "))
        return self.document.error(path, text)


def _missing(kind: type, name: str, known: Schema) -> str:
    if kind is Body:
        return f"expected what it is made of: {', '.join(known.solids)}."
    return f"expected an entry {name}, got none."
