"""What a number is varied over: a distribution, or some values. Each is known by its quantiles.

A sample is a point u of the unit cube, one coordinate per variable; the number is the quantile at u. So every way of
sampling serves every variable, and the search for the worst case too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kalaba.boundary import check_arguments, check_fields, check_whole
from kalaba.errors import ModelError
from kalaba.space.arrays import Array

ANY_UNIT = ("any unit",)  # of numbers in files: the unit is that of the parameter
MOST_VALUES = 1_000_000
SEARCHED_TAIL = 1e-3  # share of an endless distribution that a search leaves out at each end


class Variable:
    """A number that varies. One of your own is a frozen dataclass with `quantile`."""

    __slots__ = ()

    def quantile(self, u: Array) -> Array:
        """The numbers below which shares u of all numbers lie, 0 < u < 1."""
        raise NotImplementedError

    @property
    def values(self) -> tuple[float, ...]:
        """All values, where there are only so many; none: it is continuous."""
        return ()

    @property
    def is_endless(self) -> bool:
        """Whether there is no smallest or no largest value."""
        return False


def _number() -> float:
    """A field that files write with the unit of the parameter; it has no default."""
    return field(metadata={"units": ANY_UNIT})  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Uniform(Variable):
    """Any number between two, each as likely.

    Arguments:
        low: the smallest, in the parameter's unit
        high: the largest
    """

    low: float = _number()
    high: float = _number()

    def __post_init__(self) -> None:
        check_fields(self)
        _check_order("uniform", self.low, self.high)

    def quantile(self, u: Array) -> Array:
        """The numbers at shares u."""
        return self.low + u * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class LogUniform(Variable):
    """Any number between two above zero, its logarithm uniform: each decade as likely.

    Arguments:
        low: the smallest, in the parameter's unit
        high: the largest
    """

    low: float = _number()
    high: float = _number()

    def __post_init__(self) -> None:
        check_fields(self)
        _check_order("log_uniform", self.low, self.high)
        if not self.low > 0:
            raise ModelError(f"log_uniform: expected numbers above 0, got {self.low!r}. Take kb.uniform.")

    def quantile(self, u: Array) -> Array:
        """The numbers at shares u."""
        low, high = math.log(self.low), math.log(self.high)
        return np.exp(low + u * (high - low))


@dataclass(frozen=True, slots=True)
class Normal(Variable):
    """The normal distribution.

    Arguments:
        mean: its mean, in the parameter's unit
        deviation: its standard deviation
    """

    mean: float = _number()
    deviation: float = _number()

    def __post_init__(self) -> None:
        check_fields(self)
        _check_finite("normal", self.mean, self.deviation)
        if not self.deviation > 0:
            raise ModelError(f"normal: expected a deviation above 0, got {self.deviation!r}.")

    def quantile(self, u: Array) -> Array:
        """The numbers at shares u."""
        from scipy.special import ndtri

        return np.asarray(self.mean + self.deviation * ndtri(u))

    @property
    def is_endless(self) -> bool:
        """It is, at both ends."""
        return True


@dataclass(frozen=True, slots=True)
class Choice(Variable):
    """One of some values, each as likely.

    Arguments:
        values: the values, in the parameter's unit
    """

    values: tuple[float, ...] = field(default=(), metadata={"units": ANY_UNIT})

    def __post_init__(self) -> None:
        check_fields(self)
        values = tuple(float(value) for value in self.values)
        if not 0 < len(values) <= MOST_VALUES:
            raise ModelError(f"choice: expected from 1 to {MOST_VALUES:,} values, got {len(values)} of them.")
        _check_finite("choice", *values)
        object.__setattr__(self, "values", values)

    def quantile(self, u: Array) -> Array:
        """The numbers at shares u."""
        places = np.minimum((u * len(self.values)).astype(int), len(self.values) - 1)
        return np.asarray(np.asarray(self.values)[places])


@dataclass(frozen=True, slots=True)
class Spaced(Variable):
    """Values at equal distances, each as likely: for grids.

    Arguments:
        low: the smallest, in the parameter's unit
        high: the largest
        count: how many values
    """

    low: float = _number()
    high: float = _number()
    count: int = 0

    def __post_init__(self) -> None:
        check_fields(self)
        check_whole(self.count, "spaced: count", 2, MOST_VALUES)
        _check_order("spaced", self.low, self.high)

    @property
    def values(self) -> tuple[float, ...]:
        """All values."""
        return tuple(np.linspace(self.low, self.high, self.count).tolist())

    def quantile(self, u: Array) -> Array:
        """The numbers at shares u."""
        return Choice(self.values).quantile(u)


VARIABLES: tuple[type[Variable], ...] = (Uniform, LogUniform, Normal, Choice, Spaced)


def uniform(low: float, high: float) -> Uniform:
    """Any number between two, each as likely.

    Arguments:
        low: the smallest, in the parameter's unit
        high: the largest
    """
    check_arguments(uniform, locals())
    return Uniform(low, high)


def log_uniform(low: float, high: float) -> LogUniform:
    """Any number between two above zero, each decade as likely: for gains, stiffness and what is known by its order.

    Arguments:
        low: the smallest, in the parameter's unit
        high: the largest
    """
    check_arguments(log_uniform, locals())
    return LogUniform(low, high)


def normal(mean: float, deviation: float) -> Normal:
    """Numbers of a normal distribution.

    Arguments:
        mean: its mean, in the parameter's unit
        deviation: its standard deviation
    """
    check_arguments(normal, locals())
    return Normal(mean, deviation)


def choice(values: Sequence[float]) -> Choice:
    """One of some values, each as likely; in a grid each of them.

    Arguments:
        values: the values, in the parameter's unit
    """
    check_arguments(choice, locals())
    return Choice(tuple(values))


def spaced(low: float, high: float, count: int) -> Spaced:
    """Values at equal distances, both ends among them; in a grid each of them.

    Arguments:
        low: the smallest, in the parameter's unit
        high: the largest
        count: how many values
    """
    check_arguments(spaced, locals())
    return Spaced(low, high, count)


def _check_finite(what: str, *numbers: float) -> None:
    if not all(math.isfinite(number) for number in numbers):
        raise ModelError(f"{what}: expected finite numbers, got {', '.join(map(repr, numbers))}.")


def _check_order(what: str, low: float, high: float) -> None:
    _check_finite(what, low, high, high - low)
    if not low < high:
        raise ModelError(f"{what}: expected the smaller number first, got {low!r} and {high!r}.")
