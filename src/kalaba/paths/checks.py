"""What a path refuses: one line each, with what was expected and what came."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import shown
from kalaba.errors import ControlError
from kalaba.hints import is_real, is_real_array
from kalaba.space.arrays import Array
from kalaba.units import counted

Point = tuple[float, float, float]


def positive(value: object, what: str) -> float:
    """A finite number above zero."""
    number = finite(value, what)
    if number <= 0:
        raise ControlError(f"{what}: expected a number above zero, got {shown(value)}.")
    if number < tolerances.SMALLEST_NUMBER:
        raise ControlError(f"{what}: expected a number of {tolerances.SMALLEST_NUMBER:g} or more, got {shown(value)}.")
    return number


def finite(value: object, what: str) -> float:
    """A finite number."""
    if not is_real(value):
        raise ControlError(f"{what}: expected a number, got {shown(value)}.")
    number = float(cast("float", value))
    if not abs(number) <= tolerances.LARGEST_NUMBER:
        raise ControlError(f"{what}: expected a finite number up to {tolerances.LARGEST_NUMBER:g}, got {shown(value)}.")
    return number


def point(value: object, what: str) -> Point:
    """Three finite numbers."""
    if not is_real_array(value):
        raise ControlError(f"{what}: expected three numbers, got {shown(value)}.")
    numbers = np.asarray(cast("ArrayLike", value), dtype=float)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise ControlError(f"{what}: expected three finite numbers, got {shown(value)}.")
    x, y, z = numbers.tolist()
    return (x, y, z)


def distinct_points(values: object, what: str, least: int = 2) -> Array:
    """Points of which no two neighbours coincide, as rows."""
    try:
        listed = list(cast("Iterable[object]", values))
    except TypeError as error:
        raise ControlError(f"{what}: expected a sequence of points, got {shown(values)}.") from error
    if len(listed) < least:
        raise ControlError(f"{what}: expected at least {counted(least, 'point')}, got {len(listed)}.")
    points = np.array([point(value, f"{what}[{k}]") for k, value in enumerate(listed)])
    legs = np.linalg.norm(np.diff(points, axis=0), axis=1)
    repeated = np.flatnonzero(legs <= tolerances.REPEATED_POINT * np.abs(points).max())
    if repeated.size:
        k = int(repeated[0])
        raise ControlError(f"{what}: points {k} and {k + 1} coincide at {listed[k]!r}; leave one of them out.")
    return points


def times(value: ArrayLike) -> Array:
    """Times, one or an array of them, none of them NaN."""
    t = np.asarray(value, dtype=float)
    if np.isnan(t).any():
        raise ControlError("path.at: expected times in seconds, got NaN.")
    return t


def zero_or_more(value: float, what: str) -> None:
    """Refuse a negative number."""
    if finite(value, what) < 0:
        raise ControlError(f"{what}: expected zero or more, got {shown(value)}.")
