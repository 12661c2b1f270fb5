"""Where an assembly begins: everything mid-limit, or as files draw machines, changed by what `hold` and `guess` say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.boundary import shown
from kalaba.errors import ModelError
from kalaba.model.text.expressions import Values, number, parse
from kalaba.space.arrays import Array
from kalaba.space.number import is_number
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.space.rotations import from_pose, quaternion_of, rotation_of

if TYPE_CHECKING:
    from kalaba.model.machine import Machine, MachineBody
    from kalaba.model.parts import Start
    from kalaba.plant.plant import Plant

Placed = tuple[Array, Array]  # position and quaternion


def resting(machine: Machine, *, drawn: bool = False) -> Array:
    """The configuration q with everything mid-limit, or at zero without limits, quaternions at identity.

    Arguments:
        machine: the machine
        drawn: as files draw machines instead: at zero wherever limits allow it
    """
    q = np.zeros(len(machine.coordinates))
    for first, _ in machine.quaternions:
        q[first] = 1.0
    names = [c.name for c in machine.coordinates]
    for body in machine.bodies:
        limits = body.joint.limits
        if limits is not None and body.displacements[0].name in names:
            q[names.index(body.displacements[0].name)] = _between(limits, drawn=drawn)
    return q


def _between(limits: tuple[float, float], *, drawn: bool) -> float:
    """The middle of limits; the one that is nearest to zero where it is asked for, or where they have no middle."""
    nearest = float(np.clip(0.0, *limits))
    middle = (limits[0] + limits[1]) / 2
    return nearest if (drawn and nearest == 0.0) or not np.isfinite(middle) else middle


def first_guess(plant: Plant, start: Start | None = None) -> Array:
    """The guess: plain coordinates and free bodies set as `hold` and `guess` say."""
    machine = plant.machine
    start = machine.start if start is None else start
    q = resting(machine)
    names = {c.name: i for i, c in enumerate(machine.coordinates)}
    entries = {**dict(start.guess), **dict(start.hold)}
    for key, value in entries.items():
        if key in names:
            q[names[key]] = entry_number(key, value)
    for body in machine.bodies:  # parents first
        if body.name in entries and body.joint.has_position:
            q = _place(plant, q, body, entry_pose(plant, body.name, entries[body.name]))
    return q


def entry_number(key: str, value: Any) -> float:  # noqa: ANN401  (what a user wrote)
    """A number given as a start entry."""
    if not is_number(value):
        raise ModelError(f"start.{key}: expected a finite number, got {shown(value)}. Only frames take a Pose.")
    return float(value)


def entry_pose(plant: Plant, key: str, value: Any) -> Placed:  # noqa: ANN401  (what a user wrote)
    """Position and quaternion of a Pose given as a start entry; its numbers may be expressions of parameters."""
    values = Values({p.name: p.value for p in plant.machine.parameters})
    try:
        pose = value if isinstance(value, Pose) else Pose(value)
        return from_pose(pose, lambda entry: number(parse(entry), values))
    except (ModelError, TypeError, ValueError) as error:
        raise ModelError(f"start.{key}: expected a Pose of finite numbers, got {shown(value)}. {error}") from error


def _place(plant: Plant, q: Array, body: MachineBody, pose: Placed) -> Array:
    """Set a free body's coordinates so that its frame has a pose in the world."""
    at_seat = q.copy()
    at_seat[body.q_index : body.q_index + 7] = (0, 0, 0, 1, 0, 0, 0)
    seated = NumericPose(pose[0], rotation_of(pose[1])).seen_from(plant.pose(body.name, at_seat))
    q = q.copy()
    q[body.q_index : body.q_index + 3] = seated.position
    q[body.q_index + 3 : body.q_index + 7] = quaternion_of(seated.rotation)
    return q
