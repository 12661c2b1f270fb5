"""Poses as plain numbers: a position and a rotation matrix, placed on one another and seen from one another."""

from __future__ import annotations

from typing import NamedTuple

from kalaba.space.arrays import Array
from kalaba.space.pose import Pose
from kalaba.space.rotations import quaternion_of


class NumericPose(NamedTuple):
    """Where a frame is: in the world, if nothing else is said.

    Arguments:
        position: of the frame's origin, (3,), m
        rotation: (3, 3), columns are the frame's axes in the world
    """

    position: Array
    rotation: Array

    def then(self, other: NumericPose) -> NumericPose:
        """The pose of a frame that is `other` seen from this one.

        Arguments:
            other: a pose on this one
        """
        return NumericPose(self.position + self.rotation @ other.position, self.rotation @ other.rotation)

    def seen_from(self, other: NumericPose) -> NumericPose:
        """This pose seen from another: other⁻¹ self.

        Arguments:
            other: where it is seen from, in the same frame as this pose
        """
        return NumericPose(other.rotation.T @ (self.position - other.position), other.rotation.T @ self.rotation)

    @property
    def as_pose(self) -> Pose:
        """The same as a `kb.Pose`, with a quaternion."""
        return Pose(tuple(self.position), quaternion=tuple(quaternion_of(self.rotation)))
