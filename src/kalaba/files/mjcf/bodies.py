"""The bodies of an MJCF file: which sits on which and where, with their joints, geoms and sites.

<frame> and <replicate> are worked in: what stands in them is placed by them. At the pose that the file draws, every
joint is at its `ref=`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kalaba.files.mjcf.document import Compiler, Document, keyword
from kalaba.files.mjcf.placing import HERE, oriented, placed, radians, unit
from kalaba.files.mjcf.shapes import Shape, between, shape
from kalaba.files.xml_tree import MOST_ELEMENTS, Element
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.rotations import rotation_of, turn

WORLD_INDEX = 0
MOST_BODIES = 5000  # robots have some hundred; this many are read in seconds
MOST_COPIES = 10_000
JOINT_KINDS = ("hinge", "slide", "ball", "free")
NOT_READ = ("composite", "flexcomp", "attach", "skin", "plugin")
PICTURED = ("camera", "light")
INHERITED = "childclass"


@dataclass(frozen=True)
class FileJoint:
    """A joint as the file has it.

    Arguments:
        element: with its defaults
        kind: hinge, slide, ball or free
        position: a point that it turns about, in body axes, m
        axis: unit vector, in body axes
        reference: coordinate at the pose that the file draws, rad or m
        rest: coordinate at which its spring has no force, rad or m
        name: its name in the file, or one made from its body's
    """

    element: Element
    kind: str
    position: Array
    axis: Array
    reference: float
    rest: float
    name: str

    def moved(self, displacement: float) -> NumericPose:
        """Its motion: Trans(p) Rot(a, d) Trans(−p), or Trans(d a)."""
        if self.kind != "hinge":
            return NumericPose(displacement * self.axis, np.eye(3))
        R = rotation_of(turn(displacement * self.axis))
        return NumericPose(self.position - R @ self.position, R)


@dataclass
class Link:
    """A body as the file has it; the first is the world.

    Arguments:
        element: <body> or <worldbody>
        name: its name in the file, or one made from its number
        parent: which body it sits on
        pose: on that body
        world_pose: where it is at the pose that the file draws
        rest_pose: where it is with all joints where their springs have no force
    """

    element: Element
    name: str
    parent: int
    pose: NumericPose
    world_pose: NumericPose
    rest_pose: NumericPose = HERE
    joints: list[FileJoint] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    places: list[tuple[Element, NumericPose]] = field(default_factory=list)  # sites and named frames
    inertial: Element | None = None

    @property
    def is_mocap(self) -> bool:
        """Whether its pose is given from outside, in MuJoCo."""
        return self.element.get("mocap", "false") == "true"


@dataclass
class Tree:
    """Reads the bodies of a document, parents first."""

    document: Document
    links: list[Link] = field(default_factory=list)
    count: int = 0
    copies: int = 0  # of <replicate>, all together

    @staticmethod
    def of(document: Document) -> Tree:
        """All bodies; several <worldbody> are one."""
        tree = Tree(document)
        worlds = document.root.all("worldbody")
        world = worlds[0] if worlds else Element("worldbody", {}, document.root.file, document.root.line)
        tree.links.append(Link(world, "world", -1, HERE, HERE))
        for section in worlds:
            tree._content(section, WORLD_INDEX, HERE, section.get(INHERITED))
        for link in tree.links[1:]:
            link.rest_pose = tree.links[link.parent].rest_pose.then(link.pose)
            for joint in link.joints:
                link.rest_pose = link.rest_pose.then(joint.moved(joint.rest - joint.reference))
        return tree

    @property
    def compiler(self) -> Compiler:
        """Settings of the file."""
        return self.document.compiler

    def _content(self, element: Element, body: int, around: NumericPose, inherited: str) -> None:
        """What stands in a body, or in a frame on it."""
        for child in element:
            self.count += 1
            if self.count > MOST_ELEMENTS:
                raise child.error(f"expected at most {MOST_ELEMENTS} elements, copies of <replicate> included")
            if child.tag == "frame":
                self._frame(child, body, around, inherited)
            elif child.tag == "replicate":
                self._replicate(child, body, around, inherited)
            elif child.tag == "body":
                self._body(child, body, around, inherited)
            else:
                self._item(child, body, around, inherited)

    def _frame(self, element: Element, body: int, around: NumericPose, inherited: str) -> None:
        pose = around.then(placed(element, self.compiler))
        if element.get("name"):
            self.links[body].places.append((element, pose))
        self._content(element, body, pose, element.get(INHERITED) or inherited)

    def _replicate(self, element: Element, body: int, around: NumericPose, inherited: str) -> None:
        count = int(min(element.number("count"), 2 * MOST_COPIES))
        self.copies += count
        if count < 1 or self.copies > MOST_COPIES:
            raise element.error(f"count: expected 1 to {MOST_COPIES} copies in all, got {element.get('count')!r}")
        turned = replace(element, attributes={k: v for k, v in element.attributes.items() if k == "euler"})
        step = NumericPose(np.array(element.numbers("offset", 3, (0.0, 0.0, 0.0))), oriented(turned, self.compiler))
        pose, width = around, len(str(count - 1))
        for i in range(count):
            suffix = f"{element.get('sep')}{i:0{width}d}"
            self._content(_suffixed(element, suffix), body, pose, element.get(INHERITED) or inherited)
            pose = pose.then(step)

    def _body(self, element: Element, parent: int, around: NumericPose, inherited: str) -> None:
        index = len(self.links)
        if index > MOST_BODIES:
            raise element.error(f"expected at most {MOST_BODIES} bodies. Is it a robot?")
        pose = around.then(placed(element, self.compiler))
        name = element.get("name") or f"body{index}"
        self.links.append(Link(element, name, parent, pose, self.links[parent].world_pose.then(pose)))
        self._content(element, index, HERE, element.get(INHERITED) or inherited)

    def _item(self, element: Element, body: int, around: NumericPose, inherited: str) -> None:
        link, notes = self.links[body], self.document.source.notes
        match element.tag:
            case "geom":
                link.shapes.append(shape(self._resolved(element, inherited), self.compiler, around))
            case "site":
                resolved = self._resolved(element, inherited)
                link.places.append((resolved, around.then(_site_pose(resolved, self.compiler))))
            case "joint" | "freejoint" if body == WORLD_INDEX:
                raise element.error("expected joints in bodies, got one in the world")
            case "joint" | "freejoint":
                link.joints.append(self._joint(element, link, around, inherited))
            case "inertial":
                link.inertial = element
            case tag if tag in NOT_READ:
                notes.add(f"bodies and shapes of <{tag}> are left out", element.get("name") or link.name)
            case tag if tag in PICTURED:
                notes.add("left out, as they move nothing", tag)
            case tag:
                notes.add("elements that MJCF does not have are ignored", f"<{tag}> in {link.name}")

    def _resolved(self, element: Element, inherited: str) -> Element:
        return self.document.defaults.resolved(element, inherited)

    def _joint(self, element: Element, link: Link, around: NumericPose, inherited: str) -> FileJoint:
        if element.tag == "freejoint":  # which takes no defaults
            resolved, kind = element, "free"
        else:
            resolved = self._resolved(element, inherited)
            kind = keyword(resolved, "type", JOINT_KINDS, "hinge")
        name = element.get("name") or f"{link.name}_{kind}{len(link.joints) + 1 if link.joints else ''}"
        if kind == "free":
            return FileJoint(resolved, kind, np.zeros(3), np.zeros(3), 0.0, 0.0, name)
        axis = around.rotation @ unit(resolved, np.array(resolved.numbers("axis", 3, (0.0, 0.0, 1.0))), "axis")
        position = np.zeros(3)
        if kind != "slide":
            position = around.position + around.rotation @ np.array(resolved.numbers("pos", 3, (0.0, 0.0, 0.0)))
        reference, rest = (resolved.number(key, 0.0) for key in ("ref", "springref"))
        if kind == "hinge":
            reference, rest = (radians(resolved, angle, self.compiler) for angle in (reference, rest))
        if kind == "ball":
            reference = rest = 0.0
        return FileJoint(resolved, kind, position, axis, reference, rest, name)


def _site_pose(element: Element, compiler: Compiler) -> NumericPose:
    if "fromto" not in element.attributes:
        return placed(element, compiler)
    return between(element)[0]


def _suffixed(element: Element, suffix: str) -> Element:
    """A copy in which every name ends in a suffix."""
    attributes = dict(element.attributes)
    if "name" in attributes:
        attributes["name"] += suffix
    return replace(element, attributes=attributes, children=[_suffixed(child, suffix) for child in element.children])
