"""Loops that a tree may have: frames of two bodies that coincide where it is drawn, and come apart when it moves.

Formats of trees leave loops out, but the people who write such files draw both ends of the cut in the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from kalaba.analyse.mobility import check
from kalaba.boundary import check_arguments
from kalaba.errors import KalabaError
from kalaba.joints import Joint, Revolute, Spherical
from kalaba.model.machine import MachineConnection
from kalaba.model.parts import Connection, Start
from kalaba.model.topology.recut import loop_of
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import Plant, build
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Axis, Pose
from kalaba.space.rotations import zyx_angles
from kalaba.tolerances import LOOP_AXES_SAME, LOOP_DRAWN_CLOSED

if TYPE_CHECKING:
    from kalaba.model.machine import Machine, MachineBody
    from kalaba.model.system import System
    from kalaba.space.arrays import Array

MOVED = 0.1  # rad or m: how far joints are moved to see which frames come apart
MOST = 2000  # frames that are compared with one another


@dataclass(frozen=True)
class Suggestion:
    """A loop that a machine may have.

    Arguments:
        connection: what would close it
        gap: how far apart its two frames are where the machine is drawn, m
        freedoms: how many freedoms are left with it
        smallest_singular_value: of its independent rows in the mass metric, free of their units; 1 is best, 0 singular
        system: the machine with the connection, starting where it is drawn
    """

    connection: Connection
    gap: float
    freedoms: int
    smallest_singular_value: float
    system: System


def suggest_loops(system: System) -> tuple[Suggestion, ...]:
    """Find loops that a machine may have: frames that coincide with its joints at zero, or mid-limit where zero is out.

    A loop all of whose hinges are parallel, with slides across them, is closed by a hinge along them, any other by a
    ball joint: the file does not say more. First come loops that leave freedoms, the best conditioned first.

    Arguments:
        system: a machine, usually a tree from a file
    """
    check_arguments(suggest_loops, locals())
    plant = build(system, backend=Interpreted())
    q = drawn(plant.machine)
    made: list[Suggestion] = []
    taken = {part.name for part in system.parts}
    for parent, child, gap in _pairs(plant, q):
        name = next(n for i in range(1, len(taken) + 2) if (n := f"loop{i}") not in taken)
        suggestion = _judged(system, _connection(plant, q, name, parent, child), gap, q)
        if suggestion is not None:
            made.append(suggestion)
            taken.add(name)
    return tuple(sorted(made, key=lambda s: (s.freedoms < 1, -s.smallest_singular_value)))


def drawn(machine: Machine) -> Array:
    """The configuration in which files draw a machine: zero, or mid-limit where limits leave zero out."""
    q = np.zeros(len(machine.coordinates))
    for first, _ in machine.quaternions:
        q[first] = 1.0
    names = [c.name for c in machine.coordinates]
    for body in machine.bodies:
        limits = body.joint.limits
        if limits is not None and body.displacements[0].name in names and not limits[0] <= 0.0 <= limits[1]:
            q[names.index(body.displacements[0].name)] = (limits[0] + limits[1]) / 2
    return q


def _poses(plant: Plant, q: Array) -> dict[str, NumericPose]:
    return {name: plant.pose(name, q) for name in list(plant.machine.frames)[:MOST]}


def _pairs(plant: Plant, q: Array) -> Iterator[tuple[str, str, float]]:
    """Frames of two bodies that coincide at q and come apart nearby: one pair per two bodies and place."""
    machine, at = plant.machine, _poses(plant, q)
    rng = np.random.default_rng(0)
    moved = q.copy()
    for i, _ in machine.scalar_pairs:
        moved[i] += MOVED * rng.uniform(0.5, 1.0)
    away = _poses(plant, moved)
    points = np.array([pose.position for pose in at.values()])
    size = max(float(np.linalg.norm(np.ptp(points, axis=0))), 1e-9)
    joined = {frozenset(machine.body_of(frame) for frame in c.frames) for c in machine.connections}
    seen: list[tuple[frozenset[int], Array]] = []
    for first, second in combinations(at, 2):
        bodies = frozenset((machine.body_of(first), machine.body_of(second)))
        gap = float(np.linalg.norm(at[first].position - at[second].position))
        if len(bodies) < 2 or bodies in joined or gap > LOOP_DRAWN_CLOSED * size:
            continue
        if np.linalg.norm(away[first].position - away[second].position) <= 10 * LOOP_DRAWN_CLOSED * size:
            continue  # they never come apart
        if any(b == bodies and np.linalg.norm(p - at[first].position) < LOOP_DRAWN_CLOSED * size for b, p in seen):
            continue
        seen.append((bodies, at[first].position))
        deeper = machine.body_of(second) > machine.body_of(first)
        yield (first, second, gap) if deeper else (second, first, gap)


def _connection(plant: Plant, q: Array, name: str, parent: str, child: str) -> Connection:
    """What closes a loop: a hinge where it is planar, else a ball joint."""
    loop = loop_of(plant.machine, MachineConnection(name, child, parent, Pose(), Spherical()))
    bodies = [body for body in plant.machine.bodies if body.name in loop]
    normal = _normal(plant, q, bodies)
    if normal is None:
        return Connection(name, child, parent, joint=Spherical())
    R_parent, R_child = (plant.pose(frame, q).rotation for frame in (parent, child))
    turn = R_parent.T @ R_child
    at = Pose() if np.allclose(turn, np.eye(3), atol=1e-9) else Pose(rpy=tuple(map(_quarter, zyx_angles(turn)[::-1])))
    joint: Joint = Revolute(Axis(*_rounded(R_child.T @ normal)))
    return Connection(name, child, parent, at, joint)


def _normal(plant: Plant, q: Array, bodies: list[MachineBody]) -> Array | None:
    """The direction that all hinges of a loop are along and all slides across; None: it is not planar."""
    hinges: list[Array] = []
    slides: list[Array] = []
    for body in bodies:
        if body.joint.is_rigid:
            continue
        axis = body.joint.screw_axis
        if axis is None or len(body.displacements) != 1:
            return None
        along = plant.pose(body.name, q).rotation @ np.array(axis.components)
        (hinges if body.displacements[0].unit == "rad" else slides).append(along)
    if not hinges:
        return None
    normal = hinges[0]
    is_planar = all(abs(abs(h @ normal) - 1) < LOOP_AXES_SAME for h in hinges)
    return normal if is_planar and all(abs(s @ normal) < LOOP_AXES_SAME**0.5 for s in slides) else None


def _quarter(angle: float) -> float:
    """An angle, whole quarter turns without the noise of a product of rotations."""
    quarters = angle / (np.pi / 2)
    return float(round(quarters) * np.pi / 2 if abs(quarters - round(quarters)) < LOOP_AXES_SAME else angle)


def _rounded(numbers: Array) -> tuple[float, ...]:
    """Numbers without the noise of a product of rotations, so that people can read them."""
    return tuple(float(np.round(entry, 12)) + 0.0 for entry in numbers)


def _judged(system: System, connection: Connection, gap: float, q: Array) -> Suggestion | None:
    """The loop, if the machine assembles with it."""
    names = [c.name for c in system.machine.coordinates]
    drawn_at = {names[i]: float(q[i]) for i, _ in system.machine.scalar_pairs}
    closed = replace(system.add(connection), start=system.start.over(Start(guess=drawn_at)))
    try:
        mobility = check(closed)
    except KalabaError:
        return None
    return Suggestion(connection, gap, mobility.freedoms, mobility.smallest_singular_value, closed)
