"""Annotations as questions: whether a value is what an annotation says, and the annotation in words.

Only what people write in annotations of public functions is known: classes and protocols, unions, numbers, texts,
arrays, sequences, maps, functions. A float is any real number that a float holds, NaN excepted; where arrays or tuples
are meant, lists are right too. A class that a module imports for type checkers alone is known by its name.
"""

from __future__ import annotations

import builtins
import collections.abc as containers
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache, partial
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

LARGEST_WHOLE = 2**63  # whole numbers become those of NumPy
NUMERIC = "biuf"  # kinds of dtypes that hold real numbers
ARRAYS = frozenset(get_args(ArrayLike))
CALLED = get_origin(Callable[[], None])
PLAIN = (float, int, np.float16, np.float32, np.integer)  # of Python and NumPy; no fractions, no wider floats
TEXTS = (str, bytes, bytearray, memoryview)
BASES = (float, int, str, list, tuple, dict)
TRUSTED = ("builtins", "collections", "enum", "kalaba", "numpy", "typing")  # packages whose classes do as their bases
COMPARING = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"}
SHOWING = {"__repr__", "__str__", "__format__"}  # a named tuple shows itself, a number that does is in messages
MAKING = frozenset(vars(object)) - COMPARING - SHOWING


class Kind(NamedTuple):
    """What an annotation allows."""

    accepts: Callable[[object], bool]
    words: str


def kinds_of(thing: Callable[..., object]) -> dict[str, Kind]:
    """What the annotations of a function or of a class allow, by name."""
    return {name: kind(hint) for name, hint in _hints(thing).items()}


@cache
def _does_as_its_base(kind: type[Any]) -> bool:
    """Whether a class leaves what a number, a text or a container of Python does."""
    base = next((base for base in BASES if issubclass(kind, base)), kind)
    derived = kind.__mro__[: kind.__mro__.index(base)]
    theirs = [one for one in derived if one.__module__.partition(".")[0] not in TRUSTED and not issubclass(one, Enum)]
    free = MAKING | SHOWING if issubclass(base, tuple) else MAKING
    return not any(name in vars(base) and name not in free for one in theirs for name in vars(one))


def is_ordinary(value: object) -> bool:
    """Whether a value does what numbers, texts and containers do.

    A class that somebody wrote may change that; arrays with masks or units are other numbers once they are plain.
    """
    kind: type = type(value)
    if isinstance(value, np.ndarray):
        return kind is np.ndarray or kind is np.memmap
    return kind in BASES or _does_as_its_base(kind)


def is_text(value: object) -> bool:
    """Whether a value is a text that does what texts do."""
    return isinstance(value, str) and is_ordinary(value)


def is_shown(value: object) -> bool:
    """Whether a value can be shown: `repr` of an object that somebody wrote may raise, which `boundary` hears."""
    return type(value).__module__.partition(".")[0] in TRUSTED or isinstance(repr(value), str)


def is_real(value: object) -> bool:
    """Whether a value is one real number, finite or not; True is none, and neither is a number that no float holds."""
    if type(value) is float:
        return True
    if not isinstance(value, Real) or not is_ordinary(value):
        return False
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < LARGEST_WHOLE
    try:
        float(value)
    except Exception:  # noqa: BLE001  (too large for a float, or whatever a number of somebody's class does)
        return False
    return True


def is_real_array(value: object) -> bool:
    """Whether NumPy makes an array of real numbers of a value, of any shape; NaN among them is not looked for."""
    if not is_ordinary(value):
        return False
    if not isinstance(value, np.ndarray):
        if value is None or isinstance(value, (*TEXTS, type, Mapping, set, frozenset)):
            return False
        try:
            value = np.asarray(value)
        except Exception:  # noqa: BLE001  (whatever the value's class does when NumPy asks it)
            return False
    return value.dtype.kind in NUMERIC or (value.dtype.kind == "O" and all(map(is_real, value.flat)))


def kind(hint: object) -> Kind:
    """What one annotation allows."""
    if hint in SIMPLE:
        return SIMPLE[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _either(inner)
    if origin is Literal:
        return Kind(lambda value: isinstance(value, str) and value in inner, _or([repr(word) for word in inner]))
    if origin is np.ndarray:
        return NUMBERS
    if origin is not None and isinstance(origin, type):
        return _container(origin, inner)
    return _class(hint) if isinstance(hint, type) else ANYTHING


def _either(inner: tuple[object, ...]) -> Kind:
    """One of several; ArrayLike is such a union itself, and lies flat in another."""
    if set(inner) >= ARRAYS:
        kinds = [*(kind(hint) for hint in inner if hint not in ARRAYS), NUMBERS]
    else:
        kinds = [kind(hint) for hint in inner]
    accepting = tuple(one.accepts for one in kinds)
    return Kind(lambda value: any(accepts(value) for accepts in accepting), _or([one.words for one in kinds]))


def _container(origin: type, inner: tuple[object, ...]) -> Kind:
    """A sequence, a map or a function of something."""
    if issubclass(origin, Mapping):
        key, value = (kind(hint) for hint in inner) if inner else (ANYTHING, ANYTHING)
        return Kind(partial(_is_map, key.accepts, value.accepts), f"{{{key.words}: {value.words}}}")
    if origin is tuple and inner and inner[-1] is not Ellipsis:
        kinds = [kind(hint) for hint in inner]
        words = f"({', '.join(one.words for one in kinds)})"
        return Kind(partial(_is_row, tuple(one.accepts for one in kinds)), words)
    if origin in (tuple, list, containers.Sequence):
        each = kind(inner[0]) if inner else ANYTHING
        return Kind(partial(_is_sequence, each.accepts), f"a sequence, each {each.words}")
    return FUNCTION if origin is CALLED else _class(origin)


def _class(hint: type) -> Kind:
    words = f"{'an' if hint.__name__[0] in 'AEIOU' else 'a'} {hint.__name__}"
    if issubclass(hint, _Named):
        name = hint.__name__
        return Kind(lambda value: any(base.__name__ == name for base in type(value).__mro__), words)
    if issubclass(hint, tuple) and any("_fields" in vars(base) for base in hint.__mro__):
        inner = tuple(one.accepts for one in kinds_of(hint).values())
        return Kind(lambda value: isinstance(value, hint) and _is_row(inner, value[: len(inner)]), words)
    if vars(hint).get("_is_protocol") and not vars(hint).get("_is_runtime_protocol"):
        return ANYTHING._replace(words=words)
    return Kind(lambda value: isinstance(value, hint) and not isinstance(value, type), words)  # a class has its members


def _is_map(key: Callable[[object], bool], inner: Callable[[object], bool], value: object) -> bool:
    return (
        isinstance(value, Mapping)
        and is_ordinary(value)
        and all(key(name) and inner(entry) for name, entry in value.items())
    )


def _is_row(kinds: tuple[Callable[[object], bool], ...], value: object) -> bool:
    if not is_ordinary(value) or not (
        isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim)
    ):
        return False
    return len(value) == len(kinds) and all(accepts(entry) for accepts, entry in zip(kinds, value, strict=True))


def _is_sequence(each: Callable[[object], bool], value: object) -> bool:
    if not is_ordinary(value):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and (len(value) > 0 or (value.ndim == 1 and each(0.0))) and all(map(each, value))
    return isinstance(value, containers.Sequence) and not isinstance(value, TEXTS) and all(map(each, value))


def _or(words: list[str]) -> str:
    """One, two or three."""
    distinct = list(dict.fromkeys(words))
    return distinct[0] if len(distinct) == 1 else f"{', '.join(distinct[:-1])} or {distinct[-1]}"


ANYTHING = Kind(lambda value: is_ordinary(value) and is_shown(value), "a value")
NUMBERS = Kind(is_real_array, "real numbers")
FUNCTION = Kind(callable, "a function")
SIMPLE: dict[object, Kind] = {
    Any: ANYTHING,
    object: ANYTHING,
    NoneType: Kind(lambda value: value is None, "None"),
    float: Kind(lambda value: isinstance(value, PLAIN) and is_real(value) and value == value, "a number"),  # noqa: PLR0124  (NaN is none)
    int: Kind(
        lambda value: isinstance(value, Integral) and is_real(value) and abs(int(value)) < LARGEST_WHOLE,
        "a whole number",
    ),
    bool: Kind(lambda value: isinstance(value, bool | np.bool_), "True or False"),
    str: Kind(is_text, "a text"),
    Path: Kind(lambda value: isinstance(value, PathLike), "a path"),
    Callable: FUNCTION,
    ArrayLike: NUMBERS,
}


class _Meta(type):
    def __getattr__(cls, name: str) -> type:
        return _named(name)


class _Named(metaclass=_Meta):
    """Stands for a class of which only the name is known."""

    def __class_getitem__(cls, _: object) -> type:
        return cls


def _named(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return _Meta(name, (_Named,), {})


class _Names(dict[str, Any]):
    """The names of a module, and a stand-in for each that it does not have when it runs."""

    def __missing__(self, name: str) -> type:
        return _named(name)


def _hints(thing: Callable[..., object]) -> dict[str, object]:
    module = sys.modules.get(thing.__module__)  # a class made by code without a module has none
    hints = get_type_hints(thing, localns=_Names({**vars(builtins), **(vars(module) if module else {})}))
    return {name: ANY if isinstance(hint, TypeVar) else hint for name, hint in hints.items()}


ANY: object = Any
