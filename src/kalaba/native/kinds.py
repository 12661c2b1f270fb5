"""Kinds of values in translated Python: what an annotation means, and which kind holds two others."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import get_annotations
from typing import Any, get_args, get_origin

import numpy as np

from kalaba.errors import NativeError

WORD = 8  # bytes of a number


@dataclass(frozen=True, slots=True)
class Scalar:
    """A truth value, a whole number or a floating-point number; a bigger `rank` can hold what a smaller one can."""

    llvm: str
    rank: int


BOOL, INT, FLOAT = Scalar("i1", 0), Scalar("i64", 1), Scalar("double", 2)
_OF_PYTHON: Mapping[object, Scalar] = {bool: BOOL, int: INT, float: FLOAT}


@dataclass(frozen=True, slots=True)
class Nothing:
    """What a function without a result gives."""

    llvm: str = "void"


@dataclass(frozen=True, slots=True)
class Pointer:
    """An array by its address."""

    to: Scalar
    llvm: str = "ptr"


@dataclass(frozen=True)
class Record:
    """A record by its address: a class whose annotations name its fields (`machine_code.record_type`)."""

    described: type
    llvm: str = "ptr"

    def place(self, field: str) -> tuple[int, Scalar]:
        """Where a field stands, in bytes, and its kind."""
        for index, (name, kind) in enumerate(fields_of(self.described).items()):
            if name == field:
                return WORD * index, _OF_PYTHON[kind]
        raise NativeError(f"{self.described.__name__} has no field {field}")


@dataclass(frozen=True, slots=True)
class Bundle:
    """A tuple."""

    parts: tuple[Kind, ...]

    @property
    def llvm(self) -> str:
        """A structure of the parts."""
        return f"{{{', '.join(part.llvm for part in self.parts)}}}"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known while the code is written, and is no value of its own: a function, a module."""

    value: Any
    llvm: str = ""


Kind = Scalar | Nothing | Pointer | Record | Bundle | Known


@dataclass(frozen=True, slots=True)
class Value:
    """An operand: its kind and its name in LLVM's language, or its text where it is constant."""

    kind: Kind
    text: str


def fields_of(described: type) -> dict[str, type]:
    """The fields of a record, those of its bases first."""
    return {name: kind for base in reversed(described.__mro__) for name, kind in get_annotations(base).items()}


def kind_of(annotation: Any) -> Kind | None:  # noqa: ANN401  (an annotation)
    """The kind that an annotation means; None: a function, which is known where it is handed over."""
    if annotation in _OF_PYTHON:
        return _OF_PYTHON[annotation]
    if annotation is None:
        return Nothing()
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is np.ndarray:
        return Pointer(FLOAT if get_args(arguments[1])[0] is np.float64 else INT)
    if origin is tuple:
        return Bundle(tuple(_part(part) for part in arguments))
    if origin is Callable:
        return None
    if isinstance(annotation, type):
        return Record(annotation)
    raise NativeError(f"machine code knows no values of {annotation}")


def _part(annotation: Any) -> Kind:  # noqa: ANN401  (an annotation)
    kind = kind_of(annotation)
    if kind is None:
        raise NativeError("a tuple cannot hold functions")
    return kind


def joined(one: Kind, other: Kind) -> Kind:
    """The kind that holds both: of a variable that is given now one, now the other."""
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        return max(one, other, key=lambda kind: kind.rank)
    if one != other:
        raise NativeError(f"a variable cannot hold {one} and {other}")
    return one


def constant(value: float) -> Value:
    """A number of Python as an operand."""
    if isinstance(value, bool | np.bool_):
        return Value(BOOL, "true" if value else "false")
    if isinstance(value, int | np.integer):
        return Value(INT, str(int(value)))
    return Value(FLOAT, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")
