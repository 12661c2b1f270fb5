"""Newmark's β method, with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.boundary import check_fields
from kalaba.errors import IntegrationError
from kalaba.steppers.scheme import Scheme
from kalaba.steppers.stepper import StructuralStepper


@dataclass(frozen=True, slots=True)
class Newmark(StructuralStepper):
    """The average acceleration of the step, or another mean of both ends; of order 2 for γ = ½, else 1.

    The equations are met at t + h::

        a⁺ = f(q⁺, v⁺, t + h)
        q⁺ = q ⊕ N (h v + h² ((½ - β) a + β a⁺))        v⁺ = v + h ((1 - γ) a + γ a⁺)

    Stable for any step of a linear structure where 2β ≥ γ ≥ ½. With the default β = ¼, γ = ½ (trapezoidal rule) a
    linear structure keeps its energy exactly and nothing is damped, however fast; on a nonlinear one the energy error
    is of order 2 and may grow. Momentum is kept to the error of the method, to rounding where M is constant.

    Reference: Newmark (1959), Journal of the Engineering Mechanics Division ASCE 85 (EM3), 67-94.

    Arguments:
        step: time between states, s
        beta: β, weight of the new acceleration in the position, above 0
        gamma: γ, weight of the new acceleration in the velocity, ½ to 1
    """

    beta: float = 1 / 4
    gamma: float = 1 / 2

    name: ClassVar[str] = "newmark"

    def __post_init__(self) -> None:
        StructuralStepper.__post_init__(self)
        check_fields(self, IntegrationError)
        if not (0 < self.beta <= 1 and 0.5 <= self.gamma <= 1):
            raise IntegrationError(
                f"Newmark: expected 0 < beta <= 1 and 1/2 <= gamma <= 1 (below, energy grows), got {self.beta} and "
                f"{self.gamma}. For beta = 0 take kb.CentralDifference"
            )

    @property
    def scheme(self) -> Scheme:
        """Its coefficients."""
        return Scheme(beta=self.beta, gamma=self.gamma)
