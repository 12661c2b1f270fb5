"""How a joint is drawn, as data: a picture needs no more than this, and knows no kind of joint."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kalaba.space.pose import Axis, Z


class Shape(Enum):
    """Shapes that tell joints apart."""

    AXLE = "axle"  # a thick round bar about the axis: a hinge
    PIN = "pin"  # a thin one: half of a cross
    SLEEVE = "sleeve"  # a square block along the axis: a guide
    BALL = "ball"


@dataclass(frozen=True, slots=True)
class Glyph:
    """One shape at the origin of the child, along an axis of the child."""

    shape: Shape
    axis: Axis = Z


@dataclass(frozen=True, slots=True)
class Marker:
    """What a picture shows of a joint, of its seat, and of a body that it moves."""

    glyphs: tuple[Glyph, ...] = ()
    has_strut: bool = False  # a thin bar joins the child and the seat, which move apart
    has_foot: bool = True  # where the seat is on the world, a foot stands under it
    makes_block: bool = False  # a body without a tip is drawn as a cuboid of its mass and inertia, like a held thing
    slides_along: Axis | None = None  # a body that slides in a guide: a slim rod, or a block along this axis
    glides_across: Axis | None = None  # a body that glides in a plane of this normal: a disc, or a plate
