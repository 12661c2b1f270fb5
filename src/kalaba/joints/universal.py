"""Universal: a cross."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca
import numpy as np

from kalaba.errors import ModelError
from kalaba.joints.formulas import GAP_LABELS, ZERO, Gap, InWorld, JointMotion, Labels, Velocity
from kalaba.joints.joint import Joint, direction
from kalaba.joints.marker import Glyph, Marker, Shape
from kalaba.space.arrays import Array
from kalaba.space.number import Number
from kalaba.space.pose import Axis, AxisLike, X, Y
from kalaba.space.symbolic import about, cross, vector
from kalaba.tolerances import RIGHT_ANGLE


@dataclass(frozen=True, slots=True)
class Universal(Joint):
    """A cross: angle1 about `axis1` of the parent, then angle2 about `axis2` of the child.

    Arguments:
        axis1: first axis, fixed in the parent: kb.X or three numbers
        axis2: second axis, fixed in the child, at right angles to the first
        q: both angles, numbers or expressions of declared coordinates, rad; None: they are coordinates
    """

    displacements: ClassVar[Labels] = (("angle1", "rad"), ("angle2", "rad"))
    comes_round: ClassVar[bool] = True
    axis1: Axis = direction(X)
    axis2: Axis = direction(Y)
    q: tuple[Number, Number] | None = None

    if TYPE_CHECKING:

        def __init__(
            self, axis1: AxisLike = X, axis2: AxisLike = Y, q: tuple[Number, Number] | list[Number] | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        Joint.__post_init__(self)
        a, b = self.axis1.components, self.axis2.components
        if abs(sum(x * y for x, y in zip(a, b, strict=True))) > RIGHT_ANGLE:
            raise ModelError(f"Universal: expected two axes at right angles, got {a} and {b}. Turn one of them.")

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """R = R(axis1, angle1) R(axis2, angle2); axis1 moves in child axes as angle2 turns."""
        a2 = vector(self.axis2)
        R2 = about(self.axis2, q[1])
        first = ca.mtimes(R2.T, vector(self.axis1))  # axis1 in child axes
        S = ca.horzcat(ca.vertcat(first, ZERO), ca.vertcat(a2, ZERO))
        drift = ca.vertcat(-cross(a2 * u[1], first) * u[0], ZERO)
        return JointMotion(ca.mtimes(about(self.axis1, q[0]), R2), ZERO, S, drift)

    def velocity(self, world: InWorld) -> Velocity:
        """Spin about axis1 of the seat and axis2 of the child."""
        return world.fixed(self.axis1) * world.rates[0] + world.carried(self.axis2) * world.rates[1], ZERO

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """R = R(a, α) R(b, β) with a ⊥ b: R b = R(a, α) b, and Rᵀ a = R(b, −β) a."""
        a, b = (np.array(axis.components) for axis in (self.axis1, self.axis2))
        across = np.cross(a, b)
        after, before = rotation @ b, rotation.T @ a
        return math.atan2(across @ after, b @ after), math.atan2(across @ before, a @ before)

    def displacements_in(self, gap: Gap) -> list[ca.SX]:
        """As `coordinates_at`: R b = R(a, α) b, and Rᵀ a = R(b, −β) a."""
        a, b = vector(self.axis1), vector(self.axis2)
        across, after, before = cross(a, b), ca.mtimes(gap.R, b), ca.mtimes(gap.R.T, a)
        first = ca.atan2(ca.dot(across, after), ca.dot(b, after))
        return [first, ca.atan2(ca.dot(across, before), ca.dot(a, before))]

    @property
    def row_labels(self) -> Labels:
        """Gap in seat axes, and the right angle between the two axes."""
        return (*GAP_LABELS, ("cross", "rad"))

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """The gap d, and axis1 · axis2."""
        return [*ca.vertsplit(gap.d), ca.dot(vector(self.axis1), ca.mtimes(gap.R, vector(self.axis2)))]

    @property
    def marker(self) -> Marker:
        """Two pins."""
        return Marker((Glyph(Shape.PIN, self.axis1), Glyph(Shape.PIN, self.axis2)))
