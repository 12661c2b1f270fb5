"""Servo control as expressions: what the motors must do so that the closed machine meets its goals.

With the structural rows A v̇ = b kept, M v̇ = Q + B u + Aᵀ λ gives v̇ = v̇₀ + Y u, where v̇₀ is the motion with idle motors
and Y = M⁻¹ (B − Aᵀ G⁻¹ A M⁻¹ B), G = A M⁻¹ Aᵀ. Goals A_s v̇ = b_s are then met by::

    S u = r        S = A_s Y        r = b_s − A_s v̇₀
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.constrain.elimination import Elimination, dot, eliminate, entries, factorise
from kalaba.control.allocation import Allocation, Bounded, LeastSquares, MinMax

if TYPE_CHECKING:
    from kalaba.control.goals import Rows
    from kalaba.derive.equations import Equations

TINY = 1e-12  # of the largest: an entry of a null direction below this has no effect on its motor


def demand(
    equations: Equations, kept: ca.SX, rows: Rows, gains: tuple[float, float], motors: list[int]
) -> tuple[ca.SX, ca.SX]:
    """S and r for goals with gains (ω, ζ); `kept` marks the structural rows."""
    A, B = equations.constraint_matrix, ca.densify(equations.actuation_map)
    parts = eliminate(equations.mass_matrix, A, kept)
    idle = _motion(parts, equations.applied_force - equations.bias, equations.constraint_rhs)
    still = ca.SX(A.shape[0], 1)
    moved = [_motion(parts, B[:, j], still) for j in motors]
    rates = ca.mtimes(rows.matrix, equations.symbols.v)
    r = rows.wanted(rates, *gains) - ca.mtimes(rows.matrix, idle)
    return ca.densify(ca.mtimes(rows.matrix, ca.horzcat(*moved))), ca.densify(r)


def _motion(parts: Elimination, force: ca.SX, rhs: ca.SX) -> ca.SX:
    """M⁻¹ (Q + Aᵀ λ) with A v̇ = b."""
    z = parts.mass.forward(entries(force))
    slack = [b - dot(column, parts.mass.scale(z)) for b, column in zip(entries(rhs), parts.spread, strict=True)]
    lifted = parts.lift(parts.correct(slack))
    total = [x + y for x, y in zip(z, lifted, strict=True)]
    return ca.vertcat(*parts.mass.backward(parts.mass.scale(total)))


def ideal_force(
    equations: Equations, kept: ca.SX, rows: Rows, gains: tuple[float, float], *, stacked: bool
) -> list[ca.SX]:
    """The force on every velocity that the goals take: A_sᵀ (A_s Y A_sᵀ)⁻¹ (b_s − A_s v̇₀), with Y of B = 1.

    Stacked on the structural rows, or with the goals' rows alone: then Y = M⁻¹ and v̇₀ is the motion of the parts cut
    loose.
    """
    A, b = equations.constraint_matrix, equations.constraint_rhs
    if not stacked:
        A, b, kept = A[:0, :], b[:0], kept[:0]
    parts = eliminate(equations.mass_matrix, A, kept)
    idle = _motion(parts, equations.applied_force - equations.bias, b)
    wishes, still = ca.densify(rows.matrix), ca.SX(A.shape[0], 1)
    moved = ca.horzcat(*(_motion(parts, wishes[i, :].T, still) for i in range(wishes.shape[0])))
    r = rows.wanted(ca.mtimes(wishes, equations.symbols.v), *gains) - ca.mtimes(wishes, idle)
    share = factorise(ca.densify(ca.mtimes(wishes, moved))).solve(entries(ca.densify(r)))
    return entries(ca.mtimes(wishes.T, ca.vertcat(*share)))


def allocated(how: Allocation, limits: tuple[float, ...], force_map: ca.SX, force: ca.SX) -> ca.SX:
    """The τ with W τ = F that an allocation chooses, in closed form; but for LeastSquares one motor may be spare."""
    weights = getattr(how, "weights", None)
    least = least_squares(force_map, force, weights, getattr(how, "preload", None))
    if isinstance(how, LeastSquares) or force_map.shape[0] == force_map.shape[1]:
        return least
    null = null_direction(force_map, weights)
    if isinstance(how, MinMax):
        return min_max(least, null, limits if np.isfinite(limits).all() else (1.0,) * len(limits))
    assert isinstance(how, Bounded)  # noqa: S101  (the closed forms are these three)
    low, high = how.bounds(np.array(limits))
    return bounded(least, null, tuple(low.tolist()), tuple(high.tolist()))


def least_squares(
    force_map: ca.SX,
    force: ca.SX,
    weights: tuple[float, ...] | None = None,
    preload: tuple[float, ...] | None = None,
) -> ca.SX:
    """The τ of least ½ (τ − τ_p)ᵀ D (τ − τ_p) with W τ = F: τ_p + D⁻¹ Wᵀ (W D⁻¹ Wᵀ)⁻¹ (F − W τ_p).

    W has full rank; D is diagonal, by default 1; the preload τ_p by default 0.
    """
    W = ca.densify(force_map)
    if preload is not None:
        offset = ca.SX(ca.DM(preload))
        return offset + least_squares(W, force - ca.mtimes(W, offset), weights)
    spread = W.T if weights is None else W.T / ca.DM(weights)
    share = factorise(ca.mtimes(W, spread)).solve(ca.vertsplit(ca.densify(force)))
    return ca.mtimes(spread, ca.vertcat(*share))


def null_direction(force_map: ca.SX, weights: tuple[float, ...] | None = None) -> ca.SX:
    """The n with W n = 0 where W has one column more than rows.

    The projector 1 − W⁺ W is n nᵀ / nᵀ D n D: its column with the largest diagonal entry is taken.
    """
    m = force_map.shape[1]
    columns = [ca.SX.eye(m)[:, j] - least_squares(force_map, force_map[:, j], weights) for j in range(m)]
    best, size = columns[0], columns[0][0]
    for j in range(1, m):
        is_larger = ca.gt(columns[j][j], size)
        best = ca.if_else(is_larger, columns[j], best)
        size = ca.if_else(is_larger, columns[j][j], size)
    return best


def min_max(particular: ca.SX, null: ca.SX, limits: tuple[float, ...]) -> ca.SX:
    """Minimise the largest |u_i + α n_i| / limit_i over α: the least of a convex function with corners.

    It has its least value where two of the ratios are equal, or one is zero: all of these are tried.
    """
    m = particular.shape[0]
    u, n = particular / ca.DM(limits), null / ca.DM(limits)
    pairs = [(u[i] - sign * u[j], n[i] - sign * n[j]) for i in range(m) for j in range(i) for sign in (1, -1)]
    pairs += [(u[i], n[i]) for i in range(m)]
    alpha, least = ca.SX(0), _largest(u)
    for numerator, denominator in pairs:
        is_met = ca.gt(ca.fabs(denominator), TINY * ca.fabs(n[0]) + 1e-300)
        trial = -numerator / ca.if_else(is_met, denominator, 1)
        trial = ca.if_else(is_met, trial, 0)
        peak = _largest(u + trial * n)
        is_less = ca.lt(peak, least)
        alpha, least = ca.if_else(is_less, trial, alpha), ca.if_else(is_less, peak, least)
    return particular + alpha * null


def _largest(values: ca.SX) -> ca.SX:
    largest = ca.fabs(values[0])
    for i in range(1, values.shape[0]):
        largest = ca.fmax(largest, ca.fabs(values[i]))
    return largest


def bounded(least: ca.SX, null: ca.SX, lower: tuple[float, ...], upper: tuple[float, ...]) -> ca.SX:
    """The least squares within bounds: least + α n with α as near to zero as the bounds allow.

    Where no α is within all bounds, the middle of what they ask for is taken: some motors are asked for too much.
    """
    low, high = ca.SX(-ca.inf), ca.SX(ca.inf)
    scale = _largest(null)
    for i in range(least.shape[0]):
        acts = ca.gt(ca.fabs(null[i]), TINY * scale)
        slope = ca.if_else(acts, null[i], 1)
        ends = (lower[i] - least[i]) / slope, (upper[i] - least[i]) / slope
        low = ca.fmax(low, ca.if_else(acts, ca.fmin(*ends), -ca.inf))
        high = ca.fmin(high, ca.if_else(acts, ca.fmax(*ends), ca.inf))
    alpha = ca.if_else(ca.gt(low, high), (low + high) / 2, ca.fmin(ca.fmax(0, low), high))
    return least + alpha * null
