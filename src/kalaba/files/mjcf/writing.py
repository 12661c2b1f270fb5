"""A System → an MJCF file: bodies, then what closes loops, drives and springs, then where it starts.

Loops that MuJoCo has no equality for are made of others where that is exact: a hinge of two points, a cross of a point
and a distance. What remains is listed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kalaba.errors import ConstraintError
from kalaba.files.linear_forms import LinearForm
from kalaba.files.mjcf.drawing import add_pictures
from kalaba.files.mjcf.placing import HERE
from kalaba.files.mjcf.skeleton import Skeleton
from kalaba.files.source import Notes
from kalaba.files.xml_out import Tag
from kalaba.model.machine import Machine, MachineConnection, MachineConstraint, Thrust, TracedRow
from kalaba.model.system import System
from kalaba.model.text.expressions import Distance, Expression
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import Plant, build
from kalaba.run.scenario import Scenario
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import AsFound, Axis

REACH = 0.1  # m: how far along an axis the points lie that keep it


def write(described: System | Scenario, path: Path) -> tuple[str, ...]:
    """Write the file; gives lines that say what it does not hold."""
    system = described.system if isinstance(described, Scenario) else described
    skeleton = Skeleton(replace(system, cuts=()).machine, Notes())
    writer = Writer(skeleton)
    writer.add_parts()
    add_pictures(skeleton)
    writer.add_start(system)
    if isinstance(described, Scenario):
        skeleton.notes.add("what is to be run on the machine is left out")
    path.write_text("\n".join(skeleton.root.lines()) + "\n", encoding="utf-8")
    return skeleton.notes.lines


@dataclass
class Writer:
    """Adds to the bodies what joins and moves them."""

    skeleton: Skeleton

    def __post_init__(self) -> None:
        self.tendons, self.equalities, self.actuators = (Tag(name) for name in ("tendon", "equality", "actuator"))

    @property
    def machine(self) -> Machine:
        """The machine that is written."""
        return self.skeleton.machine

    @property
    def notes(self) -> Notes:
        """What is left out."""
        return self.skeleton.notes

    def add_parts(self) -> None:
        """All parts but bodies."""
        machine = self.machine
        for frame in machine.frames.values():
            if frame.at is not None or frame.is_tip:
                self.skeleton.site(frame.name, frame.name)
        self._add_followers()
        for closure in machine.closures:
            if isinstance(closure, MachineConstraint):
                self._add_constraint(closure)
            else:
                self._add_connection(closure)
        for actuator in machine.actuators:
            self._add_actuator(actuator.name, actuator.displacement, actuator.limit)
        for spring in machine.springs:
            self._add_spring(spring)
        for rotor in machine.rotors:
            self._add_rotor(rotor.name, rotor.displacement, self.skeleton.value(rotor.inertia))
        for force in machine.forces:
            self.notes.add("forces on frames are left out", force.name)
        for output in machine.outputs:
            self.notes.add("outputs are left out", output.name)
        self.skeleton.root.children += [
            section for section in (self.tendons, self.equalities, self.actuators) if section.children
        ]

    # --- joints that follow others

    def _add_followers(self) -> None:
        coordinates = self.skeleton.coordinates
        for name, form in coordinates.followers.items():
            self._equate(name, LinearForm(form.constant, {name: -1.0, **form.terms}))
        for body_steps in self.skeleton.steps.values():
            first: dict[str, str] = {}
            for step in body_steps:
                leader = first.setdefault(step.displacement, step.name)
                if leader != step.name and step.displacement not in coordinates.constants:
                    polynomial = np.array([0.0, step.factor, 0.0, 0.0, 0.0])
                    self.equalities.add("joint", name=step.name, joint1=step.name, joint2=leader, polycoef=polynomial)

    def _equate(self, name: str, form: LinearForm) -> None:
        """Keep a linear form of joints at zero: by one joint or two, or by the length of a tendon."""
        terms = list(form.terms.items())
        if not terms:
            self.notes.add("constraints on nothing are left out", name)
            return
        if len(terms) > 2:
            self._fixed(name, form.terms)
            polynomial = np.array([-form.constant, 0.0, 0.0, 0.0, 0.0])
            self.equalities.add("tendon", name=name, tendon1=name, polycoef=polynomial)
            return
        (first, c1), *rest = terms
        polynomial = np.array([-form.constant / c1, -rest[0][1] / c1 if rest else 0.0, 0.0, 0.0, 0.0])
        second = {"joint2": rest[0][0]} if rest else {}
        self.equalities.add("joint", name=name, joint1=first, **second, polycoef=polynomial)

    def _fixed(self, name: str, terms: dict[str, float], **attributes: float) -> None:
        """A tendon whose length is Σ c_i q_i."""
        tendon = self.tendons.add("fixed", name=name, **attributes)
        for joint, coefficient in terms.items():
            tendon.add("joint", joint=joint, coef=coefficient)

    # --- closures

    def _add_constraint(self, closure: MachineConstraint) -> None:
        for row, zero in zip(closure.rows, closure.zero, strict=True):
            form = None if isinstance(zero, TracedRow) or zero.uses_time else self.skeleton.coordinates.of(zero)
            if form is None:
                self.notes.add("rows that are no linear forms of joints are left out", row)
            else:
                self._equate(row, form)
        if closure.work:
            self.notes.add("work of constraints is left out", closure.name)

    def _add_connection(self, closure: MachineConnection) -> None:
        if isinstance(closure.at, AsFound):
            self.notes.add("connections whose place is taken from the start are left out", closure.name)
            return
        closers: dict[str, Callable[[MachineConnection], None]] = {
            "Weld": self._weld,
            "Spherical": self._point,
            "Revolute": self._hinge,
            "Universal": self._cross,
            "Distance": self._distance,
        }
        if closure.joint.kind not in closers:
            self.notes.add(
                "connections that MuJoCo has no equality for are left out; cut the loop elsewhere (kb.cuts)",
                f"{closure.name} ({closure.joint.kind})",
            )
            return
        closers[closure.joint.kind](closure)

    def _seat(self, closure: MachineConnection) -> NumericPose:
        return HERE if isinstance(closure.at, AsFound) else self.skeleton.pose(closure.at)

    def _sites(self, closure: MachineConnection, label: str, seat: NumericPose, child: NumericPose) -> dict[str, str]:
        return {
            "site1": self.skeleton.site(f"{closure.name}.{label}1", closure.parent, self._seat(closure).then(seat)),
            "site2": self.skeleton.site(f"{closure.name}.{label}2", closure.child, child),
        }

    def _weld(self, closure: MachineConnection) -> None:
        self.equalities.add("weld", name=closure.name, **self._sites(closure, "site", HERE, HERE))

    def _point(self, closure: MachineConnection) -> None:
        self.equalities.add("connect", name=closure.name, **self._sites(closure, "site", HERE, HERE))

    def _hinge(self, closure: MachineConnection) -> None:
        """Two points of the axis."""
        along = _along(_axis(closure.joint, "axis"))
        self._point(closure)
        self.equalities.add("connect", name=f"{closure.name}.axis", **self._sites(closure, "axis", along, along))

    def _cross(self, closure: MachineConnection) -> None:
        """A point, and the distance √2 r between points at r along the two axes, which is a right angle."""
        first, second = (_along(_axis(closure.joint, key)) for key in ("axis1", "axis2"))
        self._point(closure)
        sites = self._sites(closure, "axis", first, second)
        self._add_distance(f"{closure.name}.cross", sites, math.sqrt(2) * REACH, closure, (first, second))

    def _distance(self, closure: MachineConnection) -> None:
        length = self.skeleton.value(_field(closure.joint, "length"))
        self._add_distance(closure.name, self._sites(closure, "site", HERE, HERE), length, closure, (HERE, HERE))

    def _add_distance(
        self,
        name: str,
        sites: dict[str, str],
        length: float,
        closure: MachineConnection,
        places: tuple[NumericPose, NumericPose],
    ) -> None:
        """A tendon between two sites, kept at a length; MuJoCo measures it from that at zero displacements."""
        tendon = self.tendons.add("spatial", name=name)
        for site in sites.values():
            tendon.add("site", site=site)
        ends = (
            self.skeleton.where_drawn(closure.parent, self._seat(closure).then(places[0])),
            self.skeleton.where_drawn(closure.child, places[1]),
        )
        drawn = float(np.linalg.norm(ends[0].position - ends[1].position))
        polynomial = np.array([length - drawn, 0.0, 0.0, 0.0, 0.0])
        self.equalities.add("tendon", name=name, tendon1=name, polycoef=polynomial)

    # --- what acts

    def _add_actuator(self, name: str, displacement: Expression | Thrust, limit: float) -> None:
        bound = {"ctrlrange": np.array([-limit, limit])} if math.isfinite(limit) else {}
        if isinstance(displacement, Thrust):
            site = self.skeleton.site(f"{name}.site", displacement.frame)
            gear = np.array([*displacement.axis.components, 0.0, 0.0, 0.0])
            self.actuators.add("motor", name=name, site=site, gear=gear, **bound)
            return
        form = self.skeleton.coordinates.of(displacement)
        if form is None or not form.terms:
            self.notes.add("motors along no linear form of joints are left out", name)
        elif form.single is not None:
            joint, gear_ratio = form.single
            self.actuators.add("motor", name=name, joint=joint, gear=gear_ratio, **bound)
        else:
            self._fixed(name, form.terms)
            self.actuators.add("motor", name=name, tendon=name, **bound)

    def _add_spring(self, spring: Any) -> None:  # noqa: ANN401  (a MachineSpring)
        """On its joint, if it is the first there and along it alone; else as a tendon."""
        value = self.skeleton.value
        stiffness, damping, rest, friction = (
            value(entry) for entry in (spring.stiffness, spring.damping, spring.rest, spring.friction)
        )
        if friction:
            self.notes.add("dry friction sticks in MuJoCo", spring.name)
        between = _only_distance(spring.displacement)
        form = None if between else self.skeleton.coordinates.of(spring.displacement)
        if between:
            tendon = self.tendons.add(
                "spatial", name=spring.name, stiffness=stiffness, damping=damping, springlength=rest
            )
            for frame in between:
                tendon.add("site", site=self.skeleton.site(f"{spring.name}.{frame}", frame))
            if friction:
                tendon.attributes["frictionloss"] = friction
            return
        if form is None or not form.terms:
            self.notes.add("springs along no linear form of joints are left out", spring.name)
            return
        rest -= form.constant
        joint, c = form.single or ("", 0.0)
        said = {"stiffness": stiffness * c * c, "damping": damping * c * c, "frictionloss": friction * abs(c)}
        element = self.skeleton.joints.get(joint)
        if element is not None and not {"stiffness", "damping", "frictionloss"} & set(element.attributes):
            element.attributes |= {key: number for key, number in said.items() if number}
            if stiffness and rest:
                element.attributes["springref"] = rest / c
            return
        sign = -1.0 if rest < 0 else 1.0  # MuJoCo takes a length of −1 for none
        terms = {name: sign * coefficient for name, coefficient in form.terms.items()}
        strengths = {"stiffness": stiffness, "damping": damping, "frictionloss": friction}
        written = {key: number for key, number in strengths.items() if number}
        self._fixed(spring.name, terms, **written, **({"springlength": sign * rest} if stiffness else {}))

    def _add_rotor(self, name: str, displacement: Expression, inertia: float) -> None:
        form = self.skeleton.coordinates.of(displacement)
        if form is None or not form.terms:
            self.notes.add("rotors along no linear form of joints are left out", name)
            return
        joint, c = form.single or ("", 0.0)
        element = self.skeleton.joints.get(joint)
        if element is not None:
            before = element.attributes.get("armature", 0.0)
            element.attributes["armature"] = float(before) + inertia * c * c
            return
        self.notes.add("rotors along several joints: MuJoCo leaves out what they couple across branches", name)
        self._fixed(name, form.terms, armature=inertia)

    # --- the start

    def add_start(self, system: System) -> None:
        """A keyframe with the assembled start."""
        plant = build(system, backend=Interpreted())
        try:
            state = plant.start
        except ConstraintError as error:
            self.notes.add("no keyframe, as the machine does not assemble", str(error))
            return
        if np.any(state.v):
            self.notes.add("speeds at the start are left out")
        self.skeleton.root.add("keyframe").add("key", name="start", qpos=self.joint_numbers(plant, state.q))

    def joint_numbers(self, plant: Plant, q: np.ndarray) -> np.ndarray:
        """Numbers of MJCF's joints, in the order of the file."""
        by_name = dict(zip(plant.coordinates, q.tolist(), strict=True))
        values = {**self.skeleton.parameters, **by_name}
        displacements = {
            d.name: self.skeleton.at(d.expression, values) for body in self.machine.bodies for d in body.displacements
        }
        steps = {step.name: step for body_steps in self.skeleton.steps.values() for step in body_steps}
        numbers: list[float] = []
        for tag in joints_in_order(self.skeleton.world):
            name = str(tag.attributes["name"])
            if name in steps:
                numbers.append(steps[name].factor * displacements[steps[name].displacement])
            elif tag.name == "freejoint":
                numbers += [by_name[f"{name}.{label}"] for label in ("x", "y", "z", "qw", "qx", "qy", "qz")]
            elif tag.attributes["type"] == "ball":
                numbers += [by_name[f"{name}.q{label}"] for label in "wxyz"]
            else:
                numbers.append(by_name[name])
        return np.array(numbers)


def joints_in_order(tag: Tag) -> list[Tag]:
    """Joints in the order in which MuJoCo numbers them: of a body, then of the bodies on it."""
    own = [child for child in tag.children if child.name in {"joint", "freejoint"}]
    return own + [joint for child in tag.children if child.name == "body" for joint in joints_in_order(child)]


def _along(axis: Axis) -> NumericPose:
    return NumericPose(REACH * np.array(axis.components), np.eye(3))


def _axis(joint: Any, key: str) -> Axis:  # noqa: ANN401  (a joint with that field)
    axis: Axis = _field(joint, key)
    return axis


def _field(joint: Any, key: str) -> Any:  # noqa: ANN401  (whatever the field holds)
    return getattr(joint, key)


def _only_distance(expression: Expression) -> tuple[str, str] | None:
    """The two frames of an expression that is their distance and nothing else."""
    tree = expression.tree
    return (tree.first.name, tree.second.name) if isinstance(tree, Distance) else None
