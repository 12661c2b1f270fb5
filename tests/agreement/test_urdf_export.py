"""A machine written as URDF is the same machine: read again here, and read by Pinocchio."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.urdf.machine import read
from kalaba.model.formats import LeftOutWarning
from kalaba.model.text.expressions import Values, number

MACHINES = ["puma560", "dual-mobile-arm", "planar-parallel", "pus-upu", "four-bar", "differential-drive"]


def displacements(plant: kb.Plant, q) -> dict[str, float]:
    known = {p.name: p.value for p in plant.machine.parameters}
    known |= dict(zip(plant.coordinates, q, strict=True))
    return {n: number(d.expression, Values(known)) for n, d in plant.machine.displacements.items()}


def random_configuration(plant: kb.Plant, rng):
    q = rng.uniform(-1, 1, len(plant.coordinates))
    for first, _ in plant.machine.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q


@pytest.mark.parametrize("name", MACHINES)
def test_read_again_it_has_the_same_energy_rows_and_freedoms(name, tmp_path):
    machine = kb.load(name)
    path = tmp_path / "machine.urdf"
    with pytest.warns(LeftOutWarning):
        machine.save(path)
    beside = path.with_suffix(".loops.yaml")
    again = read(path, loops=beside if beside.exists() else "").system
    first, second = kb.build(machine, backend=kb.Interpreted()), kb.build(again, backend=kb.Interpreted())
    assert first.machine.rows == () or kb.check(machine).freedoms == kb.check(again).freedoms
    assert len(first.constraints) == len(second.constraints)
    rng = np.random.default_rng(2)
    q = random_configuration(first, rng)
    q_again, J = mapped(first, second, q)
    M, M_again = first.mass_matrix(q), J.T @ second.mass_matrix(q_again) @ J
    assert np.abs(M - M_again).max() < 1e-12 * np.abs(M).max()  # digits of numbers that went through text are all kept


def mapped(first: kb.Plant, second: kb.Plant, q):
    """q of the machine that was read again, and J with v₂ = J v₁; displacements are in the same order in both."""
    coordinates = [c.name for c in second.machine.coordinates]

    def at(values):
        return list(displacements(first, values).values())

    moving = list(second.machine.displacements)
    read_q = np.zeros(len(coordinates))
    J = np.zeros((len(second.velocities), len(first.velocities)))
    zero = 0 * q
    start = at(zero)
    # displacements that are held in the first are no joints of the second
    slopes = np.array([np.array(at(zero + np.eye(len(q))[i])) - start for i in range(len(q))]).T
    kept = [k for k in range(len(start)) if np.abs(slopes[k]).max(initial=0.0) > 0]
    values = at(q)
    pairs = dict(first.machine.scalar_pairs)
    for name, k in zip(moving, kept, strict=True):
        read_q[coordinates.index(name)] = values[k]
        row = list(second.machine.velocities).index(next(c for c in second.machine.velocities if c.name == name))
        for i, j in pairs.items():
            J[row, j] = slopes[k][i]
    for one, other in zip(
        *([b for b in p.machine.bodies if b.joint.has_quaternion] for p in (first, second)), strict=True
    ):
        read_q[other.q_index : other.q_index + 7] = q[one.q_index : one.q_index + 7]
        J[other.v_index : other.v_index + 6, one.v_index : one.v_index + 6] = np.eye(6)
    return read_q, J


@pytest.mark.parametrize("name", ["puma560", "dual-mobile-arm", "pus-upu"])
def test_pinocchio_reads_the_same_tree(name, tmp_path):
    pytest.importorskip("pinocchio")
    from benchmarks.robot_files import compared

    path = tmp_path / "machine.urdf"
    with pytest.warns(LeftOutWarning):
        kb.load(name).save(path)
    row = compared(path, "fixed", ())
    assert not row.problem
    assert max(row.mass, row.bias) < 1e-12  # rounding


def test_gears_locked_joints_dampers_and_rotors_go_through_the_file(tmp_path):
    hinge = kb.Pose((0.1, 0, 0), quaternion=(0.9, 0.1, -0.3, 0.2))
    machine = kb.System(
        "gears",
        coordinates=("c",),
        parts=(
            kb.Body("a", kb.Rod(0.3, 1.0), joint=kb.Revolute(kb.Y, q="2*c", limits=(-1, 1))),
            kb.Body("b", kb.Rod(0.2, 0.5), parent="a.tip", at=hinge, joint=kb.Revolute(kb.Z, q="-c + 0.2")),
            kb.Body("c_", kb.Box((0.1, 0.1, 0.2), 0.5), parent="b.tip", at=hinge, joint=kb.Revolute((0, 3, 4), q=0.3)),
            kb.Body("d", kb.Box((0.1, 0.1, 0.2), 0.5), parent="c_", joint=kb.Prismatic(kb.X, q=0.1)),
            kb.Visual("a.visual1", "a", kb.CylinderShape(0.02, 0.3), at=(0.15, 0, 0), colour=(1, 0, 0)),
            kb.Actuator("drive.motor", "a.angle", 3.0),
            kb.Spring("drive.damper", "a.angle", damping=0.4, friction=0.1),
            kb.Rotor("drive.rotor", "a.angle", 0.2),
        ),
    )
    path = tmp_path / "gears.urdf"
    with pytest.warns(LeftOutWarning, match="coordinates of its own"):
        machine.save(path)
    again = read(path).system
    parts = {part.name: part for part in again.parts}
    assert parts["drive.motor"].limit == 3.0
    assert (parts["drive.damper"].damping, parts["drive.damper"].friction) == (0.4, 0.1)
    assert parts["drive.rotor"].inertia == 0.2
    assert parts["a.visual1"].shape == kb.CylinderShape(0.02, 0.3)
    first, second = kb.build(machine), kb.build(again)
    c, v = 0.37, 1.3
    assert 4 * second.mass_matrix([2 * c]) == pytest.approx(first.mass_matrix([c]), rel=1e-12)  # a.angle = 2 c
    bias = 2 * second.bias([2 * c], [2 * v])
    assert bias == pytest.approx(first.bias([c], [v]), rel=1e-12)
    for frame in ("d", "c_", "b"):
        here, there = first.pose(frame, [c]), second.pose(frame, [2 * c])
        assert np.allclose(here.position, there.position, atol=1e-14)  # rounding
        assert np.allclose(here.rotation, there.rotation, atol=1e-14)


@pytest.mark.parametrize(
    ("joint", "problem"),
    [
        (kb.Spherical(), "moves by Spherical"),
        (kb.Revolute(kb.Z, q="sin(c)"), "no linear expression"),
        (kb.Revolute(kb.Z, q="c + d"), None),
    ],
)
def test_what_a_tree_of_urdf_cannot_hold_is_refused_by_name(joint, problem, tmp_path):
    machine = kb.System(
        "m",
        coordinates=("c", "d"),
        parts=(
            kb.Body("a", kb.Rod(0.3, 1.0), joint=kb.Revolute(kb.Y, q="c")),
            kb.Body("b", kb.Rod(0.3, 1.0), joint=kb.Revolute(kb.Y, q="d")),
            kb.Body("e", kb.Rod(0.3, 1.0), parent="a", joint=joint),
        ),
    )
    with pytest.raises(FileError, match=problem or "follows several joints"):
        machine.save(tmp_path / "m.urdf")
    assert not (tmp_path / "m.urdf").exists()


def test_a_flexible_body_is_refused(tmp_path):
    with pytest.raises(FileError, match="bends"):
        kb.load("spinning-beam").save(tmp_path / "m.urdf")
