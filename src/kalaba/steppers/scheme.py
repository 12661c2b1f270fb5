"""What the steppers for structures share: one step by collocation of the acceleration, and its coefficients."""

from dataclasses import dataclass
from math import isfinite

from kalaba.boundary import check_fields
from kalaba.errors import IntegrationError


@dataclass(frozen=True, slots=True)
class Scheme:
    """The coefficients of a step from (q, v, a) at t, f(q, v, t) being the constrained acceleration.

    The unknown x is the acceleration at the collocation time t + s, s = c h, where the motion is::

        q_c = q ⊕ N(q) [s v + s² ((½ - β) a + β x)]        v_c = v + s ((1 - γ) a + γ x)
        (1 - α_m) x + α_m a = (1 - α_f) f(q_c, v_c, t + s) + α_f f(q, v, t)

    and the step goes to a⁺ = a + (x - a)/c, with q⁺ and v⁺ by the same formulas over h. A scheme that does not carry
    its acceleration starts each step from a = f(q, v, t).

    Arguments:
        beta: β, weight of x in the position
        gamma: γ, weight of x in the velocity
        alpha_m: α_m, weight of the last acceleration
        alpha_f: α_f, weight of the last constrained acceleration
        collocation: c, the collocation time over the step
        carries: whether the acceleration goes on from step to step
        explicit: no equation is solved: f at q_c and at v + h a
        index_3: rows are met at position level within the step
    """

    beta: float
    gamma: float
    alpha_m: float = 0.0
    alpha_f: float = 0.0
    collocation: float = 1.0
    carries: bool = False
    explicit: bool = False
    index_3: bool = False

    def __post_init__(self) -> None:
        check_fields(self, IntegrationError)
        numbers = (self.beta, self.gamma, self.alpha_m, self.alpha_f, self.collocation)
        if not all(isfinite(number) for number in numbers) or self.alpha_f >= 1 or self.alpha_m >= 1:
            raise IntegrationError(f"a scheme needs finite coefficients and α below 1, got {numbers}")

    @property
    def inertia(self) -> float:
        """∂f/∂x = (1 - α_m)/(1 - α_f): what multiplies the mass matrix in the tangent."""
        return (1 - self.alpha_m) / (1 - self.alpha_f)

    @property
    def error_constant(self) -> float:
        """C in the error C h³ q⃛ of q after one step."""
        return abs(self.beta + self.offset / 2 - 1 / 6)

    @property
    def offset(self) -> float:
        """Where the acceleration a of the scheme is the true one: at t + (α_m - α_f) h."""
        return self.alpha_m - self.alpha_f
