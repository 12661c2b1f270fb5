"""The classical Runge-Kutta method with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.steppers.tableau import ButcherTableau
from kalaba.steppers.validation import positive


@dataclass(frozen=True, slots=True)
class RungeKutta4:
    """Kutta's method of order 4: four evaluations a step, the default.

    Reference: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.1, table 1.2.
    """

    step: float = 1e-3  # s

    tableau: ClassVar[ButcherTableau] = ButcherTableau(
        nodes=(0.0, 0.5, 0.5, 1.0),
        matrix=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
        weights=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
        order=4,
    )

    def __post_init__(self) -> None:
        positive(self, "step")
