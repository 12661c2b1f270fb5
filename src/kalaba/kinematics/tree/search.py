"""Inverse kinematics of any tree by search: from a guess, then from all over the joints' range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments, check_whole
from kalaba.errors import KinematicsError
from kalaba.kinematics.tree.chain import Limits, shifted, tree_of
from kalaba.kinematics.tree.differential import is_singular, measure
from kalaba.kinematics.tree.task import Look, Task, descend, nearest, target_of
from kalaba.plant.arguments import checked_configuration
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant
    from kalaba.space.numeric_pose import NumericPose
    from kalaba.space.pose import Pose

TRIES = 60
MOST_SOLUTIONS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """A configuration that puts a frame at a pose.

    Arguments:
        q: configuration, (n_q,)
        error: the larger of the gaps left, in m and rad
        measure: smallest singular value of the Jacobian, lengths in the machine's own; 0 is singular
    """

    q: Array
    error: float
    measure: float


def inverse_kinematics(
    arm: System | Plant,
    frame: str,
    pose: Pose | NumericPose,
    guess: ArrayLike | None = None,
    count: int = 1,
    singular: float | None = None,
) -> Reach | tuple[Reach, ...]:
    """The joints that put a frame of a tree at a pose in the world, within the joints' limits.

    The search goes from the guess; where that leads nowhere, from random configurations, the same at every call. Joints
    that are free to choose stay as near to the guess as they can, and angles are continued to the turn nearest to it.
    Modes of beams and joints that do not carry the frame stay as they are. A search proves nothing: for arms of six
    hinges with a spherical wrist `kb.branches` gives all there are.

    Arguments:
        arm: a machine without loops
        frame: name of the frame
        pose: where it is to be in the world: a `kb.Pose`, or what `plant.pose` gives
        guess: a configuration, m and rad; None: the start
        count: how many different solutions to look for
        singular: refuse solutions whose measure is not above this, 1; None: none is refused

    Returns: one Reach; with `count` above one a tuple of up to so many, the nearest to the guess first.

    Raises: KinematicsError with the smallest gap that was found, and with the limits that stand in the way.
    """
    check_arguments(inverse_kinematics, locals())
    plant = tree_of(arm, frame)
    check_whole(count, "inverse_kinematics.count", 1, MOST_SOLUTIONS)
    at = plant.start.q if guess is None else checked_configuration(guess, plant.machine)
    task = Task(plant, frame, target_of(pose), Limits.of(plant.machine, frame))
    solutions, best = _search(task, at, count, singular)
    if not solutions:
        if best.measure is not None and singular is not None:
            raise is_singular(plant, frame, task.target, (best.measure, singular, plant.scales.length))
        raise cannot_reach(task, at, best.look)
    solutions.sort(key=lambda reach: float(np.linalg.norm(task.way(reach.q, at))))
    return solutions[0] if count == 1 else tuple(solutions)


@dataclass(slots=True)
class _Best:
    """What a search without success has seen."""

    look: Look
    measure: float | None = None  # the largest of solutions refused as singular


def _search(task: Task, guess: Array, count: int, singular: float | None) -> tuple[list[Reach], _Best]:
    """Solutions from the guess and from random starts until there are enough."""
    solutions: list[Reach] = []
    best = _Best(task.look(guess))
    for start in task.starts(guess, TRIES):
        q, look = descend(task, start)
        if not task.is_met(look):
            best.look = min(best.look, look, key=lambda seen: (bool(task.beyond(seen)), seen.size))
            continue
        q, look = nearest(task, shifted(task.plant.machine, q, guess), guess)
        value = measure(task.plant, task.frame, q)
        if singular is not None and not value > singular:
            best.measure = max(value, best.measure or 0.0)
        elif all(np.abs(task.way(q, other.q)).max(initial=0.0) > tolerances.SAME_SOLUTION for other in solutions):
            solutions.append(Reach(q, float(np.abs(task.away(look)).max()), value))
        if len(solutions) >= count:
            break
    return solutions, best


def cannot_reach(task: Task, guess: Array, best: Look) -> KinematicsError:
    """Word the error for a pose that was not reached: the smallest gap, and what stands in the way."""
    plant, joints = task.plant, int(task.movers.sum())
    gap = task.away(best)
    away, turned = float(np.linalg.norm(gap[:3])), float(np.linalg.norm(gap[3:]))
    why, remedy = "", "Move the pose nearer, or give another guess=."
    if joints < 6:
        why, remedy = f"; {joints} joints move it, a pose takes six", "Choose a pose that they can give."
    if task.limits.names:
        free, _ = _search(task.unlimited, guess, 1, None)
        if free:
            there = task.look(shifted(plant.machine, free[0].q, guess))
            names = task.beyond(best, tolerances.AT_LIMIT) or task.beyond(there)
            why, remedy = f"; held back by the limits of {', '.join(names)}", "Move the pose, or widen the limits."
    return KinematicsError(
        f"{plant.system.name}: {task.frame} cannot reach {task.target.text}; smallest gap {away:.3g} m, "
        f"{turned:.3g} rad{why}. {remedy}"
    )
