"""Mass and inertia of the geoms of an MJCF file: homogeneous solids or thin shells, by MuJoCo's rules.

A geom has density times volume, or `mass=` whatever its volume; as a shell, density times area. Planes and height
fields have none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kalaba.files.mjcf.document import Compiler, flag, keyword
from kalaba.files.mjcf.placing import placed, turned_onto, unit
from kalaba.files.xml_tree import Element
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose

DENSITY = 1000.0  # kg/m³ of a geom that does not say
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
FROM_TO = ("capsule", "cylinder", "ellipsoid", "box")
TYPES = ("plane", "hfield", *SIZES, "mesh", "sdf")


class Lump(NamedTuple):
    """Mass, centre of mass and central inertia (3, 3), in the axes of a body."""

    mass: float
    centre: Array
    inertia: Array

    def moved(self, pose: NumericPose) -> Lump:
        """The same on a frame that is at a pose."""
        R = pose.rotation
        return Lump(self.mass, pose.position + R @ self.centre, R @ self.inertia @ R.T)

    def scaled(self, factor: float) -> Lump:
        """The same shape of another mass."""
        return Lump(self.mass * factor, self.centre, self.inertia * factor)


NOTHING = Lump(0.0, np.zeros(3), np.zeros((3, 3)))


def together(lumps: Sequence[Lump]) -> Lump:
    """Several as one body, by Steiner's rule."""
    mass = sum(lump.mass for lump in lumps)
    if not mass > 0.0:
        return NOTHING
    centre = sum((lump.mass * lump.centre for lump in lumps), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for lump in lumps:
        r = lump.centre - centre
        inertia += lump.inertia + lump.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return Lump(mass, np.asarray(centre), inertia)


class Extent(NamedTuple):
    """Content (m³ of a solid, m² of a shell) and the moments that go with a unit of mass."""

    content: float
    moments: tuple[float, float, float]


def _ball(r: float) -> Extent:
    return Extent(4 / 3 * math.pi * r**3, (0.4 * r**2,) * 3)


def _box(a: float, b: float, c: float) -> Extent:
    return Extent(8 * a * b * c, ((b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3))


def _ellipsoid(a: float, b: float, c: float) -> Extent:
    moments = ((b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5)
    return Extent(4 / 3 * math.pi * a * b * c, moments)


def _cylinder(r: float, half: float) -> Extent:
    across = (3 * r * r + 4 * half * half) / 12
    return Extent(2 * math.pi * r * r * half, (across, across, r * r / 2))


def _capsule(r: float, half: float) -> Extent:
    """A cylinder with two half balls, whose centres of mass are 3/8 r beyond its ends."""
    cylinder, ends, length = _cylinder(r, half), _ball(r), 2 * half
    total = cylinder.content + ends.content
    share, rest = cylinder.content / total, ends.content / total
    across = share * cylinder.moments[0] + rest * (0.4 * r * r + length * length / 4 + 3 * length * r / 8)
    return Extent(total, (across, across, share * r * r / 2 + rest * 0.4 * r * r))


def _ball_shell(r: float) -> Extent:
    return Extent(4 * math.pi * r**2, (2 / 3 * r**2,) * 3)


def _box_shell(a: float, b: float, c: float) -> Extent:
    """Three pairs of plates: area, moments of the plate itself and of its distance from the middle."""
    pairs = ((8 * b * c, (0.0, b, c), a, 0), (8 * a * c, (a, 0.0, c), b, 1), (8 * a * b, (a, b, 0.0), c, 2))
    area = sum(pair[0] for pair in pairs)
    second = np.zeros(3)  # ∫ x², ∫ y², ∫ z² per unit of mass
    for content, halves, distance, axis in pairs:
        squares = np.array(halves) ** 2 / 3
        squares[axis] = distance**2
        second += content / area * squares
    return Extent(area, tuple(second.sum() - second))


def _cylinder_shell(r: float, half: float) -> Extent:
    side, lids = 4 * math.pi * r * half, 2 * math.pi * r * r
    area, length = side + lids, 2 * half
    across = (side * (r * r / 2 + length**2 / 12) + lids * (r * r / 4 + half**2)) / area
    return Extent(area, (across, across, (side * r * r + lids * r * r / 2) / area))


def _capsule_shell(r: float, half: float) -> Extent:
    """The side of a cylinder with two half spheres, whose centres of mass are r/2 beyond its ends."""
    side, ends, length = 4 * math.pi * r * half, 4 * math.pi * r * r, 2 * half
    area = side + ends
    across = (side * (r * r / 2 + length**2 / 12) + ends * (2 / 3 * r * r + half**2 + half * r)) / area
    return Extent(area, (across, across, (side * r * r + ends * 2 / 3 * r * r) / area))


SOLIDS: dict[str, Callable[..., Extent]] = {
    "sphere": _ball,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "ellipsoid": _ellipsoid,
    "box": _box,
}
SHELLS: dict[str, Callable[..., Extent]] = {
    "sphere": _ball_shell,
    "capsule": _capsule_shell,
    "cylinder": _cylinder_shell,
    "box": _box_shell,
}


@dataclass(frozen=True)
class Shape:
    """A geom: what it is and where on its body.

    Arguments:
        element: the geom with its defaults
        kind: sphere, capsule, cylinder, ellipsoid, box, mesh, plane, hfield or sdf
        sizes: as MJCF gives them: half lengths and radii, m
        pose: on its body
    """

    element: Element
    kind: str
    sizes: tuple[float, ...]
    pose: NumericPose

    @property
    def group(self) -> float:
        """Its group, which may have no part in the inertia."""
        return self.element.number("group", 0.0)

    @property
    def is_shell(self) -> bool:
        """Whether its mass is in its surface."""
        return flag(self.element, "shellinertia", default=False)

    @property
    def density(self) -> float:
        """kg/m³, or kg/m² of a shell."""
        return _not_negative(self.element, "density", self.element.number("density", DENSITY))

    def mass(self, content: float) -> float:
        """Its mass: as given, or density times content."""
        if "mass" in self.element.attributes:
            return _not_negative(self.element, "mass", self.element.number("mass"))
        return self.density * content

    @property
    def has_no_mass(self) -> bool:
        """Whether it says itself that it has none."""
        given = self.element.number("mass", -1.0)
        return self.kind in {"plane", "hfield"} or given == 0.0 or (given < 0.0 and self.density == 0.0)

    def lump(self) -> Lump:
        """Its mass and inertia on its body, unless it is a mesh."""
        table = SHELLS if self.is_shell else SOLIDS
        if self.kind not in table:
            raise self.element.error(f"no rule for the inertia of a {self.kind}{' shell' if self.is_shell else ''}")
        try:
            extent = table[self.kind](*self.sizes)
        except ArithmeticError as error:
            raise self.element.error(f"size: too large or too small to compute with, {self.sizes}") from error
        mass = self.mass(extent.content)
        return Lump(mass, np.zeros(3), mass * np.diag(extent.moments)).moved(self.pose)


def _not_negative(element: Element, what: str, value: float) -> float:
    if value < 0:
        raise element.error(f"{what}: expected zero or more, got {value:g}")
    return value


def shape(element: Element, compiler: Compiler, around: NumericPose) -> Shape:
    """A geom of a file, with its defaults; `around` is the pose of the <frame>s that it stands in."""
    kind = keyword(element, "type", TYPES, "sphere")
    numbers = element.read_numbers(element.get("size"), None, "size")
    if kind not in SIZES:
        return Shape(element, kind, numbers, around.then(placed(element, compiler)))
    count = SIZES[kind]
    if "fromto" in element.attributes and kind in FROM_TO:
        pose, half = between(element)
        numbers = (*numbers[:1], half) if count == 2 else (*numbers[:1], *numbers[:1], half)
    else:
        pose = placed(element, compiler)
    if len(numbers) < count or not all(number > 0 for number in numbers[:count]):
        raise element.error(f"size: expected {count} numbers above zero for a {kind}, got {element.get('size')!r}")
    return Shape(element, kind, numbers[:count], around.then(pose))


def between(element: Element) -> tuple[NumericPose, float]:
    """Pose and half length of what reaches from one point to another; its z axis points to the first, as in MuJoCo."""
    ends = np.array(element.numbers("fromto", 6))
    direction = unit(element, ends[:3] - ends[3:], "fromto")
    length = float(np.linalg.norm(ends[3:] - ends[:3]))
    return NumericPose((ends[:3] + ends[3:]) / 2, turned_onto(direction)), length / 2
