"""Joints of a machine as joints of files: which hinges and slides, in which order, and how their coordinates follow.

The displacements of a joint are read off its motion at rest: a column that turns is a hinge, one that travels is a
slide, one that does both is a hinge with a slide that follows it. The product of these, compared with the joint's own
pose, shows whether it is that joint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from kalaba.errors import FileError
from kalaba.files.linear_forms import LinearForm, linear_form
from kalaba.joints import Joint
from kalaba.model.machine import Machine, MachineBody
from kalaba.model.text.expressions import Values, number
from kalaba.space.arrays import Array
from kalaba.space.number import XYZ, quantities, with_values
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Axis
from kalaba.space.rotations import rotation_of, turn
from kalaba.tolerances import COUPLING_LINEAR, JOINTS_ALIKE

Pieces = list[tuple[str, Axis | None]]


@dataclass(frozen=True)
class Step:
    """A hinge or a slide of a file.

    Arguments:
        name: its name in the file
        kind: hinge or slide
        axis: unit vector in body axes
        displacement: displacement that it is, by its full name
        factor: how far it goes per unit of that displacement: 1, or m per rad for the slide of a screw
    """

    name: str
    kind: str
    axis: Array
    displacement: str
    factor: float = 1.0

    def moved(self, displacement: float) -> NumericPose:
        """What it does at a displacement."""
        way = self.factor * displacement * self.axis
        if self.kind == "slide":
            return NumericPose(way, np.eye(3))
        return NumericPose(np.zeros(3), rotation_of(turn(way)))


def steps(body: MachineBody, value: Any) -> list[Step]:  # noqa: ANN401  (a number of the model → a float)
    """The hinges and slides of a body's joint, none for a weld; balls and free joints are not asked."""
    entries = {quantity.path: ca.SX(value(quantity.value)) for quantity in quantities(body.joint)}
    joint: Joint = with_values(body.joint, entries.__getitem__)
    count = len(body.displacements)
    motion = np.array(ca.evalf(joint.motion(ca.SX.zeros(count), ca.SX.zeros(count)).motion)).reshape(6, count)
    found: list[Step] = []
    for displacement, column in zip(body.displacements, motion.T, strict=True):
        for kind, vector in (("hinge", column[:3]), ("slide", column[3:])):
            length = float(np.linalg.norm(vector))
            if length > 0:
                name = (
                    displacement.name if not (kind == "slide" and np.any(column[:3])) else f"{displacement.name}.thread"
                )
                found.append(Step(name, kind, vector / length, displacement.name, length))
    _check(body, joint, found)
    return found


def _check(body: MachineBody, joint: Joint, found: list[Step]) -> None:
    """Refuse a joint that is not the product of its hinges and slides."""
    d = np.linspace(0.3, 0.7, len(body.displacements))
    by_name = dict(zip((displacement.name for displacement in body.displacements), d, strict=True))
    pose = NumericPose(np.zeros(3), np.eye(3))
    for step in found:
        pose = pose.then(step.moved(by_name[step.displacement]))
    R, p = (np.array(ca.evalf(entry)) for entry in joint.pose(ca.SX(d)))
    if np.abs(R - pose.rotation).max() + np.abs(p.ravel() - pose.position).max() > JOINTS_ALIKE:
        raise FileError(f"{body.name}: MJCF has no joint {joint.kind}, nor hinges and slides that make it.")


def joint_name(machine: Machine, body: str, index: int, displacement: str) -> str:
    """A name for a joint in a file: that of its motor, damper or rotor, which are named after joints; else the body's.

    Arguments:
        machine: the machine
        body: name of the body that it moves
        index: which of the joints in a row that move the body
        displacement: name of what it is here; "" for joints of none or several
    """
    acting = [(a.name, a.displacement.text) for a in machine.actuators]
    acting += [(spring.name, spring.displacement.text) for spring in machine.springs]
    acting += [(rotor.name, rotor.displacement.text) for rotor in machine.rotors]
    for part, along in acting:
        joint, _, word = part.rpartition(".")
        if joint and word in {"motor", "damper", "rotor"} and along == displacement:
            return joint
    return f"{body}_joint{index + 1 if index else ''}"


@dataclass
class Coordinates:
    """Coordinates of a file, and how those of the machine and all displacements follow from them."""

    machine: Machine
    kind: str  # of file, for messages: "MJCF"
    parameters: dict[str, float]
    names: list[str] = field(default_factory=list)  # independent ones: displacements by name
    followers: dict[str, LinearForm] = field(default_factory=dict)  # displacement → form of independent ones
    constants: dict[str, float] = field(default_factory=dict)  # displacements that do not move

    def __post_init__(self) -> None:
        pairs = dict(self.machine.scalar_pairs)
        scalars = [c.name for i, c in enumerate(self.machine.coordinates) if i in pairs]
        rows: list[Array] = []
        forms: list[LinearForm] = []
        for displacement in (d for body in self.machine.bodies for d in body.displacements):
            form = self._form(displacement.expression, scalars)
            if form is None:
                raise FileError(
                    f"{displacement.name}: {self.kind} holds joints that follow coordinates linearly, not q= "
                    f"{displacement.expression.text!r}."
                )
            if not form.terms:
                self.constants[displacement.name] = form.constant
                continue
            row = np.array([form.terms.get(name, 0.0) for name in scalars])
            if np.linalg.matrix_rank(np.array([*rows, row]), COUPLING_LINEAR) > len(rows):
                rows.append(row)
                forms.append(form)
                self.names.append(displacement.name)
            else:
                self._follow(displacement.name, form.constant, row, np.array(rows), forms)
        self._inverse = np.linalg.pinv(np.array(rows).reshape(len(rows), len(scalars)))
        self._offset = np.array([form.constant for form in forms])
        self._scalars = scalars

    def _form(self, expression: Any, names: list[str]) -> LinearForm | None:  # noqa: ANN401  (an Expression)
        def value(x: Array) -> float:
            return number(expression, Values({**self.parameters, **dict(zip(names, x, strict=True))}))

        return linear_form(value, names)

    def _follow(self, name: str, constant: float, row: Array, rows: Array, forms: list[LinearForm]) -> None:
        weights = np.linalg.lstsq(rows.T, row, rcond=None)[0]
        offset = constant - float(weights @ [form.constant for form in forms])
        terms = {n: float(w) for n, w in zip(self.names, weights, strict=True) if abs(w) > COUPLING_LINEAR}
        self.followers[name] = LinearForm(offset, terms)

    def of(self, expression: Any) -> LinearForm | None:  # noqa: ANN401  (an Expression)
        """An expression as a linear form of the file's independent coordinates; None if it is none."""
        moving = {c.name for c in self.machine.coordinates} | self.machine.displacements.keys()
        words = [name.rpartition(".") for name in expression.names - moving]
        if any(component in XYZ and frame in self.machine.frames for frame, _, component in words):
            return None  # where a frame is, which may have the name of a number

        def value(x: Array) -> float:
            return number(expression, Values({**self.parameters, **self.scalars(x)}))

        return linear_form(value, self.names)

    def scalars(self, x: Array) -> dict[str, float]:
        """Coordinates of the machine and displacements, for values of the independent ones."""
        q = self._inverse @ (x - self._offset)
        known = dict(zip(self.names, x, strict=True))
        for name, form in self.followers.items():
            known[name] = form.constant + sum(c * known[n] for n, c in form.terms.items())
        return {**dict(zip(self._scalars, q.tolist(), strict=True)), **known, **self.constants}


PIECES: dict[str, Callable[[Any], Pieces]] = {  # kind of joint → types of URDF's joints in a row, with their axes
    "Weld": lambda _: [("fixed", None)],
    "Revolute": lambda joint: [("continuous", joint.axis)],
    "Prismatic": lambda joint: [("prismatic", joint.axis)],
    "Cylindrical": lambda joint: [("prismatic", joint.axis), ("continuous", joint.axis)],
    "Universal": lambda joint: [("continuous", joint.axis1), ("continuous", joint.axis2)],
    "Planar": lambda joint: [*(("prismatic", axis) for axis in joint.normal.across()), ("continuous", joint.normal)],
    "Free": lambda _: [("floating", None)],
}
