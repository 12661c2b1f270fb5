import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kalaba.errors import ModelError
from kalaba.space.pose import AsFound, Axis, Pose, X, Y, Z, as_axis, as_pose
from kalaba.space.rotations import from_pose, multiply, quaternion_of, rotation_of, rotation_vector, turn

ANGLES = st.floats(-3.0, 3.0)
COMPONENTS = st.tuples(*(st.floats(-1, 1) for _ in range(3))).filter(lambda a: math.hypot(*a) > 1e-3)


def test_an_axis_in_words_has_no_negative_zero():
    assert Axis(-0.0, 0.6, 0.8).words == "[0 0.6 0.8]"


@given(COMPONENTS)
def test_an_axis_has_length_one_and_its_triad_is_right_handed(components):
    axis = Axis(*components)
    first, second = (np.array(a.components) for a in axis.across())
    triad = np.column_stack([first, second, axis.components])
    assert triad.T @ triad == pytest.approx(np.eye(3), abs=1e-12)
    assert np.linalg.det(triad) == pytest.approx(1.0)


def test_coordinate_axes_are_exact_and_can_be_negated():
    assert (X.components, Y.components, Z.components) == ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    assert (-Z).components == (0, 0, -1)
    assert all(math.copysign(1, c) > 0 for c in (-Z).components[:2])  # no -0.0 in files
    assert -Axis(0, -1, 0) == Y
    assert (-X).letter == "x"
    assert Axis(1, 1, 0).letter == ""


@pytest.mark.parametrize("axis", [Z, -Z, X, -Y])
def test_the_triad_of_a_coordinate_axis_is_made_of_coordinate_axes(axis):
    assert all(across.letter for across in axis.across())


def test_the_plane_of_z_has_the_axes_x_and_y():
    assert Z.across() == (X, Y)


@pytest.mark.parametrize("given", [(0, 0, 0), (math.nan, 0, 1), (math.inf, 0, 0)])
def test_a_direction_without_length_is_refused(given):
    with pytest.raises(ModelError, match=r"expected a (direction|number)"):
        as_axis(given)


def test_an_axis_takes_no_expressions():
    with pytest.raises(ModelError, match=r"axis: expected three plain numbers"):
        as_axis(("a", 0, 1))


def test_three_numbers_are_a_translation():
    assert as_pose((1, 2, 3)) == Pose((1, 2, 3))
    assert as_pose(np.array([1.0, 2.0, 3.0])) == Pose((1, 2, 3))
    assert isinstance(as_pose(AsFound()), AsFound)


def test_a_quaternion_is_made_unit():
    assert Pose(quaternion=(2, 0, 0, 0)).quaternion == (1, 0, 0, 0)
    assert math.hypot(*Pose(quaternion=(1, 2, 3, 4)).quaternion) == pytest.approx(1, abs=1e-15)


def test_both_orientations_at_once_are_refused():
    with pytest.raises(ModelError, match=r"Pose: expected rpy= or quaternion=, got both"):
        Pose(rpy=(0, 0, 0), quaternion=(1, 0, 0, 0))


def test_a_quaternion_of_no_length_is_refused():
    with pytest.raises(ModelError, match=r"Pose.quaternion: expected"):
        Pose(quaternion=(0, 0, 0, 0))


@given(ANGLES, ANGLES, ANGLES)
def test_rpy_is_yaw_after_pitch_after_roll(roll, pitch, yaw):
    position, quaternion = from_pose(Pose((1, 2, 3), rpy=(roll, pitch, yaw)), float)
    expected = Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix()
    assert position == pytest.approx([1, 2, 3])
    assert rotation_of(quaternion) == pytest.approx(expected, abs=1e-14)


@given(COMPONENTS, st.floats(0, math.pi))
def test_quaternions_matrices_and_rotation_vectors_agree(axis, angle):
    """Also at half a turn, where the sign of the vector is free."""
    vector = np.array(axis) / math.hypot(*axis) * angle
    R = Rotation.from_rotvec(vector).as_matrix()
    assert rotation_of(quaternion_of(R)) == pytest.approx(R, abs=1e-13)
    assert rotation_of(turn(vector)) == pytest.approx(R, abs=1e-13)
    assert rotation_of(turn(rotation_vector(R))) == pytest.approx(R, abs=1e-12)
    assert np.linalg.norm(rotation_vector(R)) == pytest.approx(angle, abs=1e-7)


def test_quaternions_multiply_like_rotations():
    rng = np.random.default_rng(0)
    a, b = (e / np.linalg.norm(e) for e in rng.normal(size=(2, 4)))
    assert rotation_of(multiply(a, b)) == pytest.approx(rotation_of(a) @ rotation_of(b), abs=1e-14)


def test_poses_are_values():
    pose = Pose((1, "a", 3), rpy=(0.1, 0, 0))
    assert pickle.loads(pickle.dumps(pose)) == pose
    assert hash(pose) == hash(Pose((1, "a", 3), rpy=(0.1, 0, 0)))
