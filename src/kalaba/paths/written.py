"""A curve written as expressions of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.errors import ControlError
from kalaba.model.text.expressions import Name, Values, evaluate, parse, unparse
from kalaba.model.text.grammar import TIME
from kalaba.model.text.symbolic import FUNCTIONS
from kalaba.model.text.syntax import postorder
from kalaba.paths.curve import Shape
from kalaba.space.arrays import Array

CHECKED = 129  # times at which a written curve must be finite


@dataclass(frozen=True, slots=True)
class Written:
    """x(t), y(t) and z(t); the number along the curve is the time, not the arc length."""

    texts: tuple[str, str, str]
    length: float  # ∫ |dx/dt| dt, m

    def at(self, s: Array) -> Shape:
        """The point and its derivatives by time, differentiated from the texts."""
        return _shape(self.texts, s)

    def expression(self, s: ca.SX) -> ca.SX:
        """The point as an expression."""
        environment = _Symbols({}, time=s)
        return ca.vertcat(*(ca.SX(evaluate(parse(text), environment)) for text in self.texts))

    def text(self, s: str) -> tuple[str, ...]:
        """The texts with another text in place of t."""
        return tuple(_at_time(text, f"({s})") for text in self.texts)


class _Symbols(Values):
    """The environment of t alone, with CasADi's functions."""

    def function(self, name: str) -> Callable[..., Any]:
        return FUNCTIONS[name]


def written(texts: tuple[str, str, str], duration: float) -> Written:
    """The curve of three texts, checked: t is the only name, and all is finite with its speed."""
    for axis, text in zip("xyz", texts, strict=True):
        read = parse(text)
        if read.names or read.frames or read.has_rate:
            raise ControlError(f"expression.{axis}: expected numbers and t alone, got {text!r}.")
    t = np.linspace(0.0, duration, CHECKED)
    shape = _shape(texts, t)
    for what, part in (("place", shape.position), ("speed", shape.tangent)):
        bad = np.argwhere(~np.isfinite(part))
        if len(bad):
            k, axis = bad[0]
            raise ControlError(f"expression.{'xyz'[axis]}: no finite {what} at t = {t[k]:g}, got {texts[axis]!r}.")
    return Written(texts, _length(texts, duration))


def _length(texts: tuple[str, str, str], duration: float) -> float:
    from scipy.integrate import quad

    def speed(t: float) -> float:
        return float(np.linalg.norm(_shape(texts, np.array([t])).tangent))

    return float(quad(speed, 0.0, duration, epsabs=0.0, epsrel=tolerances.WRITTEN_LENGTH, limit=200, full_output=1)[0])


def _shape(texts: tuple[str, str, str], t: Array) -> Shape:
    columns = _derivatives(texts)(t.reshape(1, -1))
    position, first, second = (np.asarray(ca.DM(column).full()).T for column in columns)
    return Shape(position, first, second)


@lru_cache(maxsize=64)
def _derivatives(texts: tuple[str, str, str]) -> ca.Function:
    t = ca.SX.sym("t")
    x = Written(texts, 0.0).expression(t)
    v = ca.jacobian(x, t)
    return ca.Function("written", [t], [ca.densify(part) for part in (x, v, ca.jacobian(v, t))])


def _at_time(text: str, time: str) -> str:
    """A text with another text in place of t."""
    expression = parse(text)
    places = sorted(n.position for n in postorder(expression.tree) if isinstance(n, Name) and n.name == TIME)
    pieces, end = [], 0
    for place in places:
        pieces += [expression.text[end:place], time]
        end = place + len(TIME)
    return unparse(parse("".join([*pieces, expression.text[end:]])).tree)
