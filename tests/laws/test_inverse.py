"""What inverse kinematics obeys, whatever the arm: forward of inverse is the pose, and nothing is left out."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kalaba as kb
from arms import apart, arm_of, gap_between, random_arm, random_seat, random_wrist_arm
from kalaba.joints import Free, Prismatic, Revolute, Spherical
from kalaba.kinematics.tree.bounds import null_space
from kalaba.kinematics.tree.chain import Limits
from kalaba.kinematics.tree.differential import drift, measure
from kalaba.kinematics.tree.hinges import Axes, carry_to, turned
from kalaba.kinematics.tree.task import Task, descend, target_of, turn_rates
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import build
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Axis, Pose, Y, Z
from states import moved, random_state

FOUND = 1e-12  # m, rad: a thousand roundings of an arm of metre size
POLISHED = 1e-13
DIFFERENCES = 1e-7  # central differences of second order with a step of 1e-5


@pytest.fixture(scope="module")
def puma():
    return kb.build(kb.load("puma560"))


def random_angles(rng, size=6):
    return rng.uniform(-math.pi, math.pi, size=size)


@pytest.mark.parametrize("seed", range(12))
def test_forward_of_inverse_is_the_pose_for_six_skew_hinges(seed):
    arm, rng = random_arm(seed), np.random.default_rng(seed)
    wanted = arm.pose("tool", random_angles(rng))
    found = kb.inverse_kinematics(arm, "tool", wanted)
    assert gap_between(arm.pose("tool", found.q), wanted) < FOUND
    assert found.error < FOUND
    assert found.measure == pytest.approx(measure(arm, "tool", found.q))


@pytest.mark.parametrize("seed", range(6))
def test_arms_with_sliders_balls_and_free_bases_reach_too(seed):
    rng = np.random.default_rng(seed)
    joints = [(Free(), Spherical())[seed % 2], Prismatic(Axis(*rng.normal(size=3))), Revolute(Y), Spherical()]
    arm = build(arm_of("mixed", joints, [random_seat(rng) for _ in range(5)]), backend=Interpreted())
    wanted = arm.pose("tool", random_state(arm.machine, rng).q)
    found = kb.inverse_kinematics(arm, "tool", wanted)
    assert gap_between(arm.pose("tool", found.q), wanted) < FOUND


@pytest.mark.parametrize("seed", range(5))
def test_a_redundant_arm_stays_as_near_to_the_guess_as_it_can(seed):
    arm, rng = random_arm(seed, joints=7), np.random.default_rng(seed)
    there = random_angles(rng, 7)
    guess, wanted = there + rng.normal(scale=0.2, size=7), arm.pose("tool", there)
    found = kb.inverse_kinematics(arm, "tool", wanted, guess)
    way = found.q - guess
    assert gap_between(arm.pose("tool", found.q), wanted) < FOUND
    assert np.linalg.norm(way) <= np.linalg.norm(there - guess)
    Z_ = null_space(arm.jacobian("tool", found.q), 1e-8)
    assert Z_.shape[1] == 1
    assert np.abs(Z_.T @ way).max() < 1e-8  # the way back is across what the arm may do freely


@pytest.mark.parametrize("seed", range(6))
def test_limits_are_respected(seed):
    limits = (-1.2, 1.0)
    arm, rng = random_arm(seed, joints=7, limits=limits), np.random.default_rng(seed)
    wanted = arm.pose("tool", rng.uniform(*limits, size=7))
    found = kb.inverse_kinematics(arm, "tool", wanted, guess=rng.uniform(*limits, size=7))
    assert gap_between(arm.pose("tool", found.q), wanted) < FOUND
    assert found.q.min() >= limits[0]
    assert found.q.max() <= limits[1]


def test_the_generic_poses_of_an_arm_with_meeting_first_axes_have_eight_branches(puma):
    rng = np.random.default_rng(5)
    for _ in range(25):
        q = random_angles(rng)
        wanted = puma.pose("tool", q)
        found = kb.branches(puma, "tool", wanted)
        assert len(found) == 8
        assert max(gap_between(puma.pose("tool", branch), wanted) for branch in found) < POLISHED
        assert min(apart(a, b) for i, a in enumerate(found) for b in found[:i]) > 1e-3
        assert min(apart(branch, q) for branch in found) < 1e-8


def search_all(arm, wanted, starts, rng):
    """Solutions from many random starts: a route of its own to the number of branches."""
    task = Task(arm, "tool", target_of(wanted), Limits.none())
    found = []
    for _ in range(starts):
        q, look = descend(task, random_angles(rng))
        if task.is_met(look) and all(apart(q, other) > 1e-5 for other in found):
            found.append(q)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_search_from_many_starts_finds_the_same_eight_branches(puma, seed):
    rng = np.random.default_rng(seed)
    wanted = puma.pose("tool", random_angles(rng))
    branches = kb.branches(puma, "tool", wanted)
    searched = search_all(puma, wanted, 300, rng)
    assert len(searched) == len(branches) == 8
    assert all(min(apart(q, branch) for branch in branches) < 1e-8 for q in searched)


@pytest.mark.parametrize("seed", range(8))
def test_branches_of_skew_arms_are_all_there_are(seed):
    arm, rng = random_wrist_arm(seed), np.random.default_rng(seed)
    q = random_angles(rng)
    wanted = arm.pose("tool", q)
    found = kb.branches(arm, "tool", wanted)
    assert max(gap_between(arm.pose("tool", branch), wanted) for branch in found) < POLISHED
    assert min(apart(branch, q) for branch in found) < 1e-8
    searched = search_all(arm, wanted, 25, rng)
    assert len(searched) >= 2
    assert all(min(apart(branch, other) for branch in found) < 1e-7 for other in searched)


def meeting(u, o, rng):
    o[1] = o[0] + 0.3 * u[0]


def parallel(u, o, rng):
    u[1] = u[0]


def opposed(u, o, rng):
    u[1] = -u[0]


def later_parallel(u, o, rng):
    u[2] = u[1]


def later_meeting(u, o, rng):
    o[2] = o[1] + 0.2 * u[1]


def meeting_then_parallel(u, o, rng):
    meeting(u, o, rng)
    later_parallel(u, o, rng)


def orthogonal(u, o, rng):
    u[:] = np.eye(3)


def almost_meeting(u, o, rng):
    o[1] = o[0] + 10 ** rng.uniform(-10, -3) * np.cross(u[0], u[1])


def almost_parallel(u, o, rng):
    u[1] = u[0] + 10 ** rng.uniform(-10, -3) * rng.normal(size=3)


KINDS = (meeting, parallel, opposed, later_parallel, later_meeting, meeting_then_parallel, orthogonal)


@pytest.mark.parametrize("kind", [*KINDS, almost_meeting, almost_parallel], ids=lambda kind: kind.__name__)
def test_three_hinges_find_the_angles_that_were_and_all_that_newton_finds(kind):
    rng = np.random.default_rng(2)
    for _ in range(8):
        u, o, point = rng.normal(size=(3, 3)), rng.normal(scale=0.5, size=(3, 3)), rng.normal(size=3)
        u /= np.linalg.norm(u, axis=1)[:, None]
        kind(u, o, rng)
        axes = Axes(u / np.linalg.norm(u, axis=1)[:, None], o)
        angles = random_angles(rng, 3)
        place, _ = axes.carry(angles, point)
        found = carry_to(axes, point, place)
        assert all(np.abs(axes.carry(f, point)[0] - place).max() < 1e-11 for f in found)
        assert min(apart(f, angles) for f in found) < 1e-6
        assert len(found) in {2, 4}
        for other in newton(axes, point, place, rng):
            assert min(apart(f, other) for f in found) < 1e-5


def newton(axes, point, place, rng):
    """Zeros of the gap by plain Newton steps from random angles."""
    found = []
    for _ in range(12):
        angles = random_angles(rng, 3)
        for _ in range(60):
            there, J = axes.carry(angles, point)
            step = np.linalg.lstsq(J, place - there, rcond=1e-10)[0]
            angles = angles + step * min(1.0, 0.5 / np.abs(step).max(initial=1e-300))
        if np.abs(axes.carry(angles, point)[0] - place).max() < 1e-12:
            found.append(angles)
    return found


def test_a_chain_of_lines_carries_points_as_rotations_do():
    rng = np.random.default_rng(4)
    u = np.array([Axis(*rng.normal(size=3)).components for _ in range(3)])
    o, angles, point = rng.normal(size=(3, 3)), random_angles(rng, 3), rng.normal(size=3)
    expected = point
    for k in (2, 1, 0):
        expected = o[k] + Rotation.from_rotvec(angles[k] * u[k]).apply(expected - o[k])
    found, J = Axes(u, o).carry(angles, point)
    assert np.abs(found - expected).max() < 1e-14
    slopes = [
        (Axes(u, o).carry(angles + e, point)[0] - Axes(u, o).carry(angles - e, point)[0]) / 2e-5
        for e in 1e-5 * np.eye(3)
    ]
    assert np.abs(J - np.array(slopes).T).max() < DIFFERENCES
    assert np.abs(turned(u[0], 0.3) - Rotation.from_rotvec(0.3 * u[0]).as_matrix()).max() < 1e-15


@pytest.mark.parametrize("size", [1e-6, 0.5, 3.0])
def test_a_rotation_vector_changes_as_its_rates_say(size):
    rng = np.random.default_rng(7)
    vector = rng.normal(size=3)
    vector *= size / np.linalg.norm(vector)
    spin, R = rng.normal(size=3), Rotation.from_rotvec(vector)
    ahead, behind = ((Rotation.from_rotvec(h * spin) * R).as_rotvec() for h in (1e-5, -1e-5))
    assert np.abs((ahead - behind) / 2e-5 - turn_rates(vector) @ spin).max() < DIFFERENCES


def mixed_arm(rng):
    joints = [Free(), Prismatic(Axis(*rng.normal(size=3))), Revolute(Y), Spherical(), Revolute(Z)]
    return build(arm_of("mixed", joints, [random_seat(rng) for _ in range(6)]), backend=Interpreted())


@pytest.mark.parametrize("seed", range(3))
def test_drift_is_the_rate_of_the_jacobian_at_held_rates(seed):
    rng = np.random.default_rng(seed)
    arm = mixed_arm(rng)
    q, v = random_state(arm.machine, rng).q, rng.normal(size=len(arm.velocities))
    ahead, behind = (arm.jacobian("tool", moved(arm.machine, q, h * v)) for h in (1e-5, -1e-5))
    assert np.abs(drift(arm, "tool", q, v) - (ahead - behind) @ v / 2e-5).max() < DIFFERENCES


@pytest.mark.parametrize("seed", range(4))
def test_rates_and_accelerations_give_the_motion_that_was_asked(seed):
    arm, rng = random_arm(seed), np.random.default_rng(seed)
    q, v, a = random_angles(rng), rng.normal(size=6), rng.normal(size=6)
    assert kb.kinematics.rates(arm, "tool", q, arm.velocity("tool", q, v)) == pytest.approx(v, abs=1e-10)
    h = 1e-5
    twists = [arm.velocity("tool", q + s * v + s * s / 2 * a, v + s * a) for s in (h, -h)]
    found = kb.kinematics.accelerations(arm, "tool", q, v, (twists[0] - twists[1]) / (2 * h))
    assert found == pytest.approx(a, abs=1e-6)  # differences, times the size of the inverse Jacobian


def test_a_redundant_arm_takes_the_smallest_rates():
    arm, rng = random_arm(3, joints=7), np.random.default_rng(3)
    q, twist = random_angles(rng, 7), rng.normal(size=6)
    v = kb.kinematics.rates(arm, "tool", q, twist)
    assert arm.velocity("tool", q, v) == pytest.approx(twist, abs=1e-11)
    assert np.abs(null_space(arm.jacobian("tool", q), 1e-8).T @ v).max() < 1e-12


def test_a_described_pose_and_a_measured_one_are_the_same(puma):
    described = Pose((0.4, 0.2, 0.6), rpy=(0.3, -0.2, 0.9))
    rotation = Rotation.from_euler("ZYX", (0.9, -0.2, 0.3)).as_matrix()
    found = kb.inverse_kinematics(puma, "tool", described)
    assert gap_between(puma.pose("tool", found.q), NumericPose(np.array((0.4, 0.2, 0.6)), rotation)) < FOUND
