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
    """One shape at the origin of the child, along an axis of the child.

    Arguments:
        shape: what is drawn
        axis: direction of the shape, in the child
    """

    shape: Shape
    axis: Axis = Z


@dataclass(frozen=True, slots=True)
class Marker:
    """What a picture shows of a joint, of its seat, and of a body that it moves.

    Arguments:
        glyphs: shapes at the joint
        has_strut: a thin bar joins the child and the seat, which move apart
        has_foot: where the seat is on the world, a foot stands under it
        makes_block: a body without a tip is drawn as a cuboid of its mass and inertia, like a held thing
        slides_along: axis of a body that slides in a guide: a slim rod, or a block along this axis
        glides_across: normal of the plane in which a body glides: a disc, or a plate
    """

    glyphs: tuple[Glyph, ...] = ()
    has_strut: bool = False
    has_foot: bool = True
    makes_block: bool = False
    slides_along: Axis | None = None
    glides_across: Axis | None = None
