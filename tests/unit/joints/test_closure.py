"""Rows of a Connection: zero exactly where the joint allows, smooth there, and named in order.

A free child is put on a free parent by the joint's own tree motion, worked out by hand; the rows of the same joint
must not see it. All else must open them.
"""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.spatial.transform import Rotation

import kalaba as kb
from kalaba import joints as kinds
from kalaba.derive.kinematics import Kinematics
from kalaba.derive.pfaffian import closure_rows, constraint_rows
from kalaba.model.parts import Body, Connection
from kalaba.model.solids import Box
from kalaba.model.system import System
from kalaba.space.pose import AsFound, Axis, Pose, X, Y, Z
from kinematics_by_hand import joint_pose, matrix, quaternion
from machines import CLOSING_KINDS, closed_systems, random_joint, random_pose
from states import State, numeric, random_state

BOX = Box((0.1, 0.2, 0.3), 1.0)
SKEW = Axis(1.0, -2.0, 0.5)
ROUNDING = 1e-14


@dataclass(frozen=True)
class Pair:
    """A free child that is connected to a free parent."""

    joint: kinds.Joint
    at: Pose

    @property
    def system(self) -> System:
        bodies = (Body("parent", BOX), Body("child", BOX))
        return System("pair", (*bodies, Connection("pin", "child", "parent", self.at, self.joint)))

    def state(self, parent: np.ndarray, motion: np.ndarray) -> State:
        """The child on its seat, moved by `motion` there."""
        seat = parent @ matrix(quaternion(self.at.quaternion), self.at.position)
        q = np.concatenate([seven_numbers(parent), seven_numbers(seat @ motion)])
        return replace(random_state(self.system.machine, np.random.default_rng(0)), q=q)


def seven_numbers(pose: np.ndarray) -> np.ndarray:
    """Position and unit quaternion (w first) of a 4×4 matrix."""
    turn = Rotation.from_matrix(pose[:3, :3]).as_quat()
    return np.concatenate([pose[:3, 3], np.roll(turn / np.linalg.norm(turn), 1)])


def random_pair(kind: type[kinds.Joint], rng: np.random.Generator) -> tuple[Pair, np.ndarray]:
    """A joint anywhere on a parent, and where the parent is."""
    at = Pose(random_pose(rng).position, quaternion=tuple(rng.normal(size=4)))
    return Pair(random_joint(rng, kind), at), matrix(quaternion(rng.normal(size=4)), rng.normal(size=3))


def evaluated(pair: Pair, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Rows and A at a state."""
    kinematics = Kinematics(pair.system.machine)
    rows = constraint_rows(kinematics)
    value, A = numeric(kinematics.symbols, rows.value, rows.matrix)(state)
    return value[:, 0], A


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", CLOSING_KINDS)
def test_the_joints_own_motion_leaves_its_rows_zero(kind: type[kinds.Joint], seed: int):
    rng = np.random.default_rng(seed)
    pair, parent = random_pair(kind, rng)
    for _ in range(3):
        value, _ = evaluated(pair, pair.state(parent, joint_pose(pair.joint, rng)))
        assert np.abs(value).max() < ROUNDING


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", CLOSING_KINDS)
def test_rows_are_as_many_and_as_independent_as_the_joint_says(kind: type[kinds.Joint], seed: int):
    """At closure A has full row rank: each row takes one freedom of the six."""
    rng = np.random.default_rng(seed)
    pair, parent = random_pair(kind, rng)
    value, A = evaluated(pair, pair.state(parent, joint_pose(pair.joint, rng)))
    assert len(value) == len(pair.joint.rows) == len(pair.system.machine.rows)
    assert np.linalg.matrix_rank(A[:, 6:], tol=1e-6) == len(value)
    lost = {kinds.PointOnLine: 2, kinds.Distance: 1}.get(
        kind, 6 - 3 * kind.has_quaternion - len(pair.joint.displacements)
    )
    assert len(value) == lost


@pytest.mark.parametrize("kind", CLOSING_KINDS)
@pytest.mark.parametrize("axis", [X, -Y, Z, SKEW])
def test_derivatives_are_finite_where_all_is_aligned(kind: type[kinds.Joint], axis: Axis):
    """Zero displacement, parent at the origin: where norms and inverse cosines would give NaN."""
    joint = kind(0.5) if kind is kinds.Distance else kind()
    if "axis" in kind.__dataclass_fields__:
        joint = replace(joint, axis=axis)
    pair = Pair(joint, Pose(quaternion=(1, 0, 0, 0)))
    motion = matrix(None, np.array(axis.components) * 0.5) if kind is kinds.Distance else np.eye(4)
    kinematics = Kinematics(pair.system.machine)
    rows = constraint_rows(kinematics)
    value, rate, A, b = numeric(kinematics.symbols, rows.value, rows.rate, rows.matrix, rows.rhs)(
        pair.state(np.eye(4), motion)
    )
    assert np.abs(value).max() < 1e-15
    assert all(np.isfinite(entry).all() for entry in (rate, A, b))


@pytest.mark.parametrize(
    ("joint", "names"),
    [
        (kinds.Weld(), "x y z rx ry rz"),
        (kinds.Spherical(), "x y z"),
        (kinds.Revolute(Z), "x y z rx ry"),
        (kinds.Revolute(-X), "x y z ry rz"),
        (kinds.Revolute(SKEW), "x y z r1 r2"),
        (kinds.Prismatic(Y), "x z rx ry rz"),
        (kinds.Prismatic(SKEW), "d1 d2 rx ry rz"),
        (kinds.Cylindrical(-Y), "x z rx rz"),
        (kinds.Cylindrical(SKEW), "d1 d2 r1 r2"),
        (kinds.Screw(Z), "x y rx ry thread"),
        (kinds.Screw(SKEW), "d1 d2 r1 r2 thread"),
        (kinds.Universal(X, Y), "x y z cross"),
        (kinds.Planar(Z), "z rx ry"),
        (kinds.Planar(-X), "x ry rz"),
        (kinds.Planar(SKEW), "d r1 r2"),
        (kinds.PointOnLine(X), "y z"),
        (kinds.PointOnLine(SKEW), "d1 d2"),
        (kinds.Distance(0.4), "distance"),
    ],
)
def test_names_and_number_of_rows(joint: kinds.Joint, names: str):
    machine = Pair(joint, Pose(quaternion=(1, 0, 0, 0))).system.machine
    assert machine.rows == tuple(f"pin.{name}" for name in names.split())
    rows = constraint_rows(Kinematics(machine))
    assert rows.value.shape == (len(machine.rows), 1)


COORDINATE_AXES = (X, Y, Z, -X, -Y, -Z)
WITH_AXIS = (kinds.Revolute, kinds.Prismatic, kinds.Cylindrical, kinds.Screw, kinds.PointOnLine)


@pytest.mark.parametrize(
    "joint",
    [kinds.Weld(), kinds.Spherical(), kinds.Universal(X, Y)]
    + [kind(axis) for kind in WITH_AXIS for axis in COORDINATE_AXES]
    + [kinds.Planar(axis) for axis in COORDINATE_AXES],
    ids=str,
)
def test_a_row_is_the_gap_it_is_named_after(joint: kinds.Joint):
    """Child minus seat: a small move along x shows in row x with its sign and size, a small turn about x in row rx.

    Weld and Spherical speak in world axes, all others in the axes of the seat.
    """
    rng = np.random.default_rng(4)
    pair = Pair(joint, Pose((0.1, 0.2, 0.3), quaternion=tuple(rng.normal(size=4))))
    parent = matrix(quaternion(rng.normal(size=4)), rng.normal(size=3))
    seat = parent @ matrix(quaternion(pair.at.quaternion), pair.at.position)
    axes = np.eye(3) if isinstance(joint, kinds.Weld | kinds.Spherical) else seat[:3, :3]
    small = 1e-7
    for index, letter in enumerate("xyz"):
        e = seat[:3, :3].T @ axes[:, index]  # the direction in seat axes
        slid, _ = evaluated(pair, pair.state(parent, matrix(None, small * e)))
        turned, _ = evaluated(pair, pair.state(parent, matrix(Rotation.from_rotvec(small * e))))
        found = dict(zip(joint.rows, zip(slid, turned, strict=True), strict=True))
        for other in "xyz":
            expected = small if other == letter else 0.0
            if other in found:
                assert found[other] == pytest.approx((expected, 0.0), abs=1e-13)
            if f"r{other}" in found:
                assert found[f"r{other}"] == pytest.approx((0.0, expected), abs=1e-13)


def test_a_thread_counts_its_turns():
    pair = Pair(kinds.Screw(Z, pitch=0.1), Pose(quaternion=(1, 0, 0, 0)))
    for turns in (-2.25, 0.5, 3.1):
        angle = 2 * np.pi * turns
        right = matrix(Rotation.from_rotvec([0, 0, angle]), (0, 0, 0.1 * turns))
        wrong = matrix(Rotation.from_rotvec([0, 0, angle]), (0, 0, 0.1 * turns + 0.01))
        assert np.abs(evaluated(pair, pair.state(np.eye(4), right))[0]).max() < ROUNDING
        assert np.abs(evaluated(pair, pair.state(np.eye(4), wrong))[0][-1]) > 0.005


def test_a_distance_row_is_the_excess_length_to_first_order():
    pair = Pair(kinds.Distance(0.5), Pose(quaternion=(1, 0, 0, 0)))
    value, _ = evaluated(pair, pair.state(np.eye(4), matrix(None, (0, 0.5 + 1e-6, 0))))
    assert value[0] == pytest.approx(1e-6, rel=1e-5)


@given(closed_systems(max_bodies=6, max_loops=4))
@settings(max_examples=25)
def test_loops_of_random_machines_are_closed_where_they_were_made(closed: tuple[System, State]):
    system, state = closed
    kinematics = Kinematics(system.machine)
    rows = constraint_rows(kinematics)
    assert rows.value.shape[0] == len(system.machine.rows)
    value, A, b = numeric(kinematics.symbols, rows.value, rows.matrix, rows.rhs)(state)
    assert np.abs(value).max(initial=0.0) < 1e-12
    assert np.isfinite(A).all()
    assert np.isfinite(b).all()


def test_rows_read_the_joints_parameters_as_symbols():
    pair = Pair(kinds.Distance(0.5), Pose(quaternion=(1, 0, 0, 0)))
    kinematics = Kinematics(pair.system.machine)
    assert "pin.length" in {symbol.name() for symbol in ca.symvar(constraint_rows(kinematics).value)}


def test_an_unsettled_place_is_refused():
    system = System("grasp", (Body("load", BOX), Connection("grip", "load", at=AsFound())))
    kinematics = Kinematics(system.machine)
    with pytest.raises(TypeError, match=r"grip\.at: AsFound"):
        kinematics.gap(system.machine.closures[0])
    with pytest.raises(TypeError, match=r"grip\.at: AsFound"):
        closure_rows(kinematics, system.machine.closures[0])


def test_a_thread_by_travel_is_the_thread_by_angle():
    """The same pose for d = h θ/2π, the same reading back, and a word that is neither is refused."""
    h, angle = 0.02, 7.3
    by_angle, by_travel = (kb.Screw(kb.Z, pitch=h, by=by) for by in ("angle", "travel"))
    travel = h * angle / (2 * np.pi)
    systems = [kb.System("t", (kb.Body("nut", kb.Solid(1.0), joint=joint),)) for joint in (by_angle, by_travel)]
    poses = [
        kb.build(system, backend=kb.Interpreted()).pose("nut", [value])
        for system, value in zip(systems, (angle, travel), strict=True)
    ]
    assert poses[0].position == pytest.approx(poses[1].position, abs=1e-15)
    assert poses[0].rotation == pytest.approx(poses[1].rotation, abs=1e-14)
    assert by_travel.coordinates_at(poses[1].position, poses[1].rotation) == pytest.approx((travel,))
    assert by_angle.coordinates_at(poses[0].position, poses[0].rotation) == pytest.approx((angle,))
    with pytest.raises(kb.KalabaError, match=r"Screw\.by: expected 'angle' or 'travel', got 'turns'"):
        kb.Screw(by="turns")
