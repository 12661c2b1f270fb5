"""Planar: a puck on a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from kalaba.joints.formulas import ZERO, Gap, InWorld, JointMotion, Labels, Velocity, tilt_labels
from kalaba.joints.joint import Joint, direction
from kalaba.joints.marker import Marker
from kalaba.space.arrays import Array
from kalaba.space.number import Number
from kalaba.space.pose import Axis, AxisLike, Z
from kalaba.space.rotations import travel_along, turn_about
from kalaba.space.symbolic import about, cross, vector


@dataclass(frozen=True, slots=True)
class Planar(Joint):
    """Two travels across `normal`, called x and y, and an angle about it.

    The travels make a right-handed triad with the normal, in axes of the seat::

        normal    Z    Y    X    -Z    -Y    -X
        x along   x    z    y    x     z     y
        y along   y    x    z    -y    -x    -z

    So for the normal Y `body.x` is a height; `kalaba show` says which axis each goes along. Words for world axes are
    those of a frame: with kb.Frame("here", "body"), `here.x` and `here.z` are where the body is in the world.

    Arguments:
        normal: direction that it does not move along: kb.Z or three numbers
        q: both travels (m) and the angle (rad), numbers or expressions of declared coordinates; None: they are
            coordinates
    """

    displacements: ClassVar[Labels] = (("x", "m"), ("y", "m"), ("angle", "rad"))
    comes_round: ClassVar[bool] = True
    is_base: ClassVar[bool] = True
    normal: Axis = direction(Z)
    q: tuple[Number, Number, Number] | None = None

    if TYPE_CHECKING:

        def __init__(
            self, normal: AxisLike = Z, q: tuple[Number, Number, Number] | list[Number] | None = None
        ) -> None: ...

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """R(normal, angle), p in the plane; the two directions of travel turn in child axes."""
        n = vector(self.normal)
        e1, e2 = (vector(axis) for axis in self.normal.across())
        R = about(self.normal, q[2])
        along1, along2 = ca.mtimes(R.T, e1), ca.mtimes(R.T, e2)
        S = ca.horzcat(ca.vertcat(ZERO, along1), ca.vertcat(ZERO, along2), ca.vertcat(n, ZERO))
        drift = ca.vertcat(ZERO, -cross(n * u[2], along1 * u[0] + along2 * u[1]))
        return JointMotion(R, e1 * q[0] + e2 * q[1], S, drift)

    def velocity(self, world: InWorld) -> Velocity:
        """Spin about the normal, travel across it."""
        first, second = (world.fixed(axis) for axis in self.normal.across())
        return world.fixed(self.normal) * world.rates[2], first * world.rates[0] + second * world.rates[1]

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """Where in the plane the child is, and the nearest turn about the normal."""
        first, second = self.normal.across()
        return travel_along(first, position), travel_along(second, position), turn_about(self.normal, rotation)

    def displacements_in(self, gap: Gap) -> list[ca.SX]:
        """The gap along both directions, and the turn about the normal."""
        first, second = self.normal.across()
        return [gap.along(first), gap.along(second), gap.turn(self.normal)]

    @property
    def travel_axes(self) -> tuple[Axis, ...]:
        """The two directions across the normal."""
        return self.normal.across()

    @property
    def row_labels(self) -> Labels:
        """Gap along the normal, and two turns across it."""
        return ((self.normal.letter or "d", "m"), *tilt_labels(self.normal))

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """D along the normal (x, y or z of the seat, whatever the normal's sign) and the tilt of the normal."""
        normal = self.normal
        axis = Axis(*(abs(component) for component in normal.components)) if normal.letter else normal
        return [gap.along(axis), *gap.tilt(normal)]

    def alignment(self, gap: Gap) -> ca.SX:
        """Cosine between the normals of seat and child."""
        return gap.straight(self.normal)

    @property
    def marker(self) -> Marker:
        """A body that glides."""
        return Marker(has_foot=False, glides_across=self.normal)
