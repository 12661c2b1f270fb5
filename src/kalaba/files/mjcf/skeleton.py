"""A machine as MJCF: its tree as bodies, its loops as equalities, to be compared in MuJoCo.

Bodies without mass or moment of inertia get the least that MuJoCo accepts. Equalities are soft in MuJoCo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kalaba.errors import FileError
from kalaba.files.mjcf.placing import HERE
from kalaba.files.moving import Coordinates, steps
from kalaba.files.source import Notes
from kalaba.files.xml_out import Tag
from kalaba.model.machine import Machine, MachineBody
from kalaba.model.names import WORLD
from kalaba.model.text.expressions import Values, number, parse
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.space.rotations import from_pose, quaternion_of, rotation_of
from kalaba.tolerances import LEAST_INERTIA


def placed(pose: NumericPose) -> dict[str, Array]:
    """`pos=` and `quat=` of a pose, where they say something."""
    said: dict[str, Array] = {}
    if np.any(pose.position):
        said["pos"] = pose.position
    if not np.array_equal(pose.rotation, np.eye(3)):
        said["quat"] = quaternion_of(pose.rotation)
    return said


@dataclass
class Skeleton:
    """The bodies of a machine as elements, with the places on them.

    Arguments:
        machine: the machine
        notes: where all that is left out is noted
    """

    machine: Machine
    notes: Notes

    def __post_init__(self) -> None:
        machine = self.machine
        self.parameters = {p.name: p.value for p in machine.parameters}
        self.root = Tag("mujoco", {"model": machine.name})
        self.root.add("compiler", angle="radian", boundmass=LEAST_INERTIA, boundinertia=LEAST_INERTIA)
        self.root.add("option", gravity=np.array([self.value(g) for g in machine.gravity]))
        self.world = self.root.add("worldbody")
        self.elements: dict[int, Tag] = {-1: self.world}
        self.contents: dict[int, NumericPose] = {-1: HERE}  # of a body's frame on its element
        self.drawn: dict[int, NumericPose] = {-1: HERE}  # body's frame in the world with all displacements at zero
        self.joints: dict[str, Tag] = {}
        self.sites: dict[str, str] = {}
        for body in machine.bodies:
            if body.solid.modes:
                raise FileError(f"{machine.name}.{body.name}: MJCF holds rigid bodies, got a flexible one.")
        scalar = [body for body in machine.bodies if not body.joint.has_quaternion]
        self.steps = {body.name: steps(body, self.value) for body in scalar}
        self.coordinates = Coordinates(machine, "MJCF", self.parameters)
        for index, body in enumerate(machine.bodies):
            self._add_body(index, body)

    def value(self, entry: Any) -> float:  # noqa: ANN401  (a number of the model)
        """A number of the model."""
        return number(parse(entry), Values(self.parameters))

    @staticmethod
    def at(expression: Any, values: dict[str, float]) -> float:  # noqa: ANN401  (an Expression)
        """An expression for given values."""
        return number(expression, Values(values))

    def pose(self, at: Pose) -> NumericPose:
        """A pose of the model."""
        position, quaternion = from_pose(at, self.value)
        return NumericPose(position, rotation_of(quaternion))

    def on_body(self, frame: str) -> tuple[int, NumericPose]:
        """The body that carries a frame, and where on it."""
        known = self.machine.frames[frame]
        if frame == WORLD:
            return -1, HERE
        if known.is_tip:
            body = self.machine.bodies[known.body]
            tip = body.solid.mass_properties(self.value).tip
            return known.body, NumericPose(np.array(tip, dtype=float), np.eye(3))
        if known.at is None:
            return known.body, HERE
        body_index, parent = self.on_body(known.parent)
        return body_index, parent.then(self.pose(known.at))

    def _add_body(self, index: int, body: MachineBody) -> None:
        carrier, seat = self.on_body(body.parent)
        seat = seat.then(self.pose(body.at))
        element = self.elements[carrier].add("body", name=body.name, **placed(self.contents[carrier].then(seat)))
        self.elements[index] = element
        if body.joint.has_quaternion:
            self.contents[index] = HERE
            self._add_turning(body, element, is_plain=carrier == -1 and not placed(seat))
        else:
            self.contents[index] = self._add_steps(body, element)
        self.drawn[index] = self.drawn[carrier].then(seat).then(self.contents[index])
        self._add_mass(body, element, self.contents[index])

    def _add_turning(self, body: MachineBody, element: Tag, *, is_plain: bool) -> None:
        """A ball; before it, for a free body, its travels: a free joint where its seat is the world itself."""
        if body.joint.has_position and is_plain:
            self.joints[body.name] = element.add("freejoint", name=body.name)
            return
        if body.joint.has_position:
            for label, axis in zip("xyz", np.eye(3), strict=True):
                name = f"{body.name}.{label}"
                self.joints[name] = element.add("joint", name=name, type="slide", axis=axis)
        self.joints[body.name] = element.add("joint", name=body.name, type="ball")

    def _add_steps(self, body: MachineBody, element: Tag) -> NumericPose:
        """Hinges and slides; those that stand still are moved behind the others: seat J K J' = seat J (K J' K⁻¹) K."""
        behind = HERE
        for step in self.steps[body.name]:
            constant = self.coordinates.constants.get(step.displacement)
            if constant is not None:
                behind = behind.then(step.moved(constant))
                continue
            joint = element.add("joint", name=step.name, type=step.kind, axis=behind.rotation @ step.axis)
            if step.kind == "hinge" and np.any(behind.position):
                joint.attributes["pos"] = behind.position
            limits = body.joint.limits
            if limits is not None and len(self.steps[body.name]) == 1 and np.isfinite(limits).all():
                joint.attributes["range"] = np.array(limits)
            self.joints[step.name] = joint
        return behind

    def _add_mass(self, body: MachineBody, element: Tag, content: NumericPose) -> None:
        mass, com, inertia, _ = body.solid.mass_properties(self.value)
        xx, yy, zz, xy, xz, yz = (float(entry) for entry in inertia)
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if not mass and not matrix.any():
            return
        R = content.rotation
        turned = R @ matrix @ R.T if not np.array_equal(R, np.eye(3)) else matrix
        six = np.array([turned[pair] for pair in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))])
        place = content.then(NumericPose(np.array(com, dtype=float), np.eye(3))).position
        moments = {"fullinertia": six} if np.any(six[3:]) else {"diaginertia": six[:3]}
        element.children.append(Tag("inertial", {"pos": place, "mass": float(mass), **moments}))

    def site(self, name: str, frame: str, at: NumericPose = HERE) -> str:
        """A site at a place on a frame; the same site for the same name."""
        if name not in self.sites:
            body, pose = self.on_body(frame)
            place = self.contents[body].then(pose.then(at))
            self.elements[body].add("site", name=name, **placed(place))
            self.sites[name] = name
        return name

    def where_drawn(self, frame: str, at: NumericPose = HERE) -> NumericPose:
        """Pose in the world of a place on a frame, with all displacements of MJCF at zero."""
        body, pose = self.on_body(frame)
        return self.drawn[body].then(pose.then(at))
