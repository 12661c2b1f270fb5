"""Backwards: a joint turned round, so that what was its seat is carried by what was its child."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from kalaba.boundary import check_fields
from kalaba.joints.formulas import Gap, JointMotion, Labels
from kalaba.joints.joint import Joint
from kalaba.joints.marker import Marker
from kalaba.joints.universal import Universal
from kalaba.space.arrays import Array
from kalaba.space.number import nested
from kalaba.space.symbolic import cross


@dataclass(frozen=True, slots=True)
class Backwards(Joint):
    """Another joint from its child to its seat: the same displacements and rates, the inverse pose.

    A tree that hangs on another of its bodies has some of its joints so; see `kb.cuts`.

    Arguments:
        joint: the joint that is turned round
    """

    joint: Joint = nested("", Universal())

    def __post_init__(self) -> None:
        check_fields(self)
        super(Backwards, self).__post_init__()  # of a class with slots, which `super()` does not know

    @property
    def displacements(self) -> Labels:  # type: ignore[override]  # noqa: D102  (those of the joint)
        return self.joint.displacements

    @property
    def has_quaternion(self) -> bool:  # type: ignore[override]  # noqa: D102
        return self.joint.has_quaternion

    @property
    def has_position(self) -> bool:  # type: ignore[override]  # noqa: D102
        return self.joint.has_position

    @property
    def in_tree(self) -> bool:  # type: ignore[override]  # noqa: D102
        return self.joint.in_tree

    @property
    def closes_on_seat(self) -> bool:  # type: ignore[override]  # noqa: D102
        return self.joint.closes_on_seat

    @property
    def comes_round(self) -> bool:  # type: ignore[override]  # noqa: D102
        return self.joint.comes_round

    @property
    def wound_rows(self) -> tuple[str, ...]:  # type: ignore[override]  # noqa: D102
        return self.joint.wound_rows

    @property
    def turned_over(self) -> Joint:
        """The joint itself."""
        return self.joint

    @property
    def words(self) -> str:
        """Its joint, in words."""
        return f"{self.kind} {self.joint.words}"

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """Turn a motion (R, p) with twist V = S u round: Rᵀ, −Rᵀp, and −Ad V in axes of the old seat.

        With Ad (ω; v) = (R ω; R v + p × R ω) its rate is Ad ad(V), and ad(V) V = 0: the drift is −Ad Ṡu alone.
        """
        inner = self.joint.motion(q, u)
        R, p = inner.rotation, inner.position

        def carried(twists: ca.SX) -> ca.SX:
            turning, moving = ca.mtimes(R, twists[0:3, :]), ca.mtimes(R, twists[3:6, :])
            arms = [cross(p, turning[:, k]) for k in range(twists.shape[1])]
            return -ca.vertcat(turning, moving + ca.horzcat(ca.SX(3, 0), *arms))

        return JointMotion(R.T, -ca.mtimes(R.T, p), carried(inner.motion), carried(inner.drift))

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """Those of the joint at the inverse pose."""
        return self.joint.coordinates_at(np.asarray(-rotation.T @ position), np.asarray(rotation.T))

    def displacements_in(self, gap: Gap) -> list[ca.SX]:
        """Those of the joint, seen from its own seat."""
        return self.joint.displacements_in(_round(gap))

    @property
    def row_labels(self) -> Labels:
        """Those of the joint."""
        return self.joint.row_labels

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """Those of the joint, seen from its own seat."""
        return self.joint.row_values(_round(gap))

    def alignment(self, gap: Gap) -> ca.SX:
        """That of the joint."""
        return self.joint.alignment(_round(gap))

    def wound_values(self, gap: Gap) -> list[ca.SX]:
        """Those of the joint."""
        return self.joint.wound_values(_round(gap))

    @property
    def marker(self) -> Marker:
        """That of the joint."""
        return self.joint.marker


def _round(gap: Gap) -> Gap:
    """The same gap with seat and child exchanged."""
    return Gap(gap.child, gap.seat, -gap.world)
