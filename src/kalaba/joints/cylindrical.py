"""Cylindrical: a peg in a hole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from kalaba.joints.formulas import ZERO, Gap, InWorld, JointMotion, Labels, Velocity, off_labels, tilt_labels
from kalaba.joints.joint import Joint, along_the_other_way, direction
from kalaba.joints.marker import Glyph, Marker, Shape
from kalaba.space.arrays import Array
from kalaba.space.number import Number
from kalaba.space.pose import Axis, AxisLike, Z
from kalaba.space.rotations import travel_along, turn_about
from kalaba.space.symbolic import about, vector


@dataclass(frozen=True, slots=True)
class Cylindrical(Joint):
    """Travel along and angle about one axis.

    Arguments:
        axis: direction of travel and turn: kb.Z or three numbers
        q: travel (m) and angle (rad), numbers or expressions of declared coordinates; None: they are coordinates
    """

    displacements: ClassVar[Labels] = (("travel", "m"), ("angle", "rad"))
    comes_round: ClassVar[bool] = True
    axis: Axis = direction(Z)
    q: tuple[Number, Number] | None = None

    if TYPE_CHECKING:

        def __init__(self, axis: AxisLike = Z, q: tuple[Number, Number] | list[Number] | None = None) -> None: ...

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """R(axis, angle), p = axis · travel."""
        a = vector(self.axis)
        return JointMotion.steady(about(self.axis, q[1]), a * q[0], (ZERO, a), (a, ZERO))

    def velocity(self, world: InWorld) -> Velocity:
        """Spin about the axis and travel along it."""
        axis = world.fixed(self.axis)
        return axis * world.rates[1], axis * world.rates[0]

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """How far along the axis the child is, and the nearest turn about it."""
        return travel_along(self.axis, position), turn_about(self.axis, rotation)

    def displacements_in(self, gap: Gap) -> list[ca.SX]:
        """The gap along the axis and the turn about it."""
        return [gap.along(self.axis), gap.turn(self.axis)]

    @property
    def turned_over(self) -> Cylindrical:
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
        """Gap and turns across the axis."""
        return (*off_labels(self.axis), *tilt_labels(self.axis))

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """D across the axis and the tilt of the axis."""
        return [*gap.off(self.axis), *gap.tilt(self.axis)]

    def alignment(self, gap: Gap) -> ca.SX:
        """Cosine between the axes of seat and child."""
        return gap.straight(self.axis)

    @property
    def marker(self) -> Marker:
        """A guide, and a strut to the seat."""
        glyphs = (Glyph(Shape.SLEEVE, self.axis),)
        return Marker(glyphs, has_strut=True, makes_block=True, slides_along=self.axis)
