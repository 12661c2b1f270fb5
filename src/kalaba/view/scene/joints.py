"""Markers of joints by their kind, and struts: thin bars between places that move apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.joints.kinds import Cylindrical, Distance, Free, Planar, Prismatic, Revolute, Screw, Spherical, Universal
from kalaba.view.scene.meshes import Mesh, ball, bar, box, joined
from kalaba.view.scene.solids import Sizes, axle, sleeve

if TYPE_CHECKING:
    from kalaba.view.scene.places import Placed

Array = NDArray[np.float64]
SLIDING = (Prismatic, Cylindrical, Screw)
AXLE = (1.7, 2.4)  # radius and half-length of a hinge, of a bar's radius
THREAD = 0.5  # radius of a strut, of a bar's radius


def marker(joint: Any, sizes: Sizes) -> Mesh | None:  # noqa: ANN401
    """The mesh of a joint in the frame of its child; None for one that shows nothing, such as a free body's."""
    r = sizes.thin
    if isinstance(joint, Revolute):
        return axle(joint.axis.components, AXLE[0] * r, AXLE[1] * r)
    if isinstance(joint, SLIDING):
        return sleeve(joint.axis.components, AXLE[0] * r, 4 * r)
    if isinstance(joint, Universal):
        axes = (joint.axis1.components, joint.axis2.components)
        return joined([axle(axis, r, AXLE[1] * r) for axis in axes])
    if isinstance(joint, Spherical):
        return ball(AXLE[0] * r)
    return None


def pad(joint: Any, sizes: Sizes) -> Mesh | None:  # noqa: ANN401
    """A foot on the ground under a joint that stands on the world."""
    if isinstance(joint, Free | Planar):
        return None
    r = sizes.thin
    return box((4.5 * r, 4.5 * r, 1.2 * r))


@dataclass(frozen=True, slots=True)
class Strut:
    """A bar from a body's origin to another place, as long as they are apart."""

    body: int  # among the places
    place: int
    radius: float

    def mesh(self, placed: Placed) -> Mesh:
        """The bar in the body's frame; a point where both places are one."""
        end, _ = placed.local(self.body, self.place)
        length = float(np.linalg.norm(end))
        direction = end / length if length > 1e-9 * self.radius else np.array([0.0, 0.0, 1.0])
        return bar(np.zeros(3), direction * max(length, 1e-3 * self.radius), self.radius, sides=12)


def is_drawn_apart(joint: Any) -> bool:  # noqa: ANN401
    """Whether a joint leaves room between its two sides that a strut should fill."""
    return isinstance(joint, (*SLIDING, Distance))
