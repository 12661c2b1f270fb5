"""Bounded: the least ½ τᵀ D τ with lower ≤ τ ≤ upper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments, check_fields
from kalaba.control.allocation.excess import is_within, least_beyond, nearest_within, shortest_within
from kalaba.control.allocation.rule import Allocation, OutOfBoundsError, Share, SumOfSquares
from kalaba.control.allocation.solutions import (
    each_motor,
    least_squares,
    matching,
    null_direction,
    positive_numbers,
    row_lengths,
    solutions,
    unreachable,
)
from kalaba.errors import ControlError
from kalaba.space.arrays import Array
from kalaba.space.number import measured
from kalaba.space.pose import Floats
from kalaba.units import counted


@dataclass(frozen=True, slots=True)
class Bounded(SumOfSquares):
    """The least ½ τᵀ D τ with lower ≤ τ ≤ upper, one number per motor; by default the motors' own limits.

    With y = D^½ τ this is the shortest z with l ≤ D^-½ (y₀ + N z) ≤ u, which is solved through its dual, a problem of
    least squares with no negative unknown: it ends after finitely many steps.

    Where no τ within the bounds gives the force, `allocate` says so; in a run the motors give what misses it least, and
    what they lack of it is in `run.shortfalls`. The miss is measured by the efforts beyond the bounds that would make
    up for it: the least Σ (τ_i beyond its bound / size of the bound)².

    Reference: Lawson and Hanson (1974), Solving Least Squares Problems, chapter 23 (LDP).

    Arguments:
        lower: least effort of each motor, N or N·m; None: minus its limit
        upper: largest effort of each motor, N or N·m; None: its limit
        weights: D, one number above zero per motor; None: 1 for all, or 1/limit² where forces and torques share
    """

    lower: tuple[float, ...] | None = measured("N", "N*m", default=None)
    upper: tuple[float, ...] | None = measured("N", "N*m", default=None)
    weights: tuple[float, ...] | None = None

    if TYPE_CHECKING:

        def __init__(
            self, lower: Floats | None = None, upper: Floats | None = None, weights: Floats | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", positive_numbers(self.weights, "Bounded.weights"))
        check_fields(self, ControlError)
        for name, numbers in (("lower", self.lower), ("upper", self.upper)):
            object.__setattr__(self, name, None if numbers is None else tuple(float(entry) for entry in numbers))

    @property
    def closed_form_spare(self) -> float:
        """One: along one null direction the bounds leave an interval."""
        return 1

    def expression(self, force_map: ca.SX, force: ca.SX, limits: Array) -> ca.SX:
        """The nearest to least squares within the interval, or least beyond it; the one τ where no motor is spare."""
        least = least_squares(force_map, force, self.weights)
        if force_map.shape[0] == force_map.shape[1]:
            return least
        low, high = self.bounds(limits)
        return nearest_within(least, null_direction(force_map, self.weights), low.tolist(), high.tolist())

    def label(self, size: tuple[int, int], limits: Array) -> str:
        """Its numbers say all, as every change of kalaba's own code is compiled anew."""
        return f"{self!r} {limits.tolist()}"

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """The τ of least weighted squares within the bounds."""
        check_arguments(Bounded.allocate, locals(), ControlError)
        least, N = solutions(force_map, force, self.weights, rows)
        low, high = self.bounds(each_motor(limits, len(least)))
        torques = least if is_within(least, low, high) else shortest_within(least, N, low, high)
        if torques is None:
            raise _out_of_bounds(force_map, force, low, high, rows)
        return torques

    def solver(self, limits: Array, rows: Sequence[str]) -> Share:
        """Efforts within the bounds, or where none do those that go beyond them least."""
        low, high = self.bounds(limits)

        def allocated(force_map: Array, force: Array) -> Array:
            least, N = solutions(force_map, force, self.weights, rows)
            torques = least if is_within(least, low, high) else shortest_within(least, N, low, high)
            return least_beyond(least, N, low, high) if torques is None else torques

        return allocated

    def with_weights(self, weights: tuple[float, ...] | None) -> Allocation:
        """The same with other weights."""
        return replace(self, weights=weights)

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
                f"Bounded: expected {counted(len(limits), 'lower number')}, each below its upper one, got "
                f"{low.tolist()} and {high.tolist()}. Give one per motor."
            )
        return low, high


def _out_of_bounds(W: Array, F: Array, low: Array, high: Array, rows: Sequence[str]) -> ControlError:
    """Word the error with what is missing after the bounds are used up."""
    from scipy.optimize import lsq_linear

    length = row_lengths(W)
    nearest = lsq_linear(W / length[:, np.newaxis], F / length, (low, high), tol=tolerances.NEAREST_EFFORTS).x
    error = unreachable(F, F - W @ nearest, rows, "the motors are at their bounds. Ask for less or raise limits.")
    return OutOfBoundsError(str(error), _least_excess(W / length[:, np.newaxis], F / length, low, high))


def _least_excess(W: Array, F: Array, low: Array, high: Array) -> dict[int, float]:
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
