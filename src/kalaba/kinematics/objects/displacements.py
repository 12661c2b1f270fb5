"""The displacements of a joint from where it has brought its child: the way back from a pose to numbers.

With u the joint's axis, d and R the child's position and rotation in its seat::

    travel = u·d        angle = atan2(u·a, tr R − u·R u),  a = (R₃₂ − R₂₃, R₁₃ − R₃₁, R₂₁ − R₁₂)

For a turn about u by θ the two arguments are 2 sin θ and 2 cos θ; for one that is not quite about u the angle is that
of the nearest turn about it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.joints import kinds
from kalaba.plant.state import Pose
from kalaba.space.rotations import quaternion_of

if TYPE_CHECKING:
    from kalaba.space.pose import Axis

Array = NDArray[np.float64]
TURN = 2 * math.pi


def then(first: Pose, second: Pose) -> Pose:
    """The pose of a frame that is `second` seen from `first`."""
    return Pose(first.position + first.rotation @ second.position, first.rotation @ second.rotation)


def seen_from(pose: Pose, other: Pose) -> Pose:
    """A pose seen from another: other⁻¹ pose."""
    return Pose(other.rotation.T @ (pose.position - other.position), other.rotation.T @ pose.rotation)


def turn_about(axis: Axis, rotation: Array) -> float:
    """The angle of the turn about an axis that is nearest to a rotation, between −π and π."""
    u, R = np.array(axis.components), rotation
    a = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return math.atan2(u @ a, np.trace(R) - u @ R @ u)


def displacements(joint: Any, in_seat: Pose, pitch: float = 0.0) -> tuple[float, ...]:  # noqa: ANN401
    """The coordinates of a joint whose child is at a pose in its seat; angles between −π and π, but for a thread's.

    The travel d of a thread counts its turns: the angle is the one nearest to 2π d/pitch that gives the rotation.
    """
    if isinstance(joint, kinds.Screw):
        angle = turn_about(joint.axis, in_seat.rotation)
        return (angle + TURN * round(_along(joint.axis, in_seat.position) / pitch - angle / TURN),)
    return _KINDS[type(joint)](joint, *in_seat)


def _along(axis: Axis, position: Array) -> float:
    return float(np.array(axis.components) @ position)


def _weld(_joint: kinds.Weld, _position: Array, _rotation: Array) -> tuple[float, ...]:
    return ()


def _revolute(joint: kinds.Revolute, _position: Array, rotation: Array) -> tuple[float, ...]:
    return (turn_about(joint.axis, rotation),)


def _prismatic(joint: kinds.Prismatic, position: Array, _rotation: Array) -> tuple[float, ...]:
    return (_along(joint.axis, position),)


def _cylindrical(joint: kinds.Cylindrical, position: Array, rotation: Array) -> tuple[float, ...]:
    return _along(joint.axis, position), turn_about(joint.axis, rotation)


def _universal(joint: kinds.Universal, _position: Array, rotation: Array) -> tuple[float, ...]:
    """R = R(a, α) R(b, β) with a ⊥ b: R b = R(a, α) b, and Rᵀ a = R(b, −β) a."""
    a, b = (np.array(axis.components) for axis in (joint.axis1, joint.axis2))
    across = np.cross(a, b)
    after, before = rotation @ b, rotation.T @ a
    return math.atan2(across @ after, b @ after), math.atan2(across @ before, a @ before)


def _planar(joint: kinds.Planar, position: Array, rotation: Array) -> tuple[float, ...]:
    first, second = joint.normal.across()
    return _along(first, position), _along(second, position), turn_about(joint.normal, rotation)


def _spherical(_joint: kinds.Spherical, _position: Array, rotation: Array) -> tuple[float, ...]:
    return tuple(quaternion_of(rotation).tolist())


def _free(_joint: kinds.Free, position: Array, rotation: Array) -> tuple[float, ...]:
    return (*position.tolist(), *quaternion_of(rotation).tolist())


_KINDS: dict[type, Callable[[Any, Array, Array], tuple[float, ...]]] = {
    kinds.Weld: _weld,
    kinds.Revolute: _revolute,
    kinds.Prismatic: _prismatic,
    kinds.Cylindrical: _cylindrical,
    kinds.Universal: _universal,
    kinds.Planar: _planar,
    kinds.Spherical: _spherical,
    kinds.Free: _free,
}
