"""What acts along the joints of an SDF file that is written: limits, motors, springs, and joints that follow others."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kalaba.files.linear_forms import LinearForm
from kalaba.files.moving import Coordinates
from kalaba.files.sdf.pieces import Piece
from kalaba.files.source import Notes
from kalaba.files.xml_out import Tag
from kalaba.joints import Joint
from kalaba.model.acting import Spring
from kalaba.model.machine import Machine, MachineConstraint, Thrust, TracedRow
from kalaba.tolerances import COUPLING_LINEAR

CREEP = Spring("usual", "x").creep  # which no file holds


@dataclass
class Along:
    """What acts along a displacement x that counts from the drawn place: −k x + load − damping ẋ − friction."""

    stiffness: float = 0.0
    load: float = 0.0  # of springs where it is drawn
    damping: float = 0.0
    friction: float = 0.0


@dataclass
class Acting:
    """Puts what acts into the joints of a file.

    Arguments:
        machine: the machine
        coordinates: how displacements follow each other
        drawn: displacements where the file draws the machine
        value: a number of the model → a float
        notes: where all that is left out is noted
    """

    machine: Machine
    coordinates: Coordinates
    drawn: Mapping[str, float]
    value: Callable[[Any], float]
    notes: Notes
    motors: dict[str, float] = field(default_factory=dict)  # displacement → limit
    springs: dict[str, Along] = field(default_factory=dict)
    axes: dict[str, tuple[Tag, str, str, float]] = field(
        default_factory=dict
    )  # displacement → axis, its joint, its tag

    def __post_init__(self) -> None:
        for actuator in self.machine.actuators:
            along = actuator.displacement
            form = None if isinstance(along, Thrust) else self.coordinates.of(along)
            joint, factor = (form and form.single) or ("", 0.0)
            if abs(factor - 1.0) > COUPLING_LINEAR or joint in self.motors:
                self.notes.add("motors that are not the one motor of a joint are left out", actuator.name)
            else:
                self.motors[joint] = actuator.limit
        for spring in self.machine.springs:
            form = self.coordinates.of(spring.displacement)
            if form is None or form.single is None:
                self.notes.add("springs along no joint are left out", spring.name)
            else:
                self._add_spring(spring, form, *form.single)

    def _add_spring(self, spring: Any, form: LinearForm, joint: str, c: float) -> None:  # noqa: ANN401  (a spring)
        """Along s = c d + c₀ with d = d_drawn + x: −k c (c x + s_drawn − rest)."""
        along = self.springs.setdefault(joint, Along())
        stiffness, damping, rest, friction = (
            self.value(entry) for entry in (spring.stiffness, spring.damping, spring.rest, spring.friction)
        )
        along.stiffness += stiffness * c * c
        along.load += stiffness * c * (rest - form.constant - c * self.drawn[joint])
        along.damping += damping * c * c
        along.friction += friction * abs(c)
        if friction and spring.creep / abs(c) != CREEP:
            self.notes.add(f"creep of dry friction, which readers take as {CREEP:g} per second", spring.name)

    def add(self, element: Tag, piece: Piece, displacements: Sequence[str], joint: Joint) -> None:
        """Limits, motor, spring and what it follows, for a joint of the tree."""
        axes = [child for child in element.children if child.name in {"axis", "axis2"}]
        for axis, name in zip(axes, displacements, strict=True):
            travels = piece.kind == "screw" and self.machine.displacements[name].unit == "m"
            unit = 2 * math.pi / piece.pitch if travels else 1.0  # of the file's per one here
            self.axes[name] = (axis, str(element.attributes["name"]), axis.name, unit)
            self._add_limit(axis, name, joint.limits if len(displacements) == 1 else None, unit)
            along = self.springs.pop(name, None)
            if along is not None:
                _say_dynamics(axis, along, unit)
        for name in displacements:
            if name in self.coordinates.followers:
                self._follow(name, name, self.coordinates.followers[name])

    def _add_limit(self, axis: Tag, name: str, limits: tuple[float, float] | None, unit: float) -> None:
        said: dict[str, float] = {}
        if limits is not None:
            drawn = self.drawn[name]
            low, high = sorted(unit * (self.value(end) - drawn) for end in limits)
            said |= {"lower": low, "upper": high}
        if name in self.motors and unit == 1.0:
            said["effort"] = self.motors[name]
        elif name in self.motors:
            self.notes.add("motors along the travel of a screw are left out", name)
        if said:
            limit = axis.add("limit")
            for key, entry in said.items():
                limit.say(key, entry)

    # --- joints that follow others

    def add_constraint(self, closure: MachineConstraint) -> None:
        """Rows that are a ratio of two joints; others are noted."""
        for row, zero in zip(closure.rows, closure.zero, strict=True):
            form = None if isinstance(zero, TracedRow) or zero.uses_time else self.coordinates.of(zero)
            terms = [] if form is None else list(form.terms.items())
            free = [k for k, (name, _) in enumerate(terms) if name in self.axes and not self._follows(name)]
            free.sort(key=lambda k: terms[k][0] in self.motors)  # what follows is rather not driven
            if len(terms) != 2 or not free:
                self.notes.add("rows that are no ratio of two joints are left out", row)
                continue
            (name, c), (leader, other) = terms[free[0]], terms[1 - free[0]]
            self._follow(row, name, LinearForm(0.0, {leader: -other / c}))
        if closure.work:
            self.notes.add("work of constraints is left out", closure.name)

    def _follows(self, name: str) -> bool:
        return any(child.name == "mimic" for child in self.axes[name][0].children)

    def _follow(self, what: str, name: str, form: LinearForm) -> None:
        """Keep x = factor · x_leader, both counted from where they are drawn."""
        if form.single is None or form.single[0] not in self.axes:
            self.notes.add("rows that are no ratio of two joints are left out", what)
            return
        leader, factor = form.single
        axis, _, _, unit = self.axes[name]
        _, joint, tag, unit_of_leader = self.axes[leader]
        mimic = axis.add("mimic", joint=joint, axis=tag)
        mimic.say("multiplier", factor * unit / unit_of_leader)
        mimic.say("offset", 0.0)
        mimic.say("reference", 0.0)


def _say_dynamics(axis: Tag, along: Along, unit: float) -> None:
    numbers = {
        "damping": along.damping / unit**2,
        "friction": along.friction / abs(unit),
        "spring_reference": along.load / along.stiffness * unit if along.stiffness else 0.0,
        "spring_stiffness": along.stiffness / unit**2,
    }
    dynamics = axis.add("dynamics")
    for key, entry in numbers.items():
        dynamics.say(key, np.float64(entry))
