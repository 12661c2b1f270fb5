"""The implicit Radau IIA method, for stiff problems."""

from dataclasses import dataclass

from kalaba.steppers.validation import tolerances


@dataclass(frozen=True, slots=True)
class Radau:
    """Order 5, implicit, with adapted steps: scipy's, and so the one stepper that calls Python at every evaluation.

    Reference: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8.
    """

    rtol: float = 1e-8
    atol: float = 1e-10  # in the units of each coordinate

    def __post_init__(self) -> None:
        tolerances(self, self.rtol, self.atol)
