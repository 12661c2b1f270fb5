"""Values → plain data: numbers with their units, kinds by their words, defaults left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, is_dataclass, replace
from numbers import Integral, Real
from typing import Any

from kalaba.boundary import shown
from kalaba.errors import FileError, KalabaError
from kalaba.files.quantities import unit as known_unit
from kalaba.files.yaml.kinds import default_of, entries_of, units_of, word
from kalaba.files.yaml.schema import AS_FOUND, TRACED
from kalaba.files.yaml.values import AXES
from kalaba.model.acting import Sampled
from kalaba.model.serial import function_name
from kalaba.model.text.syntax import number_text
from kalaba.model.text.traced import Traced, steps
from kalaba.space.pose import AsFound, Axis, Pose

Data = dict[str, Any]
LARGEST_WHOLE = 1e15  # whole numbers below it are written without a point


@dataclass(frozen=True)
class Encoder:
    """Writes values.

    Arguments:
        plain: classes that are written as their entries, without a word for their kind
        special: classes that are written otherwise, each with a function of the value and its path
    """

    plain: tuple[type, ...] = ()
    special: dict[type, Callable[[Any, str], Any]] = field(default_factory=dict)

    def value(self, value: Any, units: tuple[str, ...], path: str) -> Any:  # noqa: C901, PLR0911  (one case per kind)
        """One value; `path` names it in messages."""
        match value:
            case None | bool() | str():
                return value
            case Integral() if not units:
                return int(value)
            case Real():
                return quantity(float(value), units[0] if len(units) == 1 else "1")
            case Axis():
                return _axis(value)
            case Traced():
                return _traced(value)
            case Sampled():
                raise FileError(_no_function(value, path))
            case AsFound():
                return AS_FOUND
            case Pose():
                return self._pose(value, path)
            case tuple() | list():
                return self._pairs_or_list(value, units, path)
            case Mapping():
                return {name: self.value(content, units, f"{path}.{name}") for name, content in value.items()}
            case _ if type(value) in self.special:
                return self.special[type(value)](value, path)
            case _ if is_dataclass(value):
                return self.entries(value, path) if type(value) in self.plain else self.kind(value, path)
        raise FileError(f"{path}: {type(value).__name__} cannot be written to a file: {shown(value)}.")

    def entries(self, value: Any, path: str, without: tuple[str, ...] = (), always: tuple[str, ...] = ()) -> Data:
        """The fields of a value that differ from their defaults, and those that are always written: axes of joints."""
        data: Data = {}
        for entry in entries_of(type(value)):
            content = getattr(value, entry.name)
            is_shown = entry.name in always or "is_axis" in entry.metadata
            if entry.name in without or (not is_shown and _is_default(value, entry, content)):
                continue
            units = units_of(type(value), entry)
            data[entry.name] = self.value(_short(value, entry, content), units, f"{path}.{entry.name}")
        return data

    def kind(self, value: Any, path: str, *, short: bool = True) -> Any:
        """A value of a kind: its word, {word: first entry} or {word: entries}."""
        data, name = self.entries(value, path), word(type(value))
        if not data:
            return name if short else {name: {}}
        first = entries_of(type(value))[0].name
        is_clear = isinstance(getattr(value, first), Axis | Integral)  # an axis, or how many there are
        return {name: data[first] if list(data) == [first] and is_clear else data}

    def _pose(self, value: Pose, path: str) -> Any:
        """A place alone, or a place and a turn."""
        data = self.entries(value, path)
        return data.get("position", [0, 0, 0]) if set(data) <= {"position"} else data

    def _pairs_or_list(self, value: Any, units: tuple[str, ...], path: str) -> Any:
        """A tuple of pairs with names is a map; one row without a name is its expression."""
        if value and all(isinstance(e, tuple) and len(e) == 2 and isinstance(e[0], str) for e in value):
            if len(value) == 1 and not value[0][0]:
                return self.value(value[0][1], units, path)
            return {name: self.value(content, units, f"{path}.{name}") for name, content in value}
        is_zero = [isinstance(entry, Real) and not isinstance(entry, bool) and entry == 0 for entry in value]
        return [0 if zero else self.value(entry, units, path) for zero, entry in zip(is_zero, value, strict=True)]


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


def quantity(value: float, unit: str) -> Any:
    """A number with its unit; SI texts that the reader would not know are left out."""
    if unit in {"", "1"} or not math.isfinite(value) or known_unit(unit) is None:
        return plain_number(value)
    sign = "-" if value < 0 else ""
    return f"{sign}{number_text(abs(float(value)))} {unit}"


def plain_number(value: float) -> float | int:
    """A number, whole ones without a point."""
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < LARGEST_WHOLE else number


def _axis(value: Axis) -> Any:
    letters = [letters for letters, axis in AXES.items() if axis == value]
    return letters[0] if letters else [float(component) for component in value.components]


def _traced(value: Traced) -> Data:
    body = [[step[0], *map(plain_number, step[1:])] for step in steps(value)]
    return {TRACED: {"arguments": list(value.arguments), "results": list(value.results), "steps": body}}


def _no_function(value: Sampled, path: str) -> str:
    name = function_name(value.function)
    return (
        f"{path}: the Python function {name} cannot be written to a file. Write it as expressions, or add the part "
        "after the file is loaded."
    )
