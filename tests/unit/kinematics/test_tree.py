import math

import numpy as np
import pytest

import kalaba as kb
from arms import SOLID, apart, arm_of, gap_between, random_arm
from kalaba.errors import KinematicsError, ModelError
from kalaba.joints import Prismatic, Revolute, Screw
from kalaba.kinematics.tree.bounds import bounded_step, damped_step, nearest_within
from kalaba.kinematics.tree.chain import movers
from kalaba.kinematics.tree.differential import measure
from kalaba.model.parts import Body, Connection
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import build
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose, X, Y, Z

PLANAR = [Revolute(Z), Revolute(Z)]
SEATS = [Pose(), Pose((1, 0, 0)), Pose((1, 0, 0))]


def planar(limits=None):
    """Two hinges about z, a metre apart, the tool a metre further."""
    return build(arm_of("planar", [Revolute(Z, limits=limits), Revolute(Z)], SEATS), backend=Interpreted())


def test_a_pose_out_of_reach_names_arm_frame_pose_and_smallest_gap():
    arm = random_arm(0)
    with pytest.raises(
        KinematicsError, match=r"random: tool cannot reach \(50, 0, 0\) m, quaternion \(1, 0, 0, 0\)"
    ) as error:
        kb.inverse_kinematics(arm, "tool", Pose((50, 0, 0)))
    gap = float(str(error.value).partition("smallest gap ")[2].partition(" m")[0])
    assert 45 < gap < 50
    assert "\n" not in str(error.value)


def test_five_hinges_reach_their_own_poses_and_say_that_others_take_six():
    arm, rng = random_arm(1, joints=5), np.random.default_rng(1)
    own = arm.pose("tool", rng.normal(size=5))
    assert gap_between(arm.pose("tool", kb.inverse_kinematics(arm, "tool", own).q), own) < 1e-12
    turned = NumericPose(own.position, own.rotation @ [[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    with pytest.raises(KinematicsError, match="5 joints move it, a pose takes six"):
        kb.inverse_kinematics(arm, "tool", turned)


def test_a_limit_that_stands_in_the_way_is_named():
    free, limited = planar(), planar(limits=(-0.5, 0.5))
    wanted = free.pose("tool", [1.0, 0.0])
    assert kb.inverse_kinematics(free, "tool", wanted, guess=[0.9, 0.1]).q == pytest.approx([1.0, 0.0], abs=1e-5)
    with pytest.raises(KinematicsError, match=r"held back by the limits of link1\.angle\. Move the pose, or widen"):
        kb.inverse_kinematics(limited, "tool", wanted)
    folded = free.pose("tool", [0.5, 1.0])  # at the limit itself
    assert kb.inverse_kinematics(limited, "tool", folded, guess=[0.0, 0.1]).q == pytest.approx([0.5, 1.0], abs=1e-12)


def test_limits_of_a_displacement_that_is_an_expression_hold():
    joints = [Revolute(Z, q="a", limits=(-0.5, 0.5)), Revolute(Z, q="b - a")]
    arm = build(arm_of("absolute", joints, SEATS, ("a", "b")), backend=Interpreted())
    inside, outside = arm.pose("tool", [0.4, 1.0]), arm.pose("tool", [0.9, 1.0])
    assert kb.inverse_kinematics(arm, "tool", inside, [-0.5, 0.0]).q == pytest.approx([0.4, 1.0], abs=1e-12)
    with pytest.raises(KinematicsError, match=r"limits of link1\.angle"):
        kb.inverse_kinematics(arm, "tool", outside)


def test_a_singular_pose_is_told_by_its_measure_and_refused_on_request():
    arm = planar()
    straight, bent = arm.pose("tool", [0.3, 0.0]), arm.pose("tool", [0.3, 1.0])
    found = kb.inverse_kinematics(arm, "tool", bent, [0.2, 0.9], singular=0.1)
    assert found.measure == pytest.approx(measure(arm, "tool", np.array([0.3, 1.0])), rel=1e-9)
    assert found.measure > 0.1
    wristed = kb.load("puma560")
    elbow = math.atan2(0.0203, 0.4318) - math.pi / 2  # where the arm is longest
    at = [0.2, 0.3, elbow, 0.1, 0.6, 0.2]
    pose = kb.build(wristed).pose("tool", at)
    assert kb.inverse_kinematics(wristed, "tool", pose, at).measure < 1e-6
    with pytest.raises(
        KinematicsError,
        match=r"puma560: tool at \(.*\) is singular; its measure is .*, below 0.01 \(lengths in 0\.\d+ m\)",
    ):
        kb.inverse_kinematics(wristed, "tool", pose, at, singular=0.01)
    assert gap_between(arm.pose("tool", kb.inverse_kinematics(arm, "tool", straight).q), straight) < 1e-12


def test_the_measure_counts_lengths_in_the_length_that_is_stated():
    arm = planar()
    q = np.array([0.3, 1.0])
    small = build(arm_of("small", PLANAR, [Pose(), Pose((0.1, 0, 0)), Pose((0.1, 0, 0))]), backend=Interpreted())
    assert measure(small, "tool", q, length=0.1) == pytest.approx(measure(arm, "tool", q, length=1.0), rel=1e-12)
    slider = build(arm_of("slider", [Prismatic(X)], [Pose(), Pose()]), backend=Interpreted())
    assert measure(slider, "tool", np.zeros(1), length=0.1) == pytest.approx(1.0)
    assert measure(arm, "link1", q) == pytest.approx(1.0)
    assert measure(build(arm_of("fixed", [Revolute(Z)], SEATS[:2]), backend=Interpreted()), "world", np.zeros(1)) == 0.0


def test_several_solutions_come_nearest_first_and_differ():
    arm = random_arm(4)
    wanted = arm.pose("tool", np.full(6, 0.4))
    found = kb.inverse_kinematics(arm, "tool", wanted, guess=np.full(6, 0.3), count=3)
    ways = [np.linalg.norm(reach.q - 0.3) for reach in found]
    assert isinstance(found, tuple)
    assert ways == sorted(ways)
    assert found[0].q == pytest.approx(np.full(6, 0.4), abs=1e-9)
    assert all(apart(a.q, b.q) > 1e-3 for i, a in enumerate(found) for b in found[:i])


def test_a_solution_goes_on_from_the_turn_of_the_guess():
    arm = random_arm(5)
    far = np.array([0.4, 6.5, -7.0, 0.2, 13.0, 0.1])
    found = kb.inverse_kinematics(arm, "tool", arm.pose("tool", far), guess=far + 0.05)
    assert found.q == pytest.approx(far, abs=1e-8)


def test_what_does_not_carry_the_frame_stays():
    seat = Pose((0.2, 0, 0))
    links = arm_of("forked", [Revolute(Z), Revolute(Y)], [Pose(), seat, seat])
    arm = build(links.add(Body("finger", SOLID, parent="link2", joint=Revolute(X))), backend=Interpreted())
    guess = np.array([0.1, 0.1, 0.7])
    found = kb.inverse_kinematics(arm, "tool", arm.pose("tool", [0.5, -0.4, 0.0]), guess)
    assert found.q == pytest.approx([0.5, -0.4, 0.7], abs=1e-12)
    assert movers(arm.machine, "tool").tolist() == [True, True, False]


def test_a_beam_stays_bent_as_it_is():
    beam = kb.Beam(1.0, kb.Circle(0.01), density=2700.0, young=7e10)
    links = (
        Body("first", SOLID, joint=Revolute(Z)),
        Body("bar", beam, parent="first", at=(1, 0, 0), joint=Revolute(Y)),
    )
    arm = build(kb.System("flexible", links), backend=Interpreted())
    assert arm.coordinates == ("first.angle", "bar.angle", "bar.mode1")
    wanted = arm.pose("bar.tip", [0.5, -0.4, 0.03])
    found = kb.inverse_kinematics(arm, "bar.tip", wanted, guess=[0.1, 0.1, 0.03])
    assert found.q == pytest.approx([0.5, -0.4, 0.03], abs=1e-12)
    v = kb.kinematics.rates(arm, "bar.tip", found.q, arm.velocity("bar.tip", found.q, [0.3, 0.2, 0.0]))
    assert v == pytest.approx([0.3, 0.2, 0.0], abs=1e-12)


def test_rates_refuse_singular_poses_and_twists_that_cannot_be():
    arm = kb.build(kb.load("puma560"))
    with pytest.raises(KinematicsError, match=r"puma560: tool at .* is singular; its measure is .*, below 1e-06"):
        kb.kinematics.rates(arm, "tool", np.zeros(6), np.ones(6))
    with pytest.raises(KinematicsError, match="is singular"):
        kb.kinematics.accelerations(arm, "tool", np.zeros(6), np.zeros(6), np.ones(6))
    with pytest.raises(KinematicsError, match="2 joints cannot move tool as asked; vz misses by 1"):
        kb.kinematics.rates(planar(), "tool", [0.3, 1.0], [0, 0, 1, 0, 0, 0])
    with pytest.raises(ModelError, match="twist: expected 6 numbers"):
        kb.kinematics.rates(arm, "tool", np.zeros(6), np.ones(3))


def test_angles_are_continued_by_whole_turns_within_limits():
    joints = [Revolute(Z, limits=(-4, 4)), Revolute(Z), Screw(Z), Prismatic(Z), Revolute(Z, limits=(0, 1))]
    arm = arm_of("turns", joints, [Pose()] * 6)
    near = [5.0, 13.0, 13.0, 13.0, 9.0]
    found = kb.kinematics.continue_angles(arm, [-3.0, 0.5, 0.5, 0.5, 0.5], near)
    assert found == pytest.approx([2 * math.pi - 3, 0.5 + 4 * math.pi, 0.5, 0.5, 0.5])
    assert kb.kinematics.continue_angles(arm, [3.0, 0, 0, 0, 0], near)[0] == 3.0  # a turn more is beyond the limit
    assert kb.kinematics.continue_angles(arm, [5.0, 0, 0, 0, 3.0], [0.0] * 5)[[0, 4]] == pytest.approx(
        [5.0 - 2 * math.pi, 3.0]
    )


def test_an_angle_that_two_joints_read_does_not_come_round():
    arm = arm_of("geared", [Revolute(Z), Revolute(Z, q="link1.angle/2")], SEATS)
    assert kb.kinematics.continue_angles(arm, [0.1], [6.0]) == pytest.approx([0.1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pose": (1, 2, 3)}, r"pose: expected a Pose or a NumericPose"),
        ({"pose": Pose(("a", 0, 0))}, "pose: expected plain numbers"),
        ({"pose": NumericPose(np.zeros(3), np.ones((3, 3)))}, r"pose\.rotation: expected a rotation matrix"),
        ({"pose": NumericPose(np.full(3, np.nan), np.eye(3))}, r"pose\.position: expected finite numbers"),
        ({"frame": "tol"}, "planar: no frame 'tol'; did you mean tool"),
        ({"count": 0}, "count: expected a whole number from 1 to 10000, got 0"),
        ({"guess": [0.0]}, "q: expected 2 numbers"),
    ],
)
def test_bad_input_is_refused(given, message):
    asked = {"frame": "tool", "pose": Pose((1, 1, 0)), **given}
    with pytest.raises(ModelError, match=message):
        kb.inverse_kinematics(planar(), **asked)


def test_a_machine_with_rows_is_refused():
    loop = arm_of("loop", PLANAR, SEATS).add(Connection("pin", "tool", at=(1, 1, 0), joint=kb.Spherical()))
    with pytest.raises(
        KinematicsError, match=r"loop: expected a tree, got constraint rows pin\.x, pin\.y, pin\.z\. Take"
    ):
        kb.inverse_kinematics(loop, "tool", Pose())


def test_bounded_steps_are_the_best_within_bounds():
    rng = np.random.default_rng(3)
    A, b, G = rng.normal(size=(6, 4)), rng.normal(size=6), rng.normal(size=(3, 4))
    low, high = np.array([-0.1, -np.inf, 0.0]), np.array([0.1, 0.05, np.inf])
    found = bounded_step(A, b, 0.01, (G, low, high))

    def cost(x):
        return np.sum((A @ x - b) ** 2) + 0.01 * x @ x

    assert np.all(G @ found >= low - 1e-12)
    assert np.all(G @ found <= high + 1e-12)
    assert cost(damped_step(A, b, 0.01)) < cost(found)
    for _ in range(2000):
        other = found + rng.normal(scale=10 ** rng.uniform(-6, 0), size=4)
        if np.all(G @ other >= low) and np.all(G @ other <= high):
            assert cost(other) > cost(found) - 1e-12


def test_without_room_the_centre_stays():
    rows = np.array([[1.0, 0.0], [1.0, 0.0]])
    centre = np.array([0.5, 0.5])
    assert nearest_within(centre, rows, np.array([1.0, -3.0]), np.array([2.0, -2.0])) is centre
