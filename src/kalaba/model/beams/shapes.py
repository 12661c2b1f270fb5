"""Shapes of a bending beam on [0, 1]: value and slope zero at the root, scaled to 1 at the tip where they move it.

All give value, slope and curvature at points. The frame of a beam is tangent at its root, so shapes that turn there
(pinned ends) are given less the straight line that their slope at the root draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import cos, cosh, exp, pi, sin, sinh
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import check_fields, check_whole, finite_array
from kalaba.errors import FileError, ModelError
from kalaba.space.arrays import Array
from kalaba.tolerances import FREQUENCY_ROOT, SHAPE_ROOT, SHAPES_ALIKE
from kalaba.units import counted

Values = tuple[Array, Array, Array]  # value, slope, curvature; rows are shapes
NODES = 80  # Gauss points: integrals of products of some twenty shapes are then exact to rounding
MOST = 20


class Shapes:
    """What a beam asks of its shapes."""

    __slots__ = ()

    @property
    def count(self) -> int:
        """How many there are."""
        raise NotImplementedError

    def evaluate(self, x: Array) -> Values:
        """Value, slope and curvature of every shape at points of [0, 1]."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class ClampedFree(Shapes):
    """The modes of a clamped-free beam: cosh β cos β = −1. They have no curvature at the tip.

    Arguments:
        count: number of modes, from the lowest on, 1 to 20
    """

    count: int = 1

    def __post_init__(self) -> None:
        _check_count(self.count)

    def evaluate(self, x: Array) -> Values:
        """φ = cosh βx − cos βx − σ (sinh βx − sin βx), written with decaying exponentials, over φ(1)."""
        return _stack([_clamped(_root(k, -1), x, tip=1) for k in range(1, self.count + 1)])


@dataclass(frozen=True, slots=True)
class ClampedClamped(Shapes):
    """The modes of a beam clamped at both ends: cosh β cos β = 1. They do not move the tip; largest value about 1.

    Arguments:
        count: number of modes, from the lowest on, 1 to 20
    """

    count: int = 1

    def __post_init__(self) -> None:
        _check_count(self.count)

    def evaluate(self, x: Array) -> Values:
        """The same functions with other roots and σ."""
        return _stack([_clamped(_root(k, 1), x, tip=0) for k in range(1, self.count + 1)])


@dataclass(frozen=True, slots=True)
class Pinned(Shapes):
    """The modes of a beam pinned at both ends, seen from the tangent at the root: sin kπx − kπx, over the tip's.

    Arguments:
        count: number of modes, from the lowest on, 1 to 20
    """

    count: int = 1

    def __post_init__(self) -> None:
        _check_count(self.count)

    def evaluate(self, x: Array) -> Values:
        """φ = x − sin(kπx)/kπ."""
        rates = [k * pi for k in range(1, self.count + 1)]
        return _stack([(x - np.sin(b * x) / b, 1 - np.cos(b * x), b * np.sin(b * x)) for b in rates])


@dataclass(frozen=True, slots=True)
class Polynomial(Shapes):
    """Polynomials from x² on, their curvatures the Legendre polynomials: many of them stay well apart.

    The first two move the tip and are 1 there; the others neither move nor turn it.

    Arguments:
        count: number of polynomials, 1 to 20
    """

    count: int = 1

    def __post_init__(self) -> None:
        _check_count(self.count)

    def evaluate(self, x: Array) -> Values:
        """Integrate the curvature twice from the root."""
        rows = []
        for k in range(self.count):
            bend = np.polynomial.Legendre.basis(k, domain=[0, 1]).convert(kind=np.polynomial.Polynomial)
            slope = bend.integ()
            value = slope.integ()
            scale = float(value(1.0)) if k < 2 else 1.0
            rows.append((value(x) / scale, slope(x) / scale, bend(x) / scale))
        return _stack(rows)


@dataclass(frozen=True, slots=True)
class StaticTip(Shapes):
    """How a force at the tip bends a beam, (3x² − x³)/2, and, with two, how a moment there does, x².

    Arguments:
        count: 1: the force alone, 2: the force and the moment
    """

    count: int = 1

    def __post_init__(self) -> None:
        check_whole(self.count, "StaticTip (1: force, 2: force and moment)", 1, 2)

    def evaluate(self, x: Array) -> Values:
        """The two static shapes."""
        both = [((3 * x**2 - x**3) / 2, (6 * x - 3 * x**2) / 2, 3 - 3 * x), (x**2, 2 * x, 2 + 0 * x)]
        return _stack(both[: self.count])


@dataclass(frozen=True, slots=True)
class Tabulated(Shapes):
    """Shapes given at points of [0, 1], from a finite-element code for example; a quintic spline runs through them.

    `read` takes a text file with one line per point: x, then the value of every shape, in columns; lines that begin
    with # are remarks. Values and slopes must vanish at x = 0.

    Arguments:
        points: places x/length, rising from 0 to 1, six or more
        values: one row of values per shape, at the points
    """

    points: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    if TYPE_CHECKING:

        def __init__(self, points: Sequence[float] | Array, values: Sequence[Sequence[float]] | Array) -> None: ...

    def __post_init__(self) -> None:
        check_fields(self)
        finite_array([x for row in (self.points, *self.values) for x in row], "Tabulated", (None,))
        object.__setattr__(self, "points", tuple(float(x) for x in self.points))
        object.__setattr__(self, "values", tuple(tuple(float(y) for y in row) for row in self.values))
        _check_count(len(self.values))
        x = np.array(self.points)
        if len(x) < 6 or np.any(np.diff(x) <= 0) or abs(x[0]) > SHAPE_ROOT or abs(x[-1] - 1) > SHAPE_ROOT:
            raise ModelError(f"Tabulated.points: expected 6 or more rising points from 0 to 1, got {len(x)} of them.")
        if any(len(row) != len(x) for row in self.values):
            raise ModelError(
                f"Tabulated.values: expected {counted(len(x), 'number')} a shape, got "
                f"{[len(row) for row in self.values]}."
            )
        value, slope, _ = self.evaluate(np.array([0.0]))
        size = np.abs(np.array(self.values)).max()
        if np.abs(value).max() > SHAPE_ROOT * size or np.abs(slope).max() > 1e3 * SHAPE_ROOT * size:
            raise ModelError(
                "Tabulated: expected shapes whose value and slope vanish at the root x = 0. Subtract both."
            )

    @property
    def count(self) -> int:
        """How many."""
        return len(self.values)

    @classmethod
    def read(cls, path: str | Path) -> Tabulated:
        """Read shapes from a text file."""
        try:
            table = np.loadtxt(path, ndmin=2)
        except (OSError, ValueError) as error:
            raise FileError(f"{path}: expected lines of numbers x φ1 φ2 ... ({error}).") from error
        return cls(tuple(table[:, 0]), tuple(map(tuple, table[:, 1:].T)))

    def evaluate(self, x: Array) -> Values:
        """The spline and its derivatives."""
        from scipy.interpolate import make_interp_spline

        rows = []
        for row in self.values:
            spline = make_interp_spline(np.array(self.points), np.array(row), k=5)
            rows.append((spline(x), spline.derivative(1)(x), spline.derivative(2)(x)))
        return _stack(rows)


def _stack(rows: list[tuple[Array, Array, Array]]) -> Values:
    value, slope, curvature = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    return value, slope, curvature


def _check_count(count: int) -> None:
    check_whole(count, "shapes", 1, MOST)


@lru_cache(maxsize=128)
def _root(k: int, sign: int) -> float:
    """The k-th root of cos β = sign/cosh β, by Newton's method from (k ∓ ½) π."""
    beta = (k - 0.5 if sign < 0 else k + 0.5) * pi
    for _ in range(50):
        f = cos(beta) - sign / cosh(beta)
        slope = -sin(beta) + sign * sinh(beta) / cosh(beta) ** 2
        step = f / slope
        beta -= step
        if abs(step) < FREQUENCY_ROOT * beta:
            break
    return beta


def _clamped(b: float, x: Array, tip: int) -> tuple[Array, Array, Array]:
    """A mode clamped at the root, with its derivatives.

    cosh − σ sinh = ½ (1 − σ) eᵝˣ + ½ (1 + σ) e⁻ᵝˣ, where (1 − σ) eᵝ is worked out without cancellation. For a free tip
    σ = (cosh β + cos β)/(sinh β + sin β) and the scale is φ(1); for a clamped one the signs are minus, the scale 1.59.
    """
    sign = 1 if tip else -1
    growing = (sign * (sin(b) - cos(b)) - exp(-b)) / ((1 - exp(-2 * b)) / 2 + sign * sin(b) * exp(-b))  # (1 − σ) eᵝ
    sigma = 1 - growing * exp(-b)
    up, down = 0.5 * growing * np.exp(b * (x - 1)), 0.5 * (1 + sigma) * np.exp(-b * x)
    c, s = np.cos(b * x), np.sin(b * x)
    value, slope, curvature = (
        up + down - c + sigma * s,
        b * (up - down + s + sigma * c),
        b**2 * (up + down + c - sigma * s),
    )
    end = 0.5 * growing + 0.5 * (1 + sigma) * exp(-b) - cos(b) + sigma * sin(b)
    scale = end if tip else 1.59
    return value / scale, slope / scale, curvature / scale


@dataclass(frozen=True)
class Table:
    """Shapes at the Gauss points, at the tip, and the weights of the points; rows are shapes."""

    points: Array
    weights: Array
    value: Array  # φ_i
    slope: Array  # φ_i′
    curvature: Array  # φ_i″
    tip: Array  # φ_i(1)
    tip_slope: Array  # φ_i′(1)


@lru_cache(maxsize=64)
def table(shapes: Shapes) -> Table:
    """Shapes at the Gauss points; refuses sets whose shapes cannot be told apart."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    points, weights = (x + 1) / 2, w / 2
    value, slope, curvature = shapes.evaluate(points)
    gram = (value * weights) @ value.T
    size = np.sqrt(np.diag(gram))
    condition = float(np.linalg.cond(gram / np.outer(size, size)))
    if not condition < SHAPES_ALIKE:
        raise ModelError(
            f"shapes: {shapes.count} of them cannot be told apart (condition {condition:.1e}). Take fewer."
        )
    end = shapes.evaluate(np.array([1.0]))
    return Table(points, weights, value, slope, curvature, end[0][:, 0], end[1][:, 0])
