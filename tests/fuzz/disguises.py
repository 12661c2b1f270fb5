"""The same value in another dress: what is accepted must give the same numbers, to the last bit."""
# ruff: noqa: PLR0911  (one case per type)

import random
from collections.abc import Mapping
from fractions import Fraction
from math import isfinite
from pathlib import Path
from types import MappingProxyType

import numpy as np


def _array(value: np.ndarray, rng: random.Random) -> object:
    read_only = value.copy()
    read_only.flags.writeable = False
    spaced = np.repeat(value, 2, axis=-1)[..., ::2] if value.ndim else value
    dresses = [value.tolist(), tuple(value.tolist()), read_only, spaced, np.asfortranarray(value), value.astype(">f8")]
    if np.array_equal(value.astype(np.float32), value):
        dresses += [value.astype(np.float32), value.astype(np.longdouble)]
    if np.array_equal(value.astype(int), value):
        dresses += [value.astype(int), value.astype(int).tolist()]
    return rng.choice(dresses)


def _number(value: float, rng: random.Random) -> object:
    dresses = [np.float64(value), float(value)]
    if isfinite(value):
        dresses.append(Fraction(value))
        if float(np.float32(value)) == value:
            dresses.append(np.float32(value))
        if value == int(value):
            dresses += [int(value), np.int64(value)]
    return rng.choice(dresses)


def disguised(value: object, rng: random.Random) -> object:
    """A value that means the same; itself where there is no other."""
    if isinstance(value, np.ndarray):
        return _array(value, rng)
    if isinstance(value, float):
        return _number(value, rng)
    if isinstance(value, int) and not isinstance(value, bool):
        return np.int64(value)
    if isinstance(value, dict):
        return MappingProxyType(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple) and value and all(isinstance(entry, int | float) for entry in value):
        return rng.choice([list(value), np.array(value, dtype=float)])
    return value


def same(one: object, other: object) -> bool:
    """Whether two results hold the same numbers; what holds none is not compared."""
    if isinstance(one, np.ndarray | float | int | np.generic):
        return bool(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=np.asarray(one).dtype.kind == "f"))
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping) and list(one) == list(other) and all(same(one[key], other[key]) for key in one)
        )
    if isinstance(one, tuple | list):
        return isinstance(other, tuple | list) and len(one) == len(other) and all(map(same, one, other))
    return True
