"""What a path refuses: one line each, with what was expected and what came."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.errors import ControlError

Array = NDArray[np.float64]
Point = tuple[float, float, float]
SAME = 1e-12  # of the size of all points: nearer ones are repeated


def positive(value: Any, what: str) -> float:  # noqa: ANN401
    """A finite number above zero."""
    number = finite(value, what)
    if number <= 0:
        raise ControlError(f"{what}: expected a number above zero, got {value!r}.")
    return number


def finite(value: Any, what: str) -> float:  # noqa: ANN401
    """A finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise ControlError(f"{what}: expected a number, got {value!r}.") from error
    if not np.isfinite(number):
        raise ControlError(f"{what}: expected a finite number, got {value!r}.")
    return number


def point(value: Any, what: str) -> Point:  # noqa: ANN401
    """Three finite numbers."""
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ControlError(f"{what}: expected three numbers, got {value!r}.") from error
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise ControlError(f"{what}: expected three finite numbers, got {value!r}.")
    x, y, z = numbers.tolist()
    return (x, y, z)


def distinct_points(values: Any, what: str, least: int = 2) -> Array:  # noqa: ANN401
    """Points of which no two neighbours coincide, as rows."""
    try:
        given = list(values)
    except TypeError as error:
        raise ControlError(f"{what}: expected a sequence of points, got {values!r}.") from error
    if len(given) < least:
        raise ControlError(f"{what}: expected at least {least} points, got {len(given)}.")
    points = np.array([point(value, f"{what}[{k}]") for k, value in enumerate(given)])
    legs = np.linalg.norm(np.diff(points, axis=0), axis=1)
    repeated = np.flatnonzero(legs <= SAME * np.abs(points).max())
    if repeated.size:
        k = int(repeated[0])
        raise ControlError(f"{what}: points {k} and {k + 1} coincide at {given[k]!r}; leave one of them out.")
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
        raise ControlError(f"{what}: expected zero or more, got {value!r}.")
