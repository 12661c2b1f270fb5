"""Prismatic: a slider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from kalaba.joints.formulas import IDENTITY, TURN_LABELS, ZERO, Gap, InWorld, JointMotion, Labels, Velocity, off_labels
from kalaba.joints.joint import Joint, along_the_other_way, direction
from kalaba.joints.marker import Glyph, Marker, Shape
from kalaba.space.arrays import Array
from kalaba.space.number import Number
from kalaba.space.pose import Axis, AxisLike, Floats, X
from kalaba.space.rotations import travel_along
from kalaba.space.symbolic import vector, vee


@dataclass(frozen=True, slots=True)
class Prismatic(Joint):
    """A slider: one travel along `axis`.

    Arguments:
        axis: direction of the travel, equal in seat and child: kb.X or three numbers
        q: the travel as a number or an expression of declared coordinates, m; None: it is a coordinate
        limits: lowest and highest travel, m: it starts in the middle, and inverse kinematics stays within; None: no
            limits
    """

    displacements: ClassVar[Labels] = (("travel", "m"),)
    axis: Axis = direction(X)
    q: Number | None = None
    limits: tuple[float, float] | None = None

    if TYPE_CHECKING:

        def __init__(self, axis: AxisLike = X, q: Number | None = None, limits: Floats | None = None) -> None: ...

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """P = axis · travel; v = axis · rate."""
        a = vector(self.axis)
        return JointMotion.steady(IDENTITY, a * q[0], (ZERO, a))

    def velocity(self, world: InWorld) -> Velocity:
        """Travel along the axis."""
        return ZERO, world.fixed(self.axis) * world.rates[0]

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """How far along the axis the child is."""
        return (travel_along(self.axis, position),)

    def displacements_in(self, gap: Gap) -> list[ca.SX]:
        """The gap along the axis."""
        return [gap.along(self.axis)]

    @property
    def turned_over(self) -> Prismatic:
        """The same with its axis turned round."""
        return along_the_other_way(self, self.axis)

    @property
    def screw_axis(self) -> Axis:
        """Its axis."""
        return self.axis

    @property
    def travel_axes(self) -> tuple[Axis, ...]:
        """Its axis."""
        return (self.axis,)

    @property
    def row_labels(self) -> Labels:
        """Gap across the axis and all turns."""
        return (*off_labels(self.axis), *TURN_LABELS)

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """D across the axis and ½ vee(R − Rᵀ)."""
        return [*gap.off(self.axis), *ca.vertsplit(vee(gap.R))]

    def alignment(self, gap: Gap) -> ca.SX:
        """Cosine of the turn: −1 at half a turn."""
        return (ca.trace(gap.R) - 1) / 2

    @property
    def marker(self) -> Marker:
        """A guide, and a strut to the seat."""
        glyphs = (Glyph(Shape.SLEEVE, self.axis),)
        return Marker(glyphs, has_strut=True, makes_block=True, slides_along=self.axis)
