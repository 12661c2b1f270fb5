"""A System → an SDF file: links where the machine starts, joints of its tree, then joints that close its loops.

In SDF zero is where the file draws a joint; so displacements count from the assembled start, and limits and springs are
moved along. A joint that SDF does not have is several in a row, with links without mass between them. What SDF cannot
hold is listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from kalaba.errors import FileError
from kalaba.files.moving import Coordinates, joint_name
from kalaba.files.names import Names
from kalaba.files.sdf.acting import Acting
from kalaba.files.sdf.pieces import Piece, pieces
from kalaba.files.sdf.scopes import HERE
from kalaba.files.source import Notes
from kalaba.files.xml_out import Tag
from kalaba.model.machine import MachineBody, MachineConnection, MachineConstraint
from kalaba.model.names import WORLD
from kalaba.model.solids import INERTIA_PARTS
from kalaba.model.system import System
from kalaba.model.text.expressions import Values, number, parse
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import build
from kalaba.results.places import replacing
from kalaba.run.scenario import Scenario
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import AsFound, Pose
from kalaba.space.rotations import from_pose, quaternion_of, rotation_of

VERSION = "1.11"  # the first with mimic joints


def write(described: System | Scenario, path: Path) -> tuple[str, ...]:
    """Write the file; gives lines that say what it does not hold."""
    system = described.system if isinstance(described, Scenario) else described
    notes = Notes()
    root = Writer(replace(system, cuts=()), notes).root()
    if isinstance(described, Scenario):
        notes.add("what is to be run on the machine is left out")
    text = "\n".join(['<?xml version="1.0"?>', *root.lines(), ""])
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")
    return notes.lines


@dataclass
class Writer:
    """A machine while it is written.

    Arguments:
        system: the machine; its loops are cut at connections
        notes: where all that is left out is noted
    """

    system: System
    notes: Notes

    def __post_init__(self) -> None:
        self.machine = machine = self.system.machine
        for body in machine.bodies:
            if body.solid.modes:
                raise FileError(f"{machine.name}.{body.name}: SDF holds rigid bodies, got a flexible one.")
        self.parameters = {p.name: p.value for p in machine.parameters}
        self.plant = build(self.system, backend=Interpreted())
        self.q = self.plant.start.q
        if np.any(self.plant.start.v):
            self.notes.add("speeds at the start are left out")
        self.coordinates = Coordinates(machine, "SDF", self.parameters)
        self.links: list[Tag] = []
        self.joints: list[Tag] = []
        names = Names(self.notes, "link")
        self.names = {WORLD: WORLD} | {body.name: names[body.name] for body in machine.bodies}
        self.frames = Names(self.notes, "frame", taken=names.taken)
        self.joint_names = Names(self.notes, "joint", taken=names.taken, after="_joint")
        self.acting = Acting(machine, self.coordinates, self.drawn_at(), self.value, self.notes)

    def value(self, entry: Any) -> float:  # noqa: ANN401  (a number of the model)
        """A number of the model."""
        return number(parse(entry), Values(self.parameters))

    def drawn_at(self) -> dict[str, float]:
        """All displacements where the machine starts."""
        known = dict(zip(self.plant.coordinates, self.q.tolist(), strict=True))
        values = Values({**self.parameters, **known})
        return {d.name: number(d.expression, values) for body in self.machine.bodies for d in body.displacements}

    def pose(self, frame: str) -> NumericPose:
        """Where a frame is drawn, in the world."""
        return HERE if frame == WORLD else self.plant.pose(frame, self.q)

    def _on(self, body: str, frame: str) -> NumericPose:
        """Where a frame is drawn on a body or on the world."""
        return HERE if frame == body else self.pose(frame).seen_from(self.pose(body))

    def link_of(self, frame: str) -> str:
        """The body that carries a frame, or the world."""
        index = self.machine.frames[frame].body
        return WORLD if index < 0 else self.machine.bodies[index].name

    def root(self) -> Tag:
        """The whole file."""
        machine = self.machine
        root = Tag("sdf", {"version": VERSION})
        world = root.add("world", name=WORLD)
        world.say("gravity", np.array([self.value(g) for g in machine.gravity]))
        for body in machine.bodies:
            self._add_body(body)
        for closure in machine.closures:
            if isinstance(closure, MachineConstraint):
                self.acting.add_constraint(closure)
            else:
                self._add_connection(closure)
        on_links = self._add_frames(world)
        world.add("model", name=machine.name).children += [*self.links, *self.joints, *on_links]
        self._note_others()
        return root

    # --- links and frames

    def _add_body(self, body: MachineBody) -> None:
        at = self.pose(body.name)
        link = self._add_link(self.names[body.name], at, body.solid.mass_properties(self.value))
        self._add_pictures(link, body.name)
        if body.joint.has_position:
            return  # nothing holds it
        seat = self.pose(body.parent).then(self._placed(body.at))
        held = [i for i, d in enumerate(body.displacements) if d.name in self.coordinates.constants]
        chain = pieces(body.joint, at.rotation.T @ seat.rotation, self.value, held)
        if chain is None:
            raise FileError(f"{self.machine.name}.{body.name}: SDF has no joint {body.joint.kind}. Save it as .yaml.")
        moved = [[body.displacements[place].name for place in piece.places] for piece in chain]
        names = [
            self.joint_names[joint_name(self.machine, body.name, index, of[0] if len(of) == 1 else "")]
            for index, of in enumerate(moved)
        ]
        elements = self._join(names, chain, (self.link_of(body.parent), body.name), body.name)
        for element, piece, of in zip(elements, chain, moved, strict=True):
            self.acting.add(element, piece, of, body.joint)

    def _add_link(self, name: str, at: NumericPose, solid: Any = None) -> Tag:  # noqa: ANN401  (mass properties)
        link = Tag("link", {"name": name})
        self.links.append(link)
        _say_pose(link, at)
        mass, com, six = (0.0, np.zeros(3), [0.0] * 6) if solid is None else (solid.mass, solid.com, solid.inertia)
        inertial = link.add("inertial")
        _say_pose(inertial, NumericPose(np.array([float(c) for c in com]), np.eye(3)))
        inertial.say("mass", float(mass))
        matrix = inertial.add("inertia")
        for key, entry in zip(INERTIA_PARTS, six, strict=True):
            matrix.say(f"i{key}", float(entry))
        return link

    def _add_frames(self, world: Tag) -> list[Tag]:
        """Named places: those on the world are given, those on links are returned."""
        on_links: list[Tag] = []
        for frame in self.machine.frames.values():
            if frame.at is None and not frame.is_tip:
                continue
            link = self.link_of(frame.name)
            element = Tag("frame", {"name": self.frames[frame.name], "attached_to": self.names[link]})
            _say_pose(element, self._on(link, frame.name))
            (world.children if link == WORLD else on_links).append(element)
        return on_links

    def _add_pictures(self, link: Tag, body: str) -> None:
        for visual in self.machine.visuals:
            if self.link_of(visual.frame) == body:
                element = link.add("visual", name=visual.name)
                _say_pose(element, self._on(body, visual.frame).then(self._placed(visual.at)))
                shape = element.add("geometry").add(visual.shape.name)
                for entry in fields(visual.shape):
                    size = getattr(visual.shape, entry.name)
                    shape.say({"file": "uri"}.get(entry.name, entry.name), size)
                if visual.colour is not None:
                    element.add("material").say("diffuse", np.array([*visual.colour, 1.0]))

    def _placed(self, at: Pose) -> NumericPose:
        position, quaternion = from_pose(at, self.value)
        return NumericPose(position, rotation_of(quaternion))

    # --- joints

    def _add_connection(self, closure: MachineConnection) -> None:
        at = self.pose(closure.child)
        seat = at
        if not isinstance(closure.at, AsFound):
            seat = self.pose(closure.parent).then(self._placed(closure.at))
        chain = pieces(closure.joint, at.rotation.T @ seat.rotation, self.value)
        if chain is None:
            what = "connections that SDF has no joint for are left out; cut the loop elsewhere (kb.cuts)"
            self.notes.add(what, f"{closure.name} ({closure.joint.kind})")
            return
        ends = (self.link_of(closure.parent), self.link_of(closure.child))
        if ends[1] == WORLD:  # which is no child: the same joint seen from its other side
            ends = ends[::-1]
            chain = [replace(piece, axes=piece.axes[::-1]) for piece in reversed(chain)]
        names = [self.joint_names[closure.name if not k else f"{closure.name}_{k + 1}"] for k in range(len(chain))]
        self._join(names, chain, ends, closure.child)

    def _join(self, names: Sequence[str], chain: Sequence[Piece], ends: tuple[str, str], frame: str) -> list[Tag]:
        """Joints in a row from one body to another, all of them at a frame; links without mass between them."""
        above, elements = self.names[ends[0]], []
        for count, (name, piece) in enumerate(zip(names, chain, strict=True), start=1):
            is_last = count == len(chain)
            child = self.names[ends[1]] if is_last else self.joint_names.fresh(f"{name}_part")
            if not is_last:
                self._add_link(child, self.pose(frame))
            element = Tag("joint", {"name": name, "type": piece.kind})
            element.say("parent", above)
            element.say("child", child)
            _say_pose(element, self._on(ends[1], frame) if is_last else HERE)
            for tag, axis in zip(("axis", "axis2"), piece.axes, strict=False):
                element.add(tag).say("xyz", axis)
            if piece.kind == "screw":
                element.say("screw_thread_pitch", piece.pitch)
            self.joints.append(element)
            elements.append(element)
            above = child
        return elements

    def _note_others(self) -> None:
        machine = self.machine
        for what, parts in (("rotors", machine.rotors), ("forces", machine.forces), ("outputs", machine.outputs)):
            for part in parts:
                self.notes.add(f"{what} are left out", part.name)
        for visual in machine.visuals:
            if self.link_of(visual.frame) == WORLD:
                self.notes.add("pictures on the world are left out", visual.name)


def _say_pose(element: Tag, at: NumericPose) -> None:
    """<pose> of an element, where it says something: with all digits."""
    if not np.array_equal(at.rotation, np.eye(3)):
        w, x, y, z = quaternion_of(at.rotation)
        element.say("pose", np.array([*at.position, x, y, z, w]), rotation_format="quat_xyzw")
    elif np.any(at.position):
        element.say("pose", np.array([*at.position, 0.0, 0.0, 0.0]))
