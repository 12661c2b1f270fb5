"""Orientation along a path: as it was, or turned in step with the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.paths.checks import finite
from kalaba.paths.value import Path
from kalaba.space.pose import Axis, Z, as_axis

Array = NDArray[np.float64]


class TurnMotion(NamedTuple):
    """The turn at each time: shape (3,) at one time, (n, 3) at n; world axes."""

    rotation: Array  # rotation vector from the start attitude: R(t) = exp(rotation ×) R(0)
    velocity: Array  # ω, rad/s
    acceleration: Array  # dω/dt, rad/s²


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn by `angle` about an axis of the world, in proportion to the way along the path.

    The axis stands still, so the rotation vector is axis · angle · s/L, and its rates are ω and dω/dt. Along a path of
    expressions it is in proportion to time.
    """

    axis: Axis
    angle: float  # rad, over the whole path

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", as_axis(self.axis))
        object.__setattr__(self, "angle", finite(self.angle, "turn.angle"))

    def at(self, t: ArrayLike, path: Path) -> TurnMotion:
        """Rotation vector, angular velocity and angular acceleration."""
        whole = self.angle * np.array(self.axis.components)
        return TurnMotion(*(part[..., np.newaxis] * whole for part in path.progress(t)))

    def expressions(self, t: ca.SX, path: Path) -> ca.SX:
        """The rotation vector as CasADi expressions of t, (3,)."""
        return path.progress_expression(t) * ca.SX(ca.DM([self.angle * c for c in self.axis.components]))


def turn(axis: Axis, angle: float) -> Turn:
    """Turn about an axis of the world by an angle over the whole path."""
    return Turn(axis, angle)


def keep() -> Turn:
    """Keep the start attitude."""
    return Turn(Z, 0.0)
