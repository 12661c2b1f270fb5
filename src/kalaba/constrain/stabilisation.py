"""How constraints are kept closed while time goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kalaba.boundary import check_fields
from kalaba.errors import ConstraintError
from kalaba.tolerances import LARGEST_NUMBER


class Stabilisation:
    """What a run asks of a stabilisation."""

    __slots__ = ()

    projects: ClassVar[bool] = False  # whether the state is brought back to the rows after each step

    @property
    def feedback(self) -> Baumgarte | None:
        """What the equations of motion feed back of the rows' errors; None = nothing."""
        return None

    @property
    def words(self) -> str:
        """Its name and settings, as a Run records them."""
        return repr(self)


@dataclass(frozen=True, slots=True)
class Projection(Stabilisation):
    """After each step the state is projected onto the constraints in the mass metric. Nothing to tune."""

    projects: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Baumgarte(Stabilisation):
    """The rows' errors decay as a damped oscillator: φ̈ + 2 ζ ω φ̇ + ω² φ = 0; ψ̇ + ω ψ = 0 at velocity level.

    Arguments:
        frequency: how fast errors decay, ω, rad/s
        damping: damping ratio ζ, 1
    """

    frequency: float = 50.0
    damping: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self, ConstraintError)
        if not (0 < self.frequency <= LARGEST_NUMBER and 0 <= self.damping <= LARGEST_NUMBER):
            raise ConstraintError(
                f"Baumgarte: expected frequency > 0 and damping >= 0, got {self.frequency}, {self.damping}."
            )

    @property
    def feedback(self) -> Baumgarte:
        """Itself: frequency and damping of the errors."""
        return self


@dataclass(frozen=True, slots=True)
class NoStabilisation(Stabilisation):
    """Nothing: the rows drift as the stepper lets them."""
