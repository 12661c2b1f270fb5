"""Values that files hold: numbers with units or expressions, axes, texts. Each is a type that pydantic checks.

A value that is refused says what was expected; where it stands is added by the reader of the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, NoReturn

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from kalaba.errors import ExpressionError, KalabaError, near
from kalaba.files.quantities import UNITS, expected_words, is_expected, si_text, split, unit
from kalaba.files.yaml.tree import shown
from kalaba.model.text.expressions import parse
from kalaba.space.pose import Axis, X, Y, Z

AXES = {
    f"{sign}{letter}": axis if sign != "-" else -axis
    for letter, axis in (("x", X), ("y", Y), ("z", Z))
    for sign in ("", "+", "-")
}
INFINITE = {".inf": math.inf, "-.inf": -math.inf}  # as texts, since JSON has no such numbers
ANY = ("m", "rad", "1")  # what a displacement may be in
LONGEST_TEXT = 20_000  # characters of an expression
EVERY = ("any unit",)  # of places whose unit depends on the machine: it is compared when the machine is known


def refuse(problem: str, key: str = "") -> NoReturn:
    """Refuse a value; `key` is the entry of it that is at fault, if it is a map."""
    raise PydanticCustomError("kalaba", "{problem}", {"problem": problem, "key": key})


def checked(make: Callable[[], Any]) -> Any:
    """What a function gives, or its refusal as one of the value's."""
    try:
        return make()
    except KalabaError as error:
        refuse(str(error))
    except (TypeError, ValueError, OverflowError, ArithmeticError, LookupError) as error:
        refuse(f"expected other values ({error}).")


def number(written: object, units: tuple[str, ...], *, with_expressions: bool = True) -> float | str:
    """Read a number: plain, with a unit, or an expression; without expressions, one of numbers alone.

    Arguments:
        written: as it stands in the file
        units: what the number may be in; none: plain numbers only
        with_expressions: whether an expression of parameters may stand there
    """
    expected = "a number such as 0.3 or 0.15 m" if units == EVERY else expected_words(units or ("1",))
    if isinstance(written, bool) or not isinstance(written, int | float | str):
        refuse(f"expected {expected}, got {shown(written)}.")
    if isinstance(written, str):
        return _from_text(written, units, expected, with_expressions=with_expressions)
    try:
        value = float(written)
    except OverflowError:
        value = math.nan
    if math.isnan(value):
        refuse(f"expected {expected}, got {shown(written)}.")
    return value


def _from_text(text: str, units: tuple[str, ...], expected: str, *, with_expressions: bool) -> float | str:
    if text in INFINITE:
        return INFINITE[text]
    if len(text) > LONGEST_TEXT:
        refuse(f"expected {expected}, or an expression of at most {LONGEST_TEXT} characters.")
    parts = split(text)
    if parts is not None:
        return _with_unit(text, *parts, units, expected)
    try:
        expression = parse(text)
        constant = expression.constant if not with_expressions else None
    except ExpressionError as error:
        refuse(f"expected {expected}, or an expression, got {shown(text)}: {error.problem}.")
    if with_expressions:
        return text
    if constant is None:
        refuse(f"expected {expected}, got {shown(text)}. No expression of other things can stand here.")
    return constant


def _with_unit(text: str, digits: str, word: str, units: tuple[str, ...], expected: str) -> float:
    written = unit(word)
    if written is None:
        refuse(f"expected {expected}, got {shown(text)}: no unit {word!r}; {near(word, UNITS)}")
    if units != EVERY and not is_expected(written, units or ("1",)):
        refuse(f"expected {expected}, got {shown(text)}.")
    value = written.value(digits)
    if not math.isfinite(value):
        refuse(f"expected {expected}, got {shown(text)}, which is too large.")
    return value


def axis(written: object) -> Axis:
    """Read a direction: x, -y, or three numbers."""
    if isinstance(written, str) and written.strip().lower() in AXES:
        return AXES[written.strip().lower()]
    if isinstance(written, list) and len(written) == 3:
        components = [number(entry, (), with_expressions=False) for entry in written]
        return checked(lambda: Axis(*map(float, components)))  # type: ignore[no-any-return]
    refuse(f"expected an axis such as x, -y or [0.6, 0, 0.8], got {shown(written)}.")


@lru_cache(maxsize=256)
def number_type(units: tuple[str, ...], *, with_expressions: bool, words: str = "") -> Any:
    """The type of a number in one of some units."""
    schema: dict[str, Any] = {"anyOf": [{"type": "number"}, {"type": "string"}]}
    described = f"{words}{', ' if words else ''}{' or '.join(units)}" if units else words
    if described:
        schema["description"] = described

    def read(written: object) -> float | str:
        return number(written, units, with_expressions=with_expressions)

    return Annotated[object, PlainValidator(read), WithJsonSchema(schema)]


def _text(written: object) -> str:
    if not isinstance(written, str):
        refuse(f"expected a text, got {shown(written)}. Write it in quotes if it is one.")
    if len(written) > LONGEST_TEXT:
        refuse(f"expected a text of at most {LONGEST_TEXT} characters, got a longer one.")
    return written


def _whole(written: object) -> int:
    if isinstance(written, bool) or not isinstance(written, int):
        refuse(f"expected a whole number, got {shown(written)}.")
    return written


def _truth(written: object) -> bool:
    if not isinstance(written, bool):
        refuse(f"expected true or false, got {shown(written)}.")
    return written


def _expression(written: object) -> str | float:
    """Read an expression; a number stays one."""
    value = number(written, ("m", "rad", "N", "N*m", "1"))
    return float(value) if isinstance(value, float) else value


AxisEntry = Annotated[
    object,
    PlainValidator(axis),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["x", "y", "z", "-x", "-y", "-z"]},
                {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
            ],
            "description": "x, -y, or three numbers",
        }
    ),
]
TextEntry = Annotated[object, PlainValidator(_text), WithJsonSchema({"type": "string"})]
WholeEntry = Annotated[object, PlainValidator(_whole), WithJsonSchema({"type": "integer"})]
TruthEntry = Annotated[object, PlainValidator(_truth), WithJsonSchema({"type": "boolean"})]
ExpressionEntry = Annotated[
    object,
    PlainValidator(_expression),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "number"}], "description": "an expression"}),
]


def _parameter(written: object) -> tuple[float, str]:
    """The value of a parameter and its unit, in SI; no unit: an empty text."""
    value = number(written, EVERY, with_expressions=False)
    parts = split(written) if isinstance(written, str) else None
    return float(value), "" if parts is None else si_text(parts[1])


ParameterEntry = Annotated[
    object,
    PlainValidator(_parameter),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}], "description": "a number, with its unit"}),
]
