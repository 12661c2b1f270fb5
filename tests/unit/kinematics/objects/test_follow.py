"""Arms that follow their objects: by poses or by rows, near, within limits, and with what rates."""

from functools import cache
from math import cos, pi, sin

import numpy as np
import pytest

import kalaba as kb
from cooperation import Cooperation, cooperation, pose
from kalaba.errors import KinematicsError, ModelError
from kalaba.space.rotations import rotation_of, turn

CLOSE = 1e-10  # rounding, over the smallest singular value of an arm


@cache
def space(name: str) -> kb.cooperate.ObjectSpace:
    return kb.object_space(cooperation(name).system)


def interpreted(system: kb.System) -> kb.cooperate.ObjectSpace:
    return kb.object_space(kb.build(system, backend=kb.Interpreted()))


def joints(case: Cooperation, index: int) -> dict[str, float]:
    """The reference's p by the names of the coordinates."""
    names = space(case.name).coordinates[6:]
    return dict(zip(names, case.reference["p"][index] / case.travel[6:], strict=True))


def along(t: float, seen: kb.cooperate.ObjectSpace, start: np.ndarray) -> tuple[kb.Pose, dict[str, float]]:
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


def check_derivatives(seen: kb.cooperate.ObjectSpace, start: np.ndarray, com: tuple[float, float, float]) -> None:
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


def test_hinges_of_arms_go_on_beyond_half_a_turn():
    case, seen = cooperation("rigid"), space("rigid")
    near = case.q(0)
    near[5] += 2 * pi
    assert np.abs(seen.reach(pose(case.reference["A_C1"][0]), near=near)[:12] - near[:12]).max() < CLOSE


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


def test_a_pose_out_of_reach_names_the_arm_and_the_pose():
    with pytest.raises(KinematicsError, match=r"rigid: arm1 by grip1 on body1 at \(9, 0, 1\) m.* smallest gap"):
        space("rigid").reach(kb.Pose((9, 0, 1)))


@cache
def single() -> kb.cooperate.ObjectSpace:
    load = kb.Body("load", kb.Solid(1.0, inertia=(0.1, 0.1, 0.1)))
    return interpreted(kb.hold(load, (kb.load("puma560").place("arm"),)))


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
def balls(count: int = 3, limits: tuple[float, float] | None = None) -> kb.cooperate.ObjectSpace:
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
    with pytest.raises(KinematicsError, match=r"grasps of arm0, arm1, arm2 disagree .* grip\d\.. misses by 0.00"):
        balls().read(q)


def test_what_the_arms_leave_open_is_named():
    with pytest.raises(KinematicsError, match=r"leave 1 freedom of the objects open, load\.w. is one"):
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


def test_arms_placed_with_their_object_are_solved_by_their_rows():
    case = cooperation("scissors")
    seen = interpreted(kb.System("hall", (case.system.place("cell"),)))
    q = seen.reach(pose(case.reference["A_C1"][1]), {"cell.body2.angle": case.q(1)[-1]}, near=case.q(0))
    assert np.abs(q - case.q(1)).max() < CLOSE
    assert np.abs(seen.read(case.q(1)[:12], near=case.q(0)).q - case.q(1)).max() < CLOSE


def test_grasps_follow_the_parameters_of_the_plant():
    seen = single()
    q = seen.plant.start.q
    moved = kb.object_space(seen.plant.with_parameters({"grip_arm.at.x": seen_at(seen) + 0.1}))
    back = seen.read(q[:6]).pose.position - moved.read(q[:6]).pose.position
    assert np.linalg.norm(back) == pytest.approx(0.1, abs=1e-12)


def seen_at(seen: kb.cooperate.ObjectSpace) -> float:
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
    with pytest.raises(KinematicsError, match=r"leave 1 freedom of the objects open, lid\.angle is one"):
        seen.read(seen.plant.start.q)
