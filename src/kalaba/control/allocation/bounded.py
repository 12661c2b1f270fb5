"""Bounded: the least ½ τᵀ D τ with lower ≤ τ ≤ upper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.control.allocation.rule import Allocation, OutOfBoundsError
from kalaba.control.allocation.solutions import (
    largest,
    least_squares,
    matching,
    null_direction,
    positive_numbers,
    row_lengths,
    solutions,
    unreachable,
)
from kalaba.errors import ControlError
from kalaba.kinematics.tree.bounds import least_distance, one_sided
from kalaba.space.arrays import Array
from kalaba.space.pose import Floats


@dataclass(frozen=True, slots=True)
class Bounded(Allocation):
    """The least ½ τᵀ D τ with lower ≤ τ ≤ upper, one number per motor; by default the motors' own limits.

    With y = D^½ τ this is the shortest z with l ≤ D^-½ (y₀ + N z) ≤ u, which is solved through its dual, a problem of
    least squares with no negative unknown: it ends after finitely many steps.

    Reference: Lawson and Hanson (1974), Solving Least Squares Problems, chapter 23 (LDP).

    Arguments:
        lower: least effort of each motor, N or N·m; None: minus its limit
        upper: largest effort of each motor, N or N·m; None: its limit
        weights: D, one number above zero per motor; None: 1 for all
    """

    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None

    if TYPE_CHECKING:

        def __init__(
            self, lower: Floats | None = None, upper: Floats | None = None, weights: Floats | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", positive_numbers(self.weights, "Bounded.weights"))
        for name, numbers in (("lower", self.lower), ("upper", self.upper)):
            object.__setattr__(self, name, None if numbers is None else tuple(float(entry) for entry in numbers))

    @property
    def closed_form_spare(self) -> float:
        """One: along one null direction the bounds leave an interval."""
        return 1

    def expression(self, force_map: ca.SX, force: ca.SX, limits: Array) -> ca.SX:
        """The nearest to least squares within the interval; least squares where no motor is spare."""
        least = least_squares(force_map, force, self.weights)
        if force_map.shape[0] == force_map.shape[1]:
            return least
        low, high = self.bounds(limits)
        return nearest_within(least, null_direction(force_map, self.weights), low.tolist(), high.tolist())

    def label(self, size: tuple[int, int], limits: Array) -> str:  # noqa: ARG002
        """Its numbers say all, as every change of kalaba's own code is compiled anew."""
        return f"{self!r} {limits.tolist()}"

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """The τ of least weighted squares within the bounds."""
        low, high = self.bounds(np.asarray(limits, dtype=float))
        least, N = solutions(force_map, force, self.weights, rows)
        room = _room(low, high)
        if _is_within(least, low, high, room):
            return least
        z = _shortest(N / room[:, np.newaxis], (low - least) / room, (high - least) / room)
        torques = least if z is None else least + N @ z
        if z is None or not _is_within(torques, low, high, room):
            raise _out_of_bounds(force_map, force, low, high, rows)
        return torques

    def check(self, limits: Array) -> None:
        """One pair of bounds and one weight per motor."""
        self.bounds(limits)
        if self.weights is not None:
            matching(self.weights, len(limits))

    def bounds(self, limits: Array) -> tuple[Array, Array]:
        """Lower and upper bounds of motors with these limits."""
        low = -limits if self.lower is None else np.array(self.lower)
        high = limits if self.upper is None else np.array(self.upper)
        if low.shape != limits.shape or high.shape != limits.shape or not (low < high).all():
            raise ControlError(
                f"Bounded: expected {len(limits)} lower numbers, each below its upper one, got {low.tolist()} and "
                f"{high.tolist()}. Give one per motor."
            )
        return low, high

    def unit_remedy(self, limits: Array) -> str:  # noqa: ARG002
        """Squares of forces and torques add up by their weights."""
        return "" if self.weights is not None else "Give weights=, one number per motor"


def nearest_within(least: ca.SX, null: ca.SX, lower: Sequence[float], upper: Sequence[float]) -> ca.SX:
    """The least squares within bounds: least + α n with α as near to zero as the bounds allow.

    Where no α is within all bounds, the middle of what they ask for is taken: some motors are asked for too much.
    """
    low, high = ca.SX(-ca.inf), ca.SX(ca.inf)
    scale = largest(null)
    for i in range(least.shape[0]):
        acts = ca.gt(ca.fabs(null[i]), tolerances.NULL_ENTRY * scale)
        slope = ca.if_else(acts, null[i], 1)
        ends = (lower[i] - least[i]) / slope, (upper[i] - least[i]) / slope
        low = ca.fmax(low, ca.if_else(acts, ca.fmin(*ends), -ca.inf))
        high = ca.fmin(high, ca.if_else(acts, ca.fmax(*ends), ca.inf))
    alpha = ca.if_else(ca.gt(low, high), (low + high) / 2, ca.fmin(ca.fmax(0, low), high))
    return least + alpha * null


def _shortest(G: Array, low: Array, high: Array) -> Array | None:  # noqa: N803
    """The z of least length with low ≤ G z ≤ high, or None if there is none.

    `least_distance` tells which rows hold as equalities; z is computed from them, to rounding.
    """
    C, d = one_sided(G, low, high)
    u, r = least_distance(C, d)
    if np.linalg.norm(r) < tolerances.BOUNDS_INFEASIBLE:
        return None
    active = u > 0
    return np.asarray(np.linalg.lstsq(C[active], d[active], rcond=None)[0])


def _room(low: Array, high: Array) -> Array:
    """A scale for each bound: its own size."""
    sizes = np.maximum(np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0))
    return np.where(sizes > 0, sizes, 1.0)


def _is_within(torques: Array, low: Array, high: Array, room: Array) -> bool:
    slack = tolerances.WITHIN_BOUNDS * room
    return bool((torques >= low - slack).all() and (torques <= high + slack).all())


def _out_of_bounds(W: Array, F: Array, low: Array, high: Array, rows: Sequence[str]) -> ControlError:  # noqa: N803
    """Word the error with what is missing after the bounds are used up."""
    from scipy.optimize import lsq_linear

    length = row_lengths(W)
    nearest = lsq_linear(W / length[:, np.newaxis], F / length, (low, high), tol=tolerances.NEAREST_EFFORTS).x
    error = unreachable(F, F - W @ nearest, rows, "the motors are at their bounds. Ask for less or raise limits.")
    return OutOfBoundsError(str(error), _least_excess(W / length[:, np.newaxis], F / length, low, high))


def _least_excess(W: Array, F: Array, low: Array, high: Array) -> dict[int, float]:  # noqa: N803
    """By how much motors must go beyond their bounds at the least: min ρ with W τ = F, low − ρ ≤ τ ≤ high + ρ."""
    from scipy.optimize import linprog

    m = W.shape[1]
    one = np.ones((m, 1))
    sides, bounds = np.block([[np.eye(m), -one], [-np.eye(m), -one]]), np.concatenate([high, -low])
    finite = np.isfinite(bounds)
    result = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=sides[finite],
        b_ub=bounds[finite],
        A_eq=np.hstack([W, np.zeros((len(F), 1))]),
        b_eq=F,
        bounds=[(None, None)] * m + [(0, None)],
        method="highs",
    )
    if result.status != 0:
        return {}
    excess = np.maximum(result.x[:m] - high, low - result.x[:m])
    return {i: float(excess[i]) for i in range(m) if excess[i] > (1 - tolerances.WITHIN_BOUNDS) * result.x[m]}
