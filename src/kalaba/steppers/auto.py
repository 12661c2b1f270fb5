"""The default: steps that watch their own error, explicit while that pays and implicit where the motion is stiff.

What is stiff is found in `compiled/explicit.py`, and the change made in `compiled/methods.py`.
"""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from kalaba.steppers.dormand_prince import DormandPrince
from kalaba.steppers.kvaerno import Kvaerno
from kalaba.steppers.stepper import AdaptiveStepper, Pace, Stepper
from kalaba.steppers.tableau import ButcherTableau

STEPS_SHARE = 0.1  # of the tolerances: what a single step may take


@dataclass(frozen=True, slots=True)
class Auto(AdaptiveStepper):
    """Dormand and Prince's pair, and Kværnø's where the motion is stiff: the default of `simulate`.

    Both adapt their steps to their error estimate. The explicit pair measures hλ, the step times the fastest rate of
    the motion, from its last two stages; where that stays at the limit of stability and many such steps lie ahead, the
    implicit pair is tried, and the one that comes farther for the same number of operations goes on. `run.effort`
    says what was used and why.

    Arguments:
        rtol: relative tolerance of a run, of how far each coordinate has come and of each largest velocity
        atol: absolute tolerance, in parts of the machine's size
        first_step: s; None: guessed from the motion at the start
        max_step: longest step, s
    """

    rtol: float = 1e-6
    atol: float = 1e-9

    name: ClassVar[str] = "auto"
    tableau: ClassVar[ButcherTableau] = DormandPrince.tableau

    @property
    def pace(self) -> Pace:
        """Steps are held to a tenth of the tolerances, so that what some hundred of them add up to is about those."""
        return Pace(self.first_step or 0.0, STEPS_SHARE * self.rtol, STEPS_SHARE * self.atol, self.max_step)

    @property
    def method(self) -> str:
        """The explicit pair."""
        return DormandPrince.__name__

    @property
    def if_stiff(self) -> Stepper:
        """The implicit pair, with the same tolerances."""
        return _implicit(STEPS_SHARE * self.rtol, STEPS_SHARE * self.atol, self.max_step)


@cache
def _implicit(rtol: float, atol: float, max_step: float) -> Kvaerno:
    """The implicit pair, made once: every run asks for it some times."""
    return Kvaerno(rtol, atol, max_step=max_step)
