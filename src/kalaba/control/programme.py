"""MinMax by a programme that starts from its last answer, for laws that share out efforts at every sample.

::

    min ρ        S u = r,   −ρ limit ≤ u ≤ ρ limit

CasADi's active-set solver qrqp begins with the bounds that held at the last sample, and mostly they still do: some five
times faster than from nothing. Its answer is taken if it holds to rounding; else the allocation's own way decides. The
other allocations are fast from nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kalaba.control.allocation import Allocation, MinMax, limit_scale

Array = NDArray[np.float64]
Share = Callable[[Array, Array], Array]
HELD = 1e-10  # of the largest effort: bounds, and of the longest row: S u = r
QUIET = {"print_iter": False, "print_header": False, "print_info": False, "error_on_fail": False, "print_time": False}


def sharing(allocation: Allocation, limits: Array, rows: Sequence[str]) -> Share:
    """A function of S and r that gives the efforts and remembers which bounds held."""
    motors, goals = len(limits), len(rows)

    def from_nothing(S: Array, r: Array) -> Array:  # noqa: N803
        return allocation.allocate(S, r, limits, rows)

    if motors <= goals or not isinstance(allocation, MinMax):
        return from_nothing
    programme = _MinMax(limits, goals)
    last: dict[str, Any] = {}

    def from_last(S: Array, r: Array) -> Array:  # noqa: N803
        found = programme.solve(S, r, last)
        return from_nothing(S, r) if found is None else found

    return from_last


class _MinMax:
    """Over (u/limit, ρ), in parts of the largest effort that least squares would take."""

    def __init__(self, limits: Array, goals: int) -> None:
        self.scale, m = limit_scale(limits), len(limits)
        one = np.ones((m, 1))
        self.sides = np.block([[np.eye(m), -one], [-np.eye(m), -one]])
        self.cost = np.append(np.zeros(m), 1.0)
        self.open = np.full(2 * m, -np.inf)
        shapes = {"h": ca.Sparsity(m + 1, m + 1), "a": ca.Sparsity.dense(goals + 2 * m, m + 1)}
        self.solver = ca.conic("share", "qrqp", shapes, QUIET)

    def solve(self, S: Array, r: Array, last: dict[str, Any]) -> Array | None:  # noqa: N803
        length = np.linalg.norm(S * self.scale, axis=1)
        W, F = S * self.scale / length[:, None], r / length
        size = max(float(np.abs(F).max(initial=0.0)), 1e-300)
        A = np.vstack([np.hstack([W, np.zeros((len(F), 1))]), self.sides])
        low, high = np.concatenate([F / size, self.open]), np.concatenate([F / size, np.zeros(len(self.open))])
        x = _answer(self.solver, {"g": self.cost, "a": A, "lba": low, "uba": high}, last)
        if x is None or np.abs(W @ x[:-1] - F / size).max(initial=0.0) > HELD:
            return None
        is_least = np.abs(x[:-1]).max() <= x[-1] * (1 + HELD) + HELD
        return x[:-1] * size * self.scale if is_least else None


def _answer(solver: ca.Function, given: dict[str, Any], last: dict[str, Any]) -> Array | None:
    """The solver's x, kept for the next time; None, and nothing kept, where it finds none."""
    found = solver(**given, **last)
    x = np.array(found["x"]).ravel()
    if not solver.stats()["success"] or not np.isfinite(x).all():
        last.clear()
        return None
    last.update(x0=found["x"], lam_x0=found["lam_x"], lam_a0=found["lam_a"])
    return x
