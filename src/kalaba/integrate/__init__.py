"""Steppers: what they are (values, here) and what they do (numerics on kernels and arrays); they know no robots.

This package imports Numba only in the modules that `kalaba.loop` compiles, not in those of the values.
"""

from kalaba.integrate.central_difference import CentralDifference
from kalaba.integrate.dormand_prince import DormandPrince
from kalaba.integrate.generalised_alpha import GeneralisedAlpha
from kalaba.integrate.hht import HHT
from kalaba.integrate.newmark import Newmark
from kalaba.integrate.radau import Radau
from kalaba.integrate.runge_kutta4 import RungeKutta4
from kalaba.integrate.semi_implicit_euler import SemiImplicitEuler
from kalaba.integrate.tableau import ButcherTableau
from kalaba.integrate.wilson_theta import WilsonTheta

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
