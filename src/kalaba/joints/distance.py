"""Distance: a massless rod with a ball at each end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from kalaba.errors import ModelError
from kalaba.joints.formulas import Gap, Labels
from kalaba.joints.joint import Joint
from kalaba.joints.marker import Marker
from kalaba.space.number import Number, scalar


@dataclass(frozen=True, slots=True)
class Distance(Joint):
    """Closing only: the child's origin keeps a length from the seat's.

    Arguments:
        length: the distance that is kept, m
    """

    in_tree: ClassVar[bool] = False
    closes_on_seat: ClassVar[bool] = False
    length: Number = scalar("m", "distance kept")

    if TYPE_CHECKING:

        def __init__(self, length: Number) -> None: ...

    def check_value(self, path: str, value: float) -> None:
        """Refuse a length that is not above zero."""
        if path.endswith(".length") and not value > 0:
            raise ModelError(f"{path}: expected more than zero, got {value:g}. Use Spherical to join two points.")

    @property
    def row_labels(self) -> Labels:
        """The one length."""
        return (("distance", "m"),)

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """(d·d − L²) / 2L: the excess length to first order, smooth where d is zero."""
        L = self.length
        return [(ca.dot(gap.world, gap.world) - L**2) / (2 * L)]  # type: ignore[operator]

    @property
    def marker(self) -> Marker:
        """A strut."""
        return Marker(has_strut=True)
