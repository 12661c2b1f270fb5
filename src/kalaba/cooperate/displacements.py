"""The displacements of a joint from where it has brought its child: the way back from a pose to numbers.

With u the joint's axis, d and R the child's position and rotation in its seat::

    travel = u·d        angle = atan2(u·a, tr R − u·R u),  a = (R₃₂ − R₂₃, R₁₃ − R₃₁, R₂₁ − R₁₂)

For a turn about u by θ the two arguments are 2 sin θ and 2 cos θ; for one that is not quite about u the angle is that
of the nearest turn about it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.model import joint as kinds
from kalaba.rotations import quaternion_of
from kalaba.state import Pose

if TYPE_CHECKING:
    from kalaba.model.pose import Axis

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
    d, R = in_seat
    match joint:
        case kinds.Revolute(axis=axis):
            return (turn_about(axis, R),)
        case kinds.Prismatic(axis=axis):
            return (_along(axis, d),)
        case kinds.Cylindrical(axis=axis):
            return (_along(axis, d), turn_about(axis, R))
        case kinds.Screw(axis=axis):
            angle = turn_about(axis, R)
            return (angle + TURN * round(_along(axis, d) / pitch - angle / TURN),)
        case kinds.Universal():
            return _cross(joint, R)
        case kinds.Planar(normal=normal):
            first, second = normal.across()
            return (_along(first, d), _along(second, d), turn_about(normal, R))
        case kinds.Spherical():
            return tuple(quaternion_of(R).tolist())
        case kinds.Free():
            return (*d.tolist(), *quaternion_of(R).tolist())
    return ()


def _along(axis: Axis, position: Array) -> float:
    return float(np.array(axis.components) @ position)


def _cross(joint: kinds.Universal, rotation: Array) -> tuple[float, float]:
    """R = R(a, α) R(b, β) with a ⊥ b: R b = R(a, α) b, and Rᵀ a = R(b, −β) a."""
    a, b = (np.array(axis.components) for axis in (joint.axis1, joint.axis2))
    across = np.cross(a, b)
    after, before = rotation @ b, rotation.T @ a
    return math.atan2(across @ after, b @ after), math.atan2(across @ before, a @ before)
