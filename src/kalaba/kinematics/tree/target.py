"""A pose to be reached, and how far a frame is from it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ModelError
from kalaba.kinematics.tree.hinges import skew
from kalaba.plant.arguments import checked
from kalaba.plant.state import Pose
from kalaba.space import pose as described
from kalaba.space.rotations import from_pose, quaternion_of, rotation_of, rotation_vector

Array = NDArray[np.float64]
ROTATION = 1e-9  # how far a matrix may be from a rotation


class Target(NamedTuple):
    """Where a frame is wanted in the world."""

    position: Array  # (3,)
    rotation: Array  # (3, 3)

    @property
    def text(self) -> str:
        """For people."""
        x, e = self.position, quaternion_of(self.rotation)
        return f"({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}) m, quaternion ({e[0]:.4g}, {e[1]:.4g}, {e[2]:.4g}, {e[3]:.4g})"


def target_of(pose: Any) -> Target:  # noqa: ANN401
    """Read a Pose of the model, whose numbers must be plain, or one that `plant.pose` gave."""
    if isinstance(pose, described.Pose):
        try:
            position, quaternion = from_pose(pose, float)
        except ValueError as error:
            raise ModelError(f"pose: expected plain numbers, got {pose!r}. Expressions belong in a System.") from error
        return Target(checked(position, 3, "pose.position", "xyz"), rotation_of(quaternion))
    if not isinstance(pose, Pose):
        raise ModelError(f"pose: expected kb.Pose(position, rpy=...) or what plant.pose gives, got {pose!r}.")
    R = np.asarray(pose.rotation, dtype=float)
    if R.shape != (3, 3) or not np.abs(R.T @ R - np.eye(3)).max() < ROTATION or np.linalg.det(R) < 0:
        raise ModelError(
            f"pose.rotation: expected a rotation matrix, got {pose.rotation!r}. Give its axes as unit columns."
        )
    return Target(checked(pose.position, 3, "pose.position", "xyz"), R)


def gap(position: Array, rotation: Array, target: Target) -> Array:
    """(6,): x − x_d, then the rotation vector φ of R R_dᵀ, both in world axes."""
    return np.concatenate([position - target.position, rotation_vector(rotation @ target.rotation.T)])


def turn_rates(vector: Array) -> Array:
    """(3, 3): the rate of a rotation vector φ by the angular velocity ω in world axes.

    With φ̇ = J⁻¹ ω and θ = |φ|::

        J⁻¹ = 1 − ½ [φ] + (1/θ² − (1 + cos θ)/(2 θ sin θ)) [φ]²        θ < 2π

    Reference: Barfoot (2017), State Estimation for Robotics, section 7.1.
    """
    S = skew(vector)
    half = float(np.linalg.norm(vector)) / 2
    # 1/θ² − (1 + cos θ)/(2 θ sin θ) = (1 − h cot h)/θ² with h = θ/2
    factor = 1 / 12 if half < 1e-4 else (1 - half / math.tan(half)) / (4 * half * half)
    return np.asarray(np.eye(3) - S / 2 + factor * S @ S)
