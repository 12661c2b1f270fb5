"""Steppers: what they are (values, here) and what they do (numerics on kernels and arrays); they know no robots.

This package imports Numba only in the modules that `kalaba.compiled` compiles, not in those of the values.
"""

from kalaba.steppers.central_difference import CentralDifference
from kalaba.steppers.dormand_prince import DormandPrince
from kalaba.steppers.generalised_alpha import GeneralisedAlpha
from kalaba.steppers.hht import HHT
from kalaba.steppers.newmark import Newmark
from kalaba.steppers.radau import Radau
from kalaba.steppers.runge_kutta4 import RungeKutta4
from kalaba.steppers.semi_implicit_euler import SemiImplicitEuler
from kalaba.steppers.tableau import ButcherTableau
from kalaba.steppers.wilson_theta import WilsonTheta

Structural = WilsonTheta | Newmark | HHT | GeneralisedAlpha | CentralDifference  # steppers for structures

__all__ = [
    "HHT",
    "ButcherTableau",
    "CentralDifference",
    "DormandPrince",
    "GeneralisedAlpha",
    "Newmark",
    "Radau",
    "RungeKutta4",
    "SemiImplicitEuler",
    "Structural",
    "WilsonTheta",
]
