"""Free: no joint at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca

from kalaba.joints.formulas import IDENTITY, ZERO, InWorld, JointMotion, Velocity
from kalaba.joints.joint import Joint
from kalaba.joints.marker import Marker
from kalaba.space.arrays import Array
from kalaba.space.pose import Axis, X, Y, Z
from kalaba.space.rotations import quaternion_of
from kalaba.space.symbolic import cross, from_quaternion


@dataclass(frozen=True, slots=True)
class Free(Joint):
    """Six freedoms: position in seat axes and a unit quaternion."""

    has_quaternion: ClassVar[bool] = True
    has_position: ClassVar[bool] = True
    is_base: ClassVar[bool] = True

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """P and R(e); ṗ is in seat axes, ω in child axes."""
        R = from_quaternion(ca.vertsplit(q[3:7]))
        none = ca.SX.zeros(3, 3)
        S = ca.horzcat(ca.vertcat(none, R.T), ca.vertcat(IDENTITY, none))
        drift = ca.vertcat(ZERO, -cross(u[3:6], ca.mtimes(R.T, u[0:3])))
        return JointMotion(R, q[0:3], S, drift)

    def velocity(self, world: InWorld) -> Velocity:
        """Spin, given in child axes, and travel, given in seat axes."""
        return ca.mtimes(world.child, world.rates[3:6]), ca.mtimes(world.seat, world.rates[0:3])

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """The pose itself."""
        return (*position.tolist(), *quaternion_of(rotation).tolist())

    @property
    def travel_axes(self) -> tuple[Axis, ...]:
        """The three axes of the seat."""
        return (X, Y, Z)

    @property
    def marker(self) -> Marker:
        """A thing that floats."""
        return Marker(has_foot=False, makes_block=True)
