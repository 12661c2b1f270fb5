"""Central differences, with a fixed step."""

from dataclasses import dataclass
from math import pi
from typing import ClassVar

from kalaba.errors import IntegrationError
from kalaba.space.number import measured
from kalaba.steppers.scheme import Scheme
from kalaba.steppers.stepper import Circumstances, StructuralStepper


@dataclass(frozen=True, slots=True)
class CentralDifference(StructuralStepper):
    """Explicit, of order 2: two evaluations per step and no equation to solve.

    In the form with velocities at full steps (Newmark's β = 0, γ = ½)::

        q⁺ = q ⊕ N (h v + h² a/2)        v⁺ = v + h (a + f(q⁺, v + h a, t + h))/2        a = f(q, v, t)

    Stable while h < 2/ω_max, ω_max being the highest natural frequency; a larger step is refused at the start. Below
    that, and with forces that do not depend on v, it is symplectic: energy swings by an error of order 2 and does not
    drift. Momentum is kept to the error of the method.

    References: Hughes, The Finite Element Method, 9.1; Hairer, Lubich and Wanner, Geometric Numerical Integration,
    I.1.4.

    Arguments:
        step: time between states, s
    """

    step: float = measured("s", default=1e-4)

    name: ClassVar[str] = "central-difference"

    @property
    def scheme(self) -> Scheme:
        """Its coefficients."""
        return Scheme(beta=0.0, gamma=1 / 2, explicit=True)

    def check(self, circumstances: Circumstances) -> None:
        """Refuse a step that is unstable at the start."""
        StructuralStepper.check(self, circumstances)
        limit = circumstances.stable_step()
        if not self.step < limit:
            raise IntegrationError(
                f"{circumstances.name}: CentralDifference(step={self.step:g}) is unstable: at the start the highest "
                f"frequency is {1 / (pi * limit):.4g} Hz and the step must be below 2/ω = {limit:.4g} s. Take a "
                "smaller step, or kb.Newmark, which is stable at any."
            )
