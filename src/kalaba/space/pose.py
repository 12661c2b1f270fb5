"""Axes, poses and points of a model: where things sit on each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.boundary import check_fields, shown
from kalaba.errors import ModelError
from kalaba.space.number import Number, as_numbers, vector
from kalaba.tolerances import UNIT_LENGTH

Vector3 = tuple[Number, Number, Number]
SQUARED = (1e-100, 1e100)  # between them a number's square is as exact as the number
ZERO3: Vector3 = (0.0, 0.0, 0.0)

# What people write where a vector, a point, an axis or a pose is meant.
Floats = Sequence[float] | NDArray[np.float64]
PointLike = Floats | tuple[Number, ...] | list[Number]  # numbers, or expressions of parameters


@dataclass(frozen=True, slots=True)
class Axis:
    """A direction: a unit vector, normalised when made. Its components are structure, not parameters.

    Arguments:
        x: first component, of any length together with the others
        y: second component
        z: third component
    """

    x: float
    y: float
    z: float

    def __post_init__(self) -> None:
        check_fields(self)
        largest = max(abs(self.x), abs(self.y), abs(self.z))
        if not math.isfinite(largest) or largest == 0.0:
            raise ModelError(
                f"axis: expected a direction of finite length, got ({self.x}, {self.y}, {self.z}). Try kb.Z."
            )
        if not SQUARED[0] < largest < SQUARED[1]:
            for name in ("x", "y", "z"):
                object.__setattr__(self, name, getattr(self, name) / largest)
        length = math.sqrt(self.x**2 + self.y**2 + self.z**2)
        if abs(length - 1.0) > UNIT_LENGTH:
            for name in ("x", "y", "z"):
                object.__setattr__(self, name, getattr(self, name) / length)

    def __neg__(self) -> Axis:
        """Give the opposite direction; exact zeros stay plain zeros."""
        return Axis(*(0.0 - component for component in self.components))

    @property
    def components(self) -> tuple[float, float, float]:
        """The three components as a tuple."""
        return (self.x, self.y, self.z)

    @property
    def letter(self) -> str:
        """The letter of the coordinate axis that this direction lies on, else an empty text."""
        aligned = [name for name, c in zip("xyz", self.components, strict=True) if abs(c) == 1.0]
        return aligned[0] if aligned else ""

    @property
    def words(self) -> str:
        """For people: x, -y, or [0.6 0.8 0]."""
        if self.letter:
            return self.letter if sum(self.components) > 0 else f"-{self.letter}"
        return "[" + " ".join(f"{component + 0.0:.4g}" for component in self.components) + "]"  # not -0

    def across(self) -> tuple[Axis, Axis]:
        """Give two directions that make a right-handed triad with this one, coordinate axes if possible."""
        if self.letter:
            index = "xyz".index(self.letter)
            first, second = _unit((index + 1) % 3), _unit((index + 2) % 3)
            return first, (second if self.components[index] > 0 else -second)
        least = min(range(3), key=lambda i: abs(self.components[i]))
        second = Axis(*_cross(self.components, _unit(least).components))
        return Axis(*_cross(second.components, self.components)), second


def _unit(index: int) -> Axis:
    return Axis(*(1.0 if i == index else 0.0 for i in range(3)))


def _cross(a: tuple[float, ...], b: tuple[float, ...]) -> tuple[float, float, float]:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


X, Y, Z = Axis(1.0, 0.0, 0.0), Axis(0.0, 1.0, 0.0), Axis(0.0, 0.0, 1.0)


AxisLike = Axis | Floats


def as_axis(value: AxisLike) -> Axis:
    """Accept an Axis or three numbers."""
    if isinstance(value, Axis):
        return value
    components = as_numbers(value, 3, "axis")
    if any(isinstance(c, str) for c in components):
        raise ModelError(
            f"axis: expected three plain numbers, got {shown(value)}. Turn the part with at=Pose(rpy=...) instead."
        )
    return Axis(*(float(c) for c in components))


@dataclass(frozen=True, slots=True)
class Pose:
    """A position and an orientation in a parent frame.

    The orientation is roll, pitch, yaw (R = Rz(yaw) Ry(pitch) Rx(roll)) or a quaternion (w, x, y, z).

    Arguments:
        position: x, y and z in the parent frame, m: numbers, or expressions of parameters
        rpy: roll, pitch and yaw, rad; give this, `quaternion` or neither
        quaternion: (w, x, y, z), normalised when given
    """

    position: Vector3 = vector("m", "position", ZERO3)
    rpy: tuple[Number, ...] | None = vector("rad", "orientation", None, ("roll", "pitch", "yaw"), is_angle=True)
    quaternion: tuple[Number, ...] | None = vector("1", "orientation quaternion", None, ("qw", "qx", "qy", "qz"))

    if TYPE_CHECKING:

        def __init__(
            self,
            position: PointLike = (0.0, 0.0, 0.0),
            rpy: PointLike | None = None,
            quaternion: PointLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", as_numbers(self.position, 3, "Pose.position"))
        if self.rpy is not None and self.quaternion is not None:
            raise ModelError("Pose: expected rpy= or quaternion=, got both. Give one of them.")
        if self.rpy is not None:
            object.__setattr__(self, "rpy", as_numbers(self.rpy, 3, "Pose.rpy"))
        if self.quaternion is not None:
            object.__setattr__(self, "quaternion", _unit_quaternion(self.quaternion))


def _unit_quaternion(content: PointLike) -> tuple[Number, ...]:
    numbers = as_numbers(content, 4, "Pose.quaternion")
    if any(isinstance(n, str) for n in numbers):
        return numbers
    plain = [float(n) for n in numbers]
    length = math.sqrt(sum(n * n for n in plain))
    if not math.isfinite(length) or length == 0.0:
        raise ModelError(f"Pose.quaternion: expected (w, x, y, z) of length one, got {content!r}.")
    return tuple(plain) if abs(length - 1.0) < UNIT_LENGTH else tuple(n / length for n in plain)


@dataclass(frozen=True, slots=True)
class AsFound:
    """An `at` that is taken from the start: the child stays where it is then (grasps).

    That is the System's own start, or the one that a run is given: `simulate(system, start=run.end)`.
    """


PoseLike = Pose | PointLike  # three numbers are a translation


def as_pose(value: PoseLike | AsFound) -> Pose | AsFound:
    """Accept a Pose, AsFound(), or three numbers as a translation."""
    return value if isinstance(value, Pose | AsFound) else Pose(as_numbers(value, 3, "at"))
