"""An SDF file as a System: a tree with as few coordinates as there can be, all other joints as rows.

Joints of the tree are chosen by their freedoms, the fewest first (Kruskal), so that loops are cut at balls before they
are cut at hinges; among equals those that something acts along, then the order of the file. A link is a Body of its
name, so a joint's displacement is `child_link.angle` or `.travel`; what acts along it has the joint's name:
`elbow.motor`. Zero is where the file draws it, and there all loops are closed. A model that no joint ties to the world
floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from kalaba.errors import FileError, ModelError
from kalaba.files.names import Names
from kalaba.files.pictured import MESHES
from kalaba.files.sdf.hinges import DISPLACEMENTS, ENDLESS, GEARBOX, REVOLUTE2, Hinge, origin_in, read_hinge
from kalaba.files.sdf.links import Link, read_link
from kalaba.files.sdf.loops import split, straightened
from kalaba.files.sdf.scopes import HERE, Scope, number_of, numbers_in, open_file, text_of
from kalaba.files.sdf.visuals import visuals_of
from kalaba.files.source import Notes, Source
from kalaba.files.tree import MASSLESS, Drive, as_pose, is_massless, strength
from kalaba.files.xml_tree import Element
from kalaba.joints import Free, Joint, Revolute, Weld
from kalaba.model.formats import Described
from kalaba.model.names import WORLD
from kalaba.model.options import OneOf, Option
from kalaba.model.parts import Body, Connection, Constraint, Frame, Start
from kalaba.model.system import AnyPart, System
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.tolerances import AXES_PARALLEL

OPTIONS = {
    "base": Option(
        "file",
        OneOf(("file", "fixed", "free")),
        "file: models float unless a joint ties them; fixed: none do",
    ),
    "meshes": MESHES,
}
AXES = ("axis", "axis2")
GRAVITY = (0.0, 0.0, -9.8)  # of a world that does not say
READ = {"link", "joint", "frame", "model", "include", "pose", "static", "gravity", "physics", "world"}
QUIET = {"self_collide", "allow_auto_disable", "enable_wind"}


def read(path: Path, roots: tuple[Path, ...] = (), *, base: str = "file", meshes: bool = True) -> Described:
    """Read an SDF file.

    Arguments:
        path: the file
        roots: folders for model:// and package:// and for files outside its own folder
        base: "file": a model floats unless a joint ties it to the world; "fixed": its root stands; "free": it floats
        meshes: whether shapes in mesh files are taken along
    """
    source = Source(path, roots)
    try:
        system = Reader(open_file(source), source.notes, base, with_meshes=meshes).system(path)
    except RecursionError:
        raise FileError(f"{path.name}: names refer to each other too deeply. Is it a model?") from None
    except ModelError as error:
        raise FileError(f"{path.name}: {error}") from error
    return Described(system, notes=source.notes.lines)


@dataclass
class Reader:
    """A file while it is turned into a System."""

    world: Scope
    notes: Notes
    base: str
    with_meshes: bool = True
    links: dict[str, Link] = field(default_factory=dict)
    hinges: list[Hinge] = field(default_factory=list)
    gears: list[Hinge] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)  # link in the file → name here
    parts: list[AnyPart] = field(default_factory=list)
    displacements: dict[str, tuple[str, ...]] = field(default_factory=dict)  # joint → its displacements here
    guess: dict[str, Pose | float] = field(default_factory=dict)
    joint_names: Names = field(init=False)  # of joints that are parts, and of frames
    acting_names: Names = field(init=False)  # of joints, for what acts along them

    def __post_init__(self) -> None:
        self.acting_names = Names(self.notes, "joint")

    def system(self, path: Path) -> System:
        """The System that it describes."""
        self._read()
        link_names = Names(self.notes, "link")
        shown = self._shown()
        self.names = {WORLD: WORLD} | {name: link_names[shown[name]] for name in self.links}
        self.joint_names = Names(self.notes, "joint that is a part", taken=set(link_names.taken))
        tree, cut = split(self.hinges, self.links, [link.name for link in self.links.values() if link.is_static])
        hinges = straightened(tree, cut, self.notes)
        tree, cut, self.hinges = ([hinges[hinge.name] for hinge in some] for some in (tree, cut, self.hinges))
        self._add_trees(tree)
        for hinge in cut:
            self._close(hinge)
        for gear in self.gears:
            self._couple(gear)
        for hinge in self.hinges:
            self._follow(hinge)
            self._act_along(hinge)
        self._add_frames()
        self._add_visuals()
        name = next(iter(self.world.models)) if len(self.world.models) == 1 else self.world.element.get("name")
        start = Start(guess=self.guess)
        return System(name or path.stem, self.parts, gravity=self._gravity(), start=start)

    # reading

    def _read(self) -> None:
        for scope in self.world.all():
            for element in scope.element:
                if element.tag not in READ | QUIET:
                    self.notes.add("elements that describe no mechanics, left out", f"<{element.tag}>")
        for scope, name, element in self._all("link"):
            if name == WORLD:
                self.notes.add("a link called world is the world")
            else:
                self.links[scope.full(name)] = read_link(scope, name, element, self.notes)
        for scope, name, element in self._all("joint"):
            hinge = read_hinge(scope, name, element)
            if not all(self._stands(end) for end in (hinge.parent, hinge.child)):
                (self.gears if hinge.kind == GEARBOX else self.hinges).append(hinge)

    def _all(self, tag: str) -> list[tuple[Scope, str, Element]]:
        """All elements of a kind, with their scopes and names."""
        return [(s, name, e) for s in self.world.all() for name, e in s.elements.items() if e.tag == tag]

    def _stands(self, link: str) -> bool:
        return link == WORLD or self.links[link].is_static

    def _shown(self) -> dict[str, str]:
        """What links are called here: without the name of the model where there is one alone."""
        if len(self.world.models) > 1:
            return {name: name for name in self.links}
        return {name: name.partition("::")[2] for name in self.links}

    def _gravity(self) -> tuple[float, float, float]:
        element = self.world.element
        places = [element, *element.all("physics")]
        for place in places:
            gravity = place.first("gravity")
            if gravity is not None:
                x, y, z = numbers_in(gravity, 3)
                return x, y, z
        return GRAVITY if element.tag == "world" else (0.0, 0.0, -9.81)

    # the tree

    def _add_trees(self, tree: list[Hinge]) -> None:
        """Bodies, each after the one that it is on."""
        beside: dict[str, list[Hinge]] = {name: [] for name in (WORLD, *self.links)}
        for hinge in tree:
            beside[hinge.parent].append(hinge)
            beside[hinge.child].append(hinge)
        done = {WORLD}
        self._grow(WORLD, beside, done)
        for link in self.links.values():
            if link.is_static and link.name not in done:
                self._stand(link)
                done.add(link.name)
                self._grow(link.name, beside, done)
        moved = {hinge.child for hinge in tree}
        for link in (*(x for x in self.links.values() if x.name not in moved), *self.links.values()):
            if link.name not in done:
                self._set_down(link)
                done.add(link.name)
                self._grow(link.name, beside, done)

    def _grow(self, root: str, beside: dict[str, list[Hinge]], done: set[str]) -> None:
        """Add all that hangs on a link."""
        waiting = [root]
        while waiting:
            here = waiting.pop()
            fresh = []
            for hinge in beside[here]:
                there = hinge.child if hinge.parent == here else hinge.parent
                if there not in done:
                    done.add(there)
                    self._hang(hinge, here, there)
                    fresh.append(there)
            waiting += reversed(fresh)

    def _pose(self, link: str) -> NumericPose:
        return HERE if link == WORLD else self.links[link].pose

    def _stand(self, link: Link) -> None:
        """A link that nothing moves: a frame of the world."""
        self.parts.append(Frame(self.names[link.name], WORLD, as_pose(link.pose)))

    def _set_down(self, link: Link) -> None:
        """The root of a model that nothing ties to the world."""
        name = self.names[link.name]
        stands = self.base == "fixed" or (self.base == "file" and is_massless(link.solid))
        if stands and self.base == "file":
            self.notes.add("roots without mass stand on the world", link.name)
        if stands:
            self._body(link, WORLD, as_pose(link.pose), Weld())
            return
        self.parts.append(Body(name, link.solid, WORLD, joint=Free()))
        self.guess[name] = as_pose(link.pose)

    def _body(self, link: Link, parent: str, at: Pose, joint: Joint) -> None:
        name = self.names[link.name]
        if joint.is_rigid and is_massless(link.solid):
            self.parts.append(Frame(name, parent, at))
            return
        if is_massless(link.solid):
            self.notes.add("links that move and have no mass of their own", link.name)
        self.parts.append(Body(name, link.solid, parent, at, joint))

    def _hang(self, hinge: Hinge, here: str, there: str) -> None:
        """A link on another; where the joint is not at its origin, a body without mass lies between."""
        is_reversed = hinge.child == here
        body, seat = self.links[there], self._pose(here)
        parent, origin = self.names[here], origin_in(hinge.pose, self._pose(there))
        goes_straight = not origin.any() or hinge.kind in {"fixed", "prismatic"}
        if hinge.freedoms == 2 and not hinge.has_square_axes:
            self._hang_twice(hinge, here, there)
            return
        joint = hinge.joint(body.pose.rotation, self.notes, is_reversed=is_reversed)
        if goes_straight:
            self._body(body, parent, as_pose(body.pose.seen_from(seat)), joint)
            moved = self.names[there]
        else:
            moved = self.joint_names[self._short(hinge.name)]
            at_joint = NumericPose(hinge.pose.position, body.pose.rotation)
            self.parts.append(Body(moved, MASSLESS, parent, as_pose(at_joint.seen_from(seat)), joint))
            self._body(body, moved, as_pose(body.pose.seen_from(at_joint)), Weld())
        kind = "universal" if hinge.kind == REVOLUTE2 else hinge.kind
        shown = DISPLACEMENTS.get(kind, ())
        shown = shown[::-1] if is_reversed else shown
        self.displacements[hinge.name] = tuple(f"{moved}.{name}" for name in shown)
        self._guess(joint, self.displacements[hinge.name])

    def _hang_twice(self, hinge: Hinge, here: str, there: str) -> None:
        """Two hinges whose axes are not at right angles, with a body without mass between them."""
        is_reversed = hinge.child == here
        body, seat, middle = self.links[there], self._pose(here), self.joint_names[self._short(hinge.name)]
        axes = hinge.axes[::-1] if is_reversed else hinge.axes
        at_joint = NumericPose(hinge.pose.position, body.pose.rotation)
        sign = -1.0 if is_reversed else 1.0
        first, second = (Revolute(tuple((sign * (body.pose.rotation.T @ axis)).tolist())) for axis in axes)
        end = self.joint_names[f"{self._short(hinge.name)}_end"]
        self.parts.append(Body(middle, MASSLESS, self.names[here], as_pose(at_joint.seen_from(seat)), first))
        self.parts.append(Body(end, MASSLESS, middle, joint=second))
        self._body(body, end, as_pose(body.pose.seen_from(at_joint)), Weld())
        shown = (f"{middle}.angle", f"{end}.angle")
        self.displacements[hinge.name] = shown[::-1] if is_reversed else shown

    def _guess(self, joint: Joint, displacements: tuple[str, ...]) -> None:
        """Zero, where limits would have it start elsewhere."""
        if joint.limits is not None and sum(joint.limits) != 0.0:
            self.guess[displacements[0]] = 0.0

    # loops

    def _close(self, hinge: Hinge) -> None:
        """Rows for a joint that closes a loop."""
        if hinge.freedoms == 2 and not hinge.has_square_axes:
            raise hinge.element.error("it closes a loop, with axes that are not at right angles. Use two joints")
        child, name = self._pose(hinge.child), self.joint_names[self._short(hinge.name)]
        at_joint = NumericPose(hinge.pose.position, child.rotation)
        end, origin = self.names[hinge.child], origin_in(hinge.pose, child)
        if origin.any() or end == WORLD:
            end = self.joint_names[f"{self._short(hinge.name)}_end"]
            place = as_pose(NumericPose(origin, np.eye(3)))
            self.parts.append(Frame(end, self.names[hinge.child], place))
        else:
            at_joint = child
        at = as_pose(at_joint.seen_from(self._pose(hinge.parent)))
        joint = hinge.joint(child.rotation, self.notes, is_cut=True)
        self.parts.append(Connection(name, end, self.names[hinge.parent], at, joint))

    def _couple(self, gear: Hinge) -> None:
        """A row for a gearbox: θ₂ = −ratio θ₁, angles of child and parent against the reference body."""
        reference = text_of(gear.element, "gearbox_reference_body")
        known = [hinge for hinge in self.hinges if reference and self._is_link(hinge, reference)]
        angles = []
        for end, axis in ((gear.parent, gear.axes[0]), (gear.child, gear.axes[1])):
            angle = next((a for a in (self._angle(hinge, end, axis) for hinge in known) if a), None)
            if angle is None:
                raise gear.element.error(
                    f"expected a hinge along its axis between {end!r} and the reference body {reference!r}, got none"
                )
            angles.append(angle)
        ratio = number_of(gear.element, "gearbox_ratio", 1.0)
        self.parts.append(
            Constraint(self.joint_names[self._short(gear.name)], f"{angles[1]} + {ratio!r}*({angles[0]})")
        )

    def _follow(self, hinge: Hinge) -> None:
        """Rows for axes that mimic another: d = multiplier (d_leader − reference) + offset."""
        for place, tag in enumerate(AXES):
            axis = hinge.element.first(tag)
            mimic = None if axis is None else axis.first("mimic")
            if mimic is None:
                continue
            name, of = mimic.required("joint"), mimic.get("axis") or AXES[0]
            scope = hinge.name.rpartition("::")[0]
            leader = self.displacements.get(f"{scope}::{name}", ())
            own = self.displacements.get(hinge.name, ())
            if of not in AXES[: len(leader)] or place >= len(own):
                raise mimic.error(
                    f"expected an axis of two joints that close no loop, got {hinge.name} and {name} {of}"
                )
            factor = number_of(mimic, "multiplier", 1.0)
            offset = number_of(mimic, "offset", 0.0) - factor * number_of(mimic, "reference", 0.0)
            row = f"{own[place]} - {factor!r}*{leader[AXES.index(of)]} - {offset!r}"
            wanted = f"{self._short(hinge.name)}_mimic{'2' if place else ''}"
            self.parts.append(Constraint(self.joint_names[wanted], row))

    def _is_link(self, hinge: Hinge, name: str) -> bool:
        return any(end == name or end.endswith(f"::{name}") for end in (hinge.parent, hinge.child))

    def _angle(self, hinge: Hinge, end: str, axis: Array) -> str:
        """The angle of a link against the other one of a hinge, about an axis; "" if the hinge has none such."""
        if hinge.kind not in {"revolute", "continuous"} or end not in {hinge.parent, hinge.child}:
            return ""
        along = float(np.dot(hinge.axes[0], axis))
        if abs(along) < 1.0 - AXES_PARALLEL or hinge.name not in self.displacements:
            return ""
        sign = along if hinge.child == end else -along
        return f"{'-' if sign < 0 else ''}{self.displacements[hinge.name][0]}"

    # what acts

    def _act_along(self, hinge: Hinge) -> None:
        for tag, place in zip(AXES, (0, 1), strict=True):
            axis = hinge.element.first(tag)
            if axis is None:
                continue
            drive = self._drive(hinge, axis, place)
            parts = drive.parts()
            if parts and place < len(self.displacements.get(hinge.name, ())):
                self.parts += parts
            elif parts:
                what = "joints that close loops" if hinge.name not in self.displacements else "ball and fixed joints"
                self.notes.add(f"damping, friction, springs and motors of {what}, left out", hinge.name)

    def _drive(self, hinge: Hinge, axis: Element, place: int) -> Drive:
        known = self.displacements.get(hinge.name, ())
        numbers = {}
        dynamics = axis.first("dynamics")
        for key in ("damping", "friction", "spring_stiffness", "spring_reference"):
            numbers[key] = 0.0 if dynamics is None else number_of(dynamics, key, 0.0)
            if key != "spring_reference":
                strength(axis, key, numbers[key], self.notes, hinge.name)
        limit = axis.first("limit")
        if limit is not None and limit.first("velocity") is not None:
            self.notes.add("velocity limits, left out")
        effort = -1.0 if limit is None else number_of(limit, "effort", -1.0)
        return Drive(
            self._acting_name(hinge, place),
            known[place] if place < len(known) else "",
            effort=(math.inf if effort >= ENDLESS else effort) if effort > 0 else None,
            damping=numbers["damping"],
            friction=numbers["friction"],
            stiffness=numbers["spring_stiffness"],
            rest=numbers["spring_reference"],
        )

    def _acting_name(self, hinge: Hinge, place: int) -> str:
        return f"{self.acting_names[self._short(hinge.name)]}{'2' if place else ''}"

    def _short(self, name: str) -> str:
        return name if len(self.world.models) > 1 else (name.partition("::")[2] or name)

    def _add_frames(self) -> None:
        """Named frames of the file, on the links that they are attached to."""
        for scope, name, element in self._all("frame"):
            body = scope.body_of(name, element)
            pose = scope.pose.then(scope.pose_of(name, element))
            at = as_pose(pose.seen_from(self._pose(body)))
            self.parts.append(Frame(self.joint_names[self._short(scope.full(name))], self.names[body], at))

    def _add_visuals(self) -> None:
        """What links look like."""
        for scope, name, element in self._all("link"):
            frame = WORLD if name == WORLD else self.names[scope.full(name)]
            self.parts += visuals_of(scope, name, element, frame, with_meshes=self.with_meshes)
