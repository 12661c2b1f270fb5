"""Numbers of a model: every one of them is a parameter with a path, a unit and a description.

A dataclass of the model marks its numeric fields with `scalar` or `vector`. From these marks the functions here
list the numbers of any part (`quantities`) and make a copy with other values in the same places (`with_values`), so
no part needs code of its own for it. A number is a float or the text of an expression of parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from kalaba.boundary import entries_of, shown
from kalaba.errors import ModelError
from kalaba.hints import is_real, is_text
from kalaba.tolerances import LARGEST_NUMBER, QUARTER_TURN

Number = float | str
Value = TypeVar("Value")
Part = TypeVar("Part")

XYZ = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a part: where it is, its value, and what it means."""

    path: str  # relative to the part, for example "length" or "at.x"
    value: Number
    unit: str
    description: str
    is_angle: bool = False  # multiples of a quarter turn are structure


def scalar(unit: str, description: str, default: Any = MISSING) -> Any:
    """Mark a field that holds one number."""
    return field(default=default, metadata={"unit": unit, "description": description, "parts": ()})


def vector(
    unit: str,
    description: str,
    default: Any = MISSING,
    parts: tuple[str, ...] = XYZ,
    *,
    is_angle: bool = False,
) -> Any:
    """Mark a field that holds a tuple of numbers, or None."""
    metadata = {"unit": unit, "description": description, "parts": parts, "is_angle": is_angle}
    return field(default=default, metadata=metadata)


def measured(*units: str, default: Any = MISSING) -> Any:
    """Mark a field that holds a plain number, or numbers, in one of some units, and that is no parameter."""
    return field(default=default, metadata={"units": units})


def nested(prefix: str = "", default: Any = MISSING) -> Any:
    """Mark a field that holds another value with numbers; their paths begin with `prefix`."""
    return field(default=default, metadata={"nested": prefix})


def quantities(part: object) -> Iterator[Quantity]:
    """List the numbers of a part, those of the values inside it included."""
    for entry in fields(part):  # type: ignore[arg-type]
        content, mark = getattr(part, entry.name), entry.metadata
        if "nested" in mark and is_dataclass(content):
            for inner in quantities(content):
                yield replace(inner, path=_join(mark["nested"], inner.path))
        elif "parts" in mark and (content is not None or not mark["parts"]):
            yield from _field_quantities(entry.name, content, mark)


def _field_quantities(name: str, content: Any, mark: Any) -> Iterator[Quantity]:
    if not mark["parts"]:
        yield Quantity(name, content, mark["unit"], mark["description"])
        return
    for part, value in zip(mark["parts"], content, strict=True):
        path = part if name in {"position", "rpy", "quaternion"} else f"{name}.{part}"
        yield Quantity(path, value, mark["unit"], f"{mark['description']}, {part}", mark["is_angle"])


def with_values(part: Part, value: Callable[[str], Any], prefix: str = "") -> Part:
    """Return a copy of the part whose number at each path is `value(path)`."""
    changes: dict[str, Any] = {}
    for entry in fields(part):  # type: ignore[arg-type]
        content, mark = getattr(part, entry.name), entry.metadata
        if "nested" in mark and is_dataclass(content):
            changes[entry.name] = with_values(content, value, _join(prefix, mark["nested"]))
        elif "parts" in mark and (content is not None or not mark["parts"]):
            values = [value(_join(prefix, q.path)) for q in _field_quantities(entry.name, content, mark)]
            changes[entry.name] = tuple(values) if mark["parts"] else values[0]
    return _unchecked_replace(part, changes)


def _unchecked_replace(part: Part, changes: dict[str, Any]) -> Part:
    """Replace fields without running `__post_init__`: the values may be expressions, judged elsewhere."""
    copy = object.__new__(type(part))
    for entry in fields(part):  # type: ignore[arg-type]
        object.__setattr__(copy, entry.name, changes.get(entry.name, getattr(part, entry.name)))
    return copy


def is_structure(quantity: Quantity, value: float) -> bool:
    """Tell whether a value shapes the equations: an exact zero, or an angle of whole quarter turns.

    Such numbers stay constants in the compiled code (the equations of an industrial arm are three times smaller so).
    """
    if quantity.is_angle:
        quarter_turns = value / (math.pi / 2)
        return abs(quarter_turns - round(quarter_turns)) < QUARTER_TURN * max(1.0, abs(quarter_turns))
    return value == 0.0


def is_number(value: object) -> bool:
    """Tell whether a value is one real number, of Python or of NumPy, whose square is finite too."""
    return is_real(value) and abs(float(value)) <= LARGEST_NUMBER  # type: ignore[arg-type]


def plain(value: Number) -> float:
    """The number itself; an expression, whose value nobody knows yet, is a LookupError."""
    if isinstance(value, str):
        raise LookupError(value)
    return float(value)


def check_number(path: str, value: object) -> None:
    """Refuse what is neither a finite number nor the text of an expression."""
    if not isinstance(value, str) and not is_number(value):
        raise ModelError(
            f"{path}: expected a finite number up to {LARGEST_NUMBER:g}, or an expression of parameters, got "
            f"{shown(value)}."
        )


def _join(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def as_numbers(content: Any, count: int, what: str) -> tuple[Number, ...]:
    """Turn a sequence into a tuple of floats or expression texts, or say what was expected."""
    is_one = isinstance(content, str) or (isinstance(content, np.ndarray) and not content.ndim)
    entries = () if is_one else entries_of(content)
    is_right = all(is_text(entry) or is_real(entry) for entry in entries)
    numbers = tuple(entry if isinstance(entry, str) else float(entry) for entry in entries) if is_right else ()
    if len(numbers) != count:
        raise ModelError(
            f"{what}: expected {count} numbers, got {shown(content)}. Give a tuple of {count} numbers or expressions."
        )
    return numbers
