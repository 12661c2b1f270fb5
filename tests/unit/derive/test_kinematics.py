"""Where bodies and frames are, against numbers worked out by SciPy, and how fast they move."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from finite_differences import slope
from kalaba import joints as kinds
from kalaba.derive.applied import frame_jacobian
from kalaba.derive.kinematics import Kinematics
from kalaba.errors import ExpressionError
from kalaba.model.acting import Spring
from kalaba.model.parts import Body, Frame, Output
from kalaba.model.solids import Box, Rod, Solid
from kalaba.model.system import System
from kalaba.model.text.expressions import parse
from kalaba.space.pose import Pose, X, Y, Z
from kinematics_by_hand import frame_poses, tree_pose
from machines import TREE_KINDS, random_axis, random_joint, systems
from states import moved, numeric, random_state

BOX = Box((0.1, 0.2, 0.3), 1.0)
ROUNDING = 1e-12  # of numbers of size one, some twenty products deep


def pose_of(kinematics: Kinematics, frame: str, state) -> np.ndarray:
    """A frame in the world as a 4×4 matrix."""
    pose = kinematics.frame(frame)
    R, p = numeric(kinematics.symbols, pose.rotation, pose.position)(state)
    return np.vstack([np.hstack([R, p]), [0, 0, 0, 1]])


@given(systems(max_bodies=10))
@settings(max_examples=25)
def test_every_frame_of_a_random_machine_is_where_it_is_by_hand(system: System):
    kinematics = Kinematics(system.machine)
    state = random_state(system.machine, np.random.default_rng(0))
    for name, expected in frame_poses(system.machine, state).items():
        assert pose_of(kinematics, name, state) == pytest.approx(expected, abs=ROUNDING)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", TREE_KINDS)
def test_joint_poses(kind: type[kinds.Joint], seed: int):
    rng = np.random.default_rng(seed)
    joint = random_joint(rng, kind)
    system = System("one", (Body("b", BOX, joint=joint),))
    state = random_state(system.machine, rng)
    assert pose_of(Kinematics(system.machine), "b", state) == pytest.approx(tree_pose(joint, state.q), abs=1e-15)


def at_displacements(joint: kinds.Joint, *q: float) -> np.ndarray:
    """Child in seat by kalaba."""
    system = System("one", (Body("b", BOX, joint=joint),))
    state = replace(random_state(system.machine, np.random.default_rng(0)), q=np.array(q))
    return pose_of(Kinematics(system.machine), "b", state)


def test_a_screw_advances_its_pitch_in_a_turn():
    assert at_displacements(kinds.Screw(-Y, pitch=0.2), 2 * math.pi)[:3, 3] == pytest.approx([0, -0.2, 0], abs=1e-15)


def test_a_planar_joint_about_z_has_x_and_y_of_its_seat():
    pose = at_displacements(kinds.Planar(Z), 1.0, 2.0, math.pi / 2)
    assert pose[:3, 3].tolist() == [1.0, 2.0, 0.0]
    assert pose[:3, 0] == pytest.approx([0, 1, 0], abs=1e-15)


def test_a_universal_joint_turns_about_the_parents_axis_first():
    pose = at_displacements(kinds.Universal(X, Y), 0.3, math.pi / 2)  # child x points down, then is tipped about x
    assert pose[:3, 0] == pytest.approx([0, math.sin(0.3), -math.cos(0.3)], abs=1e-15)


def test_a_cylindrical_joint_has_travel_then_angle():
    pose = at_displacements(kinds.Cylindrical(X), 0.7, math.pi / 2)
    assert pose[:3, 3].tolist() == [0.7, 0.0, 0.0]
    assert pose[:3, 1] == pytest.approx([0, 0, 1], abs=1e-15)


def test_a_quarter_turn_of_a_placement_is_exact():
    system = System(
        "one", (Body("b", BOX, at=Pose((0, 0, 0), rpy=(math.pi, -math.pi / 2, math.pi / 2)), joint=kinds.Weld()),)
    )
    kinematics = Kinematics(system.machine)
    R = np.array(
        numeric(kinematics.symbols, kinematics.frame("b").rotation)(
            random_state(system.machine, np.random.default_rng(0))
        )[0]
    )
    assert set(np.abs(R).ravel()) == {0.0, 1.0}
    assert kinematics.frame("b").rotation.is_constant()


def test_tip_frames_and_placements():
    arm = System(
        "arm",
        (
            Body("rod", Rod(0.5, 1.0, axis=Y), joint=kinds.Weld()),
            Body(
                "end",
                Solid(1.0, tip=(0, 0, 0.1)),
                parent="rod.tip",
                at=Pose((0, 0, 0.2), rpy=(0, math.pi / 2, 0)),
                joint=kinds.Weld(),
            ),
            Frame("tool", parent="end.tip", at=(0.01, 0, 0)),
            Frame("foot", at=(0, 0, -1.0)),
        ),
    )
    cell = System(
        "cell", (arm.place("a", at=Pose((1, 0, 0), rpy=(0, 0, math.pi / 2))), arm.place("b", parent="a.tool"))
    )
    kinematics = Kinematics(cell.machine)
    state = random_state(cell.machine, np.random.default_rng(0))
    at = {name: pose_of(kinematics, name, state)[:3, 3] for name in cell.machine.frames}
    assert at["a.rod.tip"] == pytest.approx([0.5, 0, 0])
    assert at["a.end"] == pytest.approx([0.5, 0, 0.2])
    assert at["a.end.tip"] == pytest.approx([0.5, 0.1, 0.2])  # z of the end is x of the rod, which is y of the world
    assert at["a.tool"] == pytest.approx([0.5, 0.1, 0.19])
    assert at["a.foot"] == pytest.approx([1, 0, -1])
    assert at["b"] == pytest.approx(at["a.tool"])
    assert pose_of(kinematics, "world", state).tolist() == np.eye(4).tolist()


@given(systems(max_bodies=6))
@settings(max_examples=15)
def test_frame_jacobian_gives_the_velocity_seen_from_the_world(system: System):
    """Against differences along q ∘ exp(v t): ṗ, and ω of Ṙ = ω × R."""
    machine, kinematics = system.machine, Kinematics(system.machine)
    state = random_state(machine, np.random.default_rng(1))
    frame = machine.bodies[-1].name
    J = numeric(kinematics.symbols, frame_jacobian(kinematics, frame))(state)[0]
    path = slope(lambda h: frame_poses(machine, replace(state, q=moved(machine, state.q, state.v * h)))[frame])
    R = frame_poses(machine, state)[frame][:3, :3]
    W = path[:3, :3] @ R.T
    expected = np.concatenate([path[:3, 3], [W[2, 1], W[0, 2], W[1, 0]]])
    assert J @ state.v == pytest.approx(expected, abs=1e-8 * (1 + np.abs(expected).max()))


@given(systems(max_bodies=6))
@settings(max_examples=10)
def test_rate_map_is_the_rate_of_a_turning_quaternion(system: System):
    kinematics = Kinematics(system.machine)
    state = random_state(system.machine, np.random.default_rng(2))
    q_dot = numeric(kinematics.symbols, kinematics.symbols.q_dot)(state)[0][:, 0]
    expected = slope(lambda h: moved(system.machine, state.q, state.v * h))
    assert q_dot == pytest.approx(expected, abs=1e-9)


def test_words_of_expressions():
    system = System(
        "words",
        (
            Body("rod", Rod(0.5, 1.0), at=(0, 0, 2.0), joint=kinds.Revolute(Z)),
            Body("cart", BOX, joint=kinds.Prismatic(X, q="2*rod.angle")),
            Frame("post", at=(3.0, 0, 0)),
            Output("o", "rod.tip.x"),
        ),
    )
    kinematics = Kinematics(system.machine)
    state = random_state(system.machine, np.random.default_rng(0))
    angle, speed = state.q[0], state.v[0]
    expected = {
        "rod.angle": angle,
        "cart.travel": 2 * angle,
        "rod.length": 0.5,
        "rod.tip.x": 0.5 * math.cos(angle),
        "rod.tip.z": 2.0,
        "world.x": 0.0,
        "distance(post, world)": 3.0,
        "rate(rod.tip.x) + t": -0.5 * math.sin(angle) * speed + state.t,
        "max(cart.travel, rod.angle, -5)": max(2 * angle, angle),
        "abs(cart.x)^2": 4 * angle**2,
    }
    values = numeric(kinematics.symbols, *(kinematics.value(parse(text)) for text in expected))(state)
    assert [float(value[0, 0]) for value in values] == pytest.approx(list(expected.values()), abs=1e-15)
    assert {"rod.angle", "cart.travel", "rod.length", "post.z"} <= set(kinematics.known())


def test_world_inside_a_placed_system_is_what_it_stands_on():
    inner = System("inner", (Body("b", BOX, joint=kinds.Prismatic(Z)), Spring("s", "b.z - world.z", stiffness=1.0)))
    outer = System("outer", (inner.place("m", at=(0, 0, 3.0)),))
    kinematics = Kinematics(outer.machine)
    state = random_state(outer.machine, np.random.default_rng(0))
    value = numeric(kinematics.symbols, kinematics.value(outer.machine.springs[0].displacement))(state)[0]
    assert value[0, 0] == pytest.approx(state.q[0])


def test_world_is_refused_where_a_coordinate_hides_it():
    cart = Body("b", BOX, joint=kinds.Prismatic(X, q="x"))
    inner = System("inner", (cart, Spring("s", "b.x - world.x", stiffness=1.0)), coordinates=("x",))
    with pytest.raises(ExpressionError, match=r"m\.s: 'world\.x'.*'m\.x' is a coordinate"):
        System("outer", (inner.place("m"),))


@pytest.mark.parametrize("first", TREE_KINDS)
def test_a_machine_with_one_coordinate_beside_any_joint(first: type[kinds.Joint]):
    rng = np.random.default_rng(0)
    parts = (
        Body("a", BOX, joint=random_joint(rng, first)),
        Body("b", BOX, parent="a", joint=kinds.Revolute(random_axis(rng))),
    )
    for order in (parts, parts[::-1]):
        kinematics = Kinematics(System("small", order).machine)
        state = random_state(kinematics.machine, rng)
        expected = frame_poses(kinematics.machine, state)["b"]
        assert pose_of(kinematics, "b", state) == pytest.approx(expected, abs=1e-14)


def test_a_parameter_moves_what_it_says():
    system = System("rod", (Body("rod", Rod(0.5, 1.0), joint=kinds.Revolute(Z)),))
    kinematics = Kinematics(system.machine)
    state = random_state(system.machine, np.random.default_rng(0))
    longer = np.array([2.0 if p.name == "rod.length" else p.value for p in system.machine.free_parameters])
    tip = pose_of(kinematics, "rod.tip", replace(state, p=longer))[:3, 3]
    assert np.linalg.norm(tip) == pytest.approx(2.0)
