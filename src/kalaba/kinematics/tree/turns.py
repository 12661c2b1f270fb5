"""Angles that come round: the same pose, whole turns apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.kinematics.tree.chain import turning
from kalaba.plant.arguments import checked_configuration
from kalaba.plant.plant import build

if TYPE_CHECKING:
    from kalaba.model.machine import Machine
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant

Array = NDArray[np.float64]
TURN = 2 * math.pi
ROUNDING = 1e-14  # turns: an angle this little beyond its limit is at it


def continue_angles(arm: System | Plant, q: ArrayLike, near: ArrayLike) -> Array:
    """The configuration of the same pose that is nearest to another: hinges shifted by whole turns, within limits.

    Every angle that comes round becomes q_i + 2πk with the k that brings it nearest to near_i among those that its
    limits allow; with none allowed it is merely brought nearest. A solution that jumps from π to −π so goes on.
    """
    machine = build(arm).machine
    return shifted(machine, checked_configuration(q, machine), checked_configuration(near, machine))


def shifted(machine: Machine, q: Array, near: Array) -> Array:
    """`continue_angles` for arrays that are known to be right."""
    q, ranges = q.copy(), hinge_ranges(machine)
    for i, (low, high) in ranges.items():
        turns = np.round((near[i] - q[i]) / TURN)
        least, most = np.ceil((low - q[i]) / TURN - ROUNDING), np.floor((high - q[i]) / TURN + ROUNDING)
        if least <= most:
            q[i] = min(max(q[i] + TURN * min(max(turns, least), most), low), high)
        else:
            q[i] += TURN * turns
    return q


def hinge_ranges(machine: Machine) -> dict[int, tuple[float, float]]:
    """Index in q of every angle that comes round, with its limits."""
    joints = {d.name: body.joint for body in machine.bodies for d in body.displacements}
    found = {}
    for i in turning(machine):
        limits = joints[machine.coordinates[i].name].limits
        found[i] = (-math.inf, math.inf) if limits is None else (float(limits[0]), float(limits[1]))
    return found
