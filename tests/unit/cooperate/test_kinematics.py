"""Arms and the objects they hold, from joint angles to poses and back, with rates and accelerations."""

from dataclasses import replace
from functools import cache
from math import cos, pi, sin

import numpy as np
import pytest

import kalaba as kb
from cooperation import NAMES, Cooperation, cooperation, pose
from kalaba.errors import KinematicsError, ModelError
from kalaba.rotations import rotation_of, turn

STATES = range(5)
CLOSE = 1e-10  # rounding, over the smallest singular value of an arm


@cache
def space(name: str) -> kb.ObjectSpace:
    return kb.object_space(cooperation(name).system)


@pytest.fixture(params=NAMES)
def case(request) -> Cooperation:
    return cooperation(request.param)


def joints(case: Cooperation, index: int) -> dict[str, float]:
    """The reference's p by the names of the coordinates."""
    names = space(case.name).coordinates[6:]
    return dict(zip(names, case.reference["p"][index] / case.travel[6:], strict=True))


def arm_part(case: Cooperation, values: np.ndarray) -> np.ndarray:
    return values[: 6 * len(case.arms)]


def test_joint_angles_give_the_poses_and_joints_of_the_reference(case):
    seen, found = space(case.name), case.reference
    for k in STATES:
        reading = seen.read(arm_part(case, case.q(k)), near=case.q(k))
        assert np.abs(reading.pose.position - found["A_C1"][k][:3, 3]).max() < CLOSE
        assert np.abs(reading.pose.rotation - found["A_C1"][k][:3, :3]).max() < CLOSE
        assert reading.joints == pytest.approx(joints(case, k), abs=CLOSE)
        assert np.abs(reading.q - case.q(k)).max() < CLOSE
        assert reading.gap < 1e-12


def test_every_body_stands_where_the_reference_has_it(case):
    seen = space(case.name)
    for k in STATES:
        q = seen.read(arm_part(case, case.q(k))).q
        for i, expected in enumerate(case.reference["A_C"][k]):
            found = seen.plant.pose("body1" if i == 0 else f"body{i + 1}_centre", q)
            assert np.abs(found.position - expected[:3, 3]).max() < CLOSE
            assert np.abs(found.rotation - expected[:3, :3]).max() < CLOSE


def test_the_objects_of_a_whole_configuration_are_not_read():
    case, seen = cooperation("peg"), space("peg")
    q = case.q(1)
    q[12:] = 0.5
    assert np.abs(seen.read(q, near=case.q(1)).q - case.q(1)).max() < CLOSE
    assert np.abs(seen.read(kb.State(q, np.zeros(14)), near=case.state(1)).q - case.q(1)).max() < CLOSE


def test_poses_and_joints_give_the_joint_angles_of_the_reference(case):
    seen = space(case.name)
    rng = np.random.default_rng(2)
    for k in STATES:
        away = case.q(k)
        away[: 6 * len(case.arms)] += rng.uniform(-0.05, 0.05, 6 * len(case.arms))
        for near in (case.state(k), away):
            q = seen.reach(pose(case.reference["A_C1"][k]), joints(case, k), near)
            assert np.abs(q - case.q(k)).max() < CLOSE
            assert np.abs(seen.plant.residual(q)).max() < 1e-12


def test_rates_and_accelerations_are_those_of_the_reference(case):
    seen, C, found = space(case.name), case.travel, case.reference
    for k in STATES:
        state = case.state(k)
        v = seen.rates(kb.State(state.q, 0 * state.v), found["sdot"][k] / C)
        v_dot = seen.accelerations(state, found["sddot"][k] / C)
        assert np.abs(arm_part(case, v) - found["qd"][k].ravel()).max() < 1e-9
        assert np.abs(arm_part(case, v_dot) - found["qdd"][k].ravel()).max() < 1e-9 * np.abs(found["qdd"][k]).max()
        assert np.abs(seen.speeds(state) * C - found["sdot"][k]).max() < 1e-9
        back = seen.object_acceleration(state, v_dot) * C
        assert np.abs(back - found["sddot"][k]).max() < 1e-9 * np.abs(found["sddot"][k]).max()


def along(t: float, seen: kb.ObjectSpace, start: np.ndarray) -> tuple[kb.Pose, dict[str, float]]:
    """A pose that swings and turns about a fixed axis, and joints that move; `start` is where it begins."""
    body = seen.plant.machine.bodies[seen.split.free[0]].name
    here = seen.plant.pose(body, start)
    x = here.position + 0.05 * np.array([sin(t), t * t, 1 - cos(t)])
    R = rotation_of(turn(np.array([0.2, -0.1, 0.3]) * (t + t**2))) @ here.rotation
    names = seen.plant.coordinates
    p = {word: start[names.index(word)] + 0.04 * (k + 1) * sin(2 * t) for k, word in enumerate(seen.coordinates[6:])}
    return type(here)(x, R), p


def speeds_along(t: float, centre: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """ṡ and s̈ of `along`; `centre` is the centre of mass from the body's origin, in world axes at t."""
    v, a = 0.05 * np.array([cos(t), 2 * t, sin(t)]), 0.05 * np.array([-sin(t), 2.0, cos(t)])
    axis = np.array([0.2, -0.1, 0.3])
    w, w_dot = axis * (1 + 2 * t), axis * 2
    rates = [0.08 * (k + 1) * cos(2 * t) for k in range(count)]
    changes = [-0.16 * (k + 1) * sin(2 * t) for k in range(count)]
    spin = np.cross(w, centre)
    return (
        np.array([*(v + spin), *w, *rates]),
        np.array([*(a + np.cross(w_dot, centre) + np.cross(w, spin)), *w_dot, *changes]),
    )


def check_derivatives(seen: kb.ObjectSpace, start: np.ndarray, com: tuple[float, float, float]) -> None:
    """Rates and accelerations are the derivatives of what `reach` gives along a moving pose."""
    t, h = 0.1, 2e-3
    middle = seen.reach(*along(t, seen, start), near=start)
    track = [seen.reach(*along(t + i * h, seen, start), near=middle) for i in range(-2, 3)]
    first = (track[0] - 8 * track[1] + 8 * track[3] - track[4]) / (12 * h)
    second = (-track[0] + 16 * track[1] - 30 * track[2] + 16 * track[3] - track[4]) / (12 * h * h)
    body = seen.plant.machine.bodies[seen.split.free[0]].name
    centre = seen.plant.pose(body, middle).rotation @ np.array(com)
    s_dot, s_ddot = speeds_along(t, centre, len(seen.coordinates) - 6)
    v = seen.rates(kb.State(middle, np.zeros(len(seen.plant.velocities))), s_dot)
    v_dot = seen.accelerations(kb.State(middle, v), s_ddot)
    i, j = np.array(seen.plant.machine.scalar_pairs).T
    assert np.abs(v[j] - first[i]).max() < 1e-8 * max(1.0, np.abs(first).max())
    assert np.abs(v_dot[j] - second[i]).max() < 1e-6 * max(1.0, np.abs(second).max())
    assert np.abs(seen.speeds(kb.State(middle, v)) - s_dot).max() < 1e-12
    assert np.abs(seen.object_acceleration(kb.State(middle, v), v_dot) - s_ddot).max() < 1e-11


@pytest.mark.parametrize("name", ["rigid", "scissors", "screw_off", "three"])
def test_rates_are_derivatives_along_a_moving_pose(name):
    check_derivatives(space(name), cooperation(name).q(0), (0, 0, 0))


def test_a_thread_counts_its_turns_by_its_travel():
    case, seen = cooperation("screw"), space("screw")
    name = seen.coordinates[6]
    for turns in (-3, 10):
        angle = joints(case, 0)[name] + 2 * pi * turns + 0.3
        q = seen.reach(pose(case.reference["A_C1"][0]), {name: angle}, near=case.q(0))
        for near in (None, case.q(0)):
            assert seen.read(arm_part(case, q), near).joints[name] == pytest.approx(angle, abs=CLOSE)


@pytest.mark.parametrize("name", ["scissors", "peg"])
def test_angles_beyond_half_a_turn_go_on_near_the_last_ones(name):
    case, seen = cooperation(name), space(name)
    word = seen.coordinates[-1]
    index = seen.plant.coordinates.index(word)
    for turns in (-2, 1, 3):
        near = case.q(0)
        near[index] += 2 * pi * turns + 0.4
        reading = seen.read(arm_part(case, case.q(0)), near)
        assert reading.joints[word] == pytest.approx(case.q(0)[index] + 2 * pi * turns, abs=CLOSE)
        q = seen.reach(joints={word: reading.joints[word]}, near=case.q(0))
        assert q[index] == reading.joints[word]
        assert np.abs(arm_part(case, q) - arm_part(case, case.q(0))).max() < CLOSE
    assert abs(seen.read(arm_part(case, near)).joints[word]) <= pi


def test_hinges_of_arms_go_on_beyond_half_a_turn():
    case, seen = cooperation("rigid"), space("rigid")
    near = case.q(0)
    near[5] += 2 * pi
    assert np.abs(seen.reach(pose(case.reference["A_C1"][0]), near=near)[:12] - near[:12]).max() < CLOSE


def test_quaternions_stay_on_the_side_of_the_last_ones():
    case, seen = cooperation("rigid"), space("rigid")
    near = case.q(0)
    near[15:] *= -1
    assert np.abs(seen.read(near, near).q - near).max() < CLOSE
    assert np.abs(seen.reach(pose(case.reference["A_C1"][0]), near=near) - near).max() < CLOSE


def test_all_branches_close_and_the_nearest_comes_first():
    case, seen = cooperation("scissors"), space("scissors")
    found = seen.branches(pose(case.reference["A_C1"][0]), joints(case, 0), case.q(0))
    assert tuple(found) == case.arms
    for configurations in found.values():
        assert len(configurations) > 1
        assert np.abs(configurations[0] - case.q(0)).max() < CLOSE
        assert max(np.abs(seen.plant.residual(q)).max() for q in configurations) < 1e-12
        assert all(np.abs(a - b).max() > 1e-3 for i, a in enumerate(configurations) for b in configurations[:i])
    other = found["arm2"][-1]
    assert np.abs(seen.reach(joints=joints(case, 0), near=other) - other).max() < CLOSE


def test_arms_that_disagree_on_a_body_are_named_with_the_gap():
    q = cooperation("rigid").q(0)
    q[6] += 0.01
    radius = np.linalg.norm(np.array(space("rigid").plant.pose("body1", q).position[:2]) - _base("rigid", 1))
    with pytest.raises(
        KinematicsError, match=r"arm1 by grip1 and arm2 by grip2 disagree.* body1 is; (\S+) m, 0.01 rad"
    ) as error:
        space("rigid").read(q)
    told = float(str(error.value).split(" is; ")[1].split(" m")[0])
    assert told == pytest.approx(2 * sin(0.005) * radius, rel=1e-2)


def _base(name: str, index: int) -> np.ndarray:
    return np.array(cooperation(name).numbers["bases"][index])[:2, 3]


def test_arms_that_disagree_on_a_joint_are_named_with_the_gap():
    q = cooperation("scissors").q(0)
    q[8] += 0.01
    with pytest.raises(KinematicsError, match=r"arm1 by grip1 and arm2 by grip2 .* body2 is on its Revolute; \S+ m"):
        space("scissors").read(q)


def test_a_pose_out_of_reach_names_the_arm_and_the_pose():
    with pytest.raises(KinematicsError, match=r"rigid: arm1 by grip1 on body1 at \(9, 0, 1\) m.* smallest gap"):
        space("rigid").reach(kb.Pose((9, 0, 1)))


@cache
def single() -> kb.ObjectSpace:
    load = kb.Body("load", kb.Solid(1.0, inertia=(0.1, 0.1, 0.1)))
    return interpreted(kb.hold(load, (kb.load("puma560").place("arm"),)))


def interpreted(system: kb.System) -> kb.ObjectSpace:
    return kb.object_space(kb.build(system, backend=kb.Interpreted()))


def test_a_singular_pose_is_refused_with_its_measure():
    q = single().plant.start.q.copy()
    q[4] = 0.0  # two axes of the wrist are one
    straight = single().read(q)
    with pytest.raises(
        KinematicsError, match=r"arm by grip_arm on load at .* singular; its measure is \S+, below 1e-06"
    ):
        single().reach(straight.pose, near=straight.q)
    assert np.abs(single().reach(straight.pose, near=straight.q, singular=-1.0) - straight.q).max() < 1e-5


def lifting_arm(limits: tuple[float, float] | None = None) -> kb.System:
    """Turn, lift, lift."""
    solid = kb.Solid(1.0, com=(0.2, 0.01, 0), inertia=(0.01, 0.02, 0.02), tip=(0.4, 0, 0))
    parts = (
        kb.Body("link0", kb.Solid(1.0, inertia=(0.01, 0.01, 0.02), tip=(0, 0, 0.3)), joint=kb.Revolute(kb.Z)),
        kb.Body("link1", solid, parent="link0.tip", joint=kb.Revolute(-kb.Y)),
        kb.Body("link2", solid, parent="link1.tip", joint=kb.Revolute(-kb.Y, limits=limits)),
        kb.Frame("tool", parent="link2.tip"),
    )
    return kb.System("arm", parts, start=kb.Start(guess={"link1.angle": 0.9, "link2.angle": -1.3}))


@cache
def balls(count: int = 3, limits: tuple[float, float] | None = None) -> kb.ObjectSpace:
    """Arms on a circle that hold a disc at its rim by balls, its frame beside its centre of mass."""
    arms, grips = [], []
    for i in range(count):
        angle = 2 * pi * i / count + 0.1 * i * i
        seat = kb.Pose((0.75 * cos(angle), 0.75 * sin(angle), 0), rpy=(0, 0, angle + pi))
        arms.append(lifting_arm(limits).place(f"arm{i}", at=seat))
        point = (0.15 * cos(angle), 0.15 * sin(angle), 0)
        grips.append(kb.Connection(f"grip{i}", f"arm{i}.tool", parent="load", at=point, joint=kb.Spherical()))
    disc = kb.Body("load", kb.Solid(3.0, com=(0.02, -0.03, 0.01), inertia=(0.03, 0.04, 0.06)))
    start = kb.Start(guess={"load": kb.Pose((0, 0, 0.45), rpy=(0.1, -0.05, 0.2))})
    return interpreted(kb.System("carry", (*arms, disc, *grips), start=start))


def test_points_that_several_arms_hold_tell_the_pose_together():
    seen = balls()
    q = seen.reach(kb.Pose((0.03, -0.02, 0.5), rpy=(0.2, 0.1, -0.3)))
    assert np.abs(seen.plant.residual(q)).max() < 1e-12
    reading = seen.read(q[:9])
    assert np.abs(reading.pose.position - (0.03, -0.02, 0.5)).max() < CLOSE
    assert np.abs(reading.q - q).max() < CLOSE


def test_rates_of_arms_that_hold_by_balls_are_derivatives_too():
    check_derivatives(balls(), balls().plant.start.q, (0.02, -0.03, 0.01))


def test_points_that_disagree_are_refused_with_the_row():
    q = balls().plant.start.q.copy()
    q[1] += 0.02
    with pytest.raises(KinematicsError, match=r"arm\d and arm\d, arm\d disagree .* grip\d\.. misses by 0.00"):
        balls().read(q)


def test_what_the_arms_leave_open_is_named():
    with pytest.raises(KinematicsError, match=r"leave 1 freedoms of the objects open, load\.w. is one"):
        balls(2).read(balls(2).plant.start.q)


def test_arms_keep_within_the_limits_of_their_joints():
    wanted = kb.Pose((0.0, 0.02, 0.5), rpy=(0.1, 0, 0.2))
    up = balls().reach(wanted)
    assert (up[2:9:3] < 0).all()
    bent = balls(limits=(0.1, 2.0)).reach(wanted, near=up)  # the elbow the other way
    assert ((bent[2:9:3] >= 0.1) & (bent[2:9:3] <= 2.0)).all()
    assert np.abs(balls(limits=(0.1, 2.0)).plant.residual(bent)).max() < 1e-12
    with pytest.raises(KinematicsError, match=r"arm0 by grip0 on load at .* within the limits of arm0\.link2\.angle"):
        balls(limits=(-0.2, -0.1)).reach(wanted, near=up)


def test_an_object_held_by_its_outer_bodies_alone_is_read():
    case = cooperation("three")
    whole = case.system
    guess = {key: value for key, value in whole.start.guess if not key.startswith("arm1.")}
    parts = tuple(part for part in whole.parts if part.name not in {"arm1", "grip1"})
    seen = interpreted(replace(whole, parts=parts, start=kb.Start(guess=guess)))
    reading = seen.read(case.q(2)[6:18], near=case.q(1)[6:])
    assert np.abs(reading.q - case.q(2)[6:]).max() < CLOSE


def test_a_grasp_written_from_the_object_to_the_arm_is_the_same():
    case = cooperation("rigid")
    grip = next(part for part in case.system.parts if part.name == "grip1")
    A = np.linalg.inv(np.array(case.numbers["A_T_C"][0]))
    turned = kb.Connection("grip1", "body1", parent="arm1.tool", at=pose(A), joint=grip.joint)
    seen = interpreted(case.system.remove("grip1").add(turned))
    assert np.abs(seen.read(case.q(1)[:12], case.q(1)).q - case.q(1)).max() < CLOSE
    assert np.abs(seen.reach(pose(case.reference["A_C1"][1]), near=case.q(1)) - case.q(1)).max() < CLOSE


def test_grasps_follow_the_parameters_of_the_plant():
    seen = single()
    q = seen.plant.start.q
    moved = kb.object_space(seen.plant.with_parameters({"grip_arm.at.x": seen_at(seen) + 0.1}))
    back = seen.read(q[:6]).pose.position - moved.read(q[:6]).pose.position
    assert np.linalg.norm(back) == pytest.approx(0.1, abs=1e-12)


def seen_at(seen: kb.ObjectSpace) -> float:
    return next(p.value for p in seen.plant.machine.parameters if p.name == "grip_arm.at.x")


def test_what_is_asked_for_must_exist():
    seen = space("scissors")
    with pytest.raises(ModelError, match=r"no joint of an object 'body2\.angel'; did you mean body2\.angle"):
        seen.reach(joints={"body2.angel": 0.1})
    with pytest.raises(ModelError, match=r"no body that floats 'body2'"):
        seen.reach({"body2": kb.Pose((0, 0, 0))})
    with pytest.raises(ModelError, match=r"q: expected 12 numbers \(arm1\.link1\.angle"):
        seen.read(np.zeros(7))
    with pytest.raises(ModelError, match=r"speeds: expected 7 numbers"):
        seen.rates(seen.plant.start, np.zeros(3))


def test_a_joint_of_an_object_keeps_its_limits():
    hinge = kb.Revolute(kb.Z, limits=(-0.5, 0.5))
    load = kb.Body("load", kb.Solid(1.0, inertia=(0.1, 0.1, 0.1)))
    lid = kb.Body("lid", kb.Solid(1.0, inertia=(0.1, 0.1, 0.1)), parent="load", joint=hinge)
    seen = interpreted(kb.hold((load, lid), (kb.load("puma560").place("arm"),), (kb.Grasp("arm", "load"),)))
    with pytest.raises(KinematicsError, match=r"joints, lid\.angle: expected -0\.5 to 0\.5, got 0\.6"):
        seen.reach(joints={"lid.angle": 0.6})
    with pytest.raises(KinematicsError, match=r"leave 1 freedoms of the objects open, lid\.angle is one"):
        seen.read(seen.plant.start.q)
