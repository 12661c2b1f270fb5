"""All solutions of an arm of six hinges with a spherical wrist.

The last three axes meet in a point, which the first three hinges alone carry: they are solved for it (`carry_to`),
then the wrist for the rotation that is left (`turns_of`). Every solution ends with Newton's method on the arm itself.
The geometry is read from the Jacobian at zero: a column (u × (x − o); u) is a hinge about u through o.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kalaba import tolerances
from kalaba.boundary import check_arguments
from kalaba.errors import KinematicsError
from kalaba.kinematics.tree.chain import TURN, Limits, carriers, shifted, tree_of, turning
from kalaba.kinematics.tree.hinges import Axes, carry_to, turns_of
from kalaba.kinematics.tree.search import inverse_kinematics
from kalaba.kinematics.tree.task import Target, Task, descend, target_of
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant
    from kalaba.space.pose import Pose


@dataclass(frozen=True)
class _Arm:
    """Six hinges at their configuration zero, and what they carry."""

    plant: Plant
    frame: str
    at_zero: Array  # q with the six hinges at zero
    hinges: tuple[int, ...]  # their indices in q, from the ground outwards
    axes: Axes
    home: Target  # the frame at zero
    centre: Array  # where the axes of the wrist meet, at zero


def branches(arm: System | Plant, frame: str, pose: Pose | NumericPose) -> tuple[Array, ...]:
    """All configurations, up to eight, in which six hinges with a spherical wrist put a frame at a pose.

    The last three axes must meet in a point, at whatever angles. Angles lie between −π and π where the limits let
    them, else whole turns away; a branch that the limits forbid is left out. At a singular pose, where a hinge may
    turn freely or two branches meet, one configuration stands for them. What does not carry the frame stays as at the
    start.

    Arguments:
        arm: a machine without loops
        frame: name of the frame
        pose: where it is to be in the world: a `kb.Pose`, or what `plant.pose` gives

    Raises: KinematicsError where there is no such wrist, and where no branch reaches the pose.
    """
    check_arguments(branches, locals())
    six = _arm(tree_of(arm, frame), frame)
    plant, target = six.plant, target_of(pose)
    task = Task(plant, frame, target, Limits.none())
    solutions: list[Array] = []
    for seed in _seeds(six, target):
        q, look = descend(task, seed)
        q = _wrapped(plant, q, six.hinges)
        if task.is_met(look) and all(_apart(q, other, six.hinges) > tolerances.SAME_SOLUTION for other in solutions):
            solutions.append(q)
    limited = Task(plant, frame, target, Limits.of(plant.machine, frame))
    allowed = [q for q in solutions if not limited.beyond(limited.look(q))]
    if not allowed:
        raise _none(six, target)
    return tuple(sorted(allowed, key=lambda q: tuple(np.round(q[list(six.hinges)], 6))))


def _seeds(arm: _Arm, target: Target) -> list[Array]:
    """Configurations of all branches, as exact as angles from cosines are."""
    R = target.rotation @ arm.home.rotation.T
    place = target.position + R @ (arm.centre - arm.home.position)
    seeds = []
    for first in carry_to(arm.axes[:3], arm.centre, place):
        left = arm.axes[:3].rotation(first).T @ R
        for last in turns_of(arm.axes[3:].directions, left):
            q = arm.at_zero.copy()
            q[list(arm.hinges)] = (*first, *last)
            seeds.append(q)
    return seeds


def _wrapped(plant: Plant, q: Array, hinges: tuple[int, ...]) -> Array:
    """Hinges between −π and π, or as near to that as the limits allow."""
    near = q.copy()
    for i in hinges:
        near[i] = math.remainder(q[i], TURN)
    return shifted(plant.machine, near, near)


def _apart(a: Array, b: Array, hinges: tuple[int, ...]) -> float:
    return max(abs(math.remainder(a[i] - b[i], TURN)) for i in hinges)


def _arm(plant: Plant, frame: str) -> _Arm:
    """Read six hinges with a spherical wrist off a plant, or say what is missing."""
    hinges = _hinges(plant, frame)
    at_zero = plant.start.q.copy()
    at_zero[list(hinges)] = 0.0
    pose, columns = plant.pose(frame, at_zero), dict(plant.machine.scalar_pairs)
    J = plant.jacobian(frame, at_zero)[:, [columns[i] for i in hinges]]
    directions = J[3:].T
    axes = Axes(directions, pose.position + np.cross(directions, J[:3].T))
    size = max(float(np.abs(axes.points - axes.points[0]).max()), float(np.abs(axes.points - pose.position).max()))
    for i in range(5):
        is_wrist, line = i > 2, np.cross(axes.directions[i], axes.directions[i + 1])
        if np.linalg.norm(line) < tolerances.AXES_PARALLEL and (is_wrist or _coincide(axes[i : i + 2], size)):
            how = "are parallel" if is_wrist else "are the same"
            raise _no_wrist(plant, frame, f"axes {i + 1} and {i + 2} {how}")
    centre, gap = axes[3:].common_point()
    if gap > tolerances.AXES_MEET * size:
        raise _no_wrist(plant, frame, f"its last three axes miss each other by {gap:.3g} m")
    return _Arm(plant, frame, at_zero, hinges, axes, Target(*pose), centre)


def _coincide(axes: Axes, size: float) -> bool:
    """Tell whether two parallel lines are one."""
    between, u = axes.points[1] - axes.points[0], axes.directions[0]
    return float(np.linalg.norm(between - (between @ u) * u)) < tolerances.AXES_MEET * size


def _hinges(plant: Plant, frame: str) -> tuple[int, ...]:
    """Indices in q of the six angles that carry a frame, each of them a hinge's own."""
    machine, names, round_ = plant.machine, plant.coordinates, turning(plant.machine)
    hinges: list[int] = []
    for body in carriers(machine, frame):
        angles = [names.index(d.name) if d.name in names else -1 for d in body.displacements if d.expression.names]
        if body.joint.has_quaternion or any(i not in round_ for i in angles):
            raise _no_wrist(plant, frame, f"{body.name} does not turn on a hinge of its own")
        hinges += angles
    if len(hinges) != 6:
        raise _no_wrist(plant, frame, f"{len(hinges)} hinges carry it, not six")
    return tuple(hinges)


def _no_wrist(plant: Plant, frame: str, why: str) -> KinematicsError:
    return KinematicsError(
        f"{plant.system.name}: {frame} is not carried by six hinges with a spherical wrist; {why}. "
        "Use kb.inverse_kinematics."
    )


def _none(arm: _Arm, target: Target) -> KinematicsError:
    """Word the error for a pose without a branch: what a search says, unless it succeeds."""
    try:
        inverse_kinematics(arm.plant, arm.frame, NumericPose(*target))
    except KinematicsError as error:
        return error
    return KinematicsError(
        f"{arm.plant.system.name}: {arm.frame} reaches {target.text} in no separate branch; its joints can move on "
        "there. Use kb.inverse_kinematics."
    )
