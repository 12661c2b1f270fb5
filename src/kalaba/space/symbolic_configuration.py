"""The configuration manifold as CasADi expressions: the symbolic twin of `configuration`, function by function."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

if TYPE_CHECKING:
    from kalaba.space.configuration import Manifold, Places


def rate_map(manifold: Manifold, q: ca.SX, size: int) -> ca.SX:
    """N(q) of `size` columns, q̇ = N v: ones for scalar coordinates; for a quaternion ė = ½ E(e) ω, ω in child axes."""
    N = ca.SX(q.shape[0], size)
    for row, column in manifold.scalar_pairs:
        N[row, column] = 1
    for row, column in manifold.quaternions:
        w, x, y, z = (q[row + i] for i in range(4))
        E = ((-x, -y, -z), (w, -z, y), (z, w, -x), (-y, x, w))
        for i, entries in enumerate(E):
            for j, entry in enumerate(entries):
                N[row + i, column + j] = entry / 2
    return N


def unit(quaternions: Places, q: ca.SX) -> ca.SX:
    """A copy of q whose quaternions have length 1."""
    q = ca.SX(q)
    for first, _ in quaternions:
        part = slice(first, first + 4)
        q[part] = q[part] / ca.sqrt(ca.sumsqr(q[part]))
    return q


def retract(quaternions: Places, q: ca.SX, step: ca.SX, N: ca.SX) -> ca.SX:  # q̇ = N v
    """Move q along a step Δ, N being the rate map at q.

    For a quaternion and the rotation vector Δ of length δ, e ⊗ exp(Δ/2) = unit(e + k ½ E(e) Δ) with
    k = tan(δ/2)/(δ/2) = 1 + δ²/12 + δ⁴/120 + …, of which three terms are taken: no division, and the error is of
    order δ⁷.
    """
    step = ca.SX(step)
    for _, first in quaternions:
        part = slice(first, first + 3)
        square = ca.sumsqr(step[part])
        step[part] = step[part] * (1 + square * (1 / 12 + square / 120))
    return unit(quaternions, q + ca.mtimes(N, step))
