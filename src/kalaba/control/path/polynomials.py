"""Piecewise polynomial curves by arc length: splines, and lines joined by quintic blends.

A piece is a polynomial x = P(w) of its own parameter, |w| ≤ h. Its arc length since the beginning is
S(w) = ∫ |P′| dw, by quadrature; the inverse w(s) is found twice::

    numbers        Newton's method on S(w) = s, to rounding
    expressions    a polynomial w = Q(σ) with σ = −1 ... 1 along the piece, fitted until |dx/ds| = 1 to rounding

so both are the same curve, and an expression needs no iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kalaba.control.path.arc_length import FIT, ArcPiece, arc_length, derivative, value
from kalaba.control.path.chain import Shape
from kalaba.control.path.table import Table
from kalaba.errors import ControlError

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Polynomials:
    """Pieces end to end."""

    pieces: tuple[ArcPiece, ...]

    @property
    def length(self) -> float:
        """Arc length, m."""
        return self.pieces[-1].start + self.pieces[-1].length

    def at(self, s: Array) -> Shape:
        """The curve and its derivatives by arc length: T = P′/|P′|, dT/ds = (P″ − T (T · P″))/|P′|²."""
        start, length, half, *columns = self._table().at(s)
        inverse = np.array(columns[:FIT])
        P = np.array(columns[FIT:]).reshape(3, -1, *np.shape(s))
        w = value(inverse, 2 * (s - start) / length - 1)
        speed = np.linalg.norm(value(derivative(P), w), axis=0)
        w = w - (arc_length(P, half, w) - (s - start)) / speed  # from Q, one step is enough
        first = value(derivative(P), w)
        second = value(derivative(derivative(P)), w)
        speed = np.linalg.norm(first, axis=0)
        T = first / speed
        bend = (second - T * np.sum(T * second, axis=0)) / speed**2
        position, tangent, curvature = (np.moveaxis(part, 0, -1) for part in (value(P, w), T, bend))
        return Shape(position, tangent, curvature)

    def expression(self, s: ca.SX) -> ca.SX:
        """The curve as an expression of arc length: x = P(Q(σ))."""
        start, length, _, *columns = self._table().expressions(s)
        w = _horner(columns[:FIT], 2 * (s - start) / length - 1)
        terms = (len(columns) - FIT) // 3
        return ca.vertcat(*(_horner(columns[FIT + i * terms : FIT + (i + 1) * terms], w) for i in range(3)))

    def text(self, s: str) -> tuple[str, ...]:
        """Refuse: a text has no tables."""
        raise ControlError(
            f"path.text: a curve of {len(self.pieces)} polynomials along ({s:.20}...) has no text; use "
            "path.expressions(m['t'], origin) in a callable."
        )

    def _table(self) -> Table:
        """One row a piece: s at its beginning, its length, h, the coefficients of Q, those of P."""
        terms = max(len(piece.curve[0]) for piece in self.pieces)
        rows = tuple(
            (piece.start, piece.length, piece.half, *piece.inverse, *_padded(piece.curve, terms))
            for piece in self.pieces
        )
        return Table(tuple(piece.start for piece in self.pieces), rows)


def _padded(curve: tuple[tuple[float, ...], ...], terms: int) -> list[float]:
    return [entry for row in curve for entry in (*row, *(0.0,) * (terms - len(row)))]


def _horner(coefficients: list[ca.SX], x: ca.SX) -> ca.SX:
    total = ca.SX(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total
