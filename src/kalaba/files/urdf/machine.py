"""URDF in: links become bodies, fixed links without mass frames, joints what moves them; loops where the file has them.

A link is a Body of its name on the frame of its parent, so a joint's displacement is `child_link.angle` or `.travel`.
What acts along a joint has the joint's name: `elbow.motor`, `elbow.damper`, `elbow.rotor`. A joint that mimics another
follows its coordinate. Reference: the URDF specification, http://wiki.ros.org/urdf/XML.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kalaba.errors import FileError, ModelError, near
from kalaba.files.linear_forms import linear_text, nested
from kalaba.files.names import Names
from kalaba.files.pictured import MESHES
from kalaba.files.source import Notes, Source
from kalaba.files.tree import BASE, MASSLESS, Drive, base_joint, is_massless, limits_of, solid_of, strength
from kalaba.files.urdf import loops as loop_elements
from kalaba.files.urdf import xacro
from kalaba.files.urdf.elements import axis, origin
from kalaba.files.urdf.visuals import Materials, visuals_of
from kalaba.files.xml_tree import Element, parse, parse_text
from kalaba.joints import Free, Joint, Planar, Prismatic, Revolute, Spherical, Universal, Weld
from kalaba.model.formats import Described
from kalaba.model.names import WORLD
from kalaba.model.options import AnyText, Option
from kalaba.model.parts import Body, Frame, Start
from kalaba.model.solids import INERTIA_PARTS, Solid
from kalaba.model.system import AnyPart, System
from kalaba.space.pose import Pose, X, Y, Z
from kalaba.space.rotations import from_pose, rotation_of

TURNING = ("revolute", "continuous")
TYPES = (*TURNING, "prismatic", "fixed", "floating", "planar", "spherical")  # spherical: Bullet's addition
CROSSES = {"cross XY": (X, Y), "cross YZ": (Y, Z), "cross ZX": (Z, X)}  # universal joints of Extended URDF
SCALAR = {"revolute": "angle", "continuous": "angle", "prismatic": "travel"}  # type → name of the displacement
READ = {"link", "joint", "transmission", "material", *loop_elements.TAGS}
ROTOR_INERTIA = ("rotorInertia", "motorInertia", "rotor_inertia", "drake:rotor_inertia")
REDUCTION = ("mechanicalReduction", "gear_ratio", "drake:gear_ratio")
OPTIONS = {
    "base": BASE,
    "loops": Option("", AnyText("path"), "a file that closes its loops: kalaba YAML, or the YAML of Extended URDF"),
    "meshes": MESHES,
}


def read(
    path: Path, roots: tuple[Path, ...] = (), *, base: str = "fixed", loops: str | Path = "", meshes: bool = True
) -> Described:
    """Read a URDF or xacro file.

    Arguments:
        path: the file
        roots: folders for package:// and for files outside its own folder
        base: "fixed", or "free" for a root that floats
        loops: a file that closes its loops: kalaba YAML, or the YAML of Extended URDF; none if empty
        meshes: whether shapes in mesh files are taken along
    """
    source = Source(path, roots)
    root = parse_text(xacro.expanded(source), path.name) if path.suffix.lower() == ".xacro" else parse(source)
    if root.tag != "robot":
        raise root.error("expected a <robot>. Is it a URDF?")
    beside = None
    if loops:
        from kalaba.files.urdf.loops_file import opened  # which reads YAML

        beside = opened(Source(Path(loops), roots, notes=source.notes))
    robot = Robot(root, source, base, with_meshes=meshes, changes=AS_WRITTEN if beside is None else beside.changes)
    try:
        system = robot.system()
    except ModelError as error:  # a number that no part can have
        raise FileError(f"{path.name}: {error}") from error
    return Described(system if beside is None else beside.added(system, robot), notes=source.notes.lines)


@dataclass(frozen=True, slots=True)
class Changes:
    """What a file of loops says of joints that the URDF has.

    Arguments:
        types: type of a joint, by its name, instead of what the URDF says
        motors: names of the joints that motors drive, or what is in all their names; None: as the URDF says
    """

    types: Mapping[str, str] = field(default_factory=dict)
    motors: tuple[str, ...] | str | None = None

    def drives(self, joint: str) -> bool:
        """Whether a motor drives a joint."""
        if isinstance(self.motors, str):
            return self.motors in joint
        return self.motors is None or joint in self.motors


AS_WRITTEN = Changes()


@dataclass(frozen=True, slots=True)
class Link:
    """A link, read."""

    name: str  # in the file
    element: Element
    solid: Solid


@dataclass(frozen=True, slots=True)
class Hinge:
    """A joint of any type, read."""

    name: str  # in the file
    element: Element
    type: str
    parent: str
    child: str
    at: Pose

    @property
    def is_scalar(self) -> bool:
        """Whether it has one displacement."""
        return self.type in SCALAR


@dataclass
class Robot:
    """A file while it is turned into a System."""

    root: Element
    source: Source
    base: str
    with_meshes: bool = True
    changes: Changes = AS_WRITTEN
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Hinge] = field(default_factory=dict)
    frames: dict[str, str] = field(default_factory=dict)  # link in the file → frame here

    @property
    def notes(self) -> Notes:
        """Where what is left out is noted."""
        return self.source.notes

    def system(self) -> System:
        """The System that it describes."""
        self._read()
        first, children = self._tree()
        stands, joint_names = base_joint(self.base, self.source.path.name), Names(self.notes, "joint")
        self._name_links(first, stands)
        parts: list[AnyPart] = []
        for name, hinge in self._parents_first(first, children):
            parts += self._link(self.links[name], hinge, stands)
        for hinge in self.joints.values():
            parts += self._drive(hinge, joint_names[hinge.name]).parts()
        materials = Materials(self.root, self.source)
        for link in self.links.values():
            parts += visuals_of(link.element, self.frames[link.name], materials, with_meshes=self.with_meshes)
        loops = loop_elements.read(self.root, self)
        parts += loops
        name = identifier_or(self.root.get("name"), self.source.path)
        return System(name, parts, start=self.drawn_start() if loops else Start())

    def _name_links(self, first: str, stands: Joint) -> None:
        """A root called world that does not move is the world."""
        names, is_world = Names(self.notes, "link"), first == WORLD and stands.is_rigid
        self.frames |= {name: WORLD if is_world and name == WORLD else names[name] for name in self.links}

    def _read(self) -> None:
        for element in self.root:
            if element.tag == "link":
                self._add_link(element)
            elif element.tag not in READ:
                self.notes.add("elements that describe no mechanics, left out", f"<{element.tag}>")
        if not self.links:
            raise self.root.error("expected at least one <link>, got none")
        for element in self.root.all("joint"):
            self._add_joint(element)

    def _add_link(self, element: Element) -> None:
        name = element.required("name")
        if name in self.links:
            raise element.error("a second link of that name. Rename one of them")
        self.links[name] = Link(name, element, self._solid(element, name))
        if element.first("collision") is not None:
            self.notes.add("collision shapes, left out")

    def _solid(self, element: Element, name: str) -> Solid:
        inertial = element.first("inertial")
        if inertial is None:
            return MASSLESS
        at = origin(inertial)
        mass = inertial.require("mass").number("value")
        if mass < 0:
            raise inertial.error(f"{name}: expected a mass of zero or more, got {mass:g} kg")
        matrix = inertial.first("inertia")
        if matrix is None:
            self.notes.add("<inertial> without <inertia>: a point mass", name)
        six = tuple(0.0 if matrix is None else matrix.number(f"i{pair}", 0.0) for pair in INERTIA_PARTS)
        com, quaternion = from_pose(at, float)
        turn = rotation_of(quaternion) if at.rpy else np.eye(3)
        return solid_of(mass, tuple(map(float, com)), turn, six, self.notes, name)

    def _add_joint(self, element: Element) -> None:
        name, kind = element.required("name"), element.required("type")
        if name in self.joints:
            raise element.error("a second joint of that name. Rename one of them")
        if kind not in TYPES:
            raise element.error(f"type: expected one of {', '.join(TYPES)}, got {kind!r}")
        kind = self.changes.types.get(name, kind)
        parent, child = (element.require(tag).required("link") for tag in ("parent", "child"))
        for link in (parent, child):
            if link not in self.links:
                raise element.error(f"no link {link!r}; {near(link, self.links)}")
        self.joints[name] = Hinge(name, element, kind, parent, child, origin(element))
        for tag in ("safety_controller", "calibration"):
            if element.first(tag) is not None:
                self.notes.add(f"<{tag}>, left out")
        if element.first("limit") is not None and element.require("limit").get("velocity"):
            self.notes.add("velocity limits, left out")

    def _tree(self) -> tuple[str, dict[str, list[Hinge]]]:
        """The root link, and the joints by their parent."""
        above: dict[str, Hinge] = {}
        children: dict[str, list[Hinge]] = {name: [] for name in self.links}
        for joint in self.joints.values():
            if joint.child in above:
                raise joint.element.error(
                    f"link {joint.child!r} has a parent already, by joint {above[joint.child].name!r}; URDF holds "
                    "trees. Let this joint end at a link of its own, fixed where the loop closes, and close it with "
                    "loops= (--loops); kalaba check --suggest-loops writes such a file"
                )
            above[joint.child] = joint
            children[joint.parent].append(joint)
        roots = [name for name in self.links if name not in above]
        if len(roots) != 1:
            listed = ", ".join(roots[:6])
            problem = f"got {len(roots)}: {listed}" if roots else "got a ring of links"
            raise self.root.error(f"expected one link that has no parent, {problem}")
        return roots[0], children

    def _parents_first(self, first: str, children: dict[str, list[Hinge]]) -> Iterator[tuple[str, Hinge | None]]:
        """Links, each after its parent, in the order of the file; with the joint above each."""
        waiting: list[tuple[str, Hinge | None]] = [(first, None)]
        count = 0
        while waiting:
            name, hinge = waiting.pop()
            count += 1
            yield name, hinge
            waiting += [(joint.child, joint) for joint in reversed(children[name])]
        if count < len(self.links):
            raise self.root.error("expected a tree of links, got some that are each other's parents")

    def _link(self, link: Link, hinge: Hinge | None, stands: Joint) -> list[AnyPart]:
        """The body of a link; a frame where it has no mass and sits still on its parent."""
        name = self.frames[link.name]
        if name == WORLD:
            if not is_massless(link.solid):
                self.notes.add("mass of the link world, which nothing moves, left out")
            return []
        if hinge is None:
            joint, at, parent = stands, Pose(), WORLD
        else:
            joint, at, parent = self._joint(hinge), hinge.at, self.frames[hinge.parent]
        if joint.is_rigid and is_massless(link.solid):
            return [Frame(name, parent, at)]
        if is_massless(link.solid):
            self.notes.add("links that move and have no mass of their own", link.name)
        return [Body(name, link.solid, parent, at, joint)]

    def _joint(self, hinge: Hinge) -> Joint:
        if hinge.type == "fixed":
            return Weld()
        if hinge.type == "floating":
            return Free()
        if hinge.type == "spherical":
            return Spherical()
        if hinge.type in CROSSES:
            return Universal(*CROSSES[hinge.type])
        if hinge.type == "planar":
            return Planar(axis(hinge.element))
        mimicked = self._mimic(hinge)
        limits = None if mimicked is not None else self._limits(hinge)
        kind = Prismatic if hinge.type == "prismatic" else Revolute
        return kind(axis(hinge.element), q=mimicked, limits=limits)

    def _limits(self, hinge: Hinge) -> tuple[float, float] | None:
        element = hinge.element.first("limit")
        if element is None or hinge.type == "continuous":
            return None
        low, high = element.number("lower", 0.0), element.number("upper", 0.0)
        return limits_of(low, high, self.notes, hinge.name)

    def _mimic(self, hinge: Hinge) -> str | float | None:
        """What the displacement of a joint follows: multiplier · other + offset, through chains; None: nothing."""
        factor, offset, seen, last = 1.0, 0.0, [hinge.name], hinge
        while (mimic := last.element.first("mimic")) is not None:
            name = mimic.required("joint")
            if name not in self.joints:
                self.notes.add("joints that mimic one that is not there: they move by themselves", last.name)
                break
            if name in seen:
                raise mimic.error(f"joints mimic each other in a ring: {', '.join(seen)}")
            followed = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
            factor, offset = nested((factor, offset), followed)
            last = self.joints[name]
            seen.append(name)
            if not last.is_scalar:
                raise mimic.error(f"expected a joint of one displacement to mimic, got {name!r}, which is {last.type}")
        if last is hinge:
            return None
        return linear_text(factor, self.displacement(last), offset) if factor else offset

    def displacement(self, hinge: Hinge) -> str:
        """Name of the displacement of a joint that has one."""
        return f"{self.frames[hinge.child]}.{SCALAR[hinge.type]}"

    def _drive(self, hinge: Hinge, name: str) -> Drive:
        """What acts along a joint."""
        element = hinge.element
        dynamics = element.first("dynamics")
        damping, friction = (0.0 if dynamics is None else dynamics.number(k, 0.0) for k in ("damping", "friction"))
        if not hinge.is_scalar:
            if damping or friction:
                self.notes.add(f"damping and friction of {hinge.type} joints, left out", hinge.name)
            return Drive(name, "")
        for what, value in (("damping", damping), ("friction", friction)):
            strength(element, what, value, self.notes, hinge.name)
        effort, rotor = self._effort(hinge), self._rotor(hinge)
        return Drive(name, self.displacement(hinge), effort, damping, friction, rotor=rotor)

    def _effort(self, hinge: Hinge) -> float | None:
        """The most that the motor of a joint gives; None: it has none."""
        driven = bool(self._transmissions(hinge))
        limit = hinge.element.first("limit")
        effort = None if limit is None or not limit.get("effort") else limit.number("effort")
        if not self.changes.drives(hinge.name):
            if effort:
                self.notes.add("motors of joints that name_mot does not name, left out", hinge.name)
            return None
        if self.changes.motors is not None:
            driven, effort = True, effort or None
        if hinge.element.first("mimic") is not None:
            if effort or driven:
                self.notes.add("motors of joints that mimic another, left out", hinge.name)
            return None
        if effort is not None and effort < 0:
            raise hinge.element.error(f"effort: expected zero or more, got {effort:g}")
        if effort == 0:
            self.notes.add("effort limits of zero: no motor", hinge.name)
            return None
        return effort if effort is not None else math.inf if driven else None

    def _transmissions(self, hinge: Hinge) -> list[Element]:
        return [
            element
            for element in self.root.all("transmission")
            if any(joint.get("name") == hinge.name for joint in element.all("joint"))
        ]

    def _rotor(self, hinge: Hinge) -> float:
        """Inertia n² J of the rotors that drive a joint through their gears."""
        total = 0.0
        for transmission in self._transmissions(hinge):
            places = [transmission, *transmission.all("actuator"), *transmission.all("joint")]
            ratio, inertia = (self._first_number(places, tags) for tags in (REDUCTION, ROTOR_INERTIA))
            if inertia is not None:
                if inertia < 0:
                    raise transmission.error(f"rotor inertia: expected zero or more, got {inertia:g}")
                total += inertia * (1.0 if ratio is None else ratio) ** 2
            elif ratio not in {None, 1.0}:
                self.notes.add("reductions without a rotor's inertia: motors act on the joint's side", hinge.name)
        return total

    def _first_number(self, places: list[Element], tags: tuple[str, ...]) -> float | None:
        """The number in the first element of one of some names: its text or its `value`."""
        for element in (element for place in places for element in place if element.tag in tags):
            try:
                return element.read_numbers(element.text or element.get("value"), 1, element.tag)[0]
            except FileError:
                self.notes.add("numbers of transmissions that are none, left out", element.where)
        return None

    def drawn_start(self) -> Start:
        """All joints at zero, where their limits allow it: loops are drawn closed there."""
        guess = {}
        for hinge in self.joints.values():
            if hinge.is_scalar and hinge.element.first("mimic") is None:
                limits = self._limits(hinge)
                if limits is not None and limits[0] <= 0.0 <= limits[1] and sum(limits) != 0.0:
                    guess[self.displacement(hinge)] = 0.0
        return Start(guess=guess)


def identifier_or(name: str, path: Path) -> str:
    """The name of a machine, as its file gives it; else the file's."""
    return name.strip() or path.stem
