"""A path: a curve, how one goes along it, and how the orientation turns on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import check_arguments
from kalaba.errors import ControlError
from kalaba.model.text.expressions import parse
from kalaba.paths.checks import finite, point, times
from kalaba.paths.curve import Curve
from kalaba.paths.timing import Profile
from kalaba.space.arrays import Array
from kalaba.space.number import measured
from kalaba.space.pose import Axis, AxisLike, Z, as_axis

ORIGIN = (0.0, 0.0, 0.0)


class PathMotion(NamedTuple):
    """Where a path is at each time and how it moves: shape (3,) at one time, (n, 3) at n.

    Arguments:
        position: where it is in the world, m
        velocity: its rate, m/s
        acceleration: the rate of its velocity, m/s²
    """

    position: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a path was asked for: the function of `kb.path` that made it, and its arguments.

    Arguments:
        name: name of the function
        arguments: those that were given, by name; points as tuples of numbers
    """

    name: str
    arguments: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Path:
    """x(t) = curve(s(t)), in world axes; it rests at its ends before 0 and after `duration`.

    A relative path is counted from `origin`, where the frame is at the start; of any other path `origin` is ignored.

    Arguments:
        curve: the way in space, by arc length
        profile: s(t), how far along it one is
        is_relative: whether it is counted from where the frame is at the start
        recipe: how it was asked for, for files; None: it was put together by hand
    """

    curve: Curve
    profile: Profile
    is_relative: bool = False
    recipe: Recipe | None = field(default=None, compare=False, repr=False)

    @property
    def duration(self) -> float:
        """From rest to rest, s."""
        return self.profile.duration

    @property
    def length(self) -> float:
        """Arc length, m."""
        return self.curve.length

    def relative(self) -> Path:
        """The same path, counted from where the frame is at the start."""
        return replace(self, is_relative=True)

    def at(self, t: ArrayLike, origin: ArrayLike = ORIGIN) -> PathMotion:
        """Position, velocity dx/ds ṡ and acceleration d²x/ds² ṡ² + dx/ds s̈.

        Where the acceleration jumps, the one that follows is given.

        Arguments:
            t: times, s
            origin: where the frame is at the start, m; counts for relative paths
        """
        check_arguments(Path.at, locals(), ControlError)
        t = times(t)
        s, v, a = self.profile.at(t.ravel())
        shape = self.curve.at(s)
        velocity = shape.tangent * v[:, np.newaxis]
        acceleration = shape.curvature * v[:, np.newaxis] ** 2 + shape.tangent * a[:, np.newaxis]
        position = shape.position + (np.array(point(origin, "path.at, origin")) if self.is_relative else 0.0)
        return PathMotion(*(part.reshape(*t.shape, 3) for part in (position, velocity, acceleration)))

    def progress(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """The part of the path that is done, 0 to 1, with its first and second rates.

        Arguments:
            t: times, s
        """
        check_arguments(Path.progress, locals(), ControlError)
        t = times(t)
        s, v, a = (part.reshape(t.shape) / self.profile.length for part in self.profile.at(t.ravel()))
        return s, v, a

    def expressions(self, t: ca.SX, origin: Sequence[ca.SX | float] | ca.SX = ORIGIN) -> ca.SX:
        """The position as CasADi expressions of t, (3,): what `at` gives, and so do their derivatives.

        `origin` is three numbers or expressions.

        Arguments:
            t: symbol of the time, s
            origin: where the frame is at the start, m, as numbers or expressions; counts for relative paths
        """
        position = self.curve.expression(self.profile.expression(t))
        return position + _column(origin) if self.is_relative else position

    def progress_expression(self, t: ca.SX) -> ca.SX:
        """The part of the path that is done, as an expression of t.

        Arguments:
            t: symbol of the time, s
        """
        return self.profile.expression(t) / self.profile.length

    def text(self, origin: Sequence[str | float] = ORIGIN) -> tuple[str, str, str]:
        """x, y and z as texts of kalaba's expressions; `origin` is three numbers or texts.

        Lines, circles, polylines with circular blends and expressions have texts. They hold for t ≥ 0, and are the
        `expressions` but for the instants at which the acceleration jumps: there a text has a value in between.

        Arguments:
            origin: where the frame is at the start, m, as numbers or texts; counts for relative paths
        """
        check_arguments(Path.text, locals(), ControlError)
        x, y, z = self.curve.text(self.profile.text)
        if not self.is_relative:
            return (x, y, z)
        if isinstance(origin, str) or len(origin) != 3:
            raise ControlError(f"path.text, origin: expected three numbers or texts, got {origin!r}.")
        x, y, z = (_moved(text, entry) for text, entry in zip((x, y, z), origin, strict=True))
        return (x, y, z)


class TurnMotion(NamedTuple):
    """The turn at each time: shape (3,) at one time, (n, 3) at n; world axes.

    Arguments:
        rotation: rotation vector from the start attitude, rad: R(t) = exp(rotation ×) R(0)
        velocity: ω, rad/s
        acceleration: dω/dt, rad/s²
    """

    rotation: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn by `angle` about an axis of the world, in proportion to the way along the path.

    The axis stands still, so the rotation vector is axis · angle · s/L, and its rates are ω and dω/dt. Along a path of
    expressions it is in proportion to time.

    Arguments:
        axis: axis in the world: kb.Z or three numbers
        angle: over the whole path, rad
    """

    axis: Axis
    angle: float = measured("rad")

    if TYPE_CHECKING:

        def __init__(self, axis: AxisLike, angle: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", as_axis(self.axis))
        object.__setattr__(self, "angle", finite(self.angle, "turn.angle"))

    def at(self, t: ArrayLike, path: Path) -> TurnMotion:
        """Rotation vector, angular velocity and angular acceleration."""
        check_arguments(Turn.at, locals(), ControlError)
        whole = self.angle * np.array(self.axis.components)
        return TurnMotion(*(part[..., np.newaxis] * whole for part in path.progress(t)))

    def expressions(self, t: ca.SX, path: Path) -> ca.SX:
        """The rotation vector as CasADi expressions of t, (3,)."""
        return path.progress_expression(t) * ca.SX(ca.DM([self.angle * c for c in self.axis.components]))


def turn(axis: AxisLike, angle: float) -> Turn:
    """Turn about an axis of the world by an angle over the whole path.

    Arguments:
        axis: axis in the world, kb.X, kb.Y, kb.Z or three numbers
        angle: angle over the whole path, rad
    """
    check_arguments(turn, locals(), ControlError)
    return Turn(axis, angle)


def keep() -> Turn:
    """Keep the start attitude."""
    return Turn(Z, 0.0)


def _moved(text: str, by: str | float) -> str:
    start = f"({parse(by).text})" if isinstance(by, str) else repr(finite(by, "path.text, origin"))
    if text == "0":
        return start
    return text if start == "0.0" else f"{start} + {text}"


def _column(origin: Sequence[ca.SX | float] | ca.SX) -> ca.SX:
    column = ca.SX(origin) if isinstance(origin, ca.SX | ca.DM) else ca.vertcat(*(ca.SX(entry) for entry in origin))
    if column.shape not in {(3, 1), (1, 3)}:
        raise ControlError(f"path.expressions, origin: expected three numbers or expressions, got {origin!r}.")
    return ca.reshape(column, 3, 1)
