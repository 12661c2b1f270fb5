"""Trigonometric polynomials f(θ) = Σ F_k e^{ikθ}, kept as (F_n, ..., F_−n), and their real zeros."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Series = NDArray[np.complex128]
GONE = 1e-14  # of the largest coefficient: smaller leading ones are rounding
NOTHING = 1e-13  # of the terms that make a series up: less is rounding
OFF_CIRCLE = 0.05  # how far from the unit circle a root may lie that still counts as a seed of a real zero


def linear(constant: float, cosine: float, sine: float) -> Series:
    """c₀ + c cos θ + s sin θ."""
    first = complex(cosine, -sine) / 2
    return np.array([first, constant, first.conjugate()])


def times(a: Series, b: Series) -> Series:
    """The product."""
    return np.convolve(a, b)


def zeros(series: Series, scale: float) -> list[float]:
    """Angles at or near which f is zero, as seeds: e^{iθ} are roots of a polynomial on the unit circle.

    In w = e^{iθ} no angle is at infinity, as π is in tan(θ/2). A series that vanishes altogether, beside the `scale`
    of its terms, has none to give.
    """
    size = float(np.abs(series).max())
    if size <= NOTHING * scale:
        return []
    series = series / size
    while len(series) > 1 and abs(series[0]) < GONE:
        series = series[1:-1]
    roots = np.roots(series)
    near = np.abs(np.abs(roots) - 1.0) < OFF_CIRCLE
    return [float(angle) for angle in np.angle(roots[near])]


def angles_of(cosine: float, sine: float, value: float) -> list[float]:
    """The two θ with c cos θ + s sin θ = value; the nearest one twice where there is none, 0 where all will do."""
    size = math.hypot(cosine, sine)
    if size == 0.0:
        return [0.0]
    middle, half = math.atan2(sine, cosine), math.acos(min(1.0, max(-1.0, value / size)))
    return [middle - half, middle + half]
