"""Joints: how a child moves on its parent. The same words build a tree (Body) and close a cut (Connection).

A joint says how many displacements it has, what they are called, and which rows it imposes when it closes a
loop. What the displacements do to a pose is in `derive/joints.py`; what the rows are is in `derive/closure.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kalaba.errors import ModelError
from kalaba.space.number import Number, as_numbers, check_number, scalar
from kalaba.space.pose import Axis, X, Y, Z, as_axis

Displacements = tuple[tuple[str, str], ...]  # (name, unit)
ALL_ROWS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, slots=True)
class Joint:
    """What all joints have in common."""

    displacements: ClassVar[Displacements] = ()
    has_quaternion: ClassVar[bool] = False
    in_tree: ClassVar[bool] = True  # may a Body have it

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows it imposes when it closes a loop."""
        return ()

    def check_value(self, path: str, value: Any) -> None:  # noqa: ANN401
        """Refuse a value that one of its numbers cannot have."""

    @property
    def expressions(self) -> tuple[Any, ...]:
        """The user's expressions of the displacements; None: a coordinate of its own."""
        given = getattr(self, "q", None)
        if len(self.displacements) == 1 and not isinstance(given, tuple | list):
            return (given,)
        return (None,) * len(self.displacements) if given is None else tuple(given)


def _check(joint: Any, *axis_fields: str) -> None:  # noqa: ANN401
    for name in axis_fields:
        object.__setattr__(joint, name, as_axis(getattr(joint, name)))
    given, kind, count = getattr(joint, "q", None), type(joint).__name__, len(joint.displacements)
    if isinstance(given, list):
        object.__setattr__(joint, "q", tuple(given))
    is_short = count > 1 and not isinstance(given, list | tuple)  # a text of `count` letters is one entry
    if given is not None and (is_short or len(joint.expressions) != count):
        names = ", ".join(name for name, _ in joint.displacements)
        raise ModelError(f"{kind}: expected q= with {count} entries ({names}), got {given!r}. Give a tuple.")


def _check_limits(joint: Any) -> None:  # noqa: ANN401
    if joint.limits is None:
        return
    given = as_numbers(joint.limits, 2, f"{type(joint).__name__}.limits")
    if any(isinstance(limit, str) for limit in given) or not float(given[0]) < float(given[1]):
        raise ModelError(
            f"{type(joint).__name__}.limits: expected a lower and an upper number, got {joint.limits!r}. Swap them?"
        )
    object.__setattr__(joint, "limits", given)


def _about(axis: Axis) -> tuple[str, ...]:
    """Names of the two rows that keep an axis aligned."""
    return tuple(f"r{letter}" for letter in "xyz" if letter != axis.letter) if axis.letter else ("r1", "r2")


def _off(axis: Axis) -> tuple[str, ...]:
    """Names of the two rows that keep a point on an axis."""
    return tuple(letter for letter in "xyz" if letter != axis.letter) if axis.letter else ("d1", "d2")


@dataclass(frozen=True, slots=True)
class Weld(Joint):
    """No motion at all."""

    @property
    def rows(self) -> tuple[str, ...]:
        """Gap and turn, in world axes."""
        return ALL_ROWS


@dataclass(frozen=True, slots=True)
class Revolute(Joint):
    """A hinge: one angle about `axis`."""

    displacements: ClassVar[Displacements] = (("angle", "rad"),)
    axis: Axis = Z
    q: Number | None = None
    limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _check(self, "axis")
        _check_limits(self)

    @property
    def rows(self) -> tuple[str, ...]:
        """Gap in seat axes, and two turns across the axis."""
        return ("x", "y", "z", *_about(self.axis))


@dataclass(frozen=True, slots=True)
class Prismatic(Joint):
    """A slider: one travel along `axis`."""

    displacements: ClassVar[Displacements] = (("travel", "m"),)
    axis: Axis = X
    q: Number | None = None
    limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _check(self, "axis")
        _check_limits(self)

    @property
    def rows(self) -> tuple[str, ...]:
        """Gap across the axis and all turns."""
        return (*_off(self.axis), "rx", "ry", "rz")


@dataclass(frozen=True, slots=True)
class Screw(Joint):
    """A thread: its coordinate is the angle, the travel is pitch·angle/2π; pitch in metres per turn."""

    displacements: ClassVar[Displacements] = (("angle", "rad"),)
    axis: Axis = Z
    pitch: Number = scalar("m", "pitch, travel per turn", 0.01)
    q: Number | None = None

    def __post_init__(self) -> None:
        _check(self, "axis")
        check_number("Screw.pitch", self.pitch)
        self.check_value("Screw.pitch", self.pitch)

    def check_value(self, path: str, value: Any) -> None:  # noqa: ANN401
        """Refuse a thread that does not advance; texts are judged when their value is known."""
        if value == 0:
            raise ModelError(f"{path}: expected metres per turn other than zero, got 0. Use Revolute for a hinge.")

    @property
    def rows(self) -> tuple[str, ...]:
        """Those of a cylindrical joint, and the thread."""
        return (*_off(self.axis), *_about(self.axis), "thread")


@dataclass(frozen=True, slots=True)
class Cylindrical(Joint):
    """Travel along and angle about one axis."""

    displacements: ClassVar[Displacements] = (("travel", "m"), ("angle", "rad"))
    axis: Axis = Z
    q: tuple[Number, Number] | None = None

    def __post_init__(self) -> None:
        _check(self, "axis")

    @property
    def rows(self) -> tuple[str, ...]:
        """Gap and turns across the axis."""
        return (*_off(self.axis), *_about(self.axis))


@dataclass(frozen=True, slots=True)
class Universal(Joint):
    """A cross: angle1 about `axis1` of the parent, then angle2 about `axis2` of the child."""

    displacements: ClassVar[Displacements] = (("angle1", "rad"), ("angle2", "rad"))
    axis1: Axis = X
    axis2: Axis = Y
    q: tuple[Number, Number] | None = None

    def __post_init__(self) -> None:
        _check(self, "axis1", "axis2")
        a, b = self.axis1.components, self.axis2.components
        if abs(sum(x * y for x, y in zip(a, b, strict=True))) > 1e-12:
            raise ModelError(f"Universal: expected two axes at right angles, got {a} and {b}. Turn one of them.")

    @property
    def rows(self) -> tuple[str, ...]:
        """Gap in seat axes, and the right angle between the two axes."""
        return ("x", "y", "z", "cross")


@dataclass(frozen=True, slots=True)
class Spherical(Joint):
    """A ball: a unit quaternion of the child in the parent, angular velocity in child axes."""

    has_quaternion: ClassVar[bool] = True

    @property
    def rows(self) -> tuple[str, ...]:
        """Gap in world axes."""
        return ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class Planar(Joint):
    """Two travels across `normal` and an angle about it. For the normal Z they are x and y of the seat."""

    displacements: ClassVar[Displacements] = (("x", "m"), ("y", "m"), ("angle", "rad"))
    normal: Axis = Z
    q: tuple[Number, Number, Number] | None = None

    def __post_init__(self) -> None:
        _check(self, "normal")

    @property
    def rows(self) -> tuple[str, ...]:
        """Gap along the normal, and two turns across it."""
        return (self.normal.letter or "d", *_about(self.normal))


@dataclass(frozen=True, slots=True)
class Free(Joint):
    """Six freedoms: position in seat axes and a unit quaternion."""

    has_quaternion: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class PointOnLine(Joint):
    """Closing only: the child's origin stays on a line through the seat along `axis`."""

    in_tree: ClassVar[bool] = False
    axis: Axis = X

    def __post_init__(self) -> None:
        _check(self, "axis")

    @property
    def rows(self) -> tuple[str, ...]:
        """Gap across the line."""
        return _off(self.axis)


@dataclass(frozen=True, slots=True)
class Distance(Joint):
    """Closing only: the child's origin keeps a length from the seat's."""

    in_tree: ClassVar[bool] = False
    length: Number = scalar("m", "distance kept")

    def __post_init__(self) -> None:
        check_number("Distance.length", self.length)
        self.check_value("Distance.length", self.length)

    def check_value(self, path: str, value: Any) -> None:  # noqa: ANN401
        """Refuse a length that is not above zero; texts are judged when their value is known."""
        if not isinstance(value, str) and not value > 0:
            raise ModelError(f"{path}: expected more than zero, got {value:g}. Use Spherical to join two points.")

    @property
    def rows(self) -> tuple[str, ...]:
        """The one length."""
        return ("distance",)
