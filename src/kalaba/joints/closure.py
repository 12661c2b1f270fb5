"""Rows of a Connection: polynomial in R = R1ᵀR2 and the gap d, so that their derivatives exist at closure.

Frame 1 is the seat (parent at `at`), frame 2 the child. With the joint axis z and a right-handed triad (x, y, z)::

    a point kept on a point      d                       Weld and Spherical: in world axes, others: in seat axes
    a point kept on an axis      d_x, d_y
    an axis kept on an axis      rx = −y1·z2, ry = x1·z2
    no turn at all               ½ vee(R − Rᵀ)
    a length kept                (d·d − L²) / 2L
    a thread                     (h/2π) (s cos kd − c sin kd),  k = 2π/h, s = y1·x2, c = x1·x2
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca

from kalaba.joints import kinds
from kalaba.space.number import with_values
from kalaba.space.pose import Axis, Pose
from kalaba.space.symbolic import vee

if TYPE_CHECKING:
    from kalaba.derive.kinematics import FramePose, Kinematics
    from kalaba.model.machine import MachineConnection


@dataclass(frozen=True)
class Gap:
    """How a child frame sits on its seat."""

    seat: FramePose
    child: FramePose

    @property
    def world(self) -> ca.SX:
        """Child minus seat, world axes."""
        return self.child.position - self.seat.position

    @property
    def d(self) -> ca.SX:
        """Child minus seat, seat axes."""
        return ca.mtimes(self.seat.rotation.T, self.world)

    @property
    def R(self) -> ca.SX:  # noqa: N802
        """Child axes in seat axes."""
        return ca.mtimes(self.seat.rotation.T, self.child.rotation)

    def turn_world(self) -> ca.SX:
        """½ vee(R − Rᵀ) in world axes."""
        return vee(ca.mtimes(self.child.rotation, self.seat.rotation.T))

    def off(self, axis: Axis) -> list[ca.SX]:
        """Gap across an axis."""
        return [self._component(self.d, across) for across in _named_across(axis)]

    def along(self, axis: Axis) -> ca.SX:
        """Gap along an axis."""
        return self._component(self.d, axis)

    def tilt(self, axis: Axis) -> list[ca.SX]:
        """The two turns that take the child's axis off the seat's: (R a) is a + θ × a, so θ_e = e·(a × R a)."""
        a = _vector(axis)
        turned = ca.mtimes(self.R, a)
        theta = ca.cross(a, turned)
        return [ca.dot(theta, _vector(across)) for across in _named_across(axis)]

    @staticmethod
    def _component(vector: ca.SX, axis: Axis) -> ca.SX:
        return ca.dot(vector, _vector(axis))


def _vector(axis: Axis) -> ca.SX:
    return ca.SX(ca.DM(axis.components))


def _named_across(axis: Axis) -> tuple[Axis, Axis]:
    """The two directions across an axis, as rows are named: coordinate axes in the order x, y, z if possible."""
    if not axis.letter:
        return axis.across()
    index = "xyz".index(axis.letter)
    units = (Axis(1, 0, 0), Axis(0, 1, 0), Axis(0, 0, 1))
    first, second = (unit for i, unit in enumerate(units) if i != index)
    return first, second


def gap(kinematics: Kinematics, connection: MachineConnection) -> Gap:
    """Seat and child of a connection in the world."""
    at = connection.at
    if not isinstance(at, Pose):
        raise TypeError(f"{connection.name}.at: AsFound() must be settled before derivation")
    return Gap(kinematics.frame(connection.parent).then(kinematics.pose(at)), kinematics.frame(connection.child))


def closure_rows(kinematics: Kinematics, connection: MachineConnection) -> list[ca.SX]:
    """Values of a connection's rows, in the order of their names."""
    joint = with_values(connection.joint, lambda path: kinematics.number(getattr(connection.joint, path)))
    return _ROWS[type(joint)](joint, gap(kinematics, connection))


def _weld(_joint: kinds.Weld, g: Gap) -> list[ca.SX]:
    return [*ca.vertsplit(g.world), *ca.vertsplit(g.turn_world())]


def _revolute(joint: kinds.Revolute, g: Gap) -> list[ca.SX]:
    return [*ca.vertsplit(g.d), *g.tilt(joint.axis)]


def _prismatic(joint: kinds.Prismatic, g: Gap) -> list[ca.SX]:
    return [*g.off(joint.axis), *ca.vertsplit(vee(g.R))]


def _cylindrical(joint: kinds.Cylindrical, g: Gap) -> list[ca.SX]:
    return [*g.off(joint.axis), *g.tilt(joint.axis)]


def _screw(joint: kinds.Screw, g: Gap) -> list[ca.SX]:
    x, y = (_vector(axis) for axis in joint.axis.across())
    turned = ca.mtimes(g.R, x)
    s, c = ca.dot(y, turned), ca.dot(x, turned)
    h: Any = joint.pitch
    phase = 2 * ca.pi / h * g.along(joint.axis)
    return [*g.off(joint.axis), *g.tilt(joint.axis), h / (2 * ca.pi) * (s * ca.cos(phase) - c * ca.sin(phase))]


def _spherical(_joint: kinds.Spherical, g: Gap) -> list[ca.SX]:
    return ca.vertsplit(g.world)  # type: ignore[no-any-return]


def _universal(joint: kinds.Universal, g: Gap) -> list[ca.SX]:
    cross = ca.dot(_vector(joint.axis1), ca.mtimes(g.R, _vector(joint.axis2)))
    return [*ca.vertsplit(g.d), cross]


def _planar(joint: kinds.Planar, g: Gap) -> list[ca.SX]:
    axis = joint.normal if not joint.normal.letter else Axis(*(abs(c) for c in joint.normal.components))
    return [g.along(axis), *g.tilt(joint.normal)]


def _point_on_line(joint: kinds.PointOnLine, g: Gap) -> list[ca.SX]:
    return g.off(joint.axis)


def _distance(joint: kinds.Distance, g: Gap) -> list[ca.SX]:
    length: Any = joint.length
    return [(ca.dot(g.world, g.world) - length**2) / (2 * length)]


_ROWS: dict[type, Callable[..., list[ca.SX]]] = {
    kinds.Weld: _weld,
    kinds.Revolute: _revolute,
    kinds.Prismatic: _prismatic,
    kinds.Cylindrical: _cylindrical,
    kinds.Screw: _screw,
    kinds.Spherical: _spherical,
    kinds.Universal: _universal,
    kinds.Planar: _planar,
    kinds.PointOnLine: _point_on_line,
    kinds.Distance: _distance,
}


def alignment(kinematics: Kinematics, connection: MachineConnection) -> ca.SX:
    """A cosine that is 1 where the rows are truly closed and −1 at their false root (half a turn, flipped axis)."""
    joint = with_values(connection.joint, lambda path: kinematics.number(getattr(connection.joint, path)))
    g = gap(kinematics, connection)
    if isinstance(joint, kinds.Weld | kinds.Prismatic):
        return (ca.trace(g.R) - 1) / 2
    axis = getattr(joint, "normal", getattr(joint, "axis", None))
    if isinstance(joint, kinds.PointOnLine) or axis is None:
        return ca.SX(1)
    straight = ca.dot(_vector(axis), ca.mtimes(g.R, _vector(axis)))
    if isinstance(joint, kinds.Screw):
        x, y = (_vector(across) for across in joint.axis.across())
        turned = ca.mtimes(g.R, x)
        phase = 2 * ca.pi / joint.pitch * g.along(joint.axis)
        return ca.fmin(straight, ca.dot(x, turned) * ca.cos(phase) + ca.dot(y, turned) * ca.sin(phase))
    return straight
