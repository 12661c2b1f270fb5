"""Tendons, equality constraints and actuators of an MJCF file as lengths, rows and motors.

A tendon is a length, an expression of coordinates (fixed kind) or of distances between sites (spatial kind, unless it
wraps around geoms). MuJoCo's equalities are soft; here they are exact rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from kalaba.errors import near
from kalaba.files.mjcf.document import ACTUATOR, EQUALITIES, EQUALITY, TENDON, Document, flag, keyword
from kalaba.files.mjcf.machine import Assembly
from kalaba.files.mjcf.placing import unit
from kalaba.files.source import Notes
from kalaba.files.tree import Drive, as_pose, strength
from kalaba.files.xml_tree import Element
from kalaba.joints import Spherical, Weld
from kalaba.model.acting import Actuator, Thruster
from kalaba.model.parts import Connection, Constraint, Frame, Output
from kalaba.model.text.syntax import number_text
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.rotations import rotation_of

POLYNOMIAL = (0.0, 1.0, 0.0, 0.0, 0.0)
MOTORS = ("general", "motor", "position", "velocity", "intvelocity", "pid", "damper", "dcmotor")
UNBOUNDED = float("inf")


class Length(NamedTuple):
    """A length as an expression and its unit; its values at the pose that the file draws, and with springs at rest."""

    text: str
    unit: str
    at_reference: float
    at_rest: float


def add_couplings(assembly: Assembly) -> None:
    """Add all of them to the parts."""
    couplings = Couplings(assembly)
    for element in assembly.document.section(TENDON):
        couplings.add_tendon(element)
    if assembly.document.is_on(EQUALITY) and assembly.document.is_on("constraint"):
        for number, element in enumerate(assembly.document.section(EQUALITY), start=1):
            couplings.add_equality(element, number)
    for number, element in enumerate(assembly.document.section(ACTUATOR), start=1):
        couplings.add_actuator(element, number)


@dataclass
class Couplings:
    """Adds what couples bodies to an assembly."""

    assembly: Assembly
    lengths: dict[str, Length] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)  # tendons that are not carried over

    @property
    def document(self) -> Document:
        """The file."""
        return self.assembly.document

    @property
    def notes(self) -> Notes:
        """Where all that is left out is noted."""
        return self.assembly.notes

    # --- tendons

    def add_tendon(self, element: Element) -> None:
        """A length, recorded under its name, with the springs and the inertia along it."""
        tendon = self.document.defaults.resolved(element, "", TENDON)
        name = tendon.get("name") or f"tendon{len(self.lengths) + len(self.left_out) + 1}"
        if tendon.tag == "fixed":
            length = self._fixed(tendon)
        elif tendon.tag == "spatial" and not tendon.all("geom") and len(tendon.all("site")) > 1:
            length = self._spatial(tendon)
        else:
            self.notes.add("tendons that wrap around geoms are left out", name)
            self.left_out.add(name)
            return
        if name in self.lengths:
            raise tendon.error(f"a second tendon {name!r}. Rename one of them")
        self.lengths[name] = length
        here = self.assembly.tendon_names[name]
        self.assembly.parts.append(Output(here, length.text, length.unit))
        self._add_along(tendon, here, length)

    def _fixed(self, tendon: Element) -> Length:
        terms, values, units = [], np.zeros(2), set()
        for part in tendon.all("joint"):
            joint, name = self.assembly.joint(part, "joint")
            coefficient = part.number("coef")
            if joint.kind not in {"hinge", "slide"}:
                raise part.error(f"expected a hinge or a slide, got a {joint.kind} joint")
            terms.append(f"{_signed(coefficient)}*{name}")
            values += coefficient * np.array([joint.reference, joint.rest])
            units.add("rad" if joint.kind == "hinge" else "m")
        if not terms:
            raise tendon.error("expected joints in it, got none")
        return Length(_sum(terms), units.pop() if len(units) == 1 else "1", *values.tolist())

    def _spatial(self, tendon: Element) -> Length:
        """Σ distances between neighbours on each branch, over the divisor of the branch."""
        terms, values, divisor = [], np.zeros(2), 1.0
        before: tuple[str, Array] | None = None
        for part in tendon:
            if part.tag == "pulley":
                divisor, before = part.number("divisor"), None
                if not divisor > 0:
                    raise part.error(f"divisor: expected a number above zero, got {divisor:g}")
                continue
            site = self.assembly.site(part, "site")
            body, pose = self.assembly.sites[part.required("site")]
            link = self.assembly.tree.links[body]
            places = np.array([at.then(pose).position for at in (link.world_pose, link.rest_pose)])
            if before is not None:
                values += np.linalg.norm(places - before[1], axis=1) / divisor
                terms.append(f"{_signed(1 / divisor)}*distance({before[0]}, {site})")
            before = (site, places)
        if not terms:
            raise tendon.error("expected two sites in a row, got none")
        return Length(_sum(terms), "m", *values.tolist())

    def _add_along(self, tendon: Element, here: str, length: Length) -> None:
        numbers = {key: self._first(tendon, key) for key in ("stiffness", "damping", "frictionloss", "armature")}
        springs = tendon.read_numbers(tendon.get("springlength", "-1"), None, "springlength")
        low, high = springs[0], springs[-1]
        rest = length.at_rest if low == high == -1.0 else low
        if low != high and numbers["stiffness"]:
            self.notes.add("springs with a slack range (springlength of two numbers) are left out", here)
            numbers["stiffness"] = 0.0
        flags = {"stiffness": "spring", "damping": "damper", "frictionloss": "frictionloss"}
        numbers |= {key: 0.0 for key, name in flags.items() if not self.document.is_on(name)}
        drive = Drive(
            here,
            length.text,
            damping=numbers["damping"],
            friction=numbers["frictionloss"],
            stiffness=numbers["stiffness"],
            rest=rest,
            rotor=numbers["armature"],
        )
        self.assembly.add_drive(drive)
        self._note_limits(tendon, here)

    def _first(self, element: Element, key: str) -> float:
        numbers = element.read_numbers(element.get(key, "0"), None, key)
        if any(numbers[1:]):
            self.notes.add(f"{key} as a polynomial: only its linear part is held", element.get("name"))
        if not numbers:
            raise element.error(f"{key}: expected a number, got none")
        return strength(element, key, numbers[0], self.notes, element.get("name"))

    def _note_limits(self, tendon: Element, here: str) -> None:
        automatic = "range" in tendon.attributes and self.document.compiler.has_automatic_limits
        limited = keyword(tendon, "limited", ("true", "false", "auto"), "auto")
        if limited == "true" or (limited == "auto" and automatic):
            self.notes.add("limits of tendons are left out", here)

    # --- equality

    def add_equality(self, element: Element, number: int) -> None:
        """Add the part whose rows say the same, exactly."""
        equality = self.document.defaults.resolved(element, "", EQUALITY)
        name = equality.get("name") or f"{equality.tag}{number}"
        if equality.tag not in EQUALITIES or equality.tag.startswith("flex"):
            self.notes.add(f"equalities of the kind <{equality.tag}> are left out", name)
            return
        if not flag(equality, "active", default=True):
            self.notes.add("equalities that are not active are left out", name)
            return
        adders = {"connect": self._join, "weld": self._join, "joint": self._of_joints, "tendon": self._of_tendons}
        adders[equality.tag](equality, name)

    def _ends(self, equality: Element, name: str) -> tuple[int, int] | None:
        """The two bodies of a connect or weld; None if they cannot move against each other."""
        if "site1" in equality.attributes:
            for key in ("site1", "site2"):
                _ = self.assembly.site(equality, key)
            first, second = (self.assembly.sites[equality.required(key)][0] for key in ("site1", "site2"))
        else:
            _ = equality.required("body1")
            first, second = self.assembly.body(equality, "body1"), self.assembly.body(equality, "body2")
        if self.assembly.moving(first) == self.assembly.moving(second):
            self.notes.add("equalities between parts of one rigid body hold by themselves", name)
            return None
        return first, second

    def _join(self, equality: Element, name: str) -> None:
        """Two bodies joined by a ball (connect) or a weld, at two sites or where the bodies are."""
        ends = self._ends(equality, name)
        if ends is None:
            return
        joint = Spherical() if equality.tag == "connect" else Weld()
        if "site1" in equality.attributes:
            child, parent = (self.assembly.site(equality, key) for key in ("site2", "site1"))
            self.assembly.parts.append(Connection(self.assembly.equality_names[name], child, parent, joint=joint))
        elif equality.tag == "connect":
            self._connect(equality, name, ends)
        else:
            self._weld(equality, name, ends)

    def _connect(self, equality: Element, name: str, ends: tuple[int, int]) -> None:
        """A point of body 1 stays on a point of body 2, the one that is there at the pose that the file draws."""
        here, links = self.assembly.equality_names[name], self.assembly.tree.links
        anchor = NumericPose(np.array(equality.numbers("anchor", 3)), np.eye(3))
        place = links[ends[0]].world_pose.then(anchor).seen_from(links[ends[1]].world_pose)
        child = self._place(f"{here}_anchor", ends[1], NumericPose(place.position, np.eye(3)))
        at = as_pose(anchor)
        self.assembly.parts.append(Connection(here, child, self.assembly.frame(ends[0]), at, Spherical()))

    def _place(self, name: str, body: int, pose: NumericPose) -> str:
        fresh = self.assembly.site_names.fresh(name)
        self.assembly.parts.append(Frame(fresh, self.assembly.frame(body), as_pose(pose)))
        return fresh

    def _weld(self, equality: Element, name: str, ends: tuple[int, int]) -> None:
        """Body 2 keeps its pose on body 1: `relpose=`, or the one that the file draws."""
        here, links = self.assembly.equality_names[name], self.assembly.tree.links
        relative = np.array(equality.numbers("relpose", 7, (0.0,) * 7))
        if np.any(relative[3:]):
            R = rotation_of(unit(equality, relative[3:], "relpose"))
            anchor = np.array(equality.numbers("anchor", 3, (0.0, 0.0, 0.0)))  # the point of body 2 that is placed
            pose = NumericPose(relative[:3] - R @ anchor, R)
        else:
            pose = links[ends[1]].world_pose.seen_from(links[ends[0]].world_pose)
        child, parent = self.assembly.frame(ends[1]), self.assembly.frame(ends[0])
        self.assembly.parts.append(Connection(here, child, parent, as_pose(pose), Weld()))

    def _of_joints(self, equality: Element, name: str) -> None:
        """Y − y₀ = Σ c_k (x − x₀)^k of two joints."""
        ends = []
        for key in ("joint1", "joint2"):
            if key == "joint2" and key not in equality.attributes:
                continue
            joint, coordinate = self.assembly.joint(equality, key)
            if joint.kind not in {"hinge", "slide"}:
                raise equality.error(f"{key}: expected a hinge or a slide, got a {joint.kind} joint")
            ends.append(Length(coordinate, "", joint.reference, joint.rest))
        self._add_polynomial(equality, name, ends)

    def _of_tendons(self, equality: Element, name: str) -> None:
        """The same of the lengths of two tendons."""
        ends = []
        for key in ("tendon1", "tendon2"):
            if key == "tendon2" and key not in equality.attributes:
                continue
            length = self._length(equality, key)
            if length is None:
                self.notes.add("equalities of tendons that are left out", name)
                return
            ends.append(length)
        self._add_polynomial(equality, name, ends)

    def _length(self, element: Element, key: str) -> Length | None:
        """A tendon's length; None if it is left out."""
        name = element.required(key)
        if name in self.left_out:
            return None
        if name not in self.lengths:
            raise element.error(f"{key}: no tendon {name!r}; {near(name, self.lengths).rstrip('.')}")
        return self.lengths[name]

    def _add_polynomial(self, equality: Element, name: str, ends: list[Length]) -> None:
        written = equality.read_numbers(equality.get("polycoef", "0 1 0 0 0"), None, "polycoef")
        if len(written) > len(POLYNOMIAL):
            raise equality.error(f"polycoef: expected at most five numbers, got {len(written)}")
        coefficients = (*written, *POLYNOMIAL[len(written) :])
        terms = [_sum([f"1*({ends[0].text})", f"{_signed(-ends[0].at_reference)}", f"{_signed(-coefficients[0])}"])]
        if len(ends) > 1:
            x = f"({_sum([f'1*({ends[1].text})', _signed(-ends[1].at_reference)])})"
            terms += [f"{_signed(-c)}*{x}^{k}" for k, c in enumerate(coefficients[1:], start=1) if c]
        self.assembly.parts.append(Constraint(self.assembly.equality_names[name], _sum(terms)))

    # --- actuators

    def add_actuator(self, element: Element, number: int) -> None:
        """A motor along what it drives: its force times its gear is what MuJoCo applies there."""
        actuator = self.document.defaults.resolved(element, "", ACTUATOR)
        name = actuator.get("name") or f"actuator{number}"
        if actuator.tag not in MOTORS:
            self.notes.add(f"actuators of the kind <{actuator.tag}> are left out", name)
            return
        gear = self._gear(actuator)
        if "site" in actuator.attributes and "refsite" not in actuator.attributes:
            self._add_thruster(actuator, name, gear)
            return
        displacement = self._driven(actuator, name, gear[0])
        if not displacement:
            return
        here = self.assembly.actuator_names[name]
        self.assembly.parts.append(Actuator(here, displacement, self._limit(actuator, name)))
        self._note_law(actuator, name)
        self._add_on_motor(actuator, here, displacement)

    @staticmethod
    def _gear(actuator: Element) -> Array:
        written = actuator.read_numbers(actuator.get("gear", "1"), None, "gear")
        if not 1 <= len(written) <= 6:
            raise actuator.error(f"gear: expected one to six numbers, got {actuator.get('gear')!r}")
        return np.array((*written, *(0.0,) * (6 - len(written))))

    def _driven(self, actuator: Element, name: str, gear: float) -> str:
        """The displacement that a motor drives, times its gear; empty if it is left out."""
        key = next((k for k in ("joint", "jointinparent") if k in actuator.attributes), "")
        if key:
            joint, coordinate = self.assembly.joint(actuator, key)
            if joint.kind in {"hinge", "slide"}:
                return _sum([f"{_signed(gear)}*{coordinate}"])
            self.notes.add("motors on ball and free joints are left out", name)
        elif "tendon" in actuator.attributes:
            length = self._length(actuator, "tendon")
            if length is not None:
                return _sum([f"{_signed(gear)}*({length.text})"])
            self.notes.add("motors on tendons that are left out", name)
        else:
            self.notes.add("motors on slider-cranks, bodies and pairs of sites are left out", name)
        return ""

    def _add_thruster(self, actuator: Element, name: str, gear: Array) -> None:
        """A force on a site, along an axis fixed in it."""
        site, strength = self.assembly.site(actuator, "site"), float(np.linalg.norm(gear[:3]))
        if np.any(gear[3:]) or not strength:
            self.notes.add("motors that turn a site are left out", name)
            return
        here, limit = self.assembly.actuator_names[name], self._limit(actuator, name) * strength
        self.assembly.parts.append(Thruster(here, site, tuple((gear[:3] / strength).tolist()), limit))
        if strength != 1.0:
            self.notes.add("forces on sites are in newtons, the gear included", name)
        self._note_law(actuator, name)

    def _limit(self, actuator: Element, name: str) -> float:
        """The most that it gives: its range of force, or of control where that is the force."""
        keys = [("forcerange", "forcelimited")]
        if actuator.tag == "motor":
            keys.append(("ctrlrange", "ctrllimited"))
        bounds = []
        for key, switch in keys:
            automatic = self.document.compiler.has_automatic_limits and key in actuator.attributes
            limited = keyword(actuator, switch, ("true", "false", "auto"), "auto")
            if limited == "true" or (limited == "auto" and automatic):
                low, high = actuator.numbers(key, 2)
                if low != -high:
                    self.notes.add("motors are bounded alike in both directions, by the larger bound", name)
                bounds.append(max(abs(low), abs(high)))
        return min((bound for bound in bounds if bound > 0), default=UNBOUNDED)

    def _note_law(self, actuator: Element, name: str) -> None:
        if keyword_or(actuator, "dyntype", "none") != "none" or actuator.number("timeconst", 0.0):
            self.notes.add("activation of motors is left out: their force is what a law gives", name)
        is_force = actuator.tag == "motor" or (
            actuator.tag == "general"
            and keyword_or(actuator, "biastype", "none") == "none"
            and keyword_or(actuator, "gaintype", "fixed") == "fixed"
            and _first_number(actuator, "gainprm", 1.0) == 1.0
        )
        if not is_force:
            self.notes.add("gains of motors are left out: their force is what a law gives", name)

    def _add_on_motor(self, actuator: Element, here: str, displacement: str) -> None:
        """Armature and damping of a motor, along what it drives."""
        armature, damping = (self._first(actuator, key) for key in ("armature", "damping"))
        damping = damping if self.document.is_on("damper") else 0.0
        self.assembly.add_drive(Drive(here, displacement, damping=damping, rotor=armature))


def keyword_or(element: Element, key: str, default: str) -> str:
    """An attribute as a word, whatever it is."""
    return element.get(key, default) or default


def _first_number(element: Element, key: str, default: float) -> float:
    numbers = element.read_numbers(element.get(key, ""), None, key)
    return numbers[0] if numbers else default


def _signed(number: float) -> str:
    return number_text(float(number))


def _sum(terms: list[str]) -> str:
    """Terms joined by their signs; a factor of one is not written."""
    text = ""
    for term in terms:
        sign, rest = ("-", term[1:]) if term.startswith("-") else ("+", term)
        rest = rest.removeprefix("1*")
        if rest == "0" or rest.startswith("0*"):
            continue
        text += (f" {sign} " if text else sign.removeprefix("+")) + rest
    return text or "0"
