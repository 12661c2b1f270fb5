"""The semi-implicit (symplectic) Euler method with a fixed step."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.steppers.tableau import ButcherTableau
from kalaba.steppers.validation import positive


@dataclass(frozen=True, slots=True)
class SemiImplicitEuler:
    """Velocity first, then configuration with the new velocity; of order 1.

    Energy neither grows nor falls for long where M is constant and no force depends on v. Coriolis and centripetal
    terms, and with them the rows of loops, are explicit: there a speed ω adds about h ω² of the energy a second.

    From (q, v) at t to one step h later::

        v⁺ = v + h v̇(q, v, t)
        q⁺ = q + h N(q) v⁺

    Reference: Hairer, Lubich and Wanner, Geometric Numerical Integration, I.1.2.
    """

    step: float = 1e-3  # s

    # Its first stage; q is then stepped with the new velocity.
    tableau: ClassVar[ButcherTableau] = ButcherTableau(nodes=(0.0,), matrix=((),), weights=(1.0,), order=1)

    def __post_init__(self) -> None:
        positive(self, "step")
