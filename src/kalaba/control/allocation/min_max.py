"""MinMax: the least largest |τ_i| / limit_i.

::

    min ρ        W τ = F,   −ρ limit ≤ τ ≤ ρ limit

With more than one null direction, and where some motor at the peak is moved by none, several τ have this ρ: of them the
one with the least Σ (τ_i / limit_i)² is taken. So τ is unique, and follows F without jumps. Where W passes a place at
which two corners have the same ρ, the least peak itself goes from one to the other: no choice among equals mends that.

Three ways lead there: a closed form with one spare motor, a linear programme, and for laws that share out efforts at
every sample a programme that starts from its last answer. That is CasADi's active-set solver qrqp: it begins with the
bounds that held at the last sample, and mostly they still do; some five times faster than from nothing. Its answer is
taken if it holds to rounding; else the linear programme decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments, finite_array
from kalaba.control.allocation.excess import is_within, shortest_within
from kalaba.control.allocation.rule import Allocation, Share
from kalaba.control.allocation.solutions import each_motor, largest, least_squares, null_direction, solutions
from kalaba.errors import ControlError
from kalaba.space.arrays import Array

QUIET = {"print_iter": False, "print_header": False, "print_info": False, "error_on_fail": False, "print_time": False}


@dataclass(frozen=True, slots=True)
class MinMax(Allocation):
    """The least largest |τ_i| / limit_i, by a linear programme; without limits the least largest |τ_i|.

    Of all torques with the same largest ratio those with the least squares of the ratios are taken.
    """

    @property
    def closed_form_spare(self) -> float:
        """One: along one null direction the corners of the largest ratio can be listed."""
        return 1

    def expression(self, force_map: ca.SX, force: ca.SX, limits: Array) -> ca.SX:
        """The least of the corners; least squares where no motor is spare."""
        if force_map.shape[0] == force_map.shape[1]:
            return least_squares(force_map, force)
        scale = limit_scale(limits)
        ratios = ca.mtimes(ca.densify(force_map), ca.diag(ca.DM(scale)))
        return flattest(least_squares(ratios, force), null_direction(ratios)) * ca.DM(scale)

    def label(self, size: tuple[int, int], limits: Array) -> str:
        """Its numbers say all, as every change of kalaba's own code is compiled anew."""
        return f"{self!r} {limits.tolist()}"

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """Minimise ρ over z and ρ with −ρ limit ≤ τ₀ + N z ≤ ρ limit."""
        from scipy.optimize import linprog

        check_arguments(MinMax.allocate, locals(), ControlError)
        force_map = finite_array(force_map, "force_map", (None, None), ControlError)
        scale = limit_scale(each_motor(limits, force_map.shape[1]))
        least, N = solutions(force_map * scale, force, None, rows)
        if N.shape[1] == 0:
            return least * scale
        size = max(float(np.abs(least).max()), 1e-300)  # the solver's tolerances are absolute
        one = np.ones((len(least), 1))
        cost = np.append(np.zeros(N.shape[1]), 1.0)
        sides = np.block([[N, -one], [-N, -one]])
        bounds = [(None, None)] * N.shape[1] + [(0, None)]
        result = linprog(cost, A_ub=sides, b_ub=np.concatenate([-least, least]) / size, bounds=bounds, method="highs")
        if result.status != 0:
            raise ControlError(f"MinMax: the linear programme did not end ({result.message}). Use LeastSquares.")
        ratios = least + size * (N @ result.x[:-1])
        return _of_least_squares(ratios, least, N) * scale

    def solver(self, limits: Array, rows: Sequence[str]) -> Share:
        """A programme that remembers which bounds held."""

        def from_nothing(force_map: Array, force: Array) -> Array:
            return self.allocate(force_map, force, limits, rows)

        if len(limits) <= len(rows):
            return from_nothing
        programme = _Programme(limits, len(rows))
        last: dict[str, Any] = {}

        def from_last(force_map: Array, force: Array) -> Array:
            ratios = programme.solve(force_map, force, last)
            if ratios is None:
                return from_nothing(force_map, force)
            return (
                _of_least_squares(ratios, *solutions(force_map * programme.scale, force, None, rows)) * programme.scale
            )

        return from_last

    def check(self, limits: Array) -> None:
        """All motors have limits, or none."""
        limit_scale(limits)

    def unit_remedy(self, limits: Array) -> str:
        """Ratios to limits have no unit."""
        return "" if np.isfinite(limits).all() else "Give every motor a limit"


def limit_scale(limits: ArrayLike) -> Array:
    """The limits where every motor has one, ones where none has."""
    sizes = np.asarray(limits, dtype=float)
    bounded = np.isfinite(sizes)
    if bounded.all():
        return sizes
    if bounded.any():
        count = int((~bounded).sum())
        raise ControlError(
            f"MinMax: {count} of {len(sizes)} motors {'has' if count == 1 else 'have'} no limit. Give every Actuator a "
            "limit, or none."
        )
    return np.ones_like(sizes)


def _of_least_squares(ratios: Array, least: Array, null: Array) -> Array:
    """The ratios of least squares among those with no larger peak than these; least is that of all."""
    peak = np.full(len(ratios), np.abs(ratios).max())
    if is_within(least, -peak, peak):
        return least
    shortest = shortest_within(least, null, -peak, peak)
    return ratios if shortest is None else shortest


def flattest(least: ca.SX, null: ca.SX) -> ca.SX:
    """Minimise the largest |y_i + α n_i| over α: the least of a convex function with corners.

    It has its least value where two of them are equal, or one is zero: all of these are tried. Of an interval of α with
    this value the end nearest to zero is taken, or zero itself.
    """
    m, y, n = least.shape[0], least, null
    pairs = [(y[i] - sign * y[j], n[i] - sign * n[j]) for i in range(m) for j in range(i) for sign in (1, -1)]
    pairs += [(y[i], n[i]) for i in range(m)]
    alpha, peak, scale = ca.SX(0), largest(y), largest(n)
    for numerator, denominator in pairs:
        is_met = ca.gt(ca.fabs(denominator), tolerances.NULL_ENTRY * scale)
        trial = ca.if_else(is_met, -numerator / ca.if_else(is_met, denominator, 1), 0)
        value = largest(y + trial * n)
        is_less = ca.lt(value, peak)
        alpha, peak = ca.if_else(is_less, trial, alpha), ca.if_else(is_less, value, peak)
    low, high = ca.SX(-ca.inf), ca.SX(ca.inf)
    for i in range(m):
        acts = ca.gt(ca.fabs(n[i]), tolerances.NULL_ENTRY * scale)
        middle, half = -y[i] / ca.if_else(acts, n[i], 1), peak / ca.if_else(acts, ca.fabs(n[i]), 1)
        low = ca.fmax(low, ca.if_else(acts, middle - half, -ca.inf))
        high = ca.fmin(high, ca.if_else(acts, middle + half, ca.inf))
    nearest = ca.fmin(ca.fmax(0, low), high)
    return y + ca.if_else(ca.gt(high, low), nearest, alpha) * n


class _Programme:
    """The programme over (τ/limit, ρ), in parts of the largest effort that least squares would take."""

    def __init__(self, limits: Array, rows: int) -> None:
        self.scale, m = limit_scale(limits), len(limits)
        one = np.ones((m, 1))
        self.sides = np.block([[np.eye(m), -one], [-np.eye(m), -one]])
        self.cost = np.append(np.zeros(m), 1.0)
        self.open = np.full(2 * m, -np.inf)
        shapes = {"h": ca.Sparsity(m + 1, m + 1), "a": ca.Sparsity.dense(rows + 2 * m, m + 1)}
        self.conic = ca.conic("share", "qrqp", shapes, QUIET)

    def solve(self, force_map: Array, force: Array, last: dict[str, Any]) -> Array | None:
        """τ/limit, or None where the solver's answer does not hold to rounding."""
        length = np.linalg.norm(force_map * self.scale, axis=1)
        W, F = force_map * self.scale / length[:, None], force / length
        size = max(float(np.abs(F).max(initial=0.0)), 1e-300)
        A = np.vstack([np.hstack([W, np.zeros((len(F), 1))]), self.sides])
        low, high = np.concatenate([F / size, self.open]), np.concatenate([F / size, np.zeros(len(self.open))])
        x = self._answer({"g": self.cost, "a": A, "lba": low, "uba": high}, last)
        if x is None or np.abs(W @ x[:-1] - F / size).max(initial=0.0) > tolerances.PROGRAMME_HELD:
            return None
        is_least = np.abs(x[:-1]).max() <= x[-1] * (1 + tolerances.PROGRAMME_HELD) + tolerances.PROGRAMME_HELD
        return x[:-1] * size if is_least else None

    def _answer(self, problem: dict[str, Any], last: dict[str, Any]) -> Array | None:
        """The solver's x, remembered for the next time; None, and nothing remembered, where it finds none."""
        result = self.conic(**problem, **last)
        x = np.array(result["x"]).ravel()
        if not self.conic.stats()["success"] or not np.isfinite(x).all():
            last.clear()
            return None
        last.update(x0=result["x"], lam_x0=result["lam_x"], lam_a0=result["lam_a"])
        return x
