"""Where objects are, from the joint angles of the arms that hold them.

Each arm tells where the body is that it holds: with A the frame of the arm that holds, S the one that it holds, B the
body, all in the world, a weld gives B = A (S⁻¹ B), where S⁻¹ B is fixed. From the poses of neighbouring bodies follow
the displacements of the joint between them. `follow.py` goes the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.errors import KinematicsError
from kalaba.kinematics.objects.opened import configuration, modes
from kalaba.kinematics.tree.chain import shifted
from kalaba.model.parts import Start
from kalaba.plant.arguments import checked, configuration_of
from kalaba.plant.choice import rows_at
from kalaba.plant.start import find_configuration
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.rotations import rotation_vector
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.kinematics.objects.opened import Ends, Opened

TRIES = 8  # starts from which objects are led to grasps that are no welds


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Where objects are."""

    poses: dict[str, NumericPose]  # of the bodies that float
    joints: dict[str, float]  # coordinates of the objects' joints: m, rad, of balls quaternions
    q: Array  # the whole configuration
    gap: float  # largest gap of a row, m or rad

    @property
    def pose(self) -> NumericPose:
        """The pose of the first body that floats."""
        if not self.poses:
            raise KinematicsError("pose: expected an object that floats, got none. Its joints say where it is.")
        return next(iter(self.poses.values()))


def read(opened: Opened, q: State | ArrayLike, near: State | ArrayLike | None) -> Reading:
    """Where the objects are, from the joint angles of the arms alone; see `ObjectSpace.read`."""
    plant = opened.closed
    guess = configuration(opened.closed, near)
    guess[~opened.objects] = _arm_angles(opened, configuration_of(q))
    poses = [(end, _pose_by(opened, end, guess)) for end in opened.ends if end.is_weld]
    at = _placed(opened, guess, poses)
    _check_poses(opened, at, poses)
    is_flipped = bool(np.any(plant.evaluate("alignments", plant.inputs(at))["cosines"] < 0))
    gaps = np.abs(plant.residual(at)) / plant.scales.rows
    if is_flipped or not gaps.max(initial=0.0) <= tolerances.POSE_MET:
        at = _assembled(opened, at)
    _check_rank(opened, at)
    at = _continued(opened, at, near)
    machine = plant.machine
    free = [machine.bodies[i] for i in opened.split.free]
    floating = {i for body in free for i in opened.joint_coordinates(body)}
    return Reading(
        poses={body.name: opened.plant.pose(body.name, at) for body in free},
        joints={plant.coordinates[i]: float(at[i]) for i in np.flatnonzero(opened.objects) if i not in floating},
        q=at,
        gap=float(np.abs(plant.residual(at)).max(initial=0.0)),
    )


def _arm_angles(opened: Opened, angles: ArrayLike) -> Array:
    """The coordinates of the arms, given alone or within a whole configuration."""
    is_arm, names = ~opened.objects, opened.closed.coordinates
    if np.shape(angles) == (len(names),):
        return checked(angles, len(names), "q", names)[is_arm]
    return checked(angles, int(is_arm.sum()), "q", [names[i] for i in np.flatnonzero(is_arm)])


def _pose_by(opened: Opened, end: Ends, q: Array) -> NumericPose:
    """Where an arm that holds by a weld says that its body is: A (S⁻¹ B)."""
    plant = opened.plant
    body = plant.pose(plant.machine.bodies[end.hold.body].name, q)
    return plant.pose(end.on_arm, q).then(body.seen_from(plant.pose(end.on_object, q)))


def _placed(opened: Opened, q: Array, poses: list[tuple[Ends, NumericPose]]) -> Array:
    """The configuration with every body put where an arm says it is, parents first.

    A body that floats and that no arm tells of is moved along with the first body of its tree that is told.
    """
    machine = opened.plant.machine
    places = {end.hold.body: pose for end, pose in reversed(poses)}
    for body in opened.bodies:
        index = machine.body_of(body.name)
        if index in opened.split.free and index not in places:
            carried = next((i for i in sorted(places) if index in _ancestors(opened, i)), None)
            if carried is not None:
                was, here = (opened.plant.pose(machine.bodies[i].name, q) for i in (carried, index))
                q = opened.put(q, body, places[carried].then(here.seen_from(was)))
        elif index in places:
            q = opened.put(q, body, places[index])
    return q


def _ancestors(opened: Opened, index: int) -> list[int]:
    """The bodies that carry a body, the nearest first."""
    machine, carriers = opened.plant.machine, []
    while (index := machine.body_of(machine.bodies[index].parent)) >= 0:
        carriers.append(index)
    return carriers


def _check_poses(opened: Opened, q: Array, poses: list[tuple[Ends, NumericPose]]) -> None:
    """Refuse arms that tell different poses of a body, or such of two neighbours as their joint does not allow."""
    machine, first = opened.closed.machine, dict[int, "Ends"]()
    for end, pose in poses:
        index, body = end.hold.body, machine.bodies[end.hold.body]
        parent = machine.body_of(body.parent)
        other = first.get(index) or next((e for e, _ in poses if e.hold.body == parent), None)
        is_known = index in first or (bool(opened.joint_coordinates(body)) and (other is not None or parent < 0))
        first.setdefault(index, end)
        away = pose.seen_from(opened.plant.pose(body.name, q))
        gaps = float(np.linalg.norm(away.position)), float(np.linalg.norm(rotation_vector(away.rotation)))
        reach = max(opened.closed.scales.reach, float(np.abs(pose.position).max()))
        if is_known and max(gaps[0] / reach, gaps[1]) > tolerances.ARMS_AGREE:
            who = f"{end.hold.arm} by {end.hold.name} and the ground"
            if other is not None:
                who = f"{other.hold.arm} by {other.hold.name} and {end.hold.arm} by {end.hold.name}"
            joint = "" if other is not None and other.hold.body == index else f" on its {body.joint.kind}"
            raise KinematicsError(
                f"{opened.closed.system.name}: {who} disagree on where {body.name} is{joint}; {gaps[0]:.3g} m, "
                f"{gaps[1]:.3g} rad apart. Give joint angles of arms that hold the same objects."
            )


def _assembled(opened: Opened, guess: Array) -> Array:
    """The objects led to grasps that are no welds, the arms held still."""
    plant = opened.closed
    named = list(zip(plant.coordinates, guess.tolist(), opened.objects, strict=True))
    bent = {plant.coordinates[i] for i in modes(plant)}
    held = {name: value for name, value, is_object in named if not is_object or name in bent}
    free = {name: value for name, value, is_object in named if is_object and name not in bent}
    closed, _ = find_configuration(plant, Start(hold=held, guess=free), TRIES)
    residual = np.abs(plant.residual(closed.q))
    parts = residual / plant.scales.rows
    worst = int(np.argmax(parts))
    is_flipped = not closed.is_closed and parts[worst] <= tolerances.POSE_MET
    if is_flipped or not parts[worst] <= tolerances.ARMS_AGREE:
        row = plant.constraints[worst]
        holding = [arm.name for arm in opened.split.arms if arm.rows]
        raise KinematicsError(
            f"{plant.system.name}: the grasps of {', '.join(holding)} disagree on where the objects are; {row} misses "
            f"by {residual[worst]:.3g}. Give joint angles of arms that hold the same objects, or another near=."
        )
    return np.where(opened.objects, closed.q, guess)


def _check_rank(opened: Opened, q: Array) -> None:
    """Refuse to say what the arms leave open: a velocity of the objects that all rows are blind to."""
    plant = opened.closed
    bent = {j for i, j in plant.machine.scalar_pairs if i in modes(plant)}
    columns = [j for j in opened.split.objects if j not in bent]
    free = rows_at(plant, plant.inputs(q), columns).free_directions()
    if free.shape[1]:
        name = plant.velocities[columns[int(np.argmax(np.abs(free[:, 0]) / plant.scales.velocities[columns]))]]
        raise KinematicsError(
            f"{plant.system.name}: the arms' joint angles leave {counted(free.shape[1], 'freedom')} of the "
            f"objects open, {name} is one. Hold by a Weld, or by more arms."
        )


def _continued(opened: Opened, q: Array, near: State | ArrayLike | None) -> Array:
    """Angles of the objects whole turns nearer to `near`, or between −π and π."""
    goal = q.copy() if near is not None else np.where(opened.objects, 0.0, q)
    if near is not None:
        goal[opened.objects] = configuration(opened.closed, near)[opened.objects]
    return np.where(opened.objects, shifted(opened.closed.machine, q, goal), q)
