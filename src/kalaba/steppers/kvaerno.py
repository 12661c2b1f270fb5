"""Kværnø's diagonally implicit pair, for stiff motion."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.errors import IntegrationError
from kalaba.steppers.stepper import AdaptiveStepper, Circumstances
from kalaba.steppers.tableau import ButcherTableau

GAMMA = 0.26
# Stages 6 and 7 end at t + h: the solutions of order 4 and 5.
_ORDER_4 = (0.13855640231268224, 0.0, -0.04245337201752043, 0.02446657898003141, 0.61943039072480676, GAMMA, 0.0)
_ORDER_5 = (
    0.13659751177640291,
    0.0,
    -0.05496908796538376,
    -0.04118626728321046,
    0.62993304899016403,
    0.06962479448202728,
    GAMMA,
)


@dataclass(frozen=True, slots=True)
class Kvaerno(AdaptiveStepper):
    """Order 5 with an error estimate of order 4, for stiff motion: stiff springs, strong dampers, short light links.

    The first stage is explicit, the six others are implicit Euler steps of 0.26 h, solved by Newton's method with the
    machine's own tangent. Steps are as long as the slow motion allows: fast motion that has died out takes no part
    (L-stable).

    Reference: Kværnø (2004), BIT Numerical Mathematics 44, 489-502, method ESDIRK 5/4 with γ = 0.26.

    Arguments:
        rtol: relative tolerance, of how far each coordinate has come and of each largest velocity
        atol: absolute tolerance, in parts of the machine's size
        first_step: s; None: guessed from the motion at the start
        max_step: longest step, s
    """

    name: ClassVar[str] = "kvaerno"
    tableau: ClassVar[ButcherTableau] = ButcherTableau(
        nodes=(0.0, 0.52, 0.13 + 0.84033320996790809 + GAMMA, 0.8957659843500759, 0.43639360985864757, 1.0, 1.0),
        matrix=(
            (),
            (GAMMA, GAMMA),
            (0.13, 0.84033320996790809, GAMMA),
            (0.22371961478320505, 0.47675532319799699, -0.06470895363112615, GAMMA),
            (0.16648564323248321, 0.10450018841591720, 0.03631482272098715, -0.13090704451073998, GAMMA),
            _ORDER_4[:6],
            _ORDER_5,
        ),
        weights=_ORDER_5,
        order=5,
        embedded=_ORDER_4,
        embedded_order=4,
    )

    def check(self, circumstances: Circumstances) -> None:
        """Refuse a law on every coordinate, which the tangent does not know."""
        if circumstances.is_pushed:
            raise IntegrationError(
                f"{circumstances.name}: a law that pushes every coordinate needs a stepper such as kb.DormandPrince(), "
                f"got {self!r}."
            )
