"""Bodies, joints and places of an MJCF file as parts of a System.

A body with several joints becomes a chain: massless links between them, and the body with its mass at the end. Its
frame is where MuJoCo has it, so a hinge at `pos=` is a massless link of its own, on which the body is welded. Hinges
and slides are coordinates under their joints' names, those of MuJoCo; balls and free joints have those of their link::

    child = seat · Π_i Trans(p_i) Rot(a_i, q_i − ref_i) Trans(−p_i)
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from kalaba.errors import near
from kalaba.files.mjcf.bodies import FileJoint, Link, Tree
from kalaba.files.mjcf.document import Document, keyword
from kalaba.files.mjcf.masses import lumps
from kalaba.files.mjcf.meshes import Meshes
from kalaba.files.mjcf.placing import HERE
from kalaba.files.mjcf.shapes import Lump
from kalaba.files.names import Names
from kalaba.files.source import Notes
from kalaba.files.tree import MASSLESS, Drive, as_pose, limits_of, solid_of, strength
from kalaba.files.xml_tree import Element
from kalaba.joints import Free, Joint, Prismatic, Revolute, Spherical, Weld
from kalaba.model.acting import Force
from kalaba.model.names import WORLD
from kalaba.model.parts import Body, Frame
from kalaba.model.solids import Solid
from kalaba.model.system import AnyPart
from kalaba.model.text.syntax import number_text
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose

SOFT_FRICTION = "dry friction is smooth around zero speed (creep of the Spring)"


@dataclass(frozen=True, slots=True)
class Timed:
    """A joint whose spring is given by `springdamper=`: a time constant, s, and a ratio of damping.

    Arguments:
        name: its coordinate
        time: time constant, s
        ratio: of damping
        rest: where the spring has no force, rad or m
        friction: dry friction, N·m or N
    """

    name: str
    time: float
    ratio: float
    rest: float
    friction: float

    def drive(self, inertia: float) -> Drive:
        """Give k = J/(T ζ)² and d = 2 J/T, with the inertia J that the joint has at the pose that the file draws."""
        stiffness, damping = inertia / (self.time * self.ratio) ** 2, 2 * inertia / self.time
        return Drive(self.name, self.name, None, damping, self.friction, stiffness, self.rest)


@dataclass
class Assembly:
    """The parts that a file becomes, and how its names are found in them."""

    document: Document
    tree: Tree
    parts: list[AnyPart] = field(default_factory=list)
    coordinates: list[str] = field(default_factory=list)
    guess: dict[str, float | Pose] = field(default_factory=dict)
    timed: list[Timed] = field(default_factory=list)

    def __post_init__(self) -> None:
        taken: set[str] = set()
        self.meshes = Meshes(self.document)
        self.lumps = lumps(self.tree, self.meshes)
        self.body_names = Names(self.notes, "body", taken)
        self.joint_names = Names(self.notes, "joint", taken, after="_joint")
        self.site_names = Names(self.notes, "site", taken, after="_site")
        self.tendon_names = Names(self.notes, "tendon", taken, after="_tendon")
        self.equality_names = Names(self.notes, "equality", taken, after="_equality")
        self.actuator_names = Names(self.notes, "actuator", taken, after=".motor")
        self.bodies = {link.name: index for index, link in enumerate(self.tree.links)}
        self.joints: dict[str, tuple[FileJoint, str]] = {}  # name in the file → joint, coordinate or link here
        self.sites: dict[str, tuple[int, NumericPose]] = {}  # name in the file → body, pose on it
        for what, names in (("body", [link.name for link in self.tree.links]), ("joint", self._joint_names())):
            for name in sorted(name for name, times in Counter(names).items() if times > 1):
                raise self.document.root.error(f"a second {what} {name!r}. Rename one of them")
        for link in self.tree.links[1:]:
            _ = self.body_names[link.name]  # bodies have the first choice of names
        for name in self._joint_names():
            _ = self.joint_names[name]

    def _joint_names(self) -> list[str]:
        return [joint.name for link in self.tree.links for joint in link.joints]

    @property
    def notes(self) -> Notes:
        """Where all that is left out is noted."""
        return self.document.source.notes

    def frame(self, index: int) -> str:
        """Name here of a body of the file."""
        return WORLD if index == 0 else self.body_names[self.tree.links[index].name]

    def body(self, element: Element, key: str) -> int:
        """The body that an attribute names; the world if there is none."""
        name = element.get(key)
        if name and name not in self.bodies:
            raise element.error(f"{key}: no body {name!r}; {near(name, self.bodies).rstrip('.')}")
        return self.bodies[name] if name else 0

    def joint(self, element: Element, key: str) -> tuple[FileJoint, str]:
        """The joint that an attribute names, and its coordinate or link here."""
        name = element.required(key)
        if name not in self.joints:
            raise element.error(f"{key}: no joint {name!r}; {near(name, self.joints).rstrip('.')}")
        return self.joints[name]

    def site(self, element: Element, key: str) -> str:
        """The frame here of the site that an attribute names."""
        name = element.required(key)
        if name not in self.sites:
            raise element.error(f"{key}: no site {name!r}; {near(name, self.sites).rstrip('.')}")
        return self.site_names[name]

    def moving(self, index: int) -> int:
        """The body with joints that a body is fixed to; the world if none."""
        while index > 0 and not self.tree.links[index].joints:
            index = self.tree.links[index].parent
        return max(index, 0)

    def add_bodies(self) -> None:
        """All bodies with their joints, springs and places, parents first."""
        for index, link in enumerate(self.tree.links):
            if index:
                self._add_chain(link, self.lumps[index])
            for number, (element, pose) in enumerate(link.places, start=1):
                self._add_place(index, element, pose, number)

    def _add_place(self, index: int, element: Element, pose: NumericPose, number: int) -> None:
        name = element.get("name") or f"{self.tree.links[index].name}_{element.tag}{number}"
        if name in self.sites:
            raise element.error(f"a second site {name!r}. Rename one of them")
        self.sites[name] = (index, pose)
        self.parts.append(Frame(self.site_names[name], self.frame(index), as_pose(pose)))

    def _add_chain(self, link: Link, lump: Lump) -> None:
        name, parent = self.body_names[link.name], self.frame(link.parent)
        self._check_joints(link)
        if not link.joints:
            self._add_fixed(link, lump, name, parent)
            return
        seat, offset = link.pose, np.zeros(3)  # of the next joint: on `parent`, shifted by what the last one left
        if link.joints[0].kind == "free":
            self.guess[name] = as_pose(seat)
            seat = HERE
        for joint in link.joints:
            is_last = joint is link.joints[-1] and not np.any(joint.position)
            here = name if is_last else self.joint_names.fresh(f"{name}_{self.joint_names[joint.name]}")
            seat = seat.then(NumericPose(joint.position - offset, np.eye(3)))
            solid = self._solid(name, lump, joint) if is_last else MASSLESS
            self.parts.append(Body(here, solid, parent, as_pose(seat), self._joint(joint, here)))
            self._add_forces(joint, here, parent)
            parent, seat, offset = here, HERE, joint.position
        if parent != name:
            at = as_pose(NumericPose(-offset, np.eye(3)))
            self.parts.append(Body(name, self._solid(name, lump, None), parent, at, Weld()))
        self._add_weight(link, lump, name)

    def _check_joints(self, link: Link) -> None:
        kinds = [joint.kind for joint in link.joints]
        if "free" in kinds and (len(kinds) > 1 or link.parent != 0):
            raise link.joints[0].element.error("expected a free joint alone, in a body that stands on the world")

    def _add_fixed(self, link: Link, lump: Lump, name: str, parent: str) -> None:
        """A body without joints: welded, or a place if it weighs nothing."""
        if link.is_mocap:
            self.notes.add("bodies that MuJoCo is told the pose of (mocap) stand still", name)
        if lump.mass > 0.0:
            self.parts.append(Body(name, self._solid(name, lump, None), parent, as_pose(link.pose), Weld()))
        else:
            self.parts.append(Frame(name, parent, as_pose(link.pose)))
        self._add_weight(link, lump, name)

    def _solid(self, name: str, lump: Lump, joint: FileJoint | None) -> Solid:
        """A body's solid. A free joint's armature is inertia of its own: isotropic, it turns without further terms."""
        inertia = lump.inertia
        if joint is not None and joint.kind == "free":
            inertia = inertia + self._number(joint, "armature") * np.eye(3)
        six = tuple(float(inertia[pair]) for pair in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        return solid_of(lump.mass, lump.centre.tolist(), np.eye(3), six, self.notes, name)

    def _joint(self, joint: FileJoint, here: str) -> Joint:
        name = self.joint_names[joint.name]
        if joint.kind in {"free", "ball"}:
            self.joints[joint.name] = (joint, here)
            return Free() if joint.kind == "free" else Spherical()
        self.joints[joint.name] = (joint, name)
        self.coordinates.append(name)
        self.guess[name] = joint.reference
        kind = Revolute if joint.kind == "hinge" else Prismatic
        q = f"{name} - {number_text(joint.reference)}" if joint.reference > 0 else name
        q = f"{name} + {number_text(-joint.reference)}" if joint.reference < 0 else q
        return kind(tuple(joint.axis.tolist()), q, self._limits(joint))

    def _limits(self, joint: FileJoint) -> tuple[float, float] | None:
        """Lowest and highest displacement, which is the coordinate less its reference."""
        element = joint.element
        automatic = "range" in element.attributes and self.document.compiler.has_automatic_limits
        is_limited = keyword(element, "limited", ("true", "false", "auto"), "auto")
        if is_limited == "false" or (is_limited == "auto" and not automatic):
            return None
        scale = self.document.compiler.degree if joint.kind == "hinge" else 1.0
        low, high = (bound * scale - joint.reference for bound in element.numbers("range", 2))
        return limits_of(low, high, self.notes, joint.name)

    def _number(self, joint: FileJoint, key: str) -> float:
        """A coefficient of a joint; MuJoCo's polynomials have further ones, which are noted."""
        element = joint.element
        numbers = element.read_numbers(element.get(key, "0"), None, key)
        if any(numbers[1:]):
            self.notes.add(f"{key} as a polynomial: only its linear part is held", joint.name)
        if not numbers:
            raise element.error(f"{key}: expected a number, got none")
        return strength(element, key, numbers[0], self.notes, joint.name)

    def _add_forces(self, joint: FileJoint, here: str, parent: str) -> None:
        """Springs, dampers, friction and armature along a joint."""
        document, name = self.document, self.joint_names[joint.name]
        stiffness = self._number(joint, "stiffness") if document.is_on("spring") else 0.0
        damping = self._number(joint, "damping") if document.is_on("damper") else 0.0
        friction = self._number(joint, "frictionloss") if document.is_on("frictionloss") else 0.0
        armature = self._number(joint, "armature")
        self._note_left_out(joint)
        if joint.kind in {"hinge", "slide"}:
            time, ratio = joint.element.numbers("springdamper", 2, (0.0, 0.0))
            if time > 0 and ratio > 0:
                self.timed.append(Timed(name, time, ratio, joint.rest, friction))
                stiffness = damping = friction = 0.0
            self.add_drive(Drive(name, name, None, damping, friction, stiffness, joint.rest, armature))
            return
        if stiffness:
            self.notes.add("springs of ball and free joints are left out", joint.name)
        if friction:
            self.notes.add("dry friction of ball and free joints is left out", joint.name)
        if joint.kind == "free":
            for axis in "xyz":
                self.add_drive(Drive(f"{name}.{axis}", f"{here}.{axis}", damping=damping, rotor=armature))
        elif armature:
            self.notes.add("armature of ball joints is left out", joint.name)
        if damping:
            self._add_turning_damper(here, parent, damping)

    def _add_turning_damper(self, here: str, parent: str, damping: float) -> None:
        """−d ω between a body that turns freely and what it turns on, as torques in world axes: −d Σ_k e_k ω_k.

        The axes e_k of the body are told by frames on it, 1 m along them.
        """
        places = {}
        for axis, offset in zip("oxyz", (np.zeros(3), *np.eye(3)), strict=True):
            places[axis] = self.site_names.fresh(f"{here}_axis_{axis}")
            self.parts.append(Frame(places[axis], here, tuple(offset.tolist())))

        def torque(factor: float) -> tuple[str, ...]:
            sums = [[f"({places[k]}.{i} - {places['o']}.{i})*{here}.w{k}" for k in "xyz"] for i in "xyz"]
            return tuple(f"{factor!r}*({' + '.join(terms)})" for terms in sums)

        for body, sign in ((here, -1.0), (parent, 1.0)):
            if body != WORLD:
                name = self.site_names.fresh(f"{body}_turning_damper")
                self.parts.append(Force(name, body, torque=torque(sign * damping)))

    def add_drive(self, drive: Drive) -> None:
        """Spring, damper, friction and rotor along a joint or a tendon."""
        self.parts += drive.parts()
        if drive.friction:
            self.notes.add(SOFT_FRICTION, drive.joint)

    def _note_left_out(self, joint: FileJoint) -> None:
        element = joint.element
        if element.number("springyield", 0.0) > 0:
            self.notes.add("springs that yield do not yield", joint.name)
        if "actuatorfrcrange" in element.attributes:
            self.notes.add("bounds on the sum of the motors of a joint (actuatorfrcrange) are left out", joint.name)
        if joint.kind == "free" and _is_aligned(element, self.document, joint):
            self.notes.add("free bodies keep their frames, where MuJoCo moves them to the centre of mass", joint.name)

    def _add_weight(self, link: Link, lump: Lump, name: str) -> None:
        """`gravcomp`: a force against gravity at the centre of mass."""
        share = link.element.number("gravcomp", 0.0)
        if not share or not lump.mass or not self.moving(self.bodies[link.name]):
            return
        place = self.body_names.fresh(f"{name}_centre")
        self.parts.append(Frame(place, name, tuple(lump.centre.tolist())))
        force = tuple(float(-share * lump.mass * g) for g in gravity(self.document))
        self.parts.append(Force(self.body_names.fresh(f"{name}_gravcomp"), place, force))


def _is_aligned(element: Element, document: Document, joint: FileJoint) -> bool:
    if element.tag != "freejoint" or joint.kind != "free":
        return document.compiler.aligns_free
    choice = keyword(element, "align", ("true", "false", "auto"), "auto")
    return choice == "true" or (choice == "auto" and document.compiler.aligns_free)


def gravity(document: Document) -> tuple[float, ...]:
    """Acceleration of gravity, m/s²."""
    if not document.is_on("gravity"):
        return (0.0, 0.0, 0.0)
    option = Element("option", document.options("option"), document.root.file, document.root.line)
    return option.numbers("gravity", 3, (0.0, 0.0, -9.81))
