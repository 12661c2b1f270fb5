"""SDF read here and by a second reader into Pinocchio: the mass matrix and the bias are the same."""

import sysconfig
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.files.sdf import machine as reader
from kalaba.model.acting import Rotor, Spring

pytest.importorskip("pinocchio")

from benchmarks.peers.sdf_in_pinocchio import Twin

FOLDER = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
FILES = sorted(FOLDER.rglob("*.sdf"))
NEAR = 1e-10  # of the largest entry; they agree to some 1e-14
STRAIGHTENED = 1e-8  # axes that a file has parallel within 1e-6 rad are made so, which is seen at 4e-10
KINDS = ("revolute", "continuous", "prismatic", "screw", "universal", "revolute2", "ball", "fixed")


def differences(path: Path, base: str = "file") -> tuple[float, float]:
    system = reader.read(path, base=base).system
    system = system.remove(*(part.name for part in system.parts if isinstance(part, Spring | Rotor)))
    twin = Twin(kb.build(system, backend=kb.Interpreted()), path)
    assert twin.model.nv == len(system.machine.velocities)
    return twin.differences(3, np.random.default_rng(1))


def all_kinds(*, floats: bool) -> str:
    """A chain with a joint of every type, each also traversed from its child to its parent; numbers at random."""
    rng = np.random.default_rng(7)

    def pose():
        return "<pose>" + " ".join(map(repr, rng.uniform(-1, 1, 6).tolist())) + "</pose>"

    def axis(tag, direction=None):
        direction = rng.normal(size=3) if direction is None else direction
        return f"<{tag}><xyz>{' '.join(map(repr, direction.tolist()))}</xyz></{tag}>"

    links, joints, last = [], [], "trunk" if floats else "world"
    for backwards in (False, True):
        for kind in KINDS:
            here, there = last, f"{kind}-{'back' if backwards else 'on'}"
            first = rng.normal(size=3)
            second = np.cross(first, rng.normal(size=3)) if kind == "universal" else rng.normal(size=3)
            axes = "" if kind in {"ball", "fixed"} else axis("axis", first)
            axes += axis("axis2", second) if kind in {"universal", "revolute2"} else ""
            ends = (there, here) if backwards else (here, there)
            joints.append(
                f"<joint name='{there}-joint' type='{kind}'>{pose() if ends[1] != 'world' else ''}"
                f"<parent>{ends[0]}</parent><child>{ends[1]}</child>"
                f"{axes}<screw_thread_pitch>0.3</screw_thread_pitch></joint>"
            )
            links.append(there)
            last = there
    solids = "".join(
        f"<link name='{name}'>{pose()}<inertial>{pose()}<mass>{rng.uniform(1, 3)!r}</mass><inertia><ixx>0.2</ixx>"
        "<iyy>0.3</iyy><izz>0.25</izz><ixy>0.01</ixy><ixz>-0.02</ixz><iyz>0.03</iyz></inertia></inertial></link>"
        for name in (["trunk", *links] if floats else links)
    )
    return f"<sdf version='1.9'><model name='chain'>{solids}{''.join(joints)}</model></sdf>"


@pytest.mark.parametrize("floats", [False, True])
def test_a_chain_of_all_joints_in_both_directions_is_pinocchios(tmp_path, floats):
    path = tmp_path / "chain.sdf"
    path.write_text(all_kinds(floats=floats))
    assert max(differences(path)) < NEAR


@pytest.mark.long
@pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_tree_of_a_robots_file_is_pinocchios(path, monkeypatch):
    assert max(differences(path)) < STRAIGHTENED
    monkeypatch.setattr(reader, "straightened", lambda tree, cut, _: {hinge.name: hinge for hinge in (*tree, *cut)})
    assert max(differences(path)) < NEAR
