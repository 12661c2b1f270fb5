"""Machines written as MJCF have the same mechanics in MuJoCo, and again when they are read back."""

from dataclasses import replace

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.mjcf import read
from kalaba.files.mjcf.skeleton import Skeleton
from kalaba.files.mjcf.writing import Writer, joints_in_order, write
from kalaba.files.source import Notes

# Masses and moments below 1e-14 are raised to it (MuJoCo wants some); robots here have 1e-2 and more.
ROUNDING = 1e-10

MACHINES = {
    "four-bar": {},
    "five-bar": {},
    "bennett": {},
    "sarrus": {},
    "delta": {},
    "stewart": {},
    "pus-upu": {},
    "puma560": {},
    "two-arm-screw": {},
    "dual-mobile-arm": {"path": False},
}


ROTATION = ("wx", "wy", "wz")
FREE = ("vx", "vy", "vz", *ROTATION)
SIZES = {"freejoint": (7, FREE), "ball": (4, ROTATION)}


def built(system):
    return kb.build(system, backend=kb.Interpreted(), solver=kb.MaskedLDL())


class Written:
    """A machine here and in its file: q and v here → those of the file's joints."""

    def __init__(self, system, path):
        self.path = path
        self.plant = built(system)
        self.notes = write(system, path)
        self.writer = Writer(Skeleton(replace(system, cuts=()).machine, Notes()))
        tags = joints_in_order(self.writer.skeleton.world)
        self.joints = [(tag.attributes["name"], tag.attributes.get("type", tag.name)) for tag in tags]

    def q(self, q):
        return self.writer.joint_numbers(self.plant, q)

    def velocity_map(self, q):
        """T with rates of the file = T v; joints follow coordinates linearly, balls and free joints have the same."""
        velocities, pairs = list(self.plant.velocities), self.plant.machine.scalar_pairs
        changes = np.zeros((len(self.q(q)), len(velocities)))
        for i, k in pairs:
            moved = q.copy()
            moved[i] += 1.0
            changes[:, k] = self.q(moved) - self.q(q)
        rows, place = [], 0
        for name, kind in self.joints:
            numbers, labels = SIZES.get(kind, (1, ()))
            rows += [np.eye(len(velocities))[velocities.index(f"{name}.{label}")] for label in labels]
            rows += [] if labels else [changes[place]]
            place += numbers
        return np.array(rows)

    def order(self):
        """Entries of q and v of the file in the order of the machine read back: hinges and slides first."""
        early, late, i, j = ([], []), ([], []), 0, 0
        for _, kind in self.joints:
            numbers, labels = SIZES.get(kind, (1, ()))
            rates = len(labels) or 1
            q, v = late if labels else early
            q += range(i, i + numbers)
            v += range(j, j + rates)
            i, j = i + numbers, j + rates
        return early[0] + late[0], early[1] + late[1]


def random_state(plant, rng):
    q = rng.uniform(-1, 1, len(plant.coordinates))
    for first, _ in plant.machine.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q, rng.uniform(-1, 1, len(plant.velocities))


@pytest.fixture(params=MACHINES)
def written(request, tmp_path):
    return Written(kb.load(request.param, **MACHINES[request.param]), tmp_path / "machine.xml")


def test_mass_matrix_bias_and_closed_loops_are_the_same_in_mujoco(written):
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(written.path))
    data, plant, rng = mujoco.MjData(model), written.plant, np.random.default_rng(7)
    for _ in range(3):
        q, v = random_state(plant, rng)
        T = written.velocity_map(q)
        data.qpos[:], data.qvel[:] = written.q(q), T @ v
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        h = data.qfrc_bias - data.qfrc_passive
        here, there = plant.mass_matrix(q), T.T @ M @ T
        assert np.abs(here - there).max() < ROUNDING * np.abs(here).max()
        here, there = plant.bias(q, v), T.T @ h
        assert np.abs(here - there).max() < ROUNDING * np.abs(here).max()
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos[: data.ne]).max(initial=0.0) < 1e-12  # m, rad: the start is assembled to rounding


def test_a_machine_read_back_has_the_same_freedoms_and_accelerations(written):
    again = read(written.path).system
    plant, back = written.plant, built(again)
    assert kb.check(again).freedoms == kb.check(plant.system).freedoms
    q, (in_q, in_v) = plant.start.q, written.order()
    here = written.velocity_map(q) @ plant.motion(q, 0 * plant.start.v).acceleration
    there = back.motion(written.q(q)[in_q], np.zeros(len(in_v))).acceleration
    assert there == pytest.approx(here[in_v], abs=1e-8 * np.abs(here).max())  # solved through rows of lower rank


def save(tmp_path, *parts, coordinates=()):
    path = tmp_path / "machine.xml"
    return write(kb.System("machine", parts, coordinates), path), path


BAR = kb.Solid(1.0, com=(0.2, 0, 0), inertia=(0.01, 0.02, 0.02), tip=(0.4, 0, 0))


def test_gears_absolute_angles_locks_springs_and_rotors_survive(tmp_path):
    parts = (
        kb.Body("a", BAR, joint=kb.Planar(kb.Z, q=("x", 0.3, "alpha"))),
        kb.Body("b", BAR, parent="a.tip", joint=kb.Revolute(kb.Y, q="beta - alpha")),
        kb.Body("c", BAR, parent="b.tip", at=(0, 0.1, 0), joint=kb.Revolute(kb.X, q="2*alpha + 0.3*beta + 0.1")),
        kb.Body("d", BAR, at=kb.Pose((1, 0, 0), rpy=(0.3, 0.2, 0.1)), joint=kb.Free()),
        kb.Spring("s1", "beta", stiffness=3.0, damping=0.2, rest=0.4),
        kb.Spring("s2", "2*x", stiffness=5.0, damping=0.1, rest=-0.2),
        kb.Spring("s3", "x", damping=0.3),
        kb.Spring("s4", "distance(b.tip, d)", stiffness=7.0, rest=0.1),
        kb.Rotor("r1", "3*x", 0.2),
        kb.Rotor("r2", "beta", 0.3),
        kb.Actuator("m", "alpha - 2*x", limit=4.0),
        kb.Thruster("jet", "d", kb.Z),
    )
    system = kb.System("machine", parts, ("x", "alpha", "beta"))
    written = Written(system, tmp_path / "machine.xml")
    plant, back = written.plant, built(read(written.path).system)
    q, v = random_state(plant, np.random.default_rng(1))
    (in_q, in_v), T = written.order(), written.velocity_map(q)
    here = T @ plant.motion(q, v, actuation=np.array([2.0, 3.0])).acceleration
    there = back.motion(written.q(q)[in_q], (T @ v)[in_v], actuation=np.array([2.0, 3.0])).acceleration
    assert there == pytest.approx(here[in_v], abs=1e-10 * np.abs(here).max())  # a gear as a row: its factor twice


def test_what_mjcf_cannot_hold_is_listed(tmp_path):
    notes, _ = save(
        tmp_path,
        kb.Body("a", BAR, joint=kb.Revolute(kb.Z)),
        kb.Body("b", BAR, joint=kb.Free()),
        kb.Connection("slot", "b.tip", parent="a", joint=kb.PointOnLine(kb.X)),
        kb.Constraint("curve", "a.tip.x - 0.1*t"),
        kb.Spring("odd", "sin(a.angle)", stiffness=1.0),
        kb.Actuator("cam", "a.angle^2"),
        kb.Rotor("wheel", "a.angle^3", 1.0),
        kb.Output("angle", "a.angle"),
        kb.Force("push", "a", (1, 0, 0)),
    )
    for name in ("slot (PointOnLine)", "curve", "odd", "cam", "wheel", "angle", "push"):
        assert any(note.endswith(f": {name}") for note in notes), name


def test_flexible_bodies_and_curved_couplings_are_refused(tmp_path):
    with pytest.raises(FileError, match="rigid"):
        write(kb.load("flexible-four-bar"), tmp_path / "machine.xml")
    with pytest.raises(FileError, match="linearly"):
        save(tmp_path, kb.Body("a", BAR, joint=kb.Revolute(kb.Z, q="x^2")), coordinates=("x",))


@pytest.mark.parametrize("joint", [kb.Universal(kb.X, kb.Y), kb.Distance(0.3), kb.Revolute(kb.Y), kb.Weld()])
def test_closing_joints_take_the_same_freedoms(tmp_path, joint):
    parts = (
        kb.Body("a", BAR, joint=kb.Revolute(kb.Z)),
        kb.Body("b", BAR, at=(0.5, 0.1, 0.2), joint=kb.Free()),
        kb.Connection("cut", "b", parent="a.tip", at=(0.1, 0, 0), joint=joint),
    )
    system = kb.System("machine", parts)
    _ = write(system, tmp_path / "machine.xml")
    assert kb.check(read(tmp_path / "machine.xml").system).freedoms == kb.check(system).freedoms


def test_bodies_are_drawn_without_mass_and_come_back_as_pictures(tmp_path):
    path = tmp_path / "machine.xml"
    parts = (
        kb.Body("rod", kb.Rod(0.5, mass=1.0), joint=kb.Revolute(kb.Y)),
        kb.Body("box", kb.Box((0.1, 0.2, 0.3), mass=2.0), joint=kb.Free()),
        kb.Body("plain", BAR, joint=kb.Free()),
        kb.Visual("plain.visual", "plain", kb.SphereShape(0.3), (0, 0, 0.1), (1, 0, 0)),
        kb.Visual("plain.mesh", "plain", kb.MeshShape("gone.stl")),
    )
    notes = write(kb.Scenario(kb.System("machine", parts), 1.0), path)
    assert any(note.endswith("plain.mesh") for note in notes)
    assert "what is to be run on the machine is left out" in notes
    again = read(path).system
    drawn = {part.name: part for part in again.parts if isinstance(part, kb.Visual)}
    assert drawn["plain.visual1"].shape == kb.SphereShape(0.3)
    assert drawn["plain.visual1"].colour == (1.0, 0.0, 0.0)
    assert drawn["box.visual1"].shape == kb.BoxShape((0.1, 0.2, 0.3))
    assert drawn["rod.visual1"].at.position == pytest.approx((0.25, 0, 0), abs=1e-15)
    masses = {part.name: part.solid.mass for part in again.parts if isinstance(part, kb.Body)}
    assert masses == {"rod": 1.0, "box": 2.0, "plain": 1.0}
