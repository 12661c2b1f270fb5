"""Arms and objects with every grasp let go: where frames are, whatever the grasps say, and whose numbers are whose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.model.parts import Connection, Frame
from kalaba.model.text.expressions import Values, number
from kalaba.native.backend import Interpreted
from kalaba.plant.arguments import checked_configuration
from kalaba.plant.plant import Plant, build
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.number import with_values
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose

if TYPE_CHECKING:
    from kalaba.joints import Joint
    from kalaba.kinematics.objects.holding import Arm, Hold, Split
    from kalaba.model.machine import MachineBody


class Ends(NamedTuple):
    """The two frames of the opened machine that a grasp brings together as its joint allows."""

    hold: Hold
    on_arm: str
    on_object: str
    is_weld: bool


@dataclass(frozen=True)
class Opened:
    """The machine with every grasp let go, a frame in the place of each, and which numbers belong to what.

    Arguments:
        closed: the machine of arms that hold objects
        split: who holds what in it
    """

    closed: Plant
    split: Split

    @cached_property
    def plant(self) -> Plant:
        """The same coordinates without the rows of the grasps; frames have the names of the grasps."""
        system = self.closed.system
        grips = {part.name for part in system.parts if isinstance(part, Connection)}
        parts = tuple(_seat(part) if isinstance(part, Connection) else part for part in system.parts)
        parameters = {k: v for k, v in system.parameters if k.split(".")[0] not in grips or k.split(".")[1] == "at"}
        return build(replace(system, parts=parts, parameters=tuple(parameters.items())), backend=Interpreted())

    @cached_property
    def ends(self) -> tuple[Ends, ...]:
        """The frames of every grasp that was let go."""
        machine, frames = self.closed.machine, self.plant.machine.frames
        welds = {c.name for c in machine.connections if c.joint.is_rigid}
        ends = []
        for hold in self.split.holds:
            if hold.name in frames:
                pair = (hold.child, hold.name) if hold.is_child_on_arm else (hold.name, hold.child)
                ends.append(Ends(hold, *pair, hold.name in welds))
        return tuple(ends)

    def only_weld(self, arm: Arm) -> Ends | None:
        """The one grasp of an arm that is a tree and holds by a weld; None for any other arm."""
        ends = [end for end in self.ends if end.hold.arm == arm.name]
        is_tree = not self.plant.constraints and len(arm.rows) == 6
        return ends[0] if is_tree and len(ends) == 1 and ends[0].is_weld else None

    @cached_property
    def objects(self) -> NDArray[np.bool_]:
        """Which coordinates are the objects'; those of arms are the others."""
        return self.coordinates_of(self.split.objects)

    @cached_property
    def bodies(self) -> tuple[MachineBody, ...]:
        """The bodies of the objects, parents first."""
        machine, held = self.plant.machine, {hold.body for hold in self.split.holds}
        coordinates = {self.plant.coordinates[i] for i in np.flatnonzero(self.objects)}
        free = set(self.split.free)
        return tuple(
            body
            for i, body in enumerate(machine.bodies)
            if i in free | held
            or any(d.expression.names & coordinates for d in body.displacements)
            or self._is_ball(body)
        )

    def _is_ball(self, body: MachineBody) -> bool:
        return body.joint.has_quaternion and bool(self.objects[body.q_index])

    def coordinates_of(self, velocities: tuple[int, ...]) -> NDArray[np.bool_]:
        """Which coordinates belong to velocities."""
        mask, machine = np.zeros(len(self.plant.coordinates), dtype=bool), self.plant.machine
        for i, j in machine.scalar_pairs:
            mask[i] |= j in velocities
        for i, j in machine.quaternions:
            mask[i : i + 4] |= j in velocities
        return mask

    def joint_coordinates(self, body: MachineBody) -> list[int]:
        """Indices in q of a joint's displacements; none where one of them is no coordinate of its own."""
        if body.joint.has_quaternion:
            return list(range(body.q_index, body.q_index + body.joint.q_count))
        names = self.plant.coordinates
        indices = [names.index(d.name) if d.name in names else -1 for d in body.displacements]
        return [] if -1 in indices else indices

    def _joint(self, body: MachineBody) -> Joint:
        """The joint of a body with plain numbers."""
        values = Values({parameter.name: parameter.value for parameter in self.plant.machine.parameters})
        return with_values(body.joint, lambda path: number(getattr(body.joint, path), values))

    def put(self, q: Array, body: MachineBody, pose: NumericPose) -> Array:
        """The configuration with a body's own displacements such that it is at a pose, as nearly as its joint can."""
        joint, q = self.joint_coordinates(body), q.copy()
        if not joint:
            return q
        before = q[joint]
        q[joint] = 0.0
        if body.joint.has_quaternion:
            q[joint[-4]] = 1.0
        q[joint] = self._joint(body).coordinates_at(*pose.seen_from(self.plant.pose(body.name, q)))
        if body.joint.has_quaternion and q[joint[-4:]] @ before[-4:] < 0:
            q[joint[-4:]] *= -1  # the same pose, on the side of the one before
        return q


def _seat(connection: Connection) -> Frame:
    """Where the child of a connection sits; building a plant has settled what was to be found."""
    if not isinstance(connection.at, Pose):
        raise TypeError(f"{connection.name}.at: expected a pose, got {connection.at!r}")
    return Frame(connection.name, connection.parent, connection.at)


def configuration(plant: Plant, near: State | ArrayLike | None) -> Array:
    """The q of a state or a configuration; the start by default."""
    if near is None:
        return plant.start.q.copy()
    return checked_configuration(near, plant.machine).copy()


def modes(plant: Plant) -> set[int]:
    """Indices in q of the modes of beams: they stay bent as they are."""
    return {i for body in plant.machine.bodies for i in body.modes_in_q}
