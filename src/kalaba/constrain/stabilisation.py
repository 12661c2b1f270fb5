"""How constraints are kept closed while time goes on."""

from __future__ import annotations

from dataclasses import dataclass

from kalaba.errors import ConstraintError


@dataclass(frozen=True, slots=True)
class Projection:
    """After each step the state is projected onto the constraints in the mass metric. Nothing to tune."""


@dataclass(frozen=True, slots=True)
class Baumgarte:
    """The rows' errors decay as a damped oscillator: φ̈ + 2 ζ ω φ̇ + ω² φ = 0; ψ̇ + ω ψ = 0 at velocity level."""

    frequency: float = 50.0  # ω, rad/s
    damping: float = 1.0  # ζ

    def __post_init__(self) -> None:
        if not (self.frequency > 0 and self.damping >= 0):
            raise ConstraintError(
                f"Baumgarte: expected frequency > 0 and damping >= 0, got {self.frequency}, {self.damping}."
            )


@dataclass(frozen=True, slots=True)
class NoStabilisation:
    """Nothing: the rows drift as the stepper lets them."""


Stabilisation = Projection | Baumgarte | NoStabilisation
