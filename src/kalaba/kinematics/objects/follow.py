"""The joint angles by which arms follow the objects that they hold: from poses and joints of the objects to q.

Where the objects are says where the frame of each arm is to be that holds, S = A; each arm is then solved alone. An arm
that is a tree and holds once, by a weld, has a pose to reach (`kb.branches`, `kb.inverse_kinematics`). Any other arm
has the rows of its grasps to close, φ(q) = 0, by the same search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalaba import tolerances
from kalaba.errors import KinematicsError, ModelError, near
from kalaba.kinematics import tree as inverse
from kalaba.kinematics.objects.opened import Opened, modes
from kalaba.kinematics.tree.chain import Limits, movers, shifted
from kalaba.kinematics.tree.differential import measure
from kalaba.kinematics.tree.task import Look, Target, Task, descend, nearest, target_of
from kalaba.plant.arguments import checked, checked_configuration
from kalaba.plant.readings import ScalarReadings
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose

if TYPE_CHECKING:
    from kalaba.kinematics.objects.holding import Arm
    from kalaba.kinematics.objects.opened import Ends

TRIES = 30  # starts of the search for rows


class Solution(NamedTuple):
    """A configuration in which an arm holds its objects."""

    q: Array
    measure: float  # smallest singular value of what moves the grasp, lengths in the machine's own


def place(opened: Opened, pose: Any, joints: Mapping[str, float], q: Array) -> Array:  # noqa: ANN401  (what a user wrote)
    """The configuration with the objects where they are wanted and the arms as they were."""
    plant = opened.closed
    free = {plant.machine.bodies[i].name: plant.machine.bodies[i] for i in opened.split.free}
    floating = {i for body in free.values() for i in opened.joint_coordinates(body)}
    names = {plant.coordinates[i]: i for i in np.flatnonzero(opened.objects) if i not in floating}
    if not isinstance(pose, Mapping | None) and len(free) != 1:
        raise ModelError(
            f"pose: expected poses by name of the bodies that float, {', '.join(free) or 'none'}, got {pose!r}."
        )
    wanted = dict(pose or {}) if isinstance(pose, Mapping | None) else {next(iter(free)): pose}
    for known, words, what in ((free, wanted, "body that floats"), (names, joints, "joint of an object")):
        for name in words:
            if name not in known:
                raise ModelError(f"{plant.system.name}: no {what} {name!r}; {near(name, known)}")
    q = q.copy()
    for name, value in joints.items():
        q[names[name]] = _within(opened, name, checked((value,), 1, f"joints, {name}", (name,))[0])
    for name, goal in wanted.items():
        q = opened.put(q, free[name], NumericPose(*target_of(goal)))
    return checked_configuration(q, plant.machine)


def _within(opened: Opened, name: str, value: float) -> float:
    """Refuse a joint of an object beyond its limits."""
    for body in opened.bodies:
        limits = body.joint.limits
        if limits is not None and body.displacements[0].name == name and not limits[0] <= value <= limits[1]:
            raise KinematicsError(
                f"joints, {name}: expected {limits[0]:g} to {limits[1]:g}, got {value:g}. Keep within its limits."
            )
    return value


def reach(opened: Opened, q: Array, singular: float) -> Array:
    """The configuration in which every arm holds the objects where they are in q, nearest to the arms' angles in q."""
    held = q.copy()
    for arm in opened.split.arms:
        if arm.rows:
            mine = opened.coordinates_of((*arm.follow, *arm.lead))
            held[mine] = _nearest(opened, arm, q, singular).q[mine]
    gap, scales = np.abs(opened.closed.residual(held)), opened.closed.scales
    parts = gap / scales.rows
    if not parts.max(initial=0.0) <= tolerances.POSE_MET * max(1.0, float((np.abs(held) / scales.places).max())):
        row, left = opened.closed.constraints[int(np.argmax(parts))], gap[int(np.argmax(parts))]
        raise KinematicsError(f"{opened.closed.system.name}: {row} stays open by {left:.3g}. Give another near=.")
    return held


def branches(opened: Opened, q: Array) -> dict[str, tuple[Array, ...]]:
    """For each arm the configurations of all its branches, the nearest to q first; the rest is as in q."""
    by_arm = {}
    for arm in opened.split.arms:
        if arm.rows:
            end = opened.only_weld(arm)
            there = _closings(opened, arm, q) if end is None else _branches(opened, end, q)
            by_arm[arm.name] = tuple(solution.q for solution in _sorted(opened, arm, there, q))
    return by_arm


def _nearest(opened: Opened, arm: Arm, q: Array, singular: float) -> Solution:
    """Of an arm's solutions the nearest to q; refuses one that is singular."""
    end = opened.only_weld(arm)
    there = _closings(opened, arm, q) if end is None else _poses(opened, arm, end, q)
    best = _sorted(opened, arm, there, q)[0]
    if not best.measure > singular:
        raise KinematicsError(
            f"{_where(opened, arm, q)} is singular; its measure is {best.measure:.3g}, below {singular:.3g} "
            f"(lengths in {opened.closed.scales.length:g} m). Choose another pose, or a lower singular=."
        )
    return best


def _sorted(opened: Opened, arm: Arm, solutions: list[Solution], q: Array) -> list[Solution]:
    mine = opened.coordinates_of((*arm.follow, *arm.lead))
    sizes = opened.closed.scales.coordinates
    return sorted(solutions, key=lambda solution: float(np.linalg.norm(((solution.q - q) / sizes)[mine])))


def _where(opened: Opened, arm: Arm, q: Array) -> str:
    """An arm, its grasps and where they are, for people."""
    holds = [hold for hold in opened.split.holds if hold.arm == arm.name]
    names = ", ".join(hold.name for hold in holds)
    body = opened.closed.machine.bodies[holds[0].body].name if holds else arm.name
    place = Target(*opened.plant.pose(body, q)).text
    return f"{opened.closed.system.name}: {arm.name} by {names} on {body} at {place}"


def _poses(opened: Opened, arm: Arm, end: Ends, q: Array) -> list[Solution]:
    """The solutions of an arm that has a pose to reach: all branches, or one by search."""
    plant = opened.plant
    try:
        return _branches(opened, end, q)
    except KinematicsError:
        pass  # no such wrist, or no branch there: the search tells
    try:
        solution = inverse.inverse_kinematics(plant, end.on_arm, plant.pose(end.on_object, q), guess=q)
    except KinematicsError as error:
        raise KinematicsError(f"{_where(opened, arm, q)}: {error}") from error
    assert isinstance(solution, inverse.Reach)  # noqa: S101  (one was asked for)
    return [Solution(solution.q, solution.measure)]


def _branches(opened: Opened, end: Ends, q: Array) -> list[Solution]:
    """All branches of an arm with a spherical wrist, whole turns nearer to q."""
    plant = opened.plant
    solved = inverse.branches(plant, end.on_arm, plant.pose(end.on_object, q))
    mine = opened.coordinates_of(tuple(np.flatnonzero(movers(plant.machine, end.on_arm))))
    there = [np.where(mine, shifted(plant.machine, branch, q), q) for branch in solved]
    return [Solution(branch, measure(plant, end.on_arm, branch)) for branch in there]


@dataclass(frozen=True)
class Closing(Task):
    """Close the rows of an arm by its own joints, within limits; frame and target are those of its first grasp."""

    arm: Arm

    @cached_property
    def movers(self) -> NDArray[np.bool_]:
        """The velocities of the arm, but for modes of beams."""
        bent = {j for i, j in self.plant.machine.scalar_pairs if i in modes(self.plant)}
        velocities = {*self.arm.follow, *self.arm.lead} - bent
        return np.isin(np.arange(len(self.plant.velocities)), list(velocities))

    @cached_property
    def sizes(self) -> Array:
        """Of the rows: the machine's length for metres, 1 for angles."""
        return np.asarray(self.plant.scales.strengths[list(self.arm.rows)])

    def look(self, q: Array) -> Look:
        """Gaps of the rows, their rates, and the limited displacements."""
        plant, rows, n = self.plant, list(self.arm.rows), len(self.plant.velocities)
        matrix, _ = plant.constraint(q, np.zeros(n))
        limited = ScalarReadings.of(plant.watch(self.limits.names, plant.inputs(q)), n)
        return self.sized(plant.residual(q)[rows], matrix[rows][:, self.movers], limited)

    def is_flipped(self, q: Array) -> bool:
        """Whether a grasp of the arm sits at a false root of its rows."""
        machine = self.plant.machine
        mine = {self.plant.constraints[row] for row in self.arm.rows}
        cosines = self.plant.evaluate("alignments", self.plant.inputs(q))["cosines"]
        return any(c < 0 and set(closure.rows) <= mine for c, closure in zip(cosines, machine.closures, strict=True))


def _closings(opened: Opened, arm: Arm, q: Array) -> list[Solution]:
    """The first solution of an arm whose grasps leave it free, or that is no tree: from q, then from all over."""
    hold = next(hold for hold in opened.split.holds if hold.arm == arm.name)
    task = Closing(opened.closed, hold.arm_frame, Target(*opened.closed.pose(hold.child, q)), _limits(opened, arm), arm)
    least = np.inf
    for start in task.starts(q, TRIES):
        solution, look = descend(task, start)
        if not task.is_met(look) or task.is_flipped(solution):
            least = min(least, np.inf if task.is_met(look) else float(np.abs(task.away(look)).max()))
            continue
        solution, look = nearest(task, shifted(opened.closed.machine, solution, q), q)
        return [Solution(solution, float(np.linalg.svd(look.jacobian, compute_uv=False).min()))]
    held = f", within the limits of {', '.join(task.limits.names)}" if task.limits.names else ""
    raise KinematicsError(
        f"{_where(opened, arm, q)} is out of reach{held}; smallest gap {least:.3g}. Move the pose nearer."
    )


def _limits(opened: Opened, arm: Arm) -> Limits:
    """The limits of an arm's joints."""
    machine = opened.closed.machine
    frames = [hold.arm_frame for hold in opened.split.holds if hold.arm == arm.name]
    limits = [Limits.of(machine, frame) for frame in frames]
    rows = {row[0]: row for part in limits for row in zip(part.names, part.low, part.high, strict=True)}
    low, high = (np.array([row[k] for row in rows.values()], dtype=float) for k in (1, 2))
    return Limits(tuple(rows), low, high)
