"""The classical Runge-Kutta method with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.steppers.stepper import FixedStepper
from kalaba.steppers.tableau import ButcherTableau


@dataclass(frozen=True, slots=True)
class RungeKutta4(FixedStepper):
    """Kutta's method of order 4: four evaluations per step, the default.

    Reference: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.1, table 1.2.

    Arguments:
        step: time between states, s
    """

    name: ClassVar[str] = "rk4"
    tableau: ClassVar[ButcherTableau] = ButcherTableau(
        nodes=(0.0, 0.5, 0.5, 1.0),
        matrix=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
        weights=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
        order=4,
    )
