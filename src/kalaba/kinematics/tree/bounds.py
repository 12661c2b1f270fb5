"""Small least-squares problems, with bounds: the steps of a search."""

from __future__ import annotations

import numpy as np

from kalaba import tolerances
from kalaba.space.arrays import Array


def damped_step(matrix: Array, rhs: Array, damping: float) -> Array:
    """The Δ with the least |A Δ − rhs|² + μ |Δ|² = Σ over singular values of σ/(σ² + μ) (uᵀ rhs) v."""
    U, sigma, Vt = np.linalg.svd(matrix, full_matrices=False)
    mu = max(damping, tolerances.FLAT_DIRECTION * sigma.max(initial=0.0) ** 2, 1e-300)
    return np.asarray(Vt.T @ (sigma / (sigma**2 + mu) * (U.T @ rhs)))


def bounded_step(matrix: Array, rhs: Array, damping: float, rows: tuple[Array, Array, Array]) -> Array:
    """The damped step that keeps low ≤ G Δ ≤ high, `rows` = (G, low, high).

    With H = AᵀA + μ = L Lᵀ and y = Lᵀ Δ the problem is to find the y nearest to the free one within G L⁻ᵀ y.
    """
    step = damped_step(matrix, rhs, damping)
    G, low, high = rows
    if not G.size or _is_within(G @ step, low, high):
        return step
    H = matrix.T @ matrix
    H += max(damping, tolerances.FIRM_FACTOR * float(np.trace(H)), 1e-300) * np.eye(len(H))
    lower = np.linalg.cholesky(H)
    y = nearest_within(np.linalg.solve(lower, matrix.T @ rhs), np.linalg.solve(lower, G.T).T, low, high)
    return np.asarray(np.linalg.solve(lower.T, y))


def nearest_within(centre: Array, matrix: Array, low: Array, high: Array) -> Array:
    """The y nearest to a centre with low ≤ G y ≤ high; the centre itself where there is none.

    In the step x from the centre this is the problem of `least_distance`, and x = −r/r_last.
    """
    at = matrix @ centre
    if _is_within(at, low, high):
        return centre
    G, g = one_sided(matrix, low - at, high - at)
    scale = max(float(np.abs(g).max()), 1e-300)
    _, r = least_distance(G, g / scale)
    return centre if abs(r[-1]) < tolerances.NO_ROOM else np.asarray(centre - scale * r[:-1] / r[-1])


def one_sided(matrix: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """C and d with C x ≥ d for low ≤ G x ≤ high; bounds that are infinite are left out."""
    C, d = np.vstack([matrix, -matrix]), np.concatenate([low, -high])
    return C[np.isfinite(d)], d[np.isfinite(d)]


def least_distance(matrix: Array, bounds: Array) -> tuple[Array, Array]:
    """The dual of the shortest x with C x ≥ d: u ≥ 0 that minimises |E u − e|, and its residual r.

    E = [Cᵀ; dᵀ], e the last unit vector. x = −r/r_last, and r = 0 if there is no x; rows with u > 0 hold as equalities.

    Reference: Lawson and Hanson (1974), Solving Least Squares Problems, ch. 23.
    """
    from scipy.optimize import nnls

    E = np.vstack([matrix.T, bounds])
    e = np.zeros(len(E))
    e[-1] = 1.0
    u, _ = nnls(E, e)
    return u, E @ u - e


def null_space(matrix: Array, tolerance: float) -> Array:
    """(n, k): orthonormal directions in which a matrix gives less than a part of its largest gain."""
    _, sigma, Vt = np.linalg.svd(matrix)
    rank = int(np.sum(sigma > tolerance * sigma.max(initial=0.0)))
    return np.asarray(Vt[rank:].T)


def _is_within(values: Array, low: Array, high: Array) -> bool:
    return bool(np.all(values >= low) and np.all(values <= high))
