"""Robots' files here and in another engine: the mass matrix and the bias at random states, a table with a row per file.

    python -m benchmarks.robot_files FOLDER... [--base fixed|free|both] [--match WORDS] [--root FOLDER] [--notes]

URDF is compared with Pinocchio. Springs, dampers and rotors of the file are taken off first: Pinocchio's equations
leave them out. Joints that mimic another follow it here; Pinocchio's model, in which they move by themselves, is
restricted to the same motions. SDF of one model is compared so too, read into Pinocchio from the XML alone. MJCF is
compared with MuJoCo, springs, dampers and rotors included. --notes prints what is not carried over.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kalaba as kb
from kalaba.errors import KalabaError
from kalaba.files.names import identifier
from kalaba.files.source import Source
from kalaba.files.xml_tree import parse
from kalaba.model.acting import Rotor, Spring
from kalaba.model.formats import format_of
from kalaba.model.text.expressions import Values, number
from kalaba.space.rotations import rotation_of

STATES = 5
GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass
class Row:
    """What came of one file."""

    file: str
    base: str
    velocities: int = 0
    mass: float = np.nan  # largest difference of M, of its largest entry
    bias: float = np.nan
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    problem: str = ""
    within: float = 1e-9

    def __str__(self) -> str:
        numbers = f"{self.velocities:4d} {self.mass:9.1e} {self.bias:9.1e} {self.seconds:6.1f} {len(self.notes):3d}"
        return f"{self.file:58s} {self.base:5s} {numbers}  {self.problem}"


def pinocchio_model(path: Path, base: str):
    """Pinocchio's model of a URDF; None: it refuses the file."""
    import pinocchio as pin

    try:
        if base == "free":
            return pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
        return pin.buildModelFromUrdf(str(path))
    except (ValueError, RuntimeError):
        return None


def without_springs(system: kb.System) -> kb.System:
    """The machine without what Pinocchio's equations leave out."""
    return system.remove(*(part.name for part in system.parts if isinstance(part, Spring | Rotor)))


class Match:
    """Coordinates here ↔ Pinocchio's, by the names of joints."""

    def __init__(self, plant: kb.Plant, model, path: Path) -> None:
        self.plant, self.model, self.machine = plant, model, plant.machine
        joints = parse(Source(path)).all("joint")
        children = {joint.get("name"): joint.require("child").get("link") for joint in joints}
        self.displacements = {}
        bodies = {b.name: b for b in self.machine.bodies}
        for index in range(1, model.njoints):
            name = model.names[index]
            body = bodies[identifier(children[name])] if name in children else self.machine.bodies[0]
            self.displacements[index] = body
        self.values = {p.name: p.value for p in self.machine.parameters}

    def _read(self, expression, q) -> float:
        known = {c.name: x for c, x in zip(self.machine.coordinates, q, strict=True)}
        return number(expression, Values({**self.values, **known}))

    def state(self, q, v):
        """q, G and Ġ v of Pinocchio: v_p = G v, a_p = G a + Ġ v."""
        model, n = self.model, len(self.machine.velocities)
        q_p, G, drift = np.zeros(model.nq), np.zeros((model.nv, n)), np.zeros(model.nv)
        pairs = dict(self.machine.scalar_pairs)
        for index, body in self.displacements.items():
            iq, iv, kind = model.idx_qs[index], model.idx_vs[index], model.joints[index].shortname()
            if body.joint.has_quaternion:
                x, quaternion = q[body.q_index : body.q_index + 3], q[body.q_index + 3 : body.q_index + 7]
                R, k = rotation_of(quaternion), body.v_index
                q_p[iq : iq + 7] = [*x, *quaternion[1:], quaternion[0]]
                G[iv : iv + 3, k : k + 3], G[iv + 3 : iv + 6, k + 3 : k + 6] = R.T, np.eye(3)
                drift[iv : iv + 3] = -np.cross(v[k + 3 : k + 6], R.T @ v[k : k + 3])
                continue
            expression = body.displacements[0].expression
            d, zero = self._read(expression, q), self._read(expression, 0 * q)
            if model.nqs[index] == 2:
                q_p[iq : iq + 2] = np.cos(d), np.sin(d)
            else:
                q_p[iq] = d
            for i, c in enumerate(self.machine.coordinates):
                if c.name in expression.names:
                    unit = np.zeros(len(q))
                    unit[i] = 1.0
                    G[iv, pairs[i]] = self._read(expression, unit) - zero
            assert "Planar" not in kind
        return q_p, G, drift


def differences(plant: kb.Plant, model, path: Path, rng: np.random.Generator) -> tuple[float, float]:
    """Largest differences of M and of the bias, each of the largest entry of Pinocchio's."""
    import pinocchio as pin

    data, match = model.createData(), Match(plant, model, path)
    worst_mass = worst_bias = 0.0
    for _ in range(STATES):
        q = rng.uniform(-1.0, 1.0, len(plant.coordinates))
        for first, _ in plant.machine.quaternions:
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        v = rng.uniform(-1.0, 1.0, len(plant.velocities))
        q_p, G, drift = match.state(q, v)
        M = pin.crba(model, data, q_p)
        M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
        bias = G.T @ pin.rnea(model, data, q_p, G @ v, drift)
        scale = max(np.abs(M).max(initial=0.0), 1e-300), max(np.abs(bias).max(initial=0.0), 1e-300)
        worst_mass = max(worst_mass, np.abs(plant.mass_matrix(q) - M).max(initial=0.0) / scale[0])
        worst_bias = max(worst_bias, np.abs(plant.bias(q, v) - bias).max(initial=0.0) / scale[1])
    return worst_mass, worst_bias


def compared(path: Path, base: str, roots: tuple[Path, ...], seed: int = 1) -> Row | None:
    """One file; None: Pinocchio does not read it either."""
    model = pinocchio_model(path, base)
    if model is None:
        return None
    row = Row(f"{path.parts[-3]}/{path.name}", base)
    started = time.perf_counter()
    try:
        described = format_of(path).read(path, roots, base=base)
        system = without_springs(described.system)
        plant = kb.build(system, backend=kb.Interpreted())
        row.velocities, row.notes = len(plant.velocities), described.notes
        if row.velocities:
            row.mass, row.bias = differences(plant, model, path, np.random.default_rng(seed))
        else:
            row.mass = row.bias = 0.0
    except (KalabaError, KeyError, AssertionError) as error:
        row.problem = f"{type(error).__name__}: {error}"[:120]
    row.seconds = time.perf_counter() - started
    return row


def with_pinocchio(path: Path, arguments: argparse.Namespace) -> list[Row | None]:
    """A URDF on a fixed and on a free base."""
    bases = ("fixed", "free") if arguments.base == "both" else (arguments.base,)
    return [compared(path, base, tuple(arguments.root)) for base in bases]


def with_mujoco(path: Path, arguments: argparse.Namespace) -> list[Row | None]:
    """An MJCF file; None: MuJoCo does not read it."""
    from benchmarks.peers import mujoco_files

    peer = mujoco_files.load(path)
    if peer is None:
        return [None]
    row = Row(f"{path.parts[-3]}/{path.parent.name}/{path.name}", "file", len(peer.v), within=1e-8)
    started = time.perf_counter()
    try:
        described = format_of(path).read(path, (*arguments.root, *arguments.folders))
        row.notes = described.notes
        row.mass, row.bias = mujoco_files.differences(peer, described.system, STATES)
    except (KalabaError, ValueError) as error:
        row.problem = f"{type(error).__name__}: {error}"[:120]
    row.seconds = time.perf_counter() - started
    return [row]


def with_pinocchio_from_xml(path: Path, arguments: argparse.Namespace) -> list[Row | None]:
    """An SDF file; None: it holds several models, or none that moves."""
    from benchmarks.peers import sdf_in_pinocchio

    if len(sdf_in_pinocchio.models(path)) != 1:
        return [None]
    row = Row(f"{path.parts[-3]}/{path.parent.name}/{path.name}", "file", within=1e-8)
    started = time.perf_counter()
    try:
        described = format_of(path).read(path, (*arguments.root, *arguments.folders))
        plant = kb.build(without_springs(described.system), backend=kb.Interpreted())
        twin = sdf_in_pinocchio.Twin(plant, path)
        row.velocities, row.notes = len(plant.velocities), described.notes
        row.mass, row.bias = twin.differences(STATES, np.random.default_rng(1))
    except (KalabaError, ValueError, KeyError) as error:
        row.problem = f"{type(error).__name__}: {error}"[:120]
    row.seconds = time.perf_counter() - started
    return [row]


PEERS = {".urdf": with_pinocchio, ".sdf": with_pinocchio_from_xml, ".xml": with_mujoco}  # by the suffix of the file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--base", default="both", choices=("fixed", "free", "both"))
    parser.add_argument("--match", default="")
    parser.add_argument("--root", action="append", type=Path, default=[])
    parser.add_argument("--notes", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    files = [f for folder in arguments.folders for suffix in PEERS for f in sorted(folder.rglob(f"*{suffix}"))]
    print(f"{'file':58s} base     n    M       bias      s  notes")
    skipped, rows = [], []
    for path in (file for file in files if arguments.match in str(file)):
        for row in PEERS[path.suffix](path, arguments):
            if row is None:
                skipped.append(path.name)
                continue
            rows.append(row)
            print(row, *(f"    {note}" for note in row.notes if arguments.notes), sep="\n", flush=True)
    good = [row for row in rows if row.mass < row.within and row.bias < row.within]
    print(f"{len(good)} of {len(rows)} within 1e-9 (MJCF and SDF 1e-8), of the largest entry")
    print(f"not read by the other engine: {', '.join(sorted(set(skipped))) or 'none'}")


if __name__ == "__main__":
    main()
