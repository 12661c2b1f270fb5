"""The implicit Radau IIA method, for stiff problems."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.errors import IntegrationError
from kalaba.steppers.stepper import Circumstances, Pace, Stepper, tolerances


@dataclass(frozen=True, slots=True)
class Radau(Stepper):
    """Order 5, implicit, with adapted steps: scipy's, and so the one stepper that calls Python at every evaluation.

    Reference: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8.

    Arguments:
        rtol: relative tolerance
        atol: absolute tolerance, in the units of each coordinate
    """

    rtol: float = 1e-8
    atol: float = 1e-10

    name: ClassVar[str] = "radau"
    scipy_class: ClassVar[str] = "Radau"

    def __post_init__(self) -> None:
        tolerances(self, self.rtol, self.atol)

    @property
    def pace(self) -> Pace:
        """Steps as long as the tolerances allow."""
        return Pace(0.0, self.rtol, self.atol)

    def check(self, circumstances: Circumstances) -> None:
        """Refuse functions that are sampled: its steps do not end where they are due."""
        if circumstances.is_sampled:
            raise IntegrationError(
                f"{circumstances.name}: kb.Radau() takes expressions only; sampled functions need another one."
            )
