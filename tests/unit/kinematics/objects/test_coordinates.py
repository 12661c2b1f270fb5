"""Arms and the objects they hold, from joint angles to poses and back, with rates and accelerations."""

from dataclasses import replace
from functools import cache
from math import pi, sin

import numpy as np
import pytest

import kalaba as kb
from cooperation import NAMES, Cooperation, cooperation, pose
from kalaba.errors import KinematicsError, ModelError

STATES = range(5)
CLOSE = 1e-10  # rounding, over the smallest singular value of an arm


@cache
def space(name: str) -> kb.cooperate.ObjectSpace:
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


def test_quaternions_stay_on_the_side_of_the_last_ones():
    case, seen = cooperation("rigid"), space("rigid")
    near = case.q(0)
    near[15:] *= -1
    assert np.abs(seen.read(near, near).q - near).max() < CLOSE
    assert np.abs(seen.reach(pose(case.reference["A_C1"][0]), near=near) - near).max() < CLOSE


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


def interpreted(system: kb.System) -> kb.cooperate.ObjectSpace:
    return kb.object_space(kb.build(system, backend=kb.Interpreted()))


def box() -> kb.cooperate.ObjectSpace:
    """A box that no arm holds, with two lids on hinges, each held by an arm as it is found."""
    solid = kb.Solid(1.0, inertia=(0.1, 0.1, 0.1))
    bodies = (
        kb.Body("box", solid),
        kb.Body("lid1", solid, parent="box", at=(0.1, 0, 0.1), joint=kb.Revolute(kb.Y)),
        kb.Body("lid2", solid, parent="box", at=(-0.1, 0, 0.1), joint=kb.Revolute(kb.X)),
    )
    arms = [kb.load("puma560").place(f"arm{i}", at=(0, 0.8 * i, 0)) for i in (1, 2)]
    grasps = (kb.Grasp("arm1", "lid1"), kb.Grasp("arm2", "lid2"))
    start = kb.Start(guess={"box": kb.Pose((0.5, 1.2, 0.9), rpy=(0.1, 0.2, 0.3)), "lid1.angle": 0.4})
    return interpreted(kb.hold(kb.System("box", bodies), arms, grasps, start=start))


def test_an_object_held_by_its_outer_bodies_alone_is_read():
    seen = box()
    q = seen.reach(kb.Pose((0.52, 1.17, 0.95), rpy=(0.05, 0.25, 0.2)), {"lid1.angle": 0.6, "lid2.angle": -0.3})
    reading = seen.read(q[:12])
    assert reading.joints == pytest.approx({"lid1.angle": 0.6, "lid2.angle": -0.3}, abs=CLOSE)
    assert np.abs(reading.pose.position - (0.52, 1.17, 0.95)).max() < CLOSE
    assert np.abs(reading.q - q).max() < CLOSE


def test_a_body_between_two_threads_on_one_axis_is_not_told():
    case = cooperation("three")  # without the arm that holds it, body 1 may turn as a nut
    guess = {key: value for key, value in case.system.start.guess if not key.startswith("arm1.")}
    parts = tuple(part for part in case.system.parts if part.name not in {"arm1", "grip1"})
    seen = interpreted(replace(case.system, parts=parts, start=kb.Start(guess=guess)))
    with pytest.raises(KinematicsError, match=r"leave 1 freedom of the objects open, body\d\.\w+ is one"):
        seen.read(case.q(2)[6:18], near=case.q(2)[6:])


def test_an_object_that_stands_on_the_ground_has_joints_only():
    leaf = kb.Body("leaf", kb.Solid(5.0, inertia=(1, 1, 1)), at=(0.5, 0.3, 0.6), joint=kb.Revolute(kb.Z))
    grip = kb.Connection("grip", "arm.tool", parent="leaf", at=kb.AsFound())
    seen = interpreted(kb.System("door", (kb.load("puma560").place("arm", at=(0, -0.6, 0)), leaf, grip)))
    q = seen.reach(joints={"leaf.angle": 0.1})
    assert seen.read(q[:6]).joints == pytest.approx({"leaf.angle": 0.1}, abs=CLOSE)
    with pytest.raises(KinematicsError, match="pose: expected an object that floats, got none"):
        _ = seen.read(q).pose
    with pytest.raises(ModelError, match="pose: expected poses by name of the bodies that float, none"):
        seen.reach(kb.Pose((0, 0, 0)))
    q[1] += 0.01
    with pytest.raises(
        KinematicsError, match=r"arm by grip and the ground disagree .* leaf is on its Revolute; .*0.01 rad"
    ):
        seen.read(q)


def test_a_grasp_written_from_the_object_to_the_arm_is_the_same():
    case = cooperation("rigid")
    grip = next(part for part in case.system.parts if part.name == "grip1")
    A = np.linalg.inv(np.array(case.numbers["A_T_C"][0]))
    turned = kb.Connection("grip1", "body1", parent="arm1.tool", at=pose(A), joint=grip.joint)
    seen = interpreted(case.system.remove("grip1").add(turned))
    assert np.abs(seen.read(case.q(1)[:12], case.q(1)).q - case.q(1)).max() < CLOSE
    assert np.abs(seen.reach(pose(case.reference["A_C1"][1]), near=case.q(1)) - case.q(1)).max() < CLOSE
