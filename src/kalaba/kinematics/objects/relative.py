"""Poses on one another: what is placed on a frame, and what is seen from it."""

from __future__ import annotations

from kalaba.plant.state import Pose


def then(first: Pose, second: Pose) -> Pose:
    """The pose of a frame that is `second` seen from `first`."""
    return Pose(first.position + first.rotation @ second.position, first.rotation @ second.rotation)


def seen_from(pose: Pose, other: Pose) -> Pose:
    """A pose seen from another: other⁻¹ pose."""
    return Pose(other.rotation.T @ (pose.position - other.position), other.rotation.T @ pose.rotation)
