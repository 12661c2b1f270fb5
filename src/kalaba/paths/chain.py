"""Straight lines and circular arcs end to end, and corners rounded by arcs or by quintics.

The arc length of lines and arcs is known in closed form. With σ the arc length since the piece began, each piece is::

    x = p + d σ + a sin(κ σ) + b (1 − cos(κ σ))      line: a = b = 0;  arc of radius r: d = 0, κ = 1/r, |a| = |b| = r

written with the sine and cosine of κσ/2, since 1 − cos loses its digits in wide arcs of a small angle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.errors import ControlError
from kalaba.paths.checks import positive
from kalaba.paths.curve import Shape, Table
from kalaba.paths.polynomials import Polynomials, polynomials
from kalaba.space.arrays import Array
from kalaba.space.number import measured

ZERO = np.zeros(3)
BEZIER = np.array(  # powers of u from the control points of a quintic
    [[math.comb(5, i) * math.comb(i, j) * (-1.0) ** (i - j) if j <= i else 0.0 for j in range(6)] for i in range(6)]
)


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
            _weighted_sum(self.start[i], [(float(vector[i]), factor) for vector, factor in terms]) for i in range(3)
        )

    def _table(self) -> Table:
        """One row per piece: s at its beginning, κ, p, d, a, b."""
        rows, starts, at, reached = [], [], np.array(self.start), 0.0
        for piece in self.pieces:
            starts.append(reached)
            rows.append((reached, piece.curvature, *_tuple(at), *piece.direction, *piece.sine, *piece.cosine))
            at, reached = at + piece.end(), reached + piece.length
        return Table(tuple(starts), tuple(rows))


def _tuple(vector: Sequence[float] | Array) -> tuple[float, ...]:
    return tuple(float(entry) for entry in vector)


@dataclass(frozen=True, slots=True)
class Circular:
    """An arc that leaves a leg at `distance` before the corner: its radius is distance/tan(turn/2).

    The direction is continuous and the curvature jumps, so the acceleration does.

    Arguments:
        distance: from the corner to where a leg is left, m
    """

    distance: float = measured("m")

    if TYPE_CHECKING:

        def __init__(self, distance: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", positive(self.distance, "blend"))

    def curve(self, points: Array) -> Chain:
        """The chain of legs and arcs."""
        corners = _corners(points, self.distance)
        pieces: list[Piece] = []
        here = points[0]
        for corner in corners:
            pieces += _leg(here, corner.before(self.distance))
            radius = self.distance / math.tan(corner.turn / 2)
            pieces.append(arc(radius, corner.turn, corner.incoming, corner.inward))
            here = corner.after(self.distance)
        pieces += _leg(here, points[-1])
        return Chain(tuple(points[0].tolist()), tuple(pieces))


@dataclass(frozen=True, slots=True)
class Quintic:
    """A quintic that leaves a leg at `distance` before the corner, with no curvature there: no jump of acceleration.

    Its six control points stand on the two legs, 2/5 of the distance apart.

    Arguments:
        distance: from the corner to where a leg is left, m
    """

    distance: float = measured("m")

    if TYPE_CHECKING:

        def __init__(self, distance: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", positive(self.distance, "blend"))

    def curve(self, points: Array) -> Polynomials:
        """The legs and quintics by arc length."""
        parts: list[tuple[Array, float]] = []
        here = points[0]
        for corner in _corners(points, self.distance):
            parts += _leg_polynomial(here, corner.before(self.distance))
            along = self.distance * np.array([1.0, 0.6, 0.2])[:, np.newaxis]
            control = np.vstack([corner.place - along * corner.incoming, corner.place + along[::-1] * corner.outgoing])
            parts.append((BEZIER @ control, 1.0))
            here = corner.after(self.distance)
        parts += _leg_polynomial(here, points[-1])
        return polynomials(parts, "polyline")


@dataclass(frozen=True, slots=True)
class _Corner:
    place: Array
    incoming: Array  # unit vectors
    outgoing: Array

    @property
    def turn(self) -> float:
        """Angle by which the direction turns."""
        u, v = self.incoming, self.outgoing
        return 2 * math.atan2(float(np.linalg.norm(v - u)), float(np.linalg.norm(v + u)))

    @property
    def inward(self) -> Array:
        """Unit vector across the incoming leg, towards the outgoing one."""
        across = self.outgoing - self.incoming * float(self.incoming @ self.outgoing)
        return np.asarray(across / np.linalg.norm(across))

    def before(self, distance: float) -> Array:
        return self.place - distance * self.incoming

    def after(self, distance: float) -> Array:
        return self.place + distance * self.outgoing


def _corners(points: Array, distance: float) -> list[_Corner]:
    """The corners that turn, checked: the blends of two ends fit on a leg and none turns back."""
    ways = np.diff(points, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    if len(lengths) > 1 and distance > lengths.min() / 2 * (1 + tolerances.PATH_ROUNDING):
        k = int(lengths.argmin())
        raise ControlError(
            f"polyline.blend: expected at most half of the leg between points {k} and {k + 1}, {lengths[k] / 2:.6g} m, "
            f"got {distance:g}."
        )
    units = ways / lengths[:, np.newaxis]
    corners = [_Corner(place, u, v) for place, (u, v) in zip(points[1:-1], pairwise(units), strict=True)]
    for k, corner in enumerate(corners, 1):
        if corner.turn > math.pi - tolerances.TURNED_BACK:
            raise ControlError(f"polyline: the legs at point {k} turn back on themselves; give two paths.")
    return [corner for corner in corners if corner.turn > tolerances.STRAIGHT_CORNER]


def _leg(start: Array, end: Array) -> list[Piece]:
    return [straight(start, end)] if _is_long(start, end) else []


def _leg_polynomial(start: Array, end: Array) -> list[tuple[Array, float]]:
    return [(np.array([start, end - start]), 1.0)] if _is_long(start, end) else []


def _is_long(start: Array, end: Array) -> bool:
    """Whether there is a leg between two blends, more than rounding."""
    return bool(np.linalg.norm(end - start) > tolerances.LEG_LENGTH * max(np.abs(start).max(), np.abs(end).max()))


def _weighted_sum(constant: float, terms: Iterable[tuple[float, str]]) -> str:
    """The sum constant + Σ weight · text in kalaba's expressions, without zeros; weights of one text are added up."""
    weights: dict[str, float] = {}
    for weight, text in terms:
        weights[text] = weights.get(text, 0.0) + weight
    pieces = [repr(constant)] if constant else []
    pieces += [text if weight == 1 else f"{weight!r}*{text}" for text, weight in weights.items() if weight]
    return " + ".join(pieces).replace("+ -", "- ") or "0"
