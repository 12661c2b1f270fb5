"""Loops that a tree may have: frames of two bodies that coincide where it is drawn, and come apart when it moves.

Formats of trees leave loops out, but the people who write such files draw both ends of the cut in the same place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations, count
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
from kalaba.plant.guess import resting
from kalaba.plant.plant import Plant, build
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Axis, Pose
from kalaba.space.rotations import zyx_angles
from kalaba.tolerances import LOOP_AXES_SAME, LOOP_DRAWN_CLOSED, LOOP_DRAWN_SAME

if TYPE_CHECKING:
    from kalaba.analyse.mobility import Mobility
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
        freedoms: how many freedoms are left with it alone
        freedoms_together: how many are left with it and all that are suggested before it
        joints: how many joints of the tree the loop goes through
        smallest_singular_value: of its independent rows in the mass metric, free of their units; 1 is best, 0 singular
        system: the machine with the connection, starting where it is drawn
    """

    connection: Connection
    gap: float
    freedoms: int
    freedoms_together: int
    joints: int
    smallest_singular_value: float
    system: System

    @property
    def fits(self) -> bool:
        """Whether the machine still moves with it and all that are suggested before it."""
        return self.freedoms_together >= 1


def suggest_loops(system: System) -> tuple[Suggestion, ...]:
    """Find loops that a machine may have: frames that coincide with its joints at zero, or mid-limit where zero is out.

    A loop all of whose hinges are parallel, with slides across them, is closed by a hinge along them, any other by a
    ball joint: the file does not say more. The best come first: frames that coincide but for the digits of a file,
    loops that leave freedoms, short ones before long ones, well conditioned before others. One that would leave no
    freedom with those before it comes last: its frames may have met by chance, as tips of a closed gripper do.
    Names have numbers in that order: `loop1` is the best.

    Arguments:
        system: a machine, usually a tree from a file
    """
    check_arguments(suggest_loops, locals())
    plant = build(system, backend=Interpreted())
    q = resting(plant.machine, drawn=True)
    made: list[Suggestion] = []
    names = _names(system)
    for parent, child, gap in _pairs(plant, q):
        suggestion = _judged(system, _connection(plant, q, next(names), parent, child), gap, q)
        if suggestion is not None:
            made.append(suggestion)
    digits = LOOP_DRAWN_SAME * _size(_poses(plant, q).values())
    best_first = sorted(made, key=lambda s: (s.gap > digits, s.freedoms < 1, s.joints, -s.smallest_singular_value))
    return _numbered(system, _together(system, best_first))


def may_have_loops(system: System) -> bool:
    """Whether `suggest_loops` finds frames that coincide; without a judgement of the loops, which takes longer."""
    plant = build(system, backend=Interpreted())
    return next(_pairs(plant, resting(plant.machine, drawn=True)), None) is not None


def _together(system: System, best_first: list[Suggestion]) -> tuple[Suggestion, ...]:
    """Those that fit together, then those that do not fit with them."""
    fitting: list[Suggestion] = []
    others: list[Suggestion] = []
    for suggestion in best_first:
        connections = [other.connection for other in (*fitting, suggestion)]
        try:
            freedoms = _mobility(replace(suggestion.system, parts=system.add(*connections).parts)).freedoms
        except KalabaError:  # the loops do not close together
            freedoms = 0
        judged = replace(suggestion, freedoms_together=freedoms)
        (fitting if judged.fits else others).append(judged)
    return (*fitting, *others)


def _names(system: System) -> Iterator[str]:
    """loop1, loop2, ...: those that no part has."""
    taken = {part.name for part in system.parts}
    return (name for i in count(1) if (name := f"loop{i}") not in taken)


def _numbered(system: System, suggestions: tuple[Suggestion, ...]) -> tuple[Suggestion, ...]:
    """Suggestions whose names count in their order; they were found in that of the frames."""
    return tuple(_renamed(suggestion, name) for suggestion, name in zip(suggestions, _names(system), strict=False))


def _renamed(suggestion: Suggestion, name: str) -> Suggestion:
    old = suggestion.connection
    new = replace(old, name=name)
    parts = tuple(new if part.name == old.name else part for part in suggestion.system.parts)
    return replace(suggestion, connection=new, system=replace(suggestion.system, parts=parts))


def _poses(plant: Plant, q: Array) -> dict[str, NumericPose]:
    return {name: plant.pose(name, q) for name in list(plant.machine.frames)[:MOST]}


def _size(poses: Iterable[NumericPose]) -> float:
    """How far a machine reaches, m."""
    points = np.array([pose.position for pose in poses])
    return max(float(np.linalg.norm(np.ptp(points, axis=0))), 1e-9)


def _pairs(plant: Plant, q: Array) -> Iterator[tuple[str, str, float]]:
    """Frames of two bodies that coincide at q and come apart nearby: one pair per two bodies and place."""
    machine, at = plant.machine, _poses(plant, q)
    rng = np.random.default_rng(0)
    moved = q.copy()
    for i, _ in machine.scalar_pairs:
        moved[i] += MOVED * rng.uniform(0.5, 1.0)
    away = _poses(plant, moved)
    size = _size(at.values())
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
    normal = _normal(plant, q, _bodies(plant.machine, Connection(name, child, parent)))
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
        mobility = _mobility(closed)
    except KalabaError:
        return None
    freedoms, joints = mobility.freedoms, sum(not b.joint.is_rigid for b in _bodies(system.machine, connection))
    return Suggestion(connection, gap, freedoms, freedoms, joints, mobility.smallest_singular_value, closed)


def _mobility(system: System) -> Mobility:
    return check(build(system, backend=Interpreted()))


def _bodies(machine: Machine, connection: Connection) -> list[MachineBody]:
    """The bodies of the loop that a connection would close."""
    closing = MachineConnection(connection.name, connection.child, connection.parent, Pose(), Spherical())
    loop = loop_of(machine, closing)
    return [body for body in machine.bodies if body.name in loop]
