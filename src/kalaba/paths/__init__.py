"""Paths in space: curves by arc length, and how one goes along them.

    kb.path.circle(diameter=0.2, speed=0.1)        kb.path.line(start, end, speed=0.1)
    kb.path.polyline(points, speed=0.1)            kb.path.spline(points, duration=4.0)
    kb.path.expression("0.1*t", 0, "0.3", 2.0)     kb.path.turn(kb.Z, pi/2), kb.path.keep()

`speed` is the mean, `duration` that of the whole path; either way the speed is a trapezoid whose ramps take a quarter
of the time each. `timing=` takes `Trapezoid`, `MeanSpeed`, `MinimumJerk` or `Constant` instead. A `Path` is a frozen
value: `path.at(t)` gives numbers, `path.expressions(t, origin)` CasADi expressions, `path.text(origin)` texts.
"""

from kalaba.paths.chain import Circular, Quintic
from kalaba.paths.making import circle, expression, line, polyline, spline
from kalaba.paths.path import Path, PathMotion, Turn, TurnMotion, keep, turn
from kalaba.paths.timing import Constant, MeanSpeed, MinimumJerk, Timing, Trapezoid

__all__ = [
    "Circular",
    "Constant",
    "MeanSpeed",
    "MinimumJerk",
    "Path",
    "PathMotion",
    "Quintic",
    "Timing",
    "Trapezoid",
    "Turn",
    "TurnMotion",
    "circle",
    "expression",
    "keep",
    "line",
    "polyline",
    "spline",
    "turn",
]
