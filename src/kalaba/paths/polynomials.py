"""Piecewise polynomial curves by arc length: splines, and lines joined by quintic blends.

A piece is a polynomial x = P(w) of its own parameter, |w| ≤ h. Its arc length since the beginning is
S(w) = ∫ |P′| dw, by quadrature; the inverse w(s) is found twice::

    numbers        Newton's method on S(w) = s, to rounding
    expressions    a polynomial w = Q(σ) with σ = −1 ... 1 along the piece, fitted until |dx/ds| = 1 to rounding

so both are the same curve, and an expression needs no iteration.

A polynomial is an array of its coefficients, constants first: P has shape (terms, 3, n), one polynomial for each of n
places, or (terms, 3, 1), the same one for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.polynomial import chebyshev
from numpy.polynomial.legendre import leggauss

from kalaba import tolerances
from kalaba.errors import ControlError
from kalaba.paths.curve import Shape, Table
from kalaba.space.arrays import Array
from kalaba.units import counted

NODES, WEIGHTS = leggauss(20)
FIT = 20  # coefficients of Q
ROUNDS = 30  # of Newton's method at the most; some five are taken


@dataclass(frozen=True, slots=True)
class ArcPiece:
    """A piece of a polynomial: w = Q(σ) with σ = 2 (s − start)/length − 1."""

    polynomial: int  # whose piece it is
    start: float  # s at its beginning, m
    length: float  # m
    low: float  # w at its beginning
    inverse: tuple[float, ...]  # Q


@dataclass(frozen=True, slots=True)
class Polynomials:
    """Polynomials end to end, each cut into pieces that are fine enough for their Q."""

    curves: tuple[tuple[tuple[float, ...], ...], ...]  # P: (x, y, z) for each power of w, as many powers in each
    pieces: tuple[ArcPiece, ...]

    @property
    def length(self) -> float:
        """Arc length, m."""
        return self.pieces[-1].start + self.pieces[-1].length

    def at(self, s: Array) -> Shape:
        """The curve and its derivatives by arc length: T = P′/|P′|, dT/ds = (P″ − T (T · P″))/|P′|²."""
        start, length, low, *Q = self._inverses().at(s)
        P = self._curves().at(s).reshape(-1, 3, len(s))
        w = value(np.array(Q), 2 * (s - start) / length - 1)
        w = w - (arc_length(P, low, w) - (s - start)) / speed(P, w)  # from Q, one step of Newton's is enough
        first, second = value(derivative(P), w), value(derivative(derivative(P)), w)
        slope = np.linalg.norm(first, axis=0)
        T = first / slope
        bend = (second - T * np.sum(T * second, axis=0)) / slope**2
        return Shape(value(P, w).T, T.T, bend.T)

    def expression(self, s: ca.SX) -> ca.SX:
        """The curve as an expression of arc length: x = P(Q(σ))."""
        start, length, _, *Q = self._inverses().expressions(s)
        P = self._curves().expressions(s)
        w = _horner(Q, 2 * (s - start) / length - 1)
        return ca.vertcat(*(_horner(P[i::3], w) for i in range(3)))

    def text(self, s: str) -> tuple[str, ...]:
        """Refuse: a text has no tables."""
        raise ControlError(
            f"path.text: a curve of {counted(len(self.curves), 'polynomial')} has no text; write a callable with "
            "path.expressions(m['t'], origin)."
        )

    def _inverses(self) -> Table:
        """One row per piece: s and length, w at its beginning, the coefficients of Q."""
        rows = tuple((piece.start, piece.length, piece.low, *piece.inverse) for piece in self.pieces)
        return Table(tuple(piece.start for piece in self.pieces), rows)

    def _curves(self) -> Table:
        """One row per polynomial: the coefficients of P."""
        starts = {piece.polynomial: piece.start for piece in reversed(self.pieces)}
        rows = tuple(tuple(entry for power in curve for entry in power) for curve in self.curves)
        return Table(tuple(starts[index] for index in range(len(rows))), rows)


def polynomials(parts: Sequence[tuple[Array, float]], what: str) -> Polynomials:
    """The curve of polynomials x = P(u), 0 ≤ u ≤ width, end to end; P of shape (terms, 3), constants first."""
    terms = max(3, *(len(P) for P, _ in parts))
    centred = [(_padded(shifted(P, width / 2), terms), width / 2) for P, width in parts]
    curves = tuple(tuple(map(tuple, P.tolist())) for P, _ in centred)
    return Polynomials(curves, by_arc_length(centred, what))


def _padded(P: Array, terms: int) -> Array:  # the polynomial of the formula
    return np.vstack([P, np.zeros((terms - len(P), 3))])


def _horner(coefficients: list[ca.SX], x: ca.SX) -> ca.SX:
    total = ca.SX(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


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


def speed(P: Array, w: Array) -> Array:  # the polynomial of the formula
    """|P′(w)|, shape (n,)."""
    return np.asarray(np.linalg.norm(value(derivative(P), w), axis=0))


def arc_length(P: Array, low: Array | float, w: Array) -> Array:
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
            elif half < tolerances.SHORTEST_FIT * whole:
                place = ", ".join(f"{x:.4g}" for x in here[0])
                raise ControlError(f"{what}: the curve comes to a cusp near ({place}); move the points there.")
            else:
                waiting += [(middle, high), (low, middle)]
    return tuple(pieces)


def _fit(P: Array, half: float) -> tuple[float, list[float]] | None:
    """Length and Q of a piece |w| ≤ half, or None if it must be cut.

    dw/dσ = (length/2)/|P′(w)| is interpolated at Chebyshev's points and integrated from σ = −1, where w = −half.
    """
    first, length = (float(s) for s in arc_length(P, -half, np.array([0.0, half])))
    second = float(arc_length(P, 0.0, np.array([half]))[0])
    if not length > 0 or abs(first + second - length) > tolerances.ARC_QUADRATURE * length:
        return None
    sigma = chebyshev.chebpts1(FIT - 1)
    w = _inverse(P, half, length, sigma)
    rate = (length / 2) / speed(P, w)
    series = chebyshev.chebint(chebyshev.chebfit(sigma, rate, FIT - 2), lbnd=-1, k=[-half])
    Q = np.zeros(FIT)
    powers = chebyshev.cheb2poly(series)
    Q[: len(powers)] = powers
    checked = np.linspace(-1, 1, 3 * FIT)
    w = value(Q, checked)
    unit = value(derivative(Q), checked) * speed(P, w) / (length / 2)
    is_exact = np.abs(unit - 1).max() < tolerances.UNIT_SPEED and abs(w[-1] - half) < tolerances.UNIT_SPEED * half
    return (length, Q.tolist()) if is_exact else None


def _inverse(P: Array, half: float, length: float, sigma: Array) -> Array:
    """The w with S(w) = (1 + σ) length/2, by Newton's method; where it fails, so will the check of the fit."""
    w = half * sigma
    for _ in range(ROUNDS):
        slope = np.maximum(speed(P, w), 1e-3 * length / half)
        step = (arc_length(P, -half, w) - (1 + sigma) * length / 2) / slope
        w = np.clip(w - step, -half, half)
        if np.abs(step).max() < tolerances.ARC_PARAMETER * half:
            break
    return w


def shifted(P: Array, by: float) -> Array:
    """Coefficients of P(by + w) as a polynomial of w."""
    moved = np.array(P, dtype=float)
    for first in range(len(moved)):  # synthetic division, once for each coefficient
        for i in reversed(range(first, len(moved) - 1)):
            moved[i] += by * moved[i + 1]
    return moved
