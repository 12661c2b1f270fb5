"""Loops of a URDF, which the format itself cannot hold. Three ways in which files add them are read here.

<loop>, <coupling>    URDF+ (Chignoli et al. 2024, arXiv:2411.19753): a joint between frames of two links; a ratio
<constraint>          the proposal for urdfdom (https://github.com/ros/urdfdom/pull/264): a joint between two links, or
a link that is cut, with an origin and an axis on each side
loops=                a file beside it: kalaba YAML, or the YAML of Extended URDF (Batto et al. 2025,
arXiv:2504.04767): pairs of frames that coincide in all (6d) or in their origins (3d)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from kalaba.errors import near
from kalaba.files.names import Names
from kalaba.files.urdf.elements import axis, origin
from kalaba.joints import Cylindrical, Joint, Planar, Prismatic, Revolute, Spherical, Universal, Weld
from kalaba.model.parts import Connection, Constraint, Frame
from kalaba.space.pose import Axis, Pose
from kalaba.space.rotations import from_pose, quaternion_of, rotation_of

if TYPE_CHECKING:
    from kalaba.files.urdf.machine import Hinge, Robot
    from kalaba.files.xml_tree import Element
    from kalaba.space.arrays import Array

ALONG_AXIS: Mapping[str, Callable[[Axis], Joint]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "cylindrical": Cylindrical,
    "planar": Planar,
}
WITHOUT_AXIS: Mapping[str, Joint] = {"fixed": Weld(), "link": Weld(), "spherical": Spherical(), "ball": Spherical()}
Closing = Connection | Constraint | Frame


def read(root: Element, robot: Robot) -> list[Closing]:
    """Parts that close the loops that elements of a file describe."""
    names = Names(robot.notes, "loop", taken={*robot.frames.values()})
    parts: list[Closing] = []
    for element in root:
        if element.tag in READERS:
            name = names[element.required("name")]
            parts += READERS[element.tag](element, name, robot)
    return parts


def _frame(element: Element, robot: Robot) -> str:
    """The frame here of the link that an element names."""
    link = element.required("link")
    if link not in robot.frames:
        raise element.error(f"no link {link!r}; {near(link, robot.frames)}")
    return robot.frames[link]


def _loop(element: Element, name: str, robot: Robot) -> Iterator[Closing]:
    parent, child = element.require("predecessor"), element.require("successor")
    joint = _joint(element, axis(element))
    yield from _closed(name, (_frame(child, robot), origin(child)), (_frame(parent, robot), origin(parent)), joint)


def _constraint(element: Element, name: str, robot: Robot) -> Iterator[Closing]:
    """The axes on both sides are given in the frames there: the child's frame is turned until they are the same."""
    parent, child = (_frame(element.require(tag), robot) for tag in ("parent", "child"))
    at, end = origin(element, "parent_origin"), origin(element, "child_origin")
    here, there = axis(element, "parent_axis"), axis(element, "child_axis")
    if _type(element) == "universal":
        yield from _closed(name, (child, end), (parent, at), Universal(here, there))
        return
    joint = _joint(element, here)
    if _type(element) in ALONG_AXIS and element.first("child_axis") is not None and here != there:
        position, quaternion = from_pose(end, float)
        turned = rotation_of(quaternion) @ _turn(here, there)
        end = Pose(tuple(position), quaternion=tuple(quaternion_of(turned)))
    yield from _closed(name, (child, end), (parent, at), joint)


def _turn(first: Axis, second: Axis) -> Array:
    """The shortest rotation that takes one direction to another."""
    a, b = np.array(first.components), np.array(second.components)
    if a @ b < -1 + 1e-12:  # half a turn about anything across it
        across = np.array(first.across()[0].components)
        return np.asarray(2 * np.outer(across, across) - np.eye(3))
    x, y, z = np.cross(a, b)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + K + K @ K / (1 + a @ b))


def _type(element: Element) -> str:
    """The type of a joint; urdfdom's proposal reads `revolute` and writes `revolute_joint`."""
    return element.required("type").removesuffix("_joint")


def _joint(element: Element, along: Axis) -> Joint:
    kind = _type(element)
    if kind in WITHOUT_AXIS:
        return WITHOUT_AXIS[kind]
    if kind not in ALONG_AXIS:
        known = ", ".join((*ALONG_AXIS, *WITHOUT_AXIS))
        raise element.error(f"type: expected one of {known}, got {kind!r}")
    return ALONG_AXIS[kind](along)


def _closed(name: str, child: tuple[str, Pose], parent: tuple[str, Pose], joint: Joint) -> Iterator[Closing]:
    """A connection, and a frame where the child's side is not a link's own."""
    frame, place = child
    if place != Pose():
        yield Frame(f"{name}_end", frame, place)
        frame = f"{name}_end"
    yield Connection(name, frame, parent[0], parent[1], joint)


def _coupling(element: Element, name: str, robot: Robot) -> Iterator[Closing]:
    """Turn of the successor = ratio · turn of the predecessor, both relative to the link that carries the two."""
    ends = {}
    for tag in ("successor", "predecessor"):
        link = element.require(tag)
        _frame(link, robot)
        ends[tag] = _above(link.required("link"), robot)
    shared = {joint.name for joint in ends["successor"]} & {joint.name for joint in ends["predecessor"]}
    sums = {}
    for tag, joints in ends.items():
        moving = [robot.displacement(j) for j in joints if j.name not in shared and j.is_scalar]
        if not moving:
            raise element.error(f"{tag}: expected a link that moves relative to the other, got one that does not")
        sums[tag] = " + ".join(moving)
    given = element.first("ratio")
    ratio = 1.0 if given is None else given.number("value")
    yield Constraint(name, f"({sums['successor']}) - {ratio!r}*({sums['predecessor']})")


def _above(link: str, robot: Robot) -> list[Hinge]:
    """The joints from a link up to the root."""
    above = {joint.child: joint for joint in robot.joints.values()}
    joints = []
    while link in above:
        joints.append(above[link])
        link = above[link].parent
    return joints


READERS: Mapping[str, Callable[[Element, str, Robot], Iterator[Closing]]] = {
    "loop": _loop,
    "coupling": _coupling,
    "constraint": _constraint,
}
TAGS = tuple(READERS)
