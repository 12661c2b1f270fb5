"""Expressions as linear forms c₀ + Σ c_i x_i: what files of other programs can say of joints that go together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from kalaba.errors import ExpressionError
from kalaba.model.text.syntax import number_text
from kalaba.space.arrays import Array
from kalaba.tolerances import COUPLING_LINEAR

PROBES = 3


@dataclass(frozen=True, slots=True)
class LinearForm:
    """A constant, and a coefficient for each variable that counts.

    Arguments:
        constant: value where all variables are zero
        terms: variable → coefficient, none of them zero
    """

    constant: float
    terms: dict[str, float]

    @property
    def single(self) -> tuple[str, float] | None:
        """Its one variable and coefficient; None if it has none or several."""
        return next(iter(self.terms.items())) if len(self.terms) == 1 else None


def linear_form(value: Callable[[Array], float], names: Sequence[str]) -> LinearForm | None:
    """Find the linear form of a function of variables; None if it is none, or reads what it is not given.

    Arguments:
        value: gives the function's value for one number per name; KeyError where it reads something else
        names: names of the variables
    """
    try:
        zero = value(np.zeros(len(names)))
        slopes = np.array([value(row) - zero for row in np.eye(len(names))])
        probes = np.random.default_rng(0).normal(size=(PROBES, len(names)))
        gaps = [abs(zero + slopes @ probe - value(probe)) for probe in probes]
    except (KeyError, ExpressionError, LookupError):
        return None
    scale = max(1.0, abs(zero), np.abs(slopes).max(initial=0.0))
    if max(gaps) > COUPLING_LINEAR * scale:
        return None
    terms = {name: float(c) for name, c in zip(names, slopes, strict=True) if abs(c) > COUPLING_LINEAR * scale}
    return LinearForm(float(zero), terms)


def nested(outer: tuple[float, float], inner: tuple[float, float]) -> tuple[float, float]:
    """Factor and offset of outer(inner(x)), worked out in decimals as they are written: 0.8 · 0.8 is 0.64."""
    (a, b), (c, d) = ([Decimal(repr(number)) for number in form] for form in (outer, inner))
    return float(a * c), float(a * d + b)


def linear_text(factor: float, name: str, offset: float) -> str:
    """Factor · name + offset, as a person writes it."""
    product = {1.0: name, -1.0: f"-{name}"}.get(factor, f"{number_text(factor)}*{name}")
    return product if not offset else f"{product} {'-' if offset < 0 else '+'} {number_text(abs(offset))}"
