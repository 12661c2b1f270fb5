"""Timing laws: how far along a curve one is at a time.

A timing is what one asks for; `fit(length)` gives the `Profile` s(t) that goes from 0 to that length, which is a
piecewise polynomial of t. Before 0 and after its duration it rests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.errors import ControlError
from kalaba.paths.checks import positive
from kalaba.paths.curve import Table
from kalaba.space.arrays import Array
from kalaba.space.number import measured

RAMP = 0.25  # of the duration: each of the two ramps of a MeanSpeed without accel


class Progress(NamedTuple):
    """How far, how fast and how much faster, at each time."""

    distance: Array
    speed: Array
    acceleration: Array


@dataclass(frozen=True, slots=True)
class Profile:
    """s(t) = Σ c_i (t − t_k)^i on piece k; row k of the table is t_k, c_0, c_1, ..."""

    duration: float  # s
    length: float  # what s comes to
    table: Table
    text: str  # the same s(t) for t ≥ 0, in kalaba's expressions

    def at(self, t: Array) -> Progress:
        """The distance, ds/dt and d²s/dt² at each time; at a break those of the piece that begins there."""
        start, *coefficients = self.table.at(t)
        tau = np.where(np.isfinite(t), t - start, 0.0)
        s, v, a = np.zeros_like(tau), np.zeros_like(tau), np.zeros_like(tau)
        for c in reversed(coefficients):  # Horner's scheme for the value, the slope and half the second derivative
            a = a * tau + v
            v = v * tau + s
            s = s * tau + c
        return Progress(s, v, 2 * a)

    def expression(self, t: ca.SX) -> ca.SX:
        """The distance as an expression of t."""
        start, *coefficients = self.table.expressions(t)
        tau, s = t - start, ca.SX(0)
        for c in reversed(coefficients):
            s = s * tau + c
        return s


@runtime_checkable
class Timing(Protocol):
    """A way to go along a curve of any length."""

    def fit(self, length: float) -> Profile:
        """The profile for a length."""


@dataclass(frozen=True, slots=True)
class Trapezoid:
    """Accelerate at `accel` to `speed`, cruise, brake at `accel`.

    Of length L with cruising speed v and acceleration a the duration is L/v + v/a. Where L < v²/a the speed is not
    reached: the speed is a triangle with peak √(a L).

    Arguments:
        speed: cruising speed, m/s
        accel: acceleration of the ramps, m/s²
    """

    speed: float = measured("m/s")
    accel: float = measured("m/s^2")

    if TYPE_CHECKING:

        def __init__(self, speed: float, accel: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "speed", positive(self.speed, "Trapezoid.speed"))
        object.__setattr__(self, "accel", positive(self.accel, "Trapezoid.accel"))

    def fit(self, length: float) -> Profile:
        """The distance v (u − t₁/2) + ½ a (max(t₁ − u, 0)² − max(u − t₂, 0)²) with u = min(t, T)."""
        a = self.accel
        v = min(self.speed, math.sqrt(a * length))
        t1 = v / a
        t2 = max(length / v, t1)
        T = t1 + t2
        rows = (
            (0.0, 0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0, a / 2),
            (t1, a * t1**2 / 2, v, 0.0),
            (t2, length - v * t1 / 2, v, -a / 2),
            (T, length, 0.0, 0.0),
        )
        u = _within(T)
        ramps = f"{0.5 * a!r}*(max({t1!r} - {u}, 0)^2 - max({u} - {t2!r}, 0)^2)"
        return Profile(T, length, Table((-math.inf, 0.0, t1, t2, T), rows), f"{v!r}*({u} - {0.5 * t1!r}) + {ramps}")


@dataclass(frozen=True, slots=True)
class MeanSpeed:
    """A trapezoid of duration length/speed: `speed` is the mean, ramps included.

    Without `accel` each ramp takes a quarter of the duration, so the cruise is at 4/3 of the mean. With it the cruise
    is the smaller root of v² − a T v + a L = 0, which exists from a = 4 L/T² on, where the speed is a triangle.

    Arguments:
        speed: mean speed, m/s
        accel: acceleration of the ramps, m/s²; None: each ramp takes a quarter of the duration
    """

    speed: float = measured("m/s")
    accel: float | None = measured("m/s^2", default=None)

    if TYPE_CHECKING:

        def __init__(self, speed: float, accel: float | None = None) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "speed", positive(self.speed, "speed"))
        if self.accel is not None:
            object.__setattr__(self, "accel", positive(self.accel, "accel"))

    def fit(self, length: float) -> Profile:
        """The trapezoid of this mean."""
        T = length / self.speed
        if self.accel is None:
            cruise = self.speed / (1 - RAMP)
            return Trapezoid(cruise, cruise / (RAMP * T)).fit(length)
        least = 4 * length / T**2
        if self.accel < least * (1 - tolerances.PATH_ROUNDING):
            raise ControlError(
                f"accel: expected at least {least:.6g} m/s² for a mean of {self.speed:g} m/s over {length:.6g} m, "
                f"got {self.accel:g}; go slower or leave it out."
            )
        root = math.sqrt(max(T**2 - 4 * length / self.accel, 0.0))
        return Trapezoid(2 * length / (T + root), self.accel).fit(length)


@dataclass(frozen=True, slots=True)
class MinimumJerk:
    """The distance L τ³ (10 − 15 τ + 6 τ²), τ = t/duration: the least ∫ (d³s/dt³)² dt between rests.

    Reference: Flash and Hogan (1985), J. Neurosci. 5, 1688-1703.

    Arguments:
        duration: how long the whole path takes, s
    """

    duration: float = measured("s")

    if TYPE_CHECKING:

        def __init__(self, duration: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "duration", positive(self.duration, "MinimumJerk.duration"))

    def fit(self, length: float) -> Profile:
        """The quintic of this length."""
        T = self.duration
        rise = (0.0, 0.0, 0.0, 0.0, 10 * length / T**3, -15 * length / T**4, 6 * length / T**5)
        rows = ((0.0,) * 7, rise, (T, length, *(0.0,) * 5))
        tau = f"({_within(T)}/{T!r})"
        text = f"{length!r}*{tau}^3*(10 - 15*{tau} + 6*{tau}^2)"
        return Profile(T, length, Table((-math.inf, 0.0, T), rows), text)


@dataclass(frozen=True, slots=True)
class Constant:
    """The distance speed · t: the speed jumps at both ends.

    Arguments:
        speed: speed along the curve, m/s
    """

    speed: float = measured("m/s")

    if TYPE_CHECKING:

        def __init__(self, speed: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "speed", positive(self.speed, "Constant.speed"))

    def fit(self, length: float) -> Profile:
        """The straight line of this length."""
        T = length / self.speed
        rows = ((0.0, 0.0, 0.0), (0.0, 0.0, self.speed), (T, length, 0.0))
        text = _within(T) if self.speed == 1.0 else f"{self.speed!r}*{_within(T)}"
        return Profile(T, length, Table((-math.inf, 0.0, T), rows), text)


def timing_of(length: float, speed: float | None, duration: float | None, timing: Timing | None) -> Profile:
    """The profile of whichever of the three was given: a mean speed, a duration of the same trapezoid, or a timing."""
    choices = {"speed": speed, "duration": duration, "timing": timing}
    chosen = [name for name, value in choices.items() if value is not None]
    if len(chosen) != 1:
        got = " and ".join(chosen) or "none"
        raise ControlError(f"path: expected one of speed=, duration= and timing=, got {got}.")
    if timing is not None:
        return timing.fit(length)
    return MeanSpeed(length / positive(duration, "duration") if speed is None else speed).fit(length)


def _within(duration: float) -> str:
    """No max(t, 0): its slope at 0 is neither 0 nor 1, and 0 is where a run begins."""
    return f"min(t, {duration!r})"
