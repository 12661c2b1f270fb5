"""Efforts for a force that no efforts within the bounds give: those that go beyond the bounds least.

Of all τ with W τ = F the ones that are wanted have the least Σ (e_i / room_i)², e_i being what τ_i is beyond its bounds
and room_i the size of these. Motors then give τ − e, which is at the bounds. This is the least miss of the force, if it
is measured by the efforts that would make up for it, each in parts of its bounds: the measure has no unit, is the same
in all axes of the force, and efforts change continuously where the force comes out of reach. Without a spare motor it
holds each motor at its bound.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.control.allocation.solutions import largest
from kalaba.kinematics.tree.bounds import least_distance, one_sided
from kalaba.space.arrays import Array


def room(low: Array, high: Array) -> Array:
    """A scale for each motor: the size of its bounds; of a motor without any the largest of the others."""
    sizes = np.maximum(np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0))
    most = sizes.max(initial=0.0)
    return np.where(sizes > 0, sizes, most if most > 0 else 1.0)


def is_within(torques: Array, low: Array, high: Array) -> bool:
    """Whether all torques are within their bounds, but for rounding."""
    slack = tolerances.WITHIN_BOUNDS * room(low, high)
    return bool((torques >= low - slack).all() and (torques <= high + slack).all())


def shortest_within(least: Array, null: Array, low: Array, high: Array) -> Array | None:
    """τ₀ + N z of the least z within the bounds; None if there is none.

    `least_distance` tells which bounds are reached; z is computed from them, to rounding.
    """
    scale = room(low, high)
    C, d = one_sided(null / scale[:, np.newaxis], (low - least) / scale, (high - least) / scale)
    u, r = least_distance(C, d)
    if np.linalg.norm(r) < tolerances.BOUNDS_INFEASIBLE:
        return None
    active = u > 0
    torques = least + null @ np.linalg.lstsq(C[active], d[active], rcond=None)[0]
    return torques if is_within(torques, low, high) else None


def least_beyond(least: Array, null: Array, low: Array, high: Array) -> Array:
    """τ₀ + N z with the least Σ (e_i / room_i)² beyond the bounds, and of those the one of the least z."""
    from scipy.optimize import lsq_linear

    scale = room(low, high)
    y = least / scale
    Q = np.linalg.qr(null / scale[:, np.newaxis])[0] if null.shape[1] else np.zeros((len(y), 0))
    projector = np.eye(len(y)) - Q @ Q.T
    given = lsq_linear(
        projector, projector @ y, (low / scale, high / scale), method="bvls", tol=tolerances.NEAREST_EFFORTS
    )
    excess = scale * (projector @ (y - given.x))
    if null.shape[1]:
        slack = tolerances.WITHIN_BOUNDS * scale
        wider = low + np.minimum(excess, 0.0) - slack, high + np.maximum(excess, 0.0) + slack
        shortest = shortest_within(least, null, *wider)
        if shortest is not None:
            return shortest
    return np.asarray(scale * given.x + excess)


def nearest_within(least: ca.SX, null: ca.SX, lower: Sequence[float], upper: Sequence[float]) -> ca.SX:
    """The least squares within bounds, least + α n with α as near to zero as they allow; else as `least_beyond`."""
    low, high = ca.SX(-ca.inf), ca.SX(ca.inf)
    scale = largest(null)
    ends = []
    for i in range(least.shape[0]):
        acts = ca.gt(ca.fabs(null[i]), tolerances.NULL_ENTRY * scale)
        slope = ca.if_else(acts, null[i], 1)
        reached = (lower[i] - least[i]) / slope, (upper[i] - least[i]) / slope
        low = ca.fmax(low, ca.if_else(acts, ca.fmin(*reached), -ca.inf))
        high = ca.fmin(high, ca.if_else(acts, ca.fmax(*reached), ca.inf))
        ends += [end for end, bound in zip(reached, (lower[i], upper[i]), strict=True) if np.isfinite(bound)]
    within = ca.fmin(ca.fmax(0, low), high)
    if not ends:
        return least
    beyond = _least_excess(least, null, (lower, upper), ends)
    return least + ca.if_else(ca.gt(low, high), beyond, within) * null


def _least_excess(
    least: ca.SX, null: ca.SX, bounds: tuple[Sequence[float], Sequence[float]], ends: Sequence[ca.SX]
) -> ca.SX:
    """The α of the least Σ (e_i / room_i)², where no α is within all bounds.

    The derivative of the sum rises in straight pieces between the α at which some bound is reached: the last of these
    at which it is below zero and the first at which it is above have its zero between them.
    """
    lower, upper = (np.asarray(bound, dtype=float) for bound in bounds)
    scale = room(lower, upper)

    def slope(alpha: ca.SX) -> ca.SX:
        total = ca.SX(0)
        for i, size in enumerate(scale):
            effort = least[i] + alpha * null[i]
            above = ca.fmax(effort - upper[i], 0) if np.isfinite(upper[i]) else 0
            below = ca.fmax(lower[i] - effort, 0) if np.isfinite(lower[i]) else 0
            total += null[i] / size**2 * (above - below)
        return total

    left, right, falls, rises = ca.SX(-ca.inf), ca.SX(ca.inf), ca.SX(0), ca.SX(0)
    for end in ends:
        value = slope(end)
        is_last = ca.logic_and(ca.le(value, 0), ca.gt(end, left))
        left, falls = ca.if_else(is_last, end, left), ca.if_else(is_last, value, falls)
        is_first = ca.logic_and(ca.ge(value, 0), ca.lt(end, right))
        right, rises = ca.if_else(is_first, end, right), ca.if_else(is_first, value, rises)
    gap = ca.if_else(ca.gt(rises - falls, 0), rises - falls, 1)
    return left - falls / gap * (right - left)
