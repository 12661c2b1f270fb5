"""The generalised-α method, with a fixed or an adapted step."""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

from kalaba.boundary import check_fields, shown
from kalaba.errors import IntegrationError
from kalaba.space.number import measured
from kalaba.steppers.scheme import Scheme
from kalaba.steppers.stepper import Pace, StructuralStepper, positive, tolerances

FORMULATIONS = ("acceleration", "arnold-bruls")


@dataclass(frozen=True, slots=True)
class GeneralisedAlpha(StructuralStepper):
    """Newmark's formulas for an acceleration a that follows the true one, v̇, with a lag; of order 2.

    With the spectral radius ρ that motion far above the step's resolution is damped to::

        α_m = (2ρ - 1)/(ρ + 1)    α_f = ρ/(ρ + 1)    γ = ½ - α_m + α_f    β = (γ + ½)²/4
        (1 - α_m) a⁺ + α_m a = (1 - α_f) v̇⁺ + α_f v̇

    formulation="acceleration": v̇⁺ = f(q⁺, v⁺, t + h), rows at acceleration level, then projection.
    formulation="arnold-bruls": M v̇⁺ = Q + Aᵀλ⁺ and φ(q⁺) = 0 are solved together for a⁺ and λ⁺, so that the rows are
    closed without projection; their rates then keep an error of order 2, which projection takes away as well.

    With `rtol`, steps are adapted, `step` being the first, to the errors e_q = C h² (a⁺ - a) and e_v = h³ v⃛/12 from the
    last accelerations.

    Stable for any step of a linear structure, for 0 ≤ ρ ≤ 1. Energy falls by the error of the method, least for ρ = 1;
    fast motion loses 1 - ρ² of its energy per step. Momentum is kept to the error of the method.

    References: Chung and Hulbert (1993), Journal of Applied Mechanics 60, 371-375; Arnold and Brüls (2007), Multibody
    System Dynamics 18, 185-202; for the error estimate, Zienkiewicz and Xie (1991), Earthquake Engineering and
    Structural Dynamics 20, 871-887.

    Arguments:
        step: time between states, s; of adapted steps the first one
        spectral_radius: ρ, 0 to 1
        rtol: relative tolerance, of how far each coordinate has come and of each largest velocity; None: the step is
            fixed
        atol: absolute tolerance, in parts of the machine's size
        max_step: longest of adapted steps, s
        formulation: "acceleration" or "arnold-bruls"
    """

    spectral_radius: float = 0.8
    rtol: float | None = None
    atol: float = 1e-8
    max_step: float = measured("s", default=inf)
    formulation: str = "acceleration"

    name: ClassVar[str] = "generalised-alpha"

    def __post_init__(self) -> None:
        StructuralStepper.__post_init__(self)
        check_fields(self, IntegrationError)
        positive(self, "max_step", finite=False)
        if not 0 <= self.spectral_radius <= 1:
            raise IntegrationError(f"GeneralisedAlpha: spectral_radius must be from 0 to 1, got {self.spectral_radius}")
        if self.formulation not in FORMULATIONS:
            known = " or ".join(map(repr, FORMULATIONS))
            raise IntegrationError(f"GeneralisedAlpha: expected formulation {known}, got {shown(self.formulation)}")
        if self.rtol is not None:
            tolerances(self, self.rtol, self.atol)

    @property
    def pace(self) -> Pace:
        """All steps alike, or with `rtol` as long as the tolerances allow."""
        return Pace(self.step) if self.rtol is None else Pace(self.step, self.rtol, self.atol, self.max_step)

    @property
    def scheme(self) -> Scheme:
        """Its coefficients."""
        rho = self.spectral_radius
        alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
        gamma = 1 / 2 - alpha_m + alpha_f
        return Scheme(
            beta=(gamma + 1 / 2) ** 2 / 4,
            gamma=gamma,
            alpha_m=alpha_m,
            alpha_f=alpha_f,
            carries=True,
            index_3=self.formulation == "arnold-bruls",
        )
