"""Poses as plain numbers."""

import numpy as np

from kalaba.space.numeric_pose import NumericPose
from kalaba.space.rotations import from_pose, rotation_of, turn


def test_what_is_seen_from_a_pose_and_placed_on_it_is_where_it_was():
    rng = np.random.default_rng(0)
    base, pose = (NumericPose(rng.normal(size=3), rotation_of(turn(rng.normal(size=3)))) for _ in range(2))
    back = base.then(pose.seen_from(base))
    np.testing.assert_allclose(back.position, pose.position, atol=1e-14)  # a few roundings of numbers near 1
    np.testing.assert_allclose(back.rotation, pose.rotation, atol=1e-14)
    position, quaternion = from_pose(pose.as_pose, float)
    np.testing.assert_allclose(position, pose.position, atol=1e-14)
    np.testing.assert_allclose(rotation_of(quaternion), pose.rotation, atol=1e-14)
