"""What a joint's displacements do: pose of the child in the seat, and its velocity there.

For each kind: rotation R and position p of the child frame in the seat frame, the motion matrix S with
(ω; v) = S u in child axes, u the joint rates, and the rate of S at constant u, as `drift` = Ṡ u.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca

from kalaba.joints import kinds
from kalaba.space.symbolic import about, cross, from_quaternion

if TYPE_CHECKING:
    from kalaba.space.pose import Axis


@dataclass(frozen=True)
class JointMotion:
    """Pose and velocity of a child on its seat."""

    rotation: ca.SX  # R, child to seat, (3, 3)
    position: ca.SX  # p, child origin in seat axes, (3,)
    motion: ca.SX  # S, (6, n_u), rows ω then v, child axes
    drift: ca.SX  # Ṡ u, (6,)


def joint_motion(joint: Any, displacements: list[ca.SX], coordinates: ca.SX, rates: ca.SX) -> JointMotion:  # noqa: ANN401
    """Give pose, motion matrix and drift of a joint.

    `displacements` are the scalar ones; `coordinates` the entries of q of a joint with a quaternion; `rates` are u.
    The joint's numbers must already be CasADi values.
    """
    return _KINDS[type(joint)](joint, displacements, coordinates, rates)


def on_moving_seat(motion: JointMotion, seat: Any, modes: ca.SX, rates: ca.SX, symbols: Any) -> JointMotion:  # noqa: ANN401
    """A joint whose seat is moved by the modes of the beam it sits on: columns for their rates stand first.

    With the seat at R_s(η), p_s(η) in the parent body, and the child at R, p in it::

        ω_s = ½ Σ_k r_k × ∂r_k/∂η η̇        (ω; v) = (Rᵀ ω_s; Rᵀ (∂p_s/∂η η̇ + ω_s × (p − p_s))) + S u
    """
    R_s, p_s = seat.rotation, seat.position
    R, lever = ca.mtimes(R_s, motion.rotation), ca.mtimes(R_s, motion.position)
    columns = []
    for k in range(modes.shape[0]):
        dR, dp = ca.jtimes(R_s, modes, _unit(modes, k)), ca.jtimes(p_s, modes, _unit(modes, k))
        spin = sum((cross(R_s[:, j], dR[:, j]) for j in range(3)), ca.SX.zeros(3)) / 2
        columns.append(ca.vertcat(ca.mtimes(R.T, spin), ca.mtimes(R.T, dp + cross(spin, lever))))
    S = ca.horzcat(*columns, motion.motion)
    held = ca.SX.sym("held", rates.shape[0])
    drift = ca.substitute(ca.jtimes(ca.mtimes(S, held), symbols.q, symbols.q_dot), held, rates)
    return JointMotion(motion.rotation, motion.position, S, drift)


def _unit(modes: ca.SX, k: int) -> ca.SX:
    e = ca.SX.zeros(modes.shape[0])
    e[k] = 1
    return e


def _vector(axis: Axis) -> ca.SX:
    return ca.SX(ca.DM(axis.components))


ZERO = ca.SX.zeros(3)


def _still(motion: ca.SX) -> ca.SX:
    return ca.SX.zeros(motion.shape[0])


def _weld(_joint: kinds.Weld, _d: list[ca.SX], _q: ca.SX, _u: ca.SX) -> JointMotion:
    return JointMotion(ca.SX(ca.DM.eye(3)), ZERO, ca.SX(6, 0), ca.SX.zeros(6))


def _revolute(joint: kinds.Revolute, d: list[ca.SX], _q: ca.SX, _u: ca.SX) -> JointMotion:
    S = ca.vertcat(_vector(joint.axis), ZERO)
    return JointMotion(about(joint.axis, d[0]), ZERO, S, _still(S))


def _prismatic(joint: kinds.Prismatic, d: list[ca.SX], _q: ca.SX, _u: ca.SX) -> JointMotion:
    a = _vector(joint.axis)
    S = ca.vertcat(ZERO, a)
    return JointMotion(ca.SX(ca.DM.eye(3)), a * d[0], S, _still(S))


def _screw(joint: kinds.Screw, d: list[ca.SX], _q: ca.SX, _u: ca.SX) -> JointMotion:
    a, per_radian = _vector(joint.axis), joint.pitch / (2 * ca.pi)
    S = ca.vertcat(a, a * per_radian)
    return JointMotion(about(joint.axis, d[0]), a * (per_radian * d[0]), S, _still(S))


def _cylindrical(joint: kinds.Cylindrical, d: list[ca.SX], _q: ca.SX, _u: ca.SX) -> JointMotion:
    a = _vector(joint.axis)
    S = ca.horzcat(ca.vertcat(ZERO, a), ca.vertcat(a, ZERO))
    return JointMotion(about(joint.axis, d[1]), a * d[0], S, _still(S))


def _universal(joint: kinds.Universal, d: list[ca.SX], _q: ca.SX, u: ca.SX) -> JointMotion:
    a2 = _vector(joint.axis2)
    R2 = about(joint.axis2, d[1])
    first = ca.mtimes(R2.T, _vector(joint.axis1))  # axis1 in child axes
    S = ca.horzcat(ca.vertcat(first, ZERO), ca.vertcat(a2, ZERO))
    drift = ca.vertcat(-cross(a2 * u[1], first) * u[0], ZERO)
    return JointMotion(ca.mtimes(about(joint.axis1, d[0]), R2), ZERO, S, drift)


def _spherical(_joint: kinds.Spherical, _d: list[ca.SX], q: ca.SX, _u: ca.SX) -> JointMotion:
    S = ca.vertcat(ca.SX(ca.DM.eye(3)), ca.SX.zeros(3, 3))
    return JointMotion(from_quaternion(ca.vertsplit(q)), ZERO, S, _still(S))


def _planar(joint: kinds.Planar, d: list[ca.SX], _q: ca.SX, u: ca.SX) -> JointMotion:
    n = _vector(joint.normal)
    e1, e2 = (_vector(axis) for axis in joint.normal.across())
    R = about(joint.normal, d[2])
    along1, along2 = ca.mtimes(R.T, e1), ca.mtimes(R.T, e2)
    S = ca.horzcat(ca.vertcat(ZERO, along1), ca.vertcat(ZERO, along2), ca.vertcat(n, ZERO))
    drift = ca.vertcat(ZERO, -cross(n * u[2], along1 * u[0] + along2 * u[1]))
    return JointMotion(R, e1 * d[0] + e2 * d[1], S, drift)


def _free(_joint: kinds.Free, _d: list[ca.SX], q: ca.SX, u: ca.SX) -> JointMotion:
    R = from_quaternion(ca.vertsplit(q[3:7]))
    none = ca.SX.zeros(3, 3)
    S = ca.horzcat(ca.vertcat(none, R.T), ca.vertcat(ca.SX(ca.DM.eye(3)), none))
    drift = ca.vertcat(ZERO, -cross(u[3:6], ca.mtimes(R.T, u[0:3])))
    return JointMotion(R, q[0:3], S, drift)


_KINDS: dict[type, Callable[..., JointMotion]] = {
    kinds.Weld: _weld,
    kinds.Revolute: _revolute,
    kinds.Prismatic: _prismatic,
    kinds.Screw: _screw,
    kinds.Cylindrical: _cylindrical,
    kinds.Universal: _universal,
    kinds.Spherical: _spherical,
    kinds.Planar: _planar,
    kinds.Free: _free,
}
