"""URDF out: the tree of a machine as links and joints; its loops go to a file beside it, in kalaba's YAML.

A joint's displacements may follow coordinates of the machine by expressions. As far as these are linear, d = J q + d₀,
joints whose rows of J are independent move by themselves in the file and those that follow from one of them mimic it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from kalaba.errors import FileError
from kalaba.files.moving import PIECES, joint_name
from kalaba.files.names import Names
from kalaba.files.source import Notes
from kalaba.files.urdf.loops_out import Renamed, write_loops
from kalaba.files.urdf.pieces import Followed, Moved, geometry, near_whole, term, words
from kalaba.model.names import WORLD
from kalaba.model.solids import INERTIA_PARTS
from kalaba.model.text.expressions import Expression, Values, number, parse
from kalaba.results.places import replacing
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.space.rotations import from_pose, rotation_of, turn, zyx_angles
from kalaba.tolerances import LINEAR_FOLLOWING

if TYPE_CHECKING:
    from kalaba.model.machine import Machine, MachineBody
    from kalaba.model.system import System
    from kalaba.run.scenario import Scenario
    from kalaba.space.arrays import Array

HERE = Pose()
FAR = 1e9  # m or rad: stands for a travel without limits, which URDF must have
STRONG = 1e12  # N or N·m: stands for a motor without a limit


def write(described: System | Scenario, path: Path) -> tuple[str, ...]:
    """Write a machine; what the file cannot hold is told by name.

    Arguments:
        described: a System, or a Scenario, of which the machine is written
        path: where; loops are written beside it, to NAME.loops.yaml
    """
    from kalaba.model.system import System

    system = described if isinstance(described, System) else described.system
    tree = Tree(system.machine, path)
    text = tree.text()
    with replacing(path) as beside:
        beside.write_text(text, encoding="utf-8")
    write_loops(system, path, Renamed(tree.frames, tree.words, tree.coordinates), tree.notes)
    return tree.notes.lines


@dataclass
class Tree:
    """A machine while it is written."""

    machine: Machine
    path: Path
    notes: Notes = field(default_factory=Notes)
    frames: dict[str, str] = field(default_factory=dict)  # frame here → link in the file
    joints: dict[str, str] = field(default_factory=dict)  # displacement here → joint in the file
    words: dict[str, str] = field(default_factory=dict)  # displacement here → displacement where the file is read again
    coordinates: dict[str, str] = field(default_factory=dict)  # coordinate here → expression of the latter

    def __post_init__(self) -> None:
        self.values = {p.name: p.value for p in self.machine.parameters}
        names = Names(self.notes, "link")
        bodies = [body.name for body in self.machine.bodies]
        for name in (*bodies, *self.machine.frames):
            self.frames[name] = WORLD if name == WORLD else names[name]

    def number(self, entry: str | float | Expression) -> float:
        """The value of a number of the machine."""
        return float(number(parse(entry), Values(self.values)))

    def text(self) -> str:
        """The whole file."""
        self._note_others()
        lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(self.machine.name)}>", f'  <link name="{WORLD}"/>']
        names = Names(self.notes, "joint")
        moved = {body.name: list(self._moved(body, names)) for body in self.machine.bodies}
        follows = self._following([joint for joints in moved.values() for joint in joints])
        for body in self.machine.bodies:
            lines += self._body(body, moved[body.name], follows)
        for frame in self.machine.frames.values():
            if frame.parent and not frame.inverse_of:
                lines += self._frame(frame.name)
        return "\n".join([*lines, *self._transmissions(), "</robot>", ""])

    # --- links

    def _body(self, body: MachineBody, joints: list[Moved], follows: dict[str, Followed]) -> Iterator[str]:
        """A link, after the links without mass between the joints that make up one of several displacements."""
        above, at = self.frames[body.parent], body.at
        for count, joint in enumerate(joints, start=1):
            child = self._child(body, count, len(joints))
            if count < len(joints):
                yield f"  <link name={quoteattr(child)}/>"
            else:
                yield f"  <link name={quoteattr(child)}>"
                yield from self._inertial(body)
                yield from self._visuals(body.name)
                yield "  </link>"
            yield from self._joint(joint, (above, child), at, follows)
            above, at = child, HERE

    def _child(self, body: MachineBody, count: int, of: int) -> str:
        """The link that the joint of that number of a body moves."""
        return self.frames[body.name] if count == of else f"{self.frames[body.name]}_part{count}"

    def _inertial(self, body: MachineBody) -> Iterator[str]:
        solid = body.solid.mass_properties(self.number)
        mass, com, six = float(solid.mass), [float(c) for c in solid.com], [float(i) for i in solid.inertia]
        if mass == 0.0 and not any(six):
            return
        moments = " ".join(f'i{key}="{value!r}"' for key, value in zip(INERTIA_PARTS, six, strict=True))
        yield "    <inertial>"
        yield f'      <origin xyz="{words(com)}" rpy="0 0 0"/>'
        yield f'      <mass value="{mass!r}"/>'
        yield f"      <inertia {moments}/>"
        yield "    </inertial>"

    def _visuals(self, frame: str) -> Iterator[str]:
        for visual in self.machine.visuals:
            if visual.frame == frame:
                yield "    <visual>"
                if place := self._origin(visual.at):
                    yield f"      {place}"
                yield f"      <geometry>{geometry(visual)}</geometry>"
                if visual.colour is not None:
                    yield f'      <material name=""><color rgba="{words(visual.colour)} 1"/></material>'
                yield "    </visual>"

    def _frame(self, name: str) -> Iterator[str]:
        """A named place: a link without mass."""
        frame, link = self.machine.frames[name], self.frames[name]
        if frame.is_tip:
            body = self.machine.bodies[frame.body]
            tip = body.solid.mass_properties(self.number).tip
            at = Pose(tuple(float(c) for c in tip or (0.0, 0.0, 0.0)))
        else:
            at = frame.at if frame.at is not None else HERE
        visuals = list(self._visuals(name))
        yield f"  <link name={quoteattr(link)}>" if visuals else f"  <link name={quoteattr(link)}/>"
        if visuals:
            yield from visuals
            yield "  </link>"
        yield from self._joint(Moved(f"{link}_fixed", "fixed"), (self.frames[frame.parent], link), at, {})

    # --- joints

    def _moved(self, body: MachineBody, names: Names) -> Iterator[Moved]:
        """The joints of the file that a body's joint is made of."""
        if body.joint.kind not in PIECES:
            raise FileError(
                f"{self.path}: {body.name} moves by {body.joint.words}, which URDF cannot hold. Save the machine as "
                ".yaml, .sdf or .xml."
            )
        pieces = PIECES[body.joint.kind](body.joint)
        for index, (kind, axis) in enumerate(pieces):
            displacement = body.displacements[index].name if axis is not None else ""
            limits = body.joint.limits if axis is not None else None
            name = names[joint_name(self.machine, body.name, index, displacement)]
            if displacement:
                self.joints[displacement] = name
                word = "travel" if kind == "prismatic" else "angle"
                self.words[displacement] = f"{self._child(body, index + 1, len(pieces))}.{word}"
            yield Moved(name, "revolute" if kind == "continuous" and limits else kind, displacement, axis, limits)

    def _joint(self, joint: Moved, links: tuple[str, str], at: Pose, follows: dict[str, Followed]) -> Iterator[str]:
        parent, child = links
        followed = follows.get(joint.displacement)
        is_locked = followed is not None and followed.joint is None
        kind = "fixed" if is_locked else joint.type
        place = self._origin(at, self._held(joint, followed.offset) if followed is not None and is_locked else None)
        yield f'  <joint name={quoteattr(joint.name)} type="{kind}">'
        yield f"    <parent link={quoteattr(parent)}/><child link={quoteattr(child)}/>"
        if place:
            yield f"    {place}"
        if joint.axis is not None and not is_locked:
            yield f'    <axis xyz="{words(joint.axis.components)}"/>'
            yield from self._acting(joint)
            if followed is not None and followed.joint is not None:
                numbers = f'multiplier="{followed.factor!r}" offset="{followed.offset!r}"'
                yield f"    <mimic joint={quoteattr(followed.joint.name)} {numbers}/>"
        yield "  </joint>"

    @staticmethod
    def _held(joint: Moved, d: float) -> NumericPose | None:
        """Where the child is on its seat at a displacement that does not change."""
        if joint.axis is None or d == 0.0:
            return None
        along = d * np.array(joint.axis.components)
        if joint.type == "prismatic":
            return NumericPose(along, np.eye(3))
        return NumericPose(np.zeros(3), rotation_of(turn(along)))

    def _acting(self, joint: Moved) -> Iterator[str]:
        """Limits, effort, damping and friction."""
        efforts = [a.limit for a in self.machine.actuators if a.displacement.text == joint.displacement]
        effort = sum(efforts)
        if effort == np.inf:
            self.notes.add(f"motors without a limit: an effort of {STRONG:g} stands for it", joint.name)
            effort = STRONG
        limits = joint.limits if joint.limits is not None else (-FAR, FAR)
        bounds = "" if joint.type == "continuous" else f'lower="{limits[0]!r}" upper="{limits[1]!r}" '
        if efforts or bounds:
            yield f'    <limit {bounds}effort="{float(effort)!r}" velocity="{FAR!r}"/>'
        damping = friction = 0.0
        for spring in self.machine.springs:
            if spring.displacement.text == joint.displacement:
                damping += self.number(spring.damping)
                friction += self.number(spring.friction)
        if damping or friction:
            yield f'    <dynamics damping="{damping!r}" friction="{friction!r}"/>'

    def _transmissions(self) -> Iterator[str]:
        for rotor in self.machine.rotors:
            joint = self.joints.get(rotor.displacement.text)
            if joint is not None:
                yield f"  <transmission name={quoteattr(joint + '_transmission')}>"
                yield f"    <joint name={quoteattr(joint)}/>"
                yield f"    <actuator name={quoteattr(joint + '_actuator')}>"
                yield "      <mechanicalReduction>1</mechanicalReduction>"
                yield f"      <rotorInertia>{self.number(rotor.inertia)!r}</rotorInertia>"
                yield "    </actuator>"
                yield "  </transmission>"

    def _following(self, joints: list[Moved]) -> dict[str, Followed]:
        """Displacements that follow others or are held."""
        scalar = [joint for joint in joints if joint.displacement]
        J, offsets = self._linear(scalar)
        free: list[int] = []
        said: dict[str, Followed] = {}
        for index, joint in enumerate(scalar):
            basis = J[free]
            solution = np.linalg.lstsq(basis.T, J[index], rcond=None)[0] if free else np.zeros(0)
            rest = J[index] - (basis.T @ solution if free else 0.0)
            if np.abs(rest).max(initial=0.0) > LINEAR_FOLLOWING * max(
                np.abs(J[index]).max(initial=0.0), LINEAR_FOLLOWING
            ):
                free.append(index)
                if offsets[index]:
                    self.notes.add("zeros of joints: they are counted from elsewhere in the file", joint.displacement)
                continue
            used = [(scalar[free[k]], free[k], float(f)) for k, f in enumerate(solution) if abs(f) > LINEAR_FOLLOWING]
            if not used:
                said[joint.displacement] = Followed(None, 0.0, float(offsets[index]))
            elif len(used) == 1:
                other, k, factor = used[0]
                said[joint.displacement] = Followed(other, factor, float(offsets[index] - factor * offsets[k]))
            else:
                raise FileError(
                    f"{self.path}: {joint.displacement} follows several joints, which URDF cannot hold. Save the "
                    "machine as .yaml."
                )
        self._solve_for_coordinates([scalar[index].displacement for index in free], J[free], offsets[free])
        return said

    def _solve_for_coordinates(self, names: list[str], slopes: Array, offsets: Array) -> None:
        """Coordinates as expressions of the displacements that move by themselves: q = J⁺ (d − d₀)."""
        inverse = np.linalg.pinv(slopes) if len(names) else np.zeros((0, 0))
        for row, coordinate in zip(inverse, self.machine.coordinates, strict=False):
            used = [(factor, k) for k, factor in enumerate(row) if abs(factor) > LINEAR_FOLLOWING]
            terms = [term(near_whole(factor), self.words[names[k]], float(offsets[k])) for factor, k in used]
            if terms:
                self.coordinates[coordinate.name] = f"({' + '.join(terms)})"
        if any(c.name not in self.joints for c in self.machine.coordinates) and names:
            self.notes.add("coordinates of its own: the file has displacements of joints")

    def _linear(self, joints: list[Moved]) -> tuple[Array, Array]:
        """J and d₀ of the displacements, which must be linear in the coordinates."""
        names = [c.name for c in self.machine.coordinates]
        known = self.machine.displacements

        def at(q: Array) -> Array:
            values = Values({**self.values, **dict(zip(names, q, strict=True))})
            return np.array([float(number(known[joint.displacement].expression, values)) for joint in joints])

        offsets = at(np.zeros(len(names)))
        J = np.array([at(row) - offsets for row in np.eye(len(names))]).reshape(len(names), len(joints)).T
        q = np.linspace(-0.7, 0.9, len(names)) + 0.1
        away = np.abs(at(q) - offsets - J @ q)
        for joint, off in zip(joints, away, strict=True):
            if off > LINEAR_FOLLOWING:
                raise FileError(
                    f"{self.path}: {joint.displacement} is no linear expression, which URDF cannot hold. "
                    "Save the machine as .yaml."
                )
        return J, offsets

    def _origin(self, at: Pose, then: NumericPose | None = None) -> str:
        """<origin> of a pose, and of one on it; an empty text where it is none."""
        position, quaternion = from_pose(at, self.number)
        if at.quaternion is None and then is None:
            rpy = [self.number(angle) for angle in at.rpy or (0.0, 0.0, 0.0)]
        else:
            place = NumericPose(position, rotation_of(quaternion))
            position, R = place if then is None else place.then(then)
            rpy = list(reversed(zyx_angles(R)))
        if not np.any(position) and not np.any(np.array(rpy, dtype=float)):
            return ""
        return f'<origin xyz="{words(position)}" rpy="{words(rpy)}"/>'

    def _note_others(self) -> None:
        """What a URDF does not hold: refused where the motion would be another, else noted."""
        machine = self.machine
        for body in machine.bodies:
            if body.solid.modes:
                raise FileError(f"{self.path}: {body.name} bends, which URDF cannot hold. Save the machine as .yaml.")
        gravity = tuple(self.number(g) for g in machine.gravity)
        if gravity != (0.0, 0.0, -9.81):
            self.notes.add("gravity, which readers take as (0, 0, -9.81) m/s²")
        for what, parts in (("forces", machine.forces), ("outputs", machine.outputs)):
            for part in parts:
                self.notes.add(f"{what}, left out", part.name)
        for actuator in machine.actuators:
            if actuator.displacement.text not in machine.displacements:
                self.notes.add("motors that act along no one joint, left out", actuator.name)
        for spring in machine.springs:
            if self.number(spring.stiffness) or spring.displacement.text not in machine.displacements:
                self.notes.add("springs, of which a file holds damping and friction of a joint alone", spring.name)
