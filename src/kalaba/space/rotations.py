"""Rotations as plain numbers: quaternions (w, x, y, z) and matrices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.space.arrays import Array
from kalaba.tolerances import NO_TURN

if TYPE_CHECKING:
    from kalaba.space.pose import Axis, Pose


def rotation_of(quaternion: Array) -> Array:
    """Rotation matrix of a unit quaternion."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_of(rotation: Array) -> Array:
    """Unit quaternion of a rotation matrix, w ≥ 0, by the largest of its four entries."""
    R = rotation
    squares = 1 + np.array([np.trace(R), *(2 * R[i, i] - np.trace(R) for i in range(3))])  # 4 e_k²
    k = int(np.argmax(squares))
    antisymmetric = (R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    if k == 0:
        e = np.array([squares[0], *antisymmetric])
    else:
        i, j, m = k - 1, k % 3, (k + 1) % 3
        e = np.zeros(4)
        e[0], e[k], e[j + 1], e[m + 1] = antisymmetric[i], squares[k], R[j, i] + R[i, j], R[m, i] + R[i, m]
    e = e / np.linalg.norm(e)
    return np.asarray(e if e[0] >= 0 else -e)


def multiply(a: Array, b: Array) -> Array:
    """Product of two quaternions."""
    w, u = a[0], a[1:]
    s, v = b[0], b[1:]
    return np.array([w * s - u @ v, *(w * v + s * u + np.cross(u, v))])


def conjugate(quaternion: Array) -> Array:
    """The quaternion that turns back."""
    return np.asarray(quaternion * (1.0, -1.0, -1.0, -1.0))


def turn(vector: Array) -> Array:
    """Quaternion of a rotation vector."""
    angle = float(np.linalg.norm(vector))
    half = 0.5 * np.sinc(angle / (2 * math.pi))
    return np.array([math.cos(angle / 2), *(half * vector)])


def rotation_vector(rotation: Array) -> Array:
    """Axis times angle of a rotation matrix, at most half a turn; the inverse of `turn`."""
    w, *xyz = quaternion_of(rotation)
    length = float(np.linalg.norm(xyz))
    factor = 2.0 if length < NO_TURN else 2 * math.atan2(length, w) / length
    return factor * np.array(xyz)


def zyx_angles(rotation: Array) -> Array:
    """Angles α, β, γ with R = Rz(α) Ry(β) Rx(γ), −π/2 ≤ β ≤ π/2; where β is a right angle γ is taken as 0."""
    R = rotation
    beta = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if math.hypot(R[0, 0], R[1, 0]) < NO_TURN:
        return np.array([math.atan2(-R[0, 1], R[1, 1]), beta, 0.0])
    return np.array([math.atan2(R[1, 0], R[0, 0]), beta, math.atan2(R[2, 1], R[2, 2])])


def zyx_rate_map(angles: Array) -> Array:
    """J with ω = J (α̇, β̇, γ̇), ω in fixed axes: columns z, Rz y and Rz Ry x. Singular where β is a right angle."""
    (sa, sb), (ca, cb) = np.sin(angles[:2]), np.cos(angles[:2])
    return np.array([[0.0, -sa, ca * cb], [0.0, ca, sa * cb], [1.0, 0.0, -sb]])


def turn_about(axis: Axis, rotation: Array) -> float:
    """The angle of the turn about an axis that is nearest to a rotation, between −π and π.

    With the axis u and the rotation R::

        angle = atan2(u·a, tr R − u·R u),  a = (R₃₂ − R₂₃, R₁₃ − R₃₁, R₂₁ − R₁₂)

    For a turn about u by θ the two arguments are 2 sin θ and 2 cos θ.
    """
    u, R = np.array(axis.components), rotation
    a = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return math.atan2(u @ a, np.trace(R) - u @ R @ u)


def travel_along(axis: Axis, position: Array) -> float:
    """How far along an axis a position is."""
    return float(np.array(axis.components) @ position)


def from_pose(pose: Pose, number: Callable[[Any], float]) -> tuple[Array, Array]:
    """Position and quaternion of a pose of the model."""
    position = np.array([number(entry) for entry in pose.position])
    if pose.quaternion is not None:
        quaternion = np.array([number(entry) for entry in pose.quaternion])
        return position, quaternion / np.linalg.norm(quaternion)
    quaternion = np.array([1.0, 0.0, 0.0, 0.0])
    for axis, written in zip((2, 1, 0), reversed(pose.rpy or ()), strict=False):
        if (angle := number(written)) != 0.0:  # most are, and a machine has many poses
            vector = np.zeros(3)
            vector[axis] = angle
            quaternion = multiply(quaternion, turn(vector))
    return position, quaternion
