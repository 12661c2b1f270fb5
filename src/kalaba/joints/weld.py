"""Weld: no motion at all."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from kalaba.joints.formulas import GAP_LABELS, IDENTITY, TURN_LABELS, ZERO, Gap, InWorld, JointMotion, Labels, Velocity
from kalaba.joints.joint import Joint
from kalaba.space.arrays import Array


@dataclass(frozen=True, slots=True)
class Weld(Joint):
    """No motion at all."""

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """The child is its seat."""
        return JointMotion.steady(IDENTITY, ZERO)

    def velocity(self, world: InWorld) -> Velocity:
        """Adds nothing."""
        return ZERO, ZERO

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """It has none."""
        return ()

    @property
    def row_labels(self) -> Labels:
        """Gap and turn, in world axes."""
        return (*GAP_LABELS, *TURN_LABELS)

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """D and ½ vee(R − Rᵀ), in world axes."""
        return [*ca.vertsplit(gap.world), *ca.vertsplit(gap.turn_world())]

    def alignment(self, gap: Gap) -> ca.SX:
        """Cosine of the turn: −1 at half a turn."""
        return (ca.trace(gap.R) - 1) / 2
