"""Rows of connections by the motion of the two frames that they join: shorter than differentiating the poses.

A row φ reads the rotations R1, R2 of seat and child and the gap d between them. With their angular velocities ω1, ω2 in
world axes, all of them T = (ω1; ω2; ḋ) = J v, and Ṙ = ω × R::

    φ̇ = Φ(R1, R2, d) T        A = Φ J        b = −(γ + Φ J̇ v)        γ = Φ̇ T at constant T

Φ and γ are few formulas of the joint kind. J has one column per joint that carries a frame: its axis, and its axis
times the way to the frame. J̇ v is what the frames' accelerations are at constant velocities, from the recursion
that the equations of motion need anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from kalaba.derive.kinematics import FramePose, Kinematics
from kalaba.derive.newton_euler import Recursion
from kalaba.derive.pfaffian import Rows
from kalaba.joints.formulas import Gap
from kalaba.model.machine import MachineConnection
from kalaba.model.names import WORLD
from kalaba.space.pose import Pose
from kalaba.space.symbolic import cross, skew


@dataclass(frozen=True)
class FrameMotion:
    """A frame on a rigid body, in world axes: by joint rates u, its velocity, and its acceleration at constant v."""

    turning: ca.SX  # ω = turning u, (3, n_u)
    moving: ca.SX  # ṗ = moving u, (3, n_u)
    spin: ca.SX  # ω
    speed: ca.SX  # ṗ
    spin_drift: ca.SX  # ω̇ at constant v
    drift: ca.SX  # p̈ at constant v


def shorter_rows(kinematics: Kinematics, recursion: Recursion, rows: Rows) -> Rows:
    """The rows with those of connections carried by their frames, where that takes fewer operations in all."""
    carried = carried_rows(kinematics, recursion, rows)
    beside = [recursion.torque, rows.value]  # what a motion works out anyway
    return carried if _length(carried, beside) < _length(rows, beside) else rows


def _length(rows: Rows, beside: list[ca.SX]) -> int:
    """Instructions of A and b beside what is there anyway."""
    outputs = ca.cse([*beside, rows.matrix, rows.rhs])
    free = ca.symvar(ca.veccat(*outputs))
    return int(ca.Function("length", [ca.vertcat(*free)], outputs).n_instructions())


def carried_rows(kinematics: Kinematics, recursion: Recursion, rows: Rows) -> Rows:
    """The rows, those of connections between rigid bodies carried by their frames."""
    motions = _Motions(kinematics, recursion)
    J = ca.jacobian(kinematics.joint_rates, kinematics.symbols.v)
    rates, matrices, rhs = [], [], []
    first = 0
    for closure in kinematics.machine.closures:
        part = slice(first, first + len(closure.rows))
        first = part.stop
        if isinstance(closure, MachineConnection) and motions.are_known(closure):
            rate, by_rates, right = _connection(kinematics, closure, motions)
            pattern = rows.matrix[part, :].sparsity()  # what differentiating shows to be zero is so
            rates.append(rate)
            matrices.append(ca.project(ca.mtimes(by_rates, J), pattern))
            rhs.append(right)
        else:
            rates.append(rows.rate[part])
            matrices.append(rows.matrix[part, :])
            rhs.append(rows.rhs[part])
    if not rates:
        return rows
    return replace(rows, rate=ca.vertcat(*rates), matrix=ca.vertcat(*matrices), rhs=ca.vertcat(*rhs))


def _connection(kinematics: Kinematics, connection: MachineConnection, motions: _Motions) -> tuple[ca.SX, ca.SX, ca.SX]:
    """φ̇, Φ J by joint rates, and b of a connection."""
    seat, child = motions.seat(connection), motions.child(connection)
    gap = kinematics.gap(connection)
    R1, R2, d = ca.SX.sym("R1", 3, 3), ca.SX.sym("R2", 3, 3), ca.SX.sym("d", 3)
    twist = ca.SX.sym("T", 9)
    pose = ca.veccat(R1, R2, d)
    pose_dot = ca.veccat(ca.mtimes(skew(twist[0:3]), R1), ca.mtimes(skew(twist[3:6]), R2), twist[6:9])
    values = ca.vertcat(*kinematics.joint(connection.joint).row_values(Gap(R1, R2, d)))
    rate = ca.mtimes(ca.jacobian(values, pose), pose_dot)
    Phi, gamma = ca.jacobian(rate, twist), ca.mtimes(ca.jacobian(rate, pose), pose_dot)
    here = [ca.veccat(ca.densify(gap.seat), ca.densify(gap.child), ca.densify(gap.world))]
    T = ca.densify(ca.vertcat(seat.spin, child.spin, child.speed - seat.speed))
    Phi, gamma = (ca.sparsify(entry) for entry in ca.substitute([Phi, gamma], [pose, twist], [*here, T]))
    by_rates = ca.sparsify(ca.vertcat(seat.turning, child.turning, child.moving - seat.moving))
    drift = ca.vertcat(seat.spin_drift, child.spin_drift, child.drift - seat.drift)
    return ca.densify(ca.mtimes(Phi, T)), ca.mtimes(Phi, by_rates), ca.densify(-gamma - ca.mtimes(Phi, drift))


class _Motions:
    """The motion of frames, each worked out once."""

    def __init__(self, kinematics: Kinematics, recursion: Recursion) -> None:
        self.kinematics, self.recursion = kinematics, recursion
        self._axes: dict[int, list[tuple[int, ca.SX, ca.SX]]] = {}

    def are_known(self, connection: MachineConnection) -> bool:
        """Whether both frames sit on rigid bodies."""
        bodies = {self.kinematics.machine.body_of(name) for name in (connection.parent, connection.child)}
        return bodies.isdisjoint(self.kinematics.beams)

    def seat(self, connection: MachineConnection) -> FrameMotion:
        """The motion of a connection's seat."""
        assert isinstance(connection.at, Pose)  # noqa: S101  (`Kinematics.gap` refuses others)
        k = self.kinematics
        inside = k.frame_in_body(connection.parent).then(k.pose(connection.at))
        return self._motion(connection.parent, inside)

    def child(self, connection: MachineConnection) -> FrameMotion:
        """The motion of the frame that a connection holds on its seat."""
        return self._motion(connection.child, self.kinematics.frame_in_body(connection.child))

    def _motion(self, name: str, inside: FramePose) -> FrameMotion:
        k = self.kinematics
        index, none = k.machine.body_of(name), ca.SX.zeros(3)
        turning, moving = ca.SX(3, k.joint_rates.shape[0]), ca.SX(3, k.joint_rates.shape[0])
        if index < 0 or name == WORLD:
            return FrameMotion(turning, moving, none, none, none, none)
        body, r = k.body(index), inside.position
        place = body.world.position + ca.mtimes(body.world.rotation, r)
        carrier = index
        while carrier >= 0:
            for rate, w, v in self._joint(carrier):
                turning[:, rate], moving[:, rate] = w, v + cross(w, place - k.body(carrier).world.position)
            carrier = k.body(carrier).parent
        w, v, alpha, a = self.recursion.motion[index]  # body axes; a as gravity pulls the other way
        R, at = body.world.rotation, v + cross(w, r)
        acceleration = a + cross(alpha, r) + cross(w, at)
        return FrameMotion(
            turning=turning,
            moving=moving,
            spin=ca.mtimes(R, w),
            speed=ca.mtimes(R, at),
            spin_drift=ca.mtimes(R, alpha),
            drift=ca.mtimes(R, acceleration) + k.gravity,
        )

    def _joint(self, index: int) -> list[tuple[int, ca.SX, ca.SX]]:
        """The rates of a body's joint, and the angular velocity and velocity of its origin by each, world axes."""
        if index not in self._axes:
            body = self.kinematics.body(index)
            R, S = body.world.rotation, body.joint.motion
            columns = range(body.rates.stop - body.rates.start)
            self._axes[index] = [
                (body.rates.start + c, ca.mtimes(R, S[0:3, c]), ca.mtimes(R, S[3:6, c])) for c in columns
            ]
        return self._axes[index]
