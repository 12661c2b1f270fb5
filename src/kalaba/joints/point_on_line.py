"""PointOnLine: a point in a slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from kalaba.joints.formulas import Gap, Labels, off_labels
from kalaba.joints.joint import Joint, direction
from kalaba.space.pose import Axis, AxisLike, X


@dataclass(frozen=True, slots=True)
class PointOnLine(Joint):
    """Closing only: the child's origin stays on a line through the seat along `axis`.

    Arguments:
        axis: direction of the line on the seat: kb.X or three numbers
    """

    in_tree: ClassVar[bool] = False
    axis: Axis = direction(X)

    if TYPE_CHECKING:

        def __init__(self, axis: AxisLike = X) -> None: ...

    @property
    def row_labels(self) -> Labels:
        """Gap across the line."""
        return off_labels(self.axis)

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """D across the line."""
        return gap.off(self.axis)
