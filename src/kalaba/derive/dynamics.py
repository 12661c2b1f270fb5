"""What every derivation returns: the equations of the unconstrained trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import casadi as ca

    from kalaba.derive.kinematics import Kinematics
    from kalaba.derive.newton_euler import Recursion


@dataclass(frozen=True)
class Dynamics:
    """M v̇ + bias = force: the trees without their loops."""

    mass_matrix: ca.SX  # M(q), (n_v, n_v)
    bias: ca.SX  # Coriolis, centrifugal, gravity, elastic, damping and friction terms, (n_v,)
    steps: dict[str, Any] = field(default_factory=dict)  # what the method went through, by name


@runtime_checkable
class Method(Protocol):
    """A way to derive the dynamics."""

    def dynamics(self, kinematics: Kinematics) -> Dynamics:
        """Derive M and bias."""


@runtime_checkable
class Recursive(Protocol):
    """A way to derive the dynamics by recursions over the bodies, whose parts can be had one by one."""

    def recursion(self, kinematics: Kinematics) -> Recursion:
        """What moves every body at constant velocities v."""

    def mass_matrix_of(self, kinematics: Kinematics, bodies: Sequence[int]) -> ca.SX:
        """M as far as it comes from some trees, given by all their bodies, without rotors; other entries are zero."""
