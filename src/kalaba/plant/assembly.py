"""Assembly: from a near start, the least change (in the mass metric) that closes every loop.

Newton steps Δ = −M⁻¹Aᵀ G⁺ φ close the loops; then steps that keep them closed while they shorten the whole way
from the guess make the change the least one. Polynomial rows have false roots (a hinge flipped by half a turn): they
are caught afterwards, and assembly starts again from another place.

All of it works in the problem's own sizes: gaps, displacements and steps are parts of them, without units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from kalaba.constrain.rows import Sizes
from kalaba.space.arrays import Array
from kalaba.tolerances import (
    ASSEMBLY_ARRIVED,
    ASSEMBLY_CLOSED,
    ASSEMBLY_EXACT,
    ASSEMBLY_MASSLESS,
    ASSEMBLY_RANK,
    ASSEMBLY_UNMOVED,
    ASSEMBLY_UNTURNED,
    ROW_VANISHED,
    STEP_SLOW,
)

NEWTON_STEPS = 60
TRIES = 40
LEAST_STEPS = 150
DAMPING = 0.6  # largest step of a coordinate in one iteration, of its size
SLOW_STEPS = 3  # so many slow steps in a row lead nowhere
FILL = 1e-4  # the part of the others' inertia that a massless direction is given in the metric


class Closable(Protocol):
    """What assembly needs to know of a machine."""

    @property
    def sizes(self) -> Sizes:
        """Of the rows to be met, and of displacements along each velocity."""

    def size(self, q: Array) -> float:
        """How large q is in the machine's sizes, at least 1: what its rounding is a part of."""

    def evaluate(self, q: Array) -> tuple[Array, Array, Array]:
        """Residual φ(q) of all rows to be met, their matrix A(q), and the metric M(q)."""

    def retract(self, q: Array, step: Array) -> Array:
        """Move q along a velocity-like step."""

    def difference(self, q: Array, origin: Array) -> Array:
        """The step that leads from `origin` to q."""

    def flipped(self, q: Array) -> bool:
        """Tell whether a closed configuration is a false root."""


@dataclass(frozen=True)
class _Measured:
    """A problem in its own sizes."""

    problem: Closable
    sizes: Sizes

    @classmethod
    def of(cls, problem: Closable) -> _Measured:
        return cls(problem, problem.sizes)

    def evaluate(self, q: Array) -> tuple[Array, Array, Array]:
        residual, A, M = self.problem.evaluate(q)
        return residual / self.sizes.rows, self.sizes.of_rows(A), self.sizes.of_metric(M)

    def retract(self, q: Array, step: Array) -> Array:
        return self.problem.retract(q, step * self.sizes.velocities)

    def difference(self, q: Array, origin: Array) -> Array:
        return np.asarray(self.problem.difference(q, origin) / self.sizes.velocities)

    def with_units(self, assembled: Assembled) -> Assembled:
        return replace(assembled, residual=assembled.residual * self.sizes.rows)


@dataclass(frozen=True)
class Assembled:
    """The outcome: a configuration, its residual by row (m, rad), and whether all is well."""

    q: Array
    residual: Array
    is_closed: bool


def assemble(problem: Closable, guess: Array, movable: Array, tries: int = TRIES) -> Assembled:
    """Close all rows from a guess; other starting points are tried when that fails or ends in a false root.

    `movable` scales the random changes of the further tries: 0 for what must not be changed.
    """
    measured = _Measured.of(problem)
    rng = np.random.default_rng(1)
    best: Assembled | None = None
    for attempt in range(tries):
        spread = 0.0 if attempt == 0 else 0.1 * 1.15**attempt
        start = measured.retract(guess, movable * rng.normal(size=len(movable)) * spread)
        closed = _close(measured, start)
        if closed.is_closed and not problem.flipped(closed.q):
            if attempt == 0 and np.max(np.abs(measured.difference(closed.q, guess)), initial=0.0) < ASSEMBLY_UNMOVED:
                return measured.with_units(closed)  # closed as guessed: no change is less than none
            nearest = _least_change(measured, closed.q, guess)
            return measured.with_units(closed if problem.flipped(nearest.q) else nearest)
        closed = replace(closed, is_closed=False)
        if best is None or np.max(np.abs(closed.residual)) < np.max(np.abs(best.residual)):
            best = closed
    assert best is not None  # noqa: S101  (tries > 0)
    return measured.with_units(best)


def close(problem: Closable, q: Array) -> Assembled:
    """Newton's method with the smallest steps in the mass metric, shortened where they do not help."""
    measured = _Measured.of(problem)
    return measured.with_units(_close(measured, q))


def _close(problem: _Measured, q: Array) -> Assembled:
    residual, A, M = problem.evaluate(q)
    slow = 0
    for _ in range(NEWTON_STEPS):
        size = np.max(np.abs(residual), initial=0.0)
        if not np.isfinite(size) or size < ASSEMBLY_EXACT:
            break
        step = weighted_step(A, M, -residual)
        capped = min(1.0, DAMPING / max(np.max(np.abs(step), initial=0.0), 1e-300))
        trial = problem.retract(q, capped * step)
        at_trial = problem.evaluate(trial)
        for halvings in range(1, 9):
            if size < ASSEMBLY_CLOSED or np.linalg.norm(at_trial[0]) < np.linalg.norm(residual):
                break
            trial = problem.retract(q, capped * step / 2**halvings)
            at_trial = problem.evaluate(trial)
        gain = np.linalg.norm(at_trial[0]) / max(float(np.linalg.norm(residual)), 1e-300)
        if not gain < 1.0:  # nothing is left to gain, or nothing helps
            break
        slow = slow + 1 if gain > STEP_SLOW and capped == 1.0 else 0
        if slow > SLOW_STEPS:
            break
        q, (residual, A, M) = trial, at_trial
    size = np.max(np.abs(residual), initial=0.0)
    return Assembled(q, residual, is_closed=bool(size < 10 * ASSEMBLY_CLOSED * problem.problem.size(q)))


def least_change(problem: Closable, q: Array, guess: Array) -> Assembled:
    """Shorten the way from the guess: min ½ |q − guess|²_M on the closed manifold, by sequential projections."""
    measured = _Measured.of(problem)
    return measured.with_units(_least_change(measured, q, guess))


def _least_change(problem: _Measured, q: Array, guess: Array) -> Assembled:
    _, _, metric = problem.evaluate(guess)
    first = _close(problem, q)
    damping, previous = 1.0, np.inf
    for _ in range(LEAST_STEPS):
        residual, A, _ = problem.evaluate(q)
        way = problem.difference(q, guess)
        back = weighted_step(A, metric, A @ way) - way  # towards the guess, along the rows
        size = np.max(np.abs(back), initial=0.0)
        damping = max(damping / 2, 1 / 32) if size > 0.9 * previous else damping  # a sharp bend throws it about
        step = min(damping, DAMPING / max(size, 1e-300)) * back + weighted_step(A, metric, -residual)
        q = problem.retract(q, step * min(1.0, 2 * DAMPING / max(np.max(np.abs(step), initial=0.0), 1e-300)))
        if np.max(np.abs(step), initial=0.0) < ASSEMBLY_ARRIVED:
            break
        previous = size
    last = _close(problem, q)
    ways = [problem.difference(end.q, guess) for end in (first, last)]
    changes = [way @ metric @ way for way in ways]
    return last if last.is_closed and changes[1] <= changes[0] else first


def without_turns(problem: Closable, closed: Assembled, turns: Array) -> Assembled:
    """Take back a step of whole turns of angles, where that leaves all rows closed: angles near to their guess."""
    if not closed.is_closed or not turns.any():
        return closed
    measured = _Measured.of(problem)
    for some in (turns, *np.diag(turns)[turns != 0.0]):  # all at once; else those that no row counts
        unturned = close(problem, problem.retract(closed.q, -some))
        moved = np.max(np.abs(measured.difference(unturned.q, closed.q) + some))
        if unturned.is_closed and moved < ASSEMBLY_UNTURNED:
            closed = unturned
            if some is turns:
                break
    return closed


def weighted_step(matrix: Array, metric: Array, rhs: Array, sizes: Sizes | None = None) -> Array:
    """The solution of A x = rhs (in the least-squares sense) with the least xᵀ M x; sizes make units alike."""
    if not len(rhs):
        return np.zeros(metric.shape[0])
    if sizes is not None:
        step = weighted_step(sizes.of_rows(matrix), sizes.of_metric(metric), rhs / sizes.rows)
        return np.asarray(step * sizes.velocities)
    lower = _cholesky(metric)
    B = np.linalg.solve(lower, matrix.T).T  # A L⁻ᵀ
    norms = np.linalg.norm(B, axis=1)
    scale = np.where(norms > ROW_VANISHED * norms.max(initial=0.0), norms, max(norms.max(initial=0.0), 1e-300))
    y = np.linalg.lstsq(B / scale[:, None], rhs / scale, rcond=ASSEMBLY_RANK)[0]
    return np.asarray(np.linalg.solve(lower.T, y))


def _cholesky(metric: Array) -> Array:
    """L with L Lᵀ = M; a metric without full rank is filled up, which changes only how the change is measured."""
    sizes = np.sqrt(np.maximum(np.diag(metric), 0.0))
    if not sizes.any():
        return np.eye(len(metric))
    scale = np.where(sizes > ASSEMBLY_MASSLESS * sizes.max(initial=0.0), sizes, max(float(sizes.mean()), 1e-300))
    unit = metric / np.outer(scale, scale)
    if np.linalg.eigvalsh(unit)[0] < ASSEMBLY_MASSLESS:
        unit = unit + FILL * np.eye(len(unit))
    return np.asarray(scale[:, None] * np.linalg.cholesky(unit), dtype=float)
