"""The semi-implicit (symplectic) Euler method with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.steppers.stepper import FixedStepper
from kalaba.steppers.tableau import EULER, ButcherTableau


@dataclass(frozen=True, slots=True)
class SemiImplicitEuler(FixedStepper):
    """Velocity first, then configuration with the new velocity; of order 1.

    Energy neither grows nor falls for long where M is constant and no force depends on v. Coriolis and centripetal
    terms, and with them the rows of loops, are explicit: there a speed ω adds about h ω² of the energy per second.

    From (q, v) at t to one step h later::

        v⁺ = v + h v̇(q, v, t)
        q⁺ = q + h N(q) v⁺

    Reference: Hairer, Lubich and Wanner, Geometric Numerical Integration, I.1.2.

    Arguments:
        step: time between states, s
    """

    name: ClassVar[str] = "semi-implicit-euler"
    tableau: ClassVar[ButcherTableau] = EULER
    velocity_first: ClassVar[bool] = True

    @property
    def is_coarse(self) -> bool:
        """Of order 1: what it leaves to projection is of order h."""
        return True
