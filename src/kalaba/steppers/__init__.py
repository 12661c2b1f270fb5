"""Steppers: coefficients and settings, one file each. They know no machine, and importing them needs no compiler.

`kalaba.compiled` takes their steps, `kalaba.run` chooses the loop they run in. A new one subclasses `FixedStepper`,
`AdaptiveStepper` or `StructuralStepper`.
"""

from kalaba.steppers.auto import Auto
from kalaba.steppers.central_difference import CentralDifference
from kalaba.steppers.dormand_prince import DormandPrince
from kalaba.steppers.generalised_alpha import GeneralisedAlpha
from kalaba.steppers.hht import HHT
from kalaba.steppers.kvaerno import Kvaerno
from kalaba.steppers.newmark import Newmark
from kalaba.steppers.radau import Radau
from kalaba.steppers.runge_kutta4 import RungeKutta4
from kalaba.steppers.scheme import Scheme
from kalaba.steppers.semi_implicit_euler import SemiImplicitEuler
from kalaba.steppers.stepper import AdaptiveStepper, FixedStepper, Pace, Stepper, StructuralStepper
from kalaba.steppers.tableau import ButcherTableau
from kalaba.steppers.wilson_theta import WilsonTheta

KINDS: tuple[type[Stepper], ...] = (
    Auto,
    RungeKutta4,
    DormandPrince,
    Kvaerno,
    SemiImplicitEuler,
    Radau,
    WilsonTheta,
    Newmark,
    HHT,
    GeneralisedAlpha,
    CentralDifference,
)
BY_NAME = {kind.name: kind for kind in KINDS}  # as the command line names them

__all__ = [
    "BY_NAME",
    "HHT",
    "KINDS",
    "AdaptiveStepper",
    "Auto",
    "ButcherTableau",
    "CentralDifference",
    "DormandPrince",
    "FixedStepper",
    "GeneralisedAlpha",
    "Kvaerno",
    "Newmark",
    "Pace",
    "Radau",
    "RungeKutta4",
    "Scheme",
    "SemiImplicitEuler",
    "Stepper",
    "StructuralStepper",
    "WilsonTheta",
]
