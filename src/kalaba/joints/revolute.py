"""Revolute: a hinge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from kalaba.joints.formulas import GAP_LABELS, ZERO, Gap, InWorld, JointMotion, Labels, Velocity, tilt_labels
from kalaba.joints.joint import Joint, along_the_other_way, direction
from kalaba.joints.marker import Glyph, Marker, Shape
from kalaba.space.arrays import Array
from kalaba.space.number import Number
from kalaba.space.pose import Axis, AxisLike, Floats, Z
from kalaba.space.rotations import turn_about
from kalaba.space.symbolic import about, vector


@dataclass(frozen=True, slots=True)
class Revolute(Joint):
    """A hinge: one angle about `axis`.

    Arguments:
        axis: direction of the hinge, equal in seat and child: kb.Z or three numbers
        q: the angle as a number or an expression of declared coordinates, rad; None: it is a coordinate
        limits: lowest and highest angle, rad: it starts in the middle, and inverse kinematics stays within; None: no
            limits
    """

    displacements: ClassVar[Labels] = (("angle", "rad"),)
    comes_round: ClassVar[bool] = True
    axis: Axis = direction(Z)
    q: Number | None = None
    limits: tuple[float, float] | None = None

    if TYPE_CHECKING:

        def __init__(self, axis: AxisLike = Z, q: Number | None = None, limits: Floats | None = None) -> None: ...

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """R(axis, angle); ω = axis · rate."""
        return JointMotion.steady(about(self.axis, q[0]), ZERO, (vector(self.axis), ZERO))

    def velocity(self, world: InWorld) -> Velocity:
        """Spin about the axis."""
        return world.fixed(self.axis) * world.rates[0], ZERO

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """The nearest turn about the axis."""
        return (turn_about(self.axis, rotation),)

    def displacements_in(self, gap: Gap) -> list[ca.SX]:
        """The turn about the axis."""
        return [gap.turn(self.axis)]

    @property
    def turned_over(self) -> Revolute:
        """The same with its axis turned round."""
        return along_the_other_way(self, self.axis)

    @property
    def hinge_axis(self) -> Axis:
        """Its axis."""
        return self.axis

    @property
    def screw_axis(self) -> Axis:
        """Its axis."""
        return self.axis

    @property
    def row_labels(self) -> Labels:
        """Gap in seat axes, and two turns across the axis."""
        return (*GAP_LABELS, *tilt_labels(self.axis))

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """D and the tilt of the axis."""
        return [*ca.vertsplit(gap.d), *gap.tilt(self.axis)]

    def alignment(self, gap: Gap) -> ca.SX:
        """Cosine between the axes of seat and child."""
        return gap.straight(self.axis)

    @property
    def marker(self) -> Marker:
        """An axle."""
        return Marker((Glyph(Shape.AXLE, self.axis),))
