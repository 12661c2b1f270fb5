"""Arc length of a polynomial curve, and the curve's parameter as a polynomial of it.

Polynomials are given by their coefficients along an axis, constants first: P has shape (3, terms, ...).
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
FIT = 12  # coefficients of Q
UNIT = 1e-13  # how far |dx/ds| may be from 1 in a fit
SHORTEST = 2.0**-30  # of a piece: where a fit this short fails the curve has a cusp


@dataclass(frozen=True, slots=True)
class ArcPiece:
    """A piece of a curve: x = P(w), |w| ≤ half, and w = Q(σ) with σ = 2 (s − start)/length − 1."""

    start: float  # s at its beginning, m
    length: float  # m
    half: float
    inverse: tuple[float, ...]  # Q
    curve: tuple[tuple[float, ...], ...]  # P, three rows


def value(coefficients: Array, w: Array) -> Array:
    """Σ c_i wⁱ; the coefficients along the last axis before those of w."""
    axis = coefficients.ndim - 1 - np.ndim(w)
    total = np.zeros(np.broadcast_shapes(coefficients.take(0, axis).shape, np.shape(w)))
    for i in reversed(range(coefficients.shape[axis])):
        total = total * w + coefficients.take(i, axis)
    return total


def derivative(P: Array) -> Array:  # noqa: N803  (the polynomial of the formula)
    """Coefficients of P′; P of shape (3, terms, ...)."""
    powers = np.arange(1, P.shape[1]).reshape(-1, *(1,) * (P.ndim - 2))
    return P[:, 1:] * powers if P.shape[1] > 1 else np.zeros_like(P)


def arc_length(P: Array, half: Array | float, w: Array) -> Array:  # noqa: N803
    """S(w) = ∫ |P′| from −half to w, by Gauss and Legendre; P of shape (3, terms) or with one polynomial for each w."""
    reach = (w + half) / 2
    places = -half + reach * (1 + NODES.reshape(-1, *(1,) * np.ndim(w)))
    slope = derivative(P)
    shared = slope[:, :, np.newaxis] if slope.ndim == 2 + np.ndim(w) else slope[(..., *(np.newaxis,) * places.ndim)]
    speeds = np.linalg.norm(_of_rows(shared, places), axis=0)
    return np.asarray(reach * np.tensordot(WEIGHTS, speeds, axes=1))


def _of_rows(coefficients: Array, w: Array) -> Array:
    """Σ c_i wⁱ with coefficients of shape (3, terms, ...) that broadcast to w."""
    total = np.zeros((3, *w.shape))
    for i in reversed(range(coefficients.shape[1])):
        total = total * w + coefficients[:, i]
    return total


def by_arc_length(polynomials: Iterable[tuple[Array, float]], what: str) -> tuple[ArcPiece, ...]:
    """Pieces fine enough that Q is exact to rounding, from polynomials x = P(u), 0 ≤ u ≤ width, end to end."""
    pieces: list[ArcPiece] = []
    start = 0.0
    for P, width in polynomials:
        waiting = [(0.0, width)]
        while waiting:
            low, high = waiting.pop()
            middle = (low + high) / 2
            fit = _fit(_shifted(P, middle), (high - low) / 2)
            if fit is None:
                if high - low < SHORTEST * width:
                    place = ", ".join(f"{x:.4g}" for x in _shifted(P, middle)[:, 0])
                    raise ControlError(f"{what}: the curve comes to a cusp near ({place}); move the points there.")
                waiting += [(middle, high), (low, middle)]
                continue
            length, inverse = fit
            rows = tuple(tuple(row.tolist()) for row in _shifted(P, middle))
            pieces.append(ArcPiece(start, length, (high - low) / 2, tuple(inverse.tolist()), rows))
            start += length
    return tuple(pieces)


def _fit(P: Array, half: float) -> tuple[float, Array] | None:  # noqa: N803
    """Length and Q of a piece, or None if it must be cut.

    dw/dσ = (length/2)/|P′(w)| is interpolated at Chebyshev's points and integrated from σ = −1, where w = −half.
    """
    ends = arc_length(P, half, np.array([0.0, half]))
    length = float(ends[1])
    second_half = float(arc_length(_shifted(P, half / 2), half / 2, np.array([half / 2]))[0])
    if not length > 0 or abs(ends[0] + second_half - length) > 1e-15 * 4 * length:
        return None
    sigma = chebyshev.chebpts1(FIT - 1)
    w = _inverse(P, half, (1 + sigma) * length / 2)
    rate = (length / 2) / np.linalg.norm(value(derivative(P), w), axis=0)
    series = chebyshev.chebint(chebyshev.chebfit(sigma, rate, FIT - 2), lbnd=-1, k=[-half])
    Q = np.asarray(chebyshev.cheb2poly(series))
    checked = np.linspace(-1, 1, 3 * FIT)
    w = value(Q, checked)
    slope = value(Q[1:] * np.arange(1, FIT), checked)
    unit = slope * np.linalg.norm(value(derivative(P), w), axis=0) / (length / 2)
    ok = np.abs(unit - 1).max() < UNIT and abs(w[-1] - half) < UNIT * half
    return (length, Q) if ok else None


def _inverse(P: Array, half: float, lengths: Array) -> Array:  # noqa: N803
    """The w with S(w) = lengths, by Newton's method."""
    w = half * (2 * lengths / lengths.max() - 1)
    for _ in range(30):
        speed = np.linalg.norm(value(derivative(P), w), axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = (arc_length(P, half, w) - lengths) / speed
        step = np.where(np.isfinite(step), step, 0.0)
        w = np.clip(w - step, -half, half)
        if np.abs(step).max() < 1e-15 * half:
            break
    return w


def _shifted(P: Array, by: float) -> Array:  # noqa: N803
    """Coefficients of P(by + w) as a polynomial of w."""
    shifted = np.array(P, dtype=float)
    terms = shifted.shape[1]
    for first in range(terms):  # synthetic division, once for each coefficient
        for i in reversed(range(first, terms - 1)):
            shifted[:, i] += by * shifted[:, i + 1]
    return shifted
