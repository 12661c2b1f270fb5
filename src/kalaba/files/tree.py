"""What robots' files have in common: inertias as they are found, the base, what acts along a joint, poses.

Readers of URDF, SDF and MJCF turn what they read into parts with these, so that the same robot is the same System.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kalaba.errors import FileError
from kalaba.files.source import Notes
from kalaba.joints import Free, Joint, Weld
from kalaba.model.acting import Actuator, Rotor, Spring
from kalaba.model.options import OneOf, Option
from kalaba.model.solids import Solid, impossible_moments
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.space.rotations import quaternion_of, zyx_angles
from kalaba.tolerances import COMPUTED_TURN

if TYPE_CHECKING:
    from kalaba.files.xml_tree import Element

MASSLESS = Solid(0.0)
BASES: dict[str, Joint] = {"fixed": Weld(), "free": Free()}
BASE = Option("fixed", OneOf(tuple(BASES)), "fixed: the root stands on the world; free: it floats")
IMPOSSIBLE = "inertia that no solid can have (triangle inequality), taken as it is"
MAY_BE_NEGATIVE = ("damping", "stiffness", "spring_stiffness")
NO_STOPS = "joint limits bound the start and inverse kinematics, but stop no joint"


def solid_of(
    mass: float, com: Sequence[float], turn: Array, inertia: Sequence[float], notes: Notes, link: str
) -> Solid:
    """A solid of the numbers of a file: I = R I_file Rᵀ about the centre of mass.

    An inertia that breaks the triangle inequality is taken as it is, and noted.

    Arguments:
        mass: kg
        com: centre of mass in the link's axes, m
        turn: R (3, 3), the axes of the inertia in those of the link
        inertia: xx, yy, zz, xy, xz, yz about the centre of mass, kg·m²
        notes: where an impossible inertia is noted
        link: name of the link, for the note
    """
    xx, yy, zz, xy, xz, yz = inertia
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if not np.array_equal(turn, np.eye(3)):
        matrix = turn @ matrix @ turn.T
        matrix = (matrix + matrix.T) / 2
    six = tuple(float(matrix[pair]) for pair in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    moments = impossible_moments(six)
    if moments is not None:
        notes.add(IMPOSSIBLE, f"{link} ({moments})")
    return Solid(mass, tuple(com), six, as_given=moments is not None)


def is_massless(solid: Solid) -> bool:
    """Whether a solid changes nothing, wherever it is."""
    return solid.mass == 0.0 and not any(solid.inertia)


def base_joint(base: str, where: str) -> Joint:
    """The joint by which the root stands on the world.

    Arguments:
        base: "fixed" or "free"
        where: the file, for messages
    """
    if base not in BASES:
        raise FileError(f"{where}: base: expected {' or '.join(BASES)}, got {base!r}.")
    return BASES[base]


def limits_of(low: float, high: float, notes: Notes, joint: str) -> tuple[float, float] | None:
    """Limits of a joint; None where they are none: infinite, or the upper one not above the lower."""
    if low < high:
        if math.isfinite(low) and math.isfinite(high):
            notes.add(NO_STOPS)
            return low, high
        return None
    notes.add("limits whose upper is not above their lower, left out", joint)
    return None


def strength(element: Element, what: str, value: float, notes: Notes, place: str) -> float:
    """A coefficient of what acts along a joint.

    Damping and stiffness below zero are taken as they are, and noted: models that were identified have such. Friction
    and inertia below zero are refused.

    Arguments:
        element: where it stands, for messages
        what: its key in the file
        value: as it was read
        notes: where one below zero is noted
        place: name of the joint, for the note
    """
    if 0 <= value < math.inf:
        return value
    if what not in MAY_BE_NEGATIVE or not math.isfinite(value):
        raise element.error(f"{what}: expected zero or more, got {value:g}")
    notes.add(f"{what} below zero feeds motion with energy, taken as it is", f"{place} ({value:g})")
    return value


@dataclass(frozen=True, slots=True)
class Drive:
    """What acts along the displacement of a joint: parts named joint.motor, joint.damper and joint.rotor.

    Arguments:
        joint: name of the joint
        displacement: its displacement, or the coordinate that is it
        effort: the most that its motor gives, N or N·m; None: it has no motor
        damping: N·s/m or N·m·s/rad
        friction: dry friction, N or N·m
        stiffness: of a spring along it, N/m or N·m/rad
        rest: where the spring has no force, m or rad
        rotor: inertia along the displacement, kg or kg·m²: that of a rotor times the square of its gear ratio
    """

    joint: str
    displacement: str
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    rotor: float = 0.0

    def parts(self) -> list[Actuator | Spring | Rotor]:
        """The parts that it takes; none for what is zero."""
        made: list[Actuator | Spring | Rotor] = []
        if self.effort is not None:
            made.append(Actuator(f"{self.joint}.motor", self.displacement, self.effort))
        if self.damping or self.friction or self.stiffness:
            spring = Spring(
                f"{self.joint}.damper", self.displacement, self.stiffness, self.damping, self.rest, self.friction
            )
            made.append(spring)
        if self.rotor:
            made.append(Rotor(f"{self.joint}.rotor", self.displacement, self.rotor))
        return made


def as_pose(pose: NumericPose) -> Pose:
    """A pose of the model; turns about one axis, and whole quarter turns, as angles, whose zeros stay exact."""
    position = tuple(pose.position.tolist())
    if np.array_equal(pose.rotation, np.eye(3)):
        return Pose(position)
    yaw, pitch, roll = (_snapped(angle) for angle in zyx_angles(pose.rotation))
    if sum(not _is_quarter(angle) for angle in (roll, pitch, yaw)) <= 1:
        return Pose(position, rpy=(roll, pitch, yaw)) if any((roll, pitch, yaw)) else Pose(position)
    return Pose(position, quaternion=tuple(quaternion_of(pose.rotation).tolist()))


def _snapped(angle: float) -> float:
    quarters = round(angle / (math.pi / 2))
    return quarters * (math.pi / 2) if abs(angle - quarters * (math.pi / 2)) < COMPUTED_TURN else float(angle)


def _is_quarter(angle: float) -> bool:
    return _snapped(angle) == round(angle / (math.pi / 2)) * (math.pi / 2)
