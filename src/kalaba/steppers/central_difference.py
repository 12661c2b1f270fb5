"""Central differences, with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.steppers.scheme import START, Scheme
from kalaba.steppers.tableau import ButcherTableau
from kalaba.steppers.validation import positive


@dataclass(frozen=True, slots=True)
class CentralDifference:
    """Explicit, of order 2: two evaluations a step and no equation to solve.

    In the form with velocities at full steps (Newmark's β = 0, γ = ½)::

        q⁺ = q ⊕ N (h v + h² a/2)        v⁺ = v + h (a + f(q⁺, v + h a, t + h))/2        a = f(q, v, t)

    Stable while h < 2/ω_max, ω_max being the highest natural frequency; a larger step is refused at the start. Below
    that, and with forces that do not depend on v, it is symplectic: energy swings by an error of order 2 and does not
    drift. Momentum is kept to the error of the method.

    References: Hughes, The Finite Element Method, 9.1; Hairer, Lubich and Wanner, Geometric Numerical Integration,
    I.1.4.
    """

    step: float = 1e-4  # s

    tableau: ClassVar[ButcherTableau] = START

    def __post_init__(self) -> None:
        positive(self, "step")

    @property
    def scheme(self) -> Scheme:
        """Its coefficients."""
        return Scheme(beta=0.0, gamma=1 / 2, explicit=True)
