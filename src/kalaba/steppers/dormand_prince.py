"""The pair of Dormand and Prince, with the step adapted to the error."""

from dataclasses import dataclass
from typing import ClassVar

from kalaba.steppers.stepper import AdaptiveStepper
from kalaba.steppers.tableau import ButcherTableau


@dataclass(frozen=True, slots=True)
class DormandPrince(AdaptiveStepper):
    """Order 5 with an error estimate of order 4 and dense output of order 4.

    References: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.4, table 5.2 and II.6; dense
    output of Shampine (1986), Mathematics of Computation 46, 135-150.

    Arguments:
        rtol: relative tolerance, of how far each coordinate has come and of each largest velocity
        atol: absolute tolerance, in parts of the machine's size
        first_step: s; None: guessed from the motion at the start
        max_step: longest step, s
    """

    name: ClassVar[str] = "dp5"
    tableau: ClassVar[ButcherTableau] = ButcherTableau(
        nodes=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
        matrix=(
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
            (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
        ),
        weights=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
        order=5,
        embedded=(5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40),
        embedded_order=4,
        dense=(
            (1.0, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432),
            (0.0, 0.0, 0.0, 0.0),
            (0.0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799),
            (0.0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072),
            (0.0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632),
            (0.0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844),
            (0.0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423),
        ),
        dense_order=4,
    )
