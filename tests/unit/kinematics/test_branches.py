import math

import numpy as np
import pytest

import kalaba as kb
from arms import SOLID, apart, arm_of, gap_between, random_arm, random_seat, random_wrist_arm
from kalaba.errors import KinematicsError
from kalaba.joints import Prismatic, Revolute, Universal, Weld
from kalaba.kinematics.tree.hinges import Axes, angles_of, linear, times, turns_of, zeros
from kalaba.model.parts import Body
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import build
from kalaba.space.pose import Axis, Pose, X, Y, Z

ELBOW = math.atan2(0.0203, 0.4318)


@pytest.fixture(scope="module")
def puma():
    return kb.build(kb.load("puma560"))


@pytest.mark.parametrize(
    ("q", "count"),
    [
        ((0, 0, 0, 0, 0, 0), 7),  # the wrist straight in one of four positions of the arm: two branches are one
        ((0.3, 0.2, ELBOW - math.pi / 2, 0.1, 0.5, 0.2), 4),  # the elbow straight: above and below are one
    ],
)
def test_branches_that_meet_are_one(puma, q, count):
    wanted = puma.pose("tool", q)
    found = kb.branches(puma, "tool", wanted)
    assert len(found) == count
    assert max(gap_between(puma.pose("tool", branch), wanted) for branch in found) < 1e-12


def test_limits_leave_branches_out_and_shift_others_by_a_turn():
    free, rng = random_wrist_arm(2), np.random.default_rng(2)
    q = rng.uniform(-math.pi, math.pi, size=6)
    wanted = free.pose("tool", q)
    everything = kb.branches(free, "tool", wanted)
    around = random_wrist_arm(2, limits=(2.0, 2.0 + 2 * math.pi))
    shifted = kb.branches(around, "tool", wanted)
    assert len(shifted) == len(everything)
    assert min(branch.min() for branch in shifted) >= 2.0
    assert all(min(apart(a, b) for b in everything) < 1e-8 for a in shifted)
    half = max(np.abs(everything[0]).max() + 1e-3, 0.1)
    limited = kb.branches(random_wrist_arm(2, limits=(-half, half)), "tool", wanted)
    assert len(limited) == sum(np.abs(branch).max() <= half for branch in everything)
    with pytest.raises(KinematicsError, match=r"wristed: tool cannot reach .* held back by the limits of link"):
        kb.branches(random_wrist_arm(2, limits=(-0.01, 0.01)), "tool", wanted)


def test_a_pose_out_of_reach_is_an_error_with_the_smallest_gap(puma):
    with pytest.raises(KinematicsError, match=r"puma560: tool cannot reach \(3, 0, 0\) m.* smallest gap 2\.\d+ m"):
        kb.branches(puma, "tool", Pose((3, 0, 0)))


def wrist_with(joints, at=None):
    seats = [random_seat(np.random.default_rng(8)) for _ in range(len(joints) + 1)]
    for i in at or ():
        seats[i] = Pose((0, 0, 0))
    return build(arm_of("odd", joints, seats), backend=Interpreted())


H = [Revolute(Z), Revolute(Y), Revolute(Y)]


@pytest.mark.parametrize(
    ("arm", "why"),
    [
        (random_arm(0), "its last three axes miss each other by"),
        (random_arm(0, joints=5), "5 hinges carry it, not six"),
        (wrist_with([*H, Revolute(Z), Prismatic(Y), Revolute(Z)]), "link5 does not turn on a hinge of its own"),
        (wrist_with([*H, Revolute(Z), Revolute(Z), Revolute(X)], (4, 5)), "axes 4 and 5 are parallel"),
        (
            wrist_with([Revolute(Z), Revolute(Z), *H[2:], Revolute(Z), Revolute(Y), Revolute(Z)], (1, 4, 5)),
            "axes 1 and 2",
        ),
    ],
    ids=("skew", "five", "slider", "parallel", "same"),
)
def test_an_arm_without_a_spherical_wrist_is_sent_to_the_search(arm, why):
    with pytest.raises(KinematicsError, match=rf"{why}.* Use kb\.inverse_kinematics\.$"):
        kb.branches(arm, "tool", Pose())


def test_a_cross_and_welds_may_make_the_wrist():
    joints = [*H, Weld(), Universal(Z, Y), Revolute(X)]
    arm, rng = wrist_with(joints, (5,)), np.random.default_rng(1)
    q = rng.uniform(-2, 2, size=6)
    found = kb.branches(arm, "tool", arm.pose("tool", q))
    assert min(apart(branch, q) for branch in found) < 1e-8


def test_what_does_not_carry_the_frame_stays_at_the_start():
    system = random_wrist_arm(3).system.add(Body("finger", SOLID, parent="link6", joint=Revolute(X)))
    arm = build(system, backend=Interpreted())
    found = kb.branches(arm, "tool", arm.pose("tool", np.full(7, 0.4)))
    assert all(branch[6] == arm.start.q[6] for branch in found)


def test_joints_that_can_move_on_at_the_pose_have_no_separate_branches():
    joints = [Revolute(Z), Revolute(Y), Revolute(X), Revolute(Z), Revolute(Y), Revolute(Z)]
    seats = [Pose(), Pose(), Pose(), Pose((0, 0, 0.5)), Pose(), Pose(), Pose((0, 0, 0.1))]
    arm = build(arm_of("shoulder", joints, seats), backend=Interpreted())
    with pytest.raises(KinematicsError, match="in no separate branch; its joints can move on there"):
        kb.branches(arm, "tool", arm.pose("tool", [0.3, 0.2, 0.1, 0.4, 0.5, 0.6]))


@pytest.mark.parametrize("seed", range(5))
def test_three_skew_turns_make_up_a_rotation_in_two_ways(seed):
    rng = np.random.default_rng(seed)
    axes = np.array([Axis(*rng.normal(size=3)).components for _ in range(3)])
    angles = rng.uniform(-math.pi, math.pi, size=3)
    R = Axes(axes, np.zeros((3, 3))).rotation(angles)
    found = turns_of(axes, R)
    assert len(found) == 2
    assert all(np.abs(Axes(axes, np.zeros((3, 3))).rotation(turn) - R).max() < 1e-12 for turn in found)
    assert min(apart(turn, angles) for turn in found) < 1e-9


def test_zeros_of_products_are_those_of_the_factors():
    a, b = linear(0.2, 1.0, -0.5), linear(-0.3, 0.1, 0.8)
    angles = sorted([*angles_of(1.0, -0.5, -0.2), *angles_of(0.1, 0.8, 0.3)])
    found = zeros(times(a, b), 1.0)
    assert (
        apart(
            sorted(math.remainder(x, 2 * math.pi) for x in found),
            sorted(math.remainder(x, 2 * math.pi) for x in angles),
        )
        < 1e-12
    )
    assert zeros(linear(2.0, 1.0, 0.5), 1.0) == []
    assert zeros(0 * a, 1.0) == []
    assert zeros(times(a, linear(1.0, 0.0, 0.0)), 1.0) == pytest.approx(zeros(a, 1.0))
    assert angles_of(0.0, 0.0, 1.0) == [0.0]
