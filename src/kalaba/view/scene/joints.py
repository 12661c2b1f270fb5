"""Markers of joints, and struts: thin bars between places that move apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kalaba.joints.marker import Glyph, Marker, Shape
from kalaba.space.arrays import Array
from kalaba.tolerances import BAR_POINT
from kalaba.view.scene.meshes import Mesh, ball, bar, box, joined
from kalaba.view.scene.solids import Sizes, axle, sleeve

if TYPE_CHECKING:
    from kalaba.view.scene.places import Placed

AXLE = (1.7, 2.4)  # radius and half-length of a hinge, of a bar's radius
THREAD = 0.5  # radius of a strut, of a bar's radius


def marker_mesh(marker: Marker, sizes: Sizes) -> Mesh | None:
    """The mesh of a joint in the frame of its child; None for one that shows nothing, such as a free body's."""
    meshes = [_glyph_mesh(glyph, sizes.thin) for glyph in marker.glyphs]
    return joined(meshes) if len(meshes) > 1 else meshes[0] if meshes else None


def _glyph_mesh(glyph: Glyph, r: float) -> Mesh:
    axis = glyph.axis.components
    match glyph.shape:
        case Shape.AXLE:
            return axle(axis, AXLE[0] * r, AXLE[1] * r)
        case Shape.PIN:
            return axle(axis, r, AXLE[1] * r)
        case Shape.SLEEVE:
            return sleeve(axis, AXLE[0] * r, 4 * r)
        case Shape.BALL:
            return ball(AXLE[0] * r)


def pad(sizes: Sizes) -> Mesh:
    """A foot on the ground under a joint that stands on the world."""
    r = sizes.thin
    return box((4.5 * r, 4.5 * r, 1.2 * r))


@dataclass(frozen=True, slots=True)
class Strut:
    """A bar from a body's origin to another place, as long as they are apart."""

    body: int  # among the places
    place: int
    radius: float

    def mesh(self, q: Array, placed: Placed) -> Mesh:
        """The bar in the body's frame; a point where both places are one."""
        end, _ = placed.local(self.body, self.place)
        length = float(np.linalg.norm(end))
        direction = end / length if length > BAR_POINT * self.radius else np.array([0.0, 0.0, 1.0])
        return bar(np.zeros(3), direction * max(length, 1e-3 * self.radius), self.radius, sides=12)
