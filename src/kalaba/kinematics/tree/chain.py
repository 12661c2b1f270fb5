"""The chain of bodies that carries a frame: what moves it, what limits it, and angles whole turns apart."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba import tolerances
from kalaba.boundary import check_arguments
from kalaba.errors import KinematicsError, ModelError, near
from kalaba.plant.arguments import checked_configuration
from kalaba.plant.plant import build
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.model.machine import Machine, MachineBody
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant

TURN = 2 * math.pi


def tree_of(arm: System | Plant, frame: str) -> Plant:
    """The Plant of an arm; refuses rows, which these methods do not keep, and frames that it does not have."""
    plant = build(arm)
    if plant.constraints:
        raise KinematicsError(
            f"{plant.system.name}: expected a tree, got constraint rows {', '.join(plant.constraints[:3])}"
            f"{', ...' if len(plant.constraints) > 3 else ''}. Take the arm alone, without connections."
        )
    if frame not in plant.machine.frames:
        raise ModelError(f"{plant.system.name}: no frame {frame!r}; {near(frame, plant.machine.frames)}")
    return plant


def carriers(machine: Machine, frame: str) -> tuple[MachineBody, ...]:
    """The bodies from the ground to a frame."""
    bodies: list[MachineBody] = []
    index = machine.body_of(frame)
    while index >= 0:
        bodies.insert(0, machine.bodies[index])
        index = machine.body_of(bodies[0].parent)
    return tuple(bodies)


def movers(machine: Machine, frame: str) -> NDArray[np.bool_]:
    """Which velocities move a frame through joints; modes of beams do not count, a beam stays bent as it is."""
    is_mover = np.zeros(len(machine.velocities), dtype=bool)
    columns = {machine.coordinates[i].name: j for i, j in machine.scalar_pairs}
    modes = {j for body in machine.bodies for j in body.modes_in_v}
    for body in carriers(machine, frame):
        if body.joint.has_quaternion:
            is_mover[body.v_index : body.v_index + body.joint.v_count] = True
        names = {name for displacement in body.displacements for name in displacement.expression.names}
        is_mover[[columns[name] for name in names if name in columns and columns[name] not in modes]] = True
    return is_mover


def turning(machine: Machine) -> tuple[int, ...]:
    """Indices in q of the angles that come round: after a whole turn every body is where it was.

    These are coordinates that one joint reads as its own angle, and nothing else; a screw's is none, for it travels.
    """
    readers = Counter(name for d in machine.displacements.values() for name in d.expression.names)
    angles = {d.name for b in machine.bodies if b.joint.comes_round for d in b.displacements if d.unit == "rad"}
    return tuple(i for i, c in enumerate(machine.coordinates) if c.name in angles and readers[c.name] == 1)


@dataclass(frozen=True)
class Limits:
    """Bounds of joints' displacements."""

    names: tuple[str, ...]
    low: Array
    high: Array

    @classmethod
    def of(cls, machine: Machine, frame: str) -> Limits:
        """The limits of the joints that the movers of a frame displace."""
        moved = {machine.coordinates[i].name for i, j in machine.scalar_pairs if movers(machine, frame)[j]}
        rows = [
            (body.displacements[0].name, *body.joint.limits)
            for body in machine.bodies
            if body.joint.limits is not None and body.displacements[0].expression.names & moved
        ]
        low, high = (np.array([row[k] for row in rows], dtype=float) for k in (1, 2))
        return cls(tuple(row[0] for row in rows), low, high)

    @classmethod
    def none(cls) -> Limits:
        """No limits at all."""
        return cls((), np.zeros(0), np.zeros(0))

    def box(self, machine: Machine) -> tuple[Array, Array]:
        """Lowest and highest q, where a limited displacement is a coordinate itself."""
        low, high = np.full(len(machine.coordinates), -np.inf), np.full(len(machine.coordinates), np.inf)
        for i, coordinate in enumerate(machine.coordinates):
            if coordinate.name in self.names:
                k = self.names.index(coordinate.name)
                low[i], high[i] = self.low[k], self.high[k]
        return low, high


def continue_angles(arm: System | Plant, q: ArrayLike, near: ArrayLike) -> Array:
    """The configuration of the same pose that is nearest to another: hinges shifted by whole turns, within limits.

    Every angle that comes round becomes q_i + 2πk with the k that brings it nearest to near_i among those that its
    limits allow; with none allowed it is merely brought nearest. A solution that jumps from π to −π so goes on.

    Arguments:
        arm: the machine
        q: configuration, m and rad
        near: the configuration that it is brought near to
    """
    check_arguments(continue_angles, locals())
    machine = build(arm).machine
    return shifted(machine, checked_configuration(q, machine), checked_configuration(near, machine))


def shifted(machine: Machine, q: Array, near: Array) -> Array:
    """`continue_angles` for arrays that are known to be right."""
    q, ranges = q.copy(), hinge_ranges(machine)
    for i, (low, high) in ranges.items():
        turns = np.round((near[i] - q[i]) / TURN)
        least, most = (
            np.ceil((low - q[i]) / TURN - tolerances.TURN_ROUNDING),
            np.floor((high - q[i]) / TURN + tolerances.TURN_ROUNDING),
        )
        if least <= most:
            q[i] = min(max(q[i] + TURN * min(max(turns, least), most), low), high)
        else:
            q[i] += TURN * turns
    return q


def hinge_ranges(machine: Machine) -> dict[int, tuple[float, float]]:
    """Index in q of every angle that comes round, with its limits."""
    joints = {d.name: body.joint for body in machine.bodies for d in body.displacements}
    ranges = {}
    for i in turning(machine):
        limits = joints[machine.coordinates[i].name].limits
        ranges[i] = (-math.inf, math.inf) if limits is None else (float(limits[0]), float(limits[1]))
    return ranges
