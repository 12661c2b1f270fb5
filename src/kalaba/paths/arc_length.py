"""Arc length of a polynomial curve, and the curve's parameter as a polynomial of it.

A polynomial is an array of its coefficients, constants first: P has shape (terms, 3, n), one polynomial for each of n
places, or (terms, 3, 1), the same one for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from kalaba.errors import ControlError

Array = NDArray[np.float64]
NODES, WEIGHTS = leggauss(20)
FIT = 20  # coefficients of Q
UNIT = 1e-13  # how far |dx/ds| may be from 1 in a fit
QUADRATURE = 4e-15  # how far the length of a piece may be from that of its halves
SHORTEST = 2.0**-30  # of a polynomial: where a fit this short fails the curve has a cusp


@dataclass(frozen=True, slots=True)
class ArcPiece:
    """A piece of a polynomial: w = Q(σ) with σ = 2 (s − start)/length − 1."""

    polynomial: int  # whose piece it is
    start: float  # s at its beginning, m
    length: float  # m
    low: float  # w at its beginning
    inverse: tuple[float, ...]  # Q


def value(coefficients: Array, w: Array) -> Array:
    """Σ c_i wⁱ, the coefficients along the first axis."""
    total = np.zeros(np.broadcast_shapes(coefficients.shape[1:], w.shape))
    for c in coefficients[::-1]:
        total = total * w + c
    return total


def derivative(coefficients: Array) -> Array:
    """Coefficients of the derivative."""
    powers = np.arange(1, len(coefficients)).reshape(-1, *(1,) * (coefficients.ndim - 1))
    return np.asarray(coefficients[1:] * powers)


def speed(P: Array, w: Array) -> Array:  # noqa: N803  (the polynomial of the formula)
    """|P′(w)|, shape (n,)."""
    return np.asarray(np.linalg.norm(value(derivative(P), w), axis=0))


def arc_length(P: Array, low: Array | float, w: Array) -> Array:  # noqa: N803
    """S(w) = ∫ |P′| from low to w, by Gauss and Legendre; shape (n,)."""
    reach = (w - low) / 2
    places = reach * (1 + NODES[:, np.newaxis]) + low
    return np.asarray(reach * (WEIGHTS @ speed(P[:, :, np.newaxis], places)))


def by_arc_length(polynomials: Iterable[tuple[Array, float]], what: str) -> tuple[ArcPiece, ...]:
    """Pieces fine enough that Q is exact to rounding, from polynomials x = P(w), |w| ≤ half, end to end.

    The given P have shape (terms, 3).
    """
    pieces: list[ArcPiece] = []
    for index, (P, whole) in enumerate(polynomials):
        waiting = [(-whole, whole)]
        while waiting:
            low, high = waiting.pop()
            middle, half = (low + high) / 2, (high - low) / 2
            here = shifted(P, middle)
            fit = _fit(here[:, :, np.newaxis], half)
            if fit is not None:
                start = pieces[-1].start + pieces[-1].length if pieces else 0.0
                length, (first, *others) = fit
                pieces.append(ArcPiece(index, start, length, low, (middle + first, *others)))
            elif half < SHORTEST * whole:
                place = ", ".join(f"{x:.4g}" for x in here[0])
                raise ControlError(f"{what}: the curve comes to a cusp near ({place}); move the points there.")
            else:
                waiting += [(middle, high), (low, middle)]
    return tuple(pieces)


def _fit(P: Array, half: float) -> tuple[float, list[float]] | None:  # noqa: N803
    """Length and Q of a piece |w| ≤ half, or None if it must be cut.

    dw/dσ = (length/2)/|P′(w)| is interpolated at Chebyshev's points and integrated from σ = −1, where w = −half.
    """
    first, length = (float(s) for s in arc_length(P, -half, np.array([0.0, half])))
    second = float(arc_length(P, 0.0, np.array([half]))[0])
    if not length > 0 or abs(first + second - length) > QUADRATURE * length:
        return None
    sigma = chebyshev.chebpts1(FIT - 1)
    w = _inverse(P, half, length, sigma)
    rate = (length / 2) / speed(P, w)
    series = chebyshev.chebint(chebyshev.chebfit(sigma, rate, FIT - 2), lbnd=-1, k=[-half])
    Q = np.zeros(FIT)
    found = chebyshev.cheb2poly(series)
    Q[: len(found)] = found
    checked = np.linspace(-1, 1, 3 * FIT)
    w = value(Q, checked)
    unit = value(derivative(Q), checked) * speed(P, w) / (length / 2)
    is_exact = np.abs(unit - 1).max() < UNIT and abs(w[-1] - half) < UNIT * half
    return (length, Q.tolist()) if is_exact else None


def _inverse(P: Array, half: float, length: float, sigma: Array) -> Array:  # noqa: N803
    """The w with S(w) = (1 + σ) length/2, by Newton's method; where it fails, so will the check of the fit."""
    w = half * sigma
    for _ in range(30):
        slope = np.maximum(speed(P, w), 1e-3 * length / half)
        step = (arc_length(P, -half, w) - (1 + sigma) * length / 2) / slope
        w = np.clip(w - step, -half, half)
        if np.abs(step).max() < 1e-15 * half:
            break
    return w


def shifted(P: Array, by: float) -> Array:  # noqa: N803
    """Coefficients of P(by + w) as a polynomial of w."""
    moved = np.array(P, dtype=float)
    for first in range(len(moved)):  # synthetic division, once for each coefficient
        for i in reversed(range(first, len(moved) - 1)):
            moved[i] += by * moved[i + 1]
    return moved
