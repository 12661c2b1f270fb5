"""Piecewise polynomial curves by arc length: splines, and lines joined by quintic blends.

A piece is a polynomial x = P(w) of its own parameter, |w| ≤ h. Its arc length since the beginning is
S(w) = ∫ |P′| dw, by quadrature; the inverse w(s) is found twice::

    numbers        Newton's method on S(w) = s, to rounding
    expressions    a polynomial w = Q(σ) with σ = −1 ... 1 along the piece, fitted until |dx/ds| = 1 to rounding

so both are the same curve, and an expression needs no iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ControlError
from kalaba.paths.arc_length import ArcPiece, arc_length, by_arc_length, derivative, shifted, speed, value
from kalaba.paths.shape import Shape
from kalaba.paths.table import Table

Array = NDArray[np.float64]


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

    def text(self, s: str) -> tuple[str, ...]:  # noqa: ARG002
        """Refuse: a text has no tables."""
        raise ControlError(
            f"path.text: a curve of {len(self.curves)} polynomials has no text; write a callable with "
            "path.expressions(m['t'], origin)."
        )

    def _inverses(self) -> Table:
        """One row a piece: s and length, w at its beginning, the coefficients of Q."""
        rows = tuple((piece.start, piece.length, piece.low, *piece.inverse) for piece in self.pieces)
        return Table(tuple(piece.start for piece in self.pieces), rows)

    def _curves(self) -> Table:
        """One row a polynomial: the coefficients of P."""
        starts = {piece.polynomial: piece.start for piece in reversed(self.pieces)}
        rows = tuple(tuple(entry for power in curve for entry in power) for curve in self.curves)
        return Table(tuple(starts[index] for index in range(len(rows))), rows)


def polynomials(parts: Sequence[tuple[Array, float]], what: str) -> Polynomials:
    """The curve of polynomials x = P(u), 0 ≤ u ≤ width, end to end; P of shape (terms, 3), constants first."""
    terms = max(3, *(len(P) for P, _ in parts))
    centred = [(_padded(shifted(P, width / 2), terms), width / 2) for P, width in parts]
    curves = tuple(tuple(map(tuple, P.tolist())) for P, _ in centred)
    return Polynomials(curves, by_arc_length(centred, what))


def _padded(P: Array, terms: int) -> Array:  # noqa: N803  (the polynomial of the formula)
    return np.vstack([P, np.zeros((terms - len(P), 3))])


def _horner(coefficients: list[ca.SX], x: ca.SX) -> ca.SX:
    total = ca.SX(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total
