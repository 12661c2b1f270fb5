"""Straight lines and circular arcs, end to end: curves whose arc length is known in closed form.

With σ the arc length since the piece began, each piece is::

    x = p + d σ + a sin(κ σ) + b (1 − cos(κ σ))      line: a = b = 0;  arc of radius r: d = 0, κ = 1/r, |a| = |b| = r

written with the sine and cosine of κσ/2, since 1 − cos loses its digits in wide arcs of a small angle.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.paths.shape import Shape
from kalaba.paths.table import Table
from kalaba.paths.wording import weighted_sum

Array = NDArray[np.float64]
ZERO = np.zeros(3)


@dataclass(frozen=True, slots=True)
class Piece:
    """A line or an arc; the columns d, a, b and κ of the formula."""

    length: float  # m
    direction: tuple[float, ...]  # d
    sine: tuple[float, ...]  # a
    cosine: tuple[float, ...]  # b
    curvature: float  # κ, 1/m

    def end(self) -> Array:
        """From where the piece begins to where it ends."""
        s, c = math.sin(self.curvature * self.length / 2), math.cos(self.curvature * self.length / 2)
        d, a, b = (np.array(column) for column in (self.direction, self.sine, self.cosine))
        return np.asarray(d * self.length + 2 * s * (c * a + s * b))

    def terms(self, sigma: str) -> list[tuple[Array, str]]:
        """What the piece adds, as vectors and the texts that they are multiplied with."""
        if self.curvature == 0:
            return [(np.array(self.direction), sigma)]
        whole, half = f"{sigma}*{self.curvature!r}", f"{sigma}*{self.curvature / 2!r}"
        return [(np.array(self.sine), f"sin({whole})"), (2 * np.array(self.cosine), f"sin({half})^2")]

    def continued(self) -> Piece:
        """The same line or circle, gone on from where the piece ends."""
        c, s = math.cos(self.curvature * self.length), math.sin(self.curvature * self.length)
        a, b = np.array(self.sine), np.array(self.cosine)
        return Piece(math.inf, self.direction, _tuple(c * a + s * b), _tuple(c * b - s * a), self.curvature)


def straight(start: ArrayLike, end: ArrayLike) -> Piece:
    """The line between two points."""
    way = np.asarray(end, dtype=float) - np.asarray(start, dtype=float)
    length = float(np.linalg.norm(way))
    return Piece(length, _tuple(way / length), _tuple(ZERO), _tuple(ZERO), 0.0)


def arc(radius: float, angle: float, tangent: Array, inward: Array) -> Piece:
    """An arc that begins along a unit tangent and bends towards the unit vector `inward`, across it."""
    return Piece(radius * angle, _tuple(ZERO), _tuple(radius * tangent), _tuple(radius * inward), 1 / radius)


@dataclass(frozen=True, slots=True)
class Chain:
    """Pieces end to end, each going on in the direction of the one before."""

    start: tuple[float, ...]
    pieces: tuple[Piece, ...]

    @property
    def length(self) -> float:
        """Arc length, m."""
        return math.fsum(piece.length for piece in self.pieces)

    def at(self, s: Array) -> Shape:
        """The curve and its derivatives by arc length."""
        start, kappa, *columns = self._table().at(s)
        p, d, a, b = (np.array(columns[i : i + 3]) for i in (0, 3, 6, 9))
        half = kappa * (s - start) / 2
        position = p + d * (s - start) + 2 * np.sin(half) * (a * np.cos(half) + b * np.sin(half))
        sine, cosine = np.sin(2 * half), np.cos(2 * half)
        return Shape(position.T, (d + kappa * (a * cosine + b * sine)).T, (kappa**2 * (b * cosine - a * sine)).T)

    def expression(self, s: ca.SX) -> ca.SX:
        """The curve as an expression of arc length."""
        start, kappa, *columns = self._table().expressions(s)
        p, d, a, b = (ca.vertcat(*columns[i : i + 3]) for i in (0, 3, 6, 9))
        half = kappa * (s - start) / 2
        return p + d * (s - start) + 2 * ca.sin(half) * (a * ca.cos(half) + b * ca.sin(half))

    def text(self, s: str) -> tuple[str, ...]:
        """The curve as texts of a text for arc length.

        Each knot adds the difference of the piece that begins to the one before gone on, of σ = max(s − s_k, 0). It
        begins with slope zero, so its derivative is right at the knot itself, whatever the slope of max is there.
        """
        terms = self.pieces[0].terms(f"({s})")
        reached = self.pieces[0].length
        for before, piece in zip(self.pieces, self.pieces[1:], strict=False):
            sigma = f"max({s} - {reached!r}, 0)"
            terms += piece.terms(sigma)
            terms += [(-vector, factor) for vector, factor in before.continued().terms(sigma)]
            reached += piece.length
        return tuple(
            weighted_sum(self.start[i], [(float(vector[i]), factor) for vector, factor in terms]) for i in range(3)
        )

    def _table(self) -> Table:
        """One row a piece: s at its beginning, κ, p, d, a, b."""
        rows, starts, at, reached = [], [], np.array(self.start), 0.0
        for piece in self.pieces:
            starts.append(reached)
            rows.append((reached, piece.curvature, *_tuple(at), *piece.direction, *piece.sine, *piece.cosine))
            at, reached = at + piece.end(), reached + piece.length
        return Table(tuple(starts), tuple(rows))


def _tuple(vector: Sequence[float] | Array) -> tuple[float, ...]:
    return tuple(float(entry) for entry in vector)
