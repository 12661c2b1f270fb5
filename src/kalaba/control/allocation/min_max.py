"""MinMax: the least largest |τ_i| / limit_i.

::

    min ρ        W τ = F,   −ρ limit ≤ τ ≤ ρ limit

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
from kalaba.control.allocation.rule import Allocation, Share
from kalaba.control.allocation.solutions import largest, least_squares, null_direction, solutions
from kalaba.errors import ControlError
from kalaba.space.arrays import Array

QUIET = {"print_iter": False, "print_header": False, "print_info": False, "error_on_fail": False, "print_time": False}


@dataclass(frozen=True, slots=True)
class MinMax(Allocation):
    """The least largest |τ_i| / limit_i, by a linear programme; without limits the least largest |τ_i|.

    Motors that are not at the largest ratio may have any torque below it: of those the programme's own is taken.
    """

    @property
    def closed_form_spare(self) -> float:
        """One: along one null direction the corners of the largest ratio can be listed."""
        return 1

    def expression(self, force_map: ca.SX, force: ca.SX, limits: Array) -> ca.SX:
        """The least of the corners; least squares where no motor is spare."""
        least = least_squares(force_map, force)
        if force_map.shape[0] == force_map.shape[1]:
            return least
        return flattest(least, null_direction(force_map), limit_scale(limits))

    def label(self, size: tuple[int, int], limits: Array) -> str:  # noqa: ARG002
        """Its numbers say all, as every change of kalaba's own code is compiled anew."""
        return f"{self!r} {limits.tolist()}"

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """Minimise ρ over z and ρ with −ρ limit ≤ τ₀ + N z ≤ ρ limit."""
        from scipy.optimize import linprog

        scale = limit_scale(limits)
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
        return np.asarray((least + size * (N @ result.x[:-1])) * scale)

    def solver(self, limits: Array, rows: Sequence[str]) -> Share:
        """A programme that remembers which bounds held."""

        def from_nothing(force_map: Array, force: Array) -> Array:
            return self.allocate(force_map, force, limits, rows)

        if len(limits) <= len(rows):
            return from_nothing
        programme = _Programme(limits, len(rows))
        last: dict[str, Any] = {}

        def from_last(force_map: Array, force: Array) -> Array:
            torques = programme.solve(force_map, force, last)
            return from_nothing(force_map, force) if torques is None else torques

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
            f"MinMax: {count} of {len(sizes)} motors have no limit. Give every Actuator a limit, or none."
        )
    return np.ones_like(sizes)


def flattest(particular: ca.SX, null: ca.SX, limits: Array) -> ca.SX:
    """Minimise the largest |u_i + α n_i| / limit_i over α: the least of a convex function with corners.

    It has its least value where two of the ratios are equal, or one is zero: all of these are tried.
    """
    m = particular.shape[0]
    u, n = particular / ca.DM(limits), null / ca.DM(limits)
    pairs = [(u[i] - sign * u[j], n[i] - sign * n[j]) for i in range(m) for j in range(i) for sign in (1, -1)]
    pairs += [(u[i], n[i]) for i in range(m)]
    alpha, least = ca.SX(0), largest(u)
    for numerator, denominator in pairs:
        is_met = ca.gt(ca.fabs(denominator), tolerances.NULL_ENTRY * ca.fabs(n[0]) + 1e-300)
        trial = -numerator / ca.if_else(is_met, denominator, 1)
        trial = ca.if_else(is_met, trial, 0)
        peak = largest(u + trial * n)
        is_less = ca.lt(peak, least)
        alpha, least = ca.if_else(is_less, trial, alpha), ca.if_else(is_less, peak, least)
    return particular + alpha * null


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
        """τ, or None where the solver's answer does not hold to rounding."""
        length = np.linalg.norm(force_map * self.scale, axis=1)
        W, F = force_map * self.scale / length[:, None], force / length
        size = max(float(np.abs(F).max(initial=0.0)), 1e-300)
        A = np.vstack([np.hstack([W, np.zeros((len(F), 1))]), self.sides])
        low, high = np.concatenate([F / size, self.open]), np.concatenate([F / size, np.zeros(len(self.open))])
        x = self._answer({"g": self.cost, "a": A, "lba": low, "uba": high}, last)
        if x is None or np.abs(W @ x[:-1] - F / size).max(initial=0.0) > tolerances.PROGRAMME_HELD:
            return None
        is_least = np.abs(x[:-1]).max() <= x[-1] * (1 + tolerances.PROGRAMME_HELD) + tolerances.PROGRAMME_HELD
        return x[:-1] * size * self.scale if is_least else None

    def _answer(self, problem: dict[str, Any], last: dict[str, Any]) -> Array | None:
        """The solver's x, remembered for the next time; None, and nothing remembered, where it finds none."""
        result = self.conic(**problem, **last)
        x = np.array(result["x"]).ravel()
        if not self.conic.stats()["success"] or not np.isfinite(x).all():
            last.clear()
            return None
        last.update(x0=result["x"], lam_x0=result["lam_x"], lam_a0=result["lam_a"])
        return x
