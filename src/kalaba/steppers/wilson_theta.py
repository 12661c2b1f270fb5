"""Wilson's θ method, with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.boundary import check_fields
from kalaba.errors import IntegrationError
from kalaba.steppers.scheme import Scheme
from kalaba.steppers.stepper import StructuralStepper


@dataclass(frozen=True, slots=True)
class WilsonTheta(StructuralStepper):
    """Acceleration linear over θh, the equations met at t + θh and, as published, not again at t + h; of order 2.

    With τ = θh::

        a_θ = f(q ⊕ N (τ v + τ² (a/3 + a_θ/6)), v + τ (a + a_θ)/2, t + τ)
        a⁺  = a + (a_θ - a)/θ        v⁺ = v + h (a + a⁺)/2        q⁺ = q ⊕ N (h v + h² (a/3 + a⁺/6))

    Stable for any step of a linear structure from θ = 1.366; damps motion that the step does not resolve, but first
    overshoots it. Energy falls by the error of the method; momentum is kept to that error only, since nothing is in
    equilibrium at t + h. What drives the machine is read at t + θh, which lies ahead of the step.

    Reference: Wilson, Farhoomand and Bathe (1973), Earthquake Engineering and Structural Dynamics 1, 241-252.

    Arguments:
        step: time between states, s
        theta: θ, 1 or more
    """

    theta: float = 1.4

    name: ClassVar[str] = "wilson-theta"

    def __post_init__(self) -> None:
        StructuralStepper.__post_init__(self)
        check_fields(self, IntegrationError)
        if not 1 <= self.theta < 10:
            raise IntegrationError(f"WilsonTheta: theta must be 1 or above (stable from 1.37), got {self.theta}")

    @property
    def scheme(self) -> Scheme:
        """Its coefficients."""
        return Scheme(beta=1 / 6, gamma=1 / 2, collocation=self.theta, carries=True)
