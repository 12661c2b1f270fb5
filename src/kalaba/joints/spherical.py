"""Spherical: a ball in a socket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from kalaba.joints.formulas import GAP_LABELS, IDENTITY, ZERO, Gap, InWorld, JointMotion, Labels, Velocity
from kalaba.joints.joint import Joint
from kalaba.joints.marker import Glyph, Marker, Shape
from kalaba.space.arrays import Array
from kalaba.space.rotations import quaternion_of
from kalaba.space.symbolic import from_quaternion


@dataclass(frozen=True, slots=True)
class Spherical(Joint):
    """A ball: a unit quaternion of the child in the parent, angular velocity in child axes."""

    has_quaternion: ClassVar[bool] = True

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """R(e); the rates are ω itself."""
        S = ca.vertcat(IDENTITY, ca.SX.zeros(3, 3))
        return JointMotion(from_quaternion(ca.vertsplit(q)), ZERO, S, ca.SX.zeros(6))

    def velocity(self, world: InWorld) -> Velocity:
        """Spin, given in child axes."""
        return ca.mtimes(world.child, world.rates[0:3]), ZERO

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """The quaternion of the rotation."""
        return tuple(quaternion_of(rotation).tolist())

    @property
    def row_labels(self) -> Labels:
        """Gap in world axes."""
        return GAP_LABELS

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """D in world axes."""
        return ca.vertsplit(gap.world)  # type: ignore[no-any-return]

    @property
    def marker(self) -> Marker:
        """A ball."""
        return Marker((Glyph(Shape.BALL),))
