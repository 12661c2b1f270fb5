"""The α method of Hilber, Hughes and Taylor, with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.boundary import check_fields
from kalaba.errors import IntegrationError
from kalaba.steppers.scheme import Scheme
from kalaba.steppers.stepper import StructuralStepper


@dataclass(frozen=True, slots=True)
class HHT(StructuralStepper):
    """Newmark's formulas with the forces of both ends of the step mixed; of order 2.

    For 0 ≤ α ≤ 1/3 (the paper's -α), γ = ½ + α and β = (1 + α)²/4::

        a⁺ = (1 - α) f(q⁺, v⁺, t + h) + α f(q, v, t)

    Stable for any step of a linear structure. Motion that the step does not resolve is damped, to a spectral radius of
    (1 - α)/(1 + α), and slow motion hardly; energy falls by the error of the method. α = 0 is Newmark's rule.

    Reference: Hilber, Hughes and Taylor (1977), Earthquake Engineering and Structural Dynamics 5, 283-292.

    Arguments:
        step: time between states, s
        alpha: α, 0 to 1/3
    """

    alpha: float = 0.1

    name: ClassVar[str] = "hht"

    def __post_init__(self) -> None:
        StructuralStepper.__post_init__(self)
        check_fields(self, IntegrationError)
        if not 0 <= self.alpha <= 1 / 3:
            raise IntegrationError(f"HHT: alpha must be from 0 (no damping) to 1/3, got {self.alpha}")

    @property
    def scheme(self) -> Scheme:
        """Its coefficients."""
        alpha = self.alpha
        return Scheme(beta=(1 + alpha) ** 2 / 4, gamma=1 / 2 + alpha, alpha_f=alpha, carries=True)
