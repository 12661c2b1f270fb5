"""Shapes of a bending beam on [0, 1]: value and slope zero at the root, scaled to 1 at the tip."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import cosh, cos, pi

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ModelError

Array = NDArray[np.float64]
NODES = 80  # Gauss points: integrals of products of some twenty shapes are then exact to rounding


@dataclass(frozen=True)
class Table:
    """Shapes at the Gauss points, at the tip, and the weights of the points; rows are shapes."""

    points: Array
    weights: Array
    value: Array  # φ_i
    slope: Array  # φ_i′
    curvature: Array  # φ_i″
    tip_slope: Array  # φ_i′(1)


@dataclass(frozen=True, slots=True)
class ClampedFree:
    """The modes of a clamped-free beam: cosh β cos β = −1."""

    count: int = 1

    def __post_init__(self) -> None:
        _check_count(self.count)

    def evaluate(self, x: Array) -> tuple[Array, Array, Array]:
        """Value, slope and curvature at points of [0, 1].

        φ = cosh βx − cos βx − σ (sinh βx − sin βx), written with decaying exponentials, over φ(1).
        """
        rows = [_clamped_free(_root(k), x, _root(k)) for k in range(1, self.count + 1)]
        value, slope, curvature = (np.array(part) for part in zip(*rows, strict=True))
        return value, slope, curvature


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Orthonormal-like polynomials x², x³, ...: the first `count` powers, made orthogonal in curvature."""

    count: int = 1

    def __post_init__(self) -> None:
        _check_count(self.count)

    def evaluate(self, x: Array) -> tuple[Array, Array, Array]:
        """Shapes whose curvatures are the Legendre polynomials on [0, 1], over their value at the tip.

        Their stiffness matrix is diagonal, so many of them stay well apart. A shape whose tip value vanishes (all but
        the first two) is scaled to a largest curvature of one instead.
        """
        values, slopes, curvatures = [], [], []
        for k in range(self.count):
            bend = np.polynomial.Legendre.basis(k, domain=[0, 1]).convert(kind=np.polynomial.Polynomial)
            slope = bend.integ()
            value = slope.integ()
            scale = value(1.0) if abs(value(1.0)) > 1e-9 else 1.0
            values.append(value(x) / scale)
            slopes.append(slope(x) / scale)
            curvatures.append(bend(x) / scale)
        return np.array(values), np.array(slopes), np.array(curvatures)


Shapes = ClampedFree | Polynomial


def _check_count(count: int) -> None:
    if not isinstance(count, int) or not 1 <= count <= 20:
        message = f"shapes: expected 1 to 20 of them, got {count!r}."
        raise ModelError(message)


@lru_cache(maxsize=64)
def _root(k: int) -> float:
    """The k-th root of cos β + 1/cosh β = 0, by Newton from (k − ½) π."""
    beta = (k - 0.5) * pi
    for _ in range(50):
        f = cos(beta) + 1 / cosh(beta)
        slope = -np.sin(beta) - np.sinh(beta) / cosh(beta) ** 2
        step = f / slope
        beta -= float(step)
        if abs(step) < 1e-15 * beta:
            break
    return beta


def _clamped_free(b: float, x: Array, beta: float) -> tuple[Array, Array, Array]:
    """One mode with its derivatives: cosh − σ sinh = ½ (1 − σ) eᵝˣ + ½ (1 + σ) e⁻ᵝˣ, where 1 − σ ~ 2 e⁻ᵝ is kept exact."""
    from math import exp, sin

    # σ = (cosh β + cos β)/(sinh β + sin β); (1 − σ) eᵝ without cancellation
    growing = (sin(b) - cos(b) - exp(-b)) / ((1 - exp(-2 * b)) / 2 + sin(b) * exp(-b))  # (1 − σ) eᵝ
    sigma = 1 - growing * exp(-b)
    up, down = 0.5 * growing * np.exp(beta * (x - 1)), 0.5 * (1 + sigma) * np.exp(-beta * x)
    c, s = np.cos(beta * x), np.sin(beta * x)
    value = up + down - c + sigma * s
    slope = beta * (up - down + s + sigma * c)
    curvature = beta**2 * (up + down + c - sigma * s)
    tip = 0.5 * growing + 0.5 * (1 + sigma) * exp(-b) - cos(b) + sigma * sin(b)
    return value / tip, slope / tip, curvature / tip


@lru_cache(maxsize=64)
def table(shapes: Shapes) -> Table:
    """Shapes at the Gauss points."""
    x, w = np.polynomial.legendre.leggauss(NODES)
    points, weights = (x + 1) / 2, w / 2
    value, slope, curvature = shapes.evaluate(points)
    return Table(points, weights, value, slope, curvature, shapes.evaluate(np.array([1.0]))[1][:, 0])
