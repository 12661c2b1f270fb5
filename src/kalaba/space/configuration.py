"""The configuration manifold: numbers that add, and unit quaternions that turn.

A configuration q has one number for each scalar coordinate and four for each attitude, a unit quaternion
e = (w, x, y, z); a velocity v has one number and three. They are joined by q̇ = N(q) v, which for a quaternion is
ė = ½ E(e) ω with ω in the axes of the body that turns.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from kalaba.space.arrays import Array
from kalaba.space.rotations import conjugate, multiply, turn

Places = tuple[tuple[int, int], ...]  # (first entry in q, first entry in v)


class Manifold(Protocol):
    """Where the numbers of a configuration stand: a Machine has this."""

    @property
    def scalar_pairs(self) -> Places:
        """Coordinates that are plain numbers: index in q, index in v."""

    @property
    def quaternions(self) -> Places:
        """Attitudes: first of four entries in q, first of three in v."""


def q_dot(manifold: Manifold, q: Array, v: Array) -> Array:
    """q̇ = N(q) v."""
    rate = np.zeros(len(q))
    for i, j in manifold.scalar_pairs:
        rate[i] = v[j]
    for i, j in manifold.quaternions:
        w, x, y, z = q[i : i + 4]
        E = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
        rate[i : i + 4] = E @ v[j : j + 3] / 2
    return rate


def unit(manifold: Manifold, q: Array) -> Array:
    """A copy of q whose quaternions have length 1."""
    q = q.copy()
    for i, _ in manifold.quaternions:
        q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
    return q


def displaced(manifold: Manifold, q: Array, step: Array) -> Array:
    """Take a Newton step: q + N(q) Δ, quaternions made unit; right to first order in Δ."""
    return unit(manifold, q + q_dot(manifold, q, step))


def retract(manifold: Manifold, q: Array, step: Array) -> Array:
    """Move along a step of any length: numbers add, quaternions turn by the rotation vector, e ⊗ exp(Δ/2)."""
    moved = q.copy()
    for i, j in manifold.scalar_pairs:
        moved[i] += step[j]
    for i, j in manifold.quaternions:
        moved[i : i + 4] = multiply(q[i : i + 4], turn(step[j : j + 3]))
        moved[i : i + 4] /= np.linalg.norm(moved[i : i + 4])
    return moved


def difference(manifold: Manifold, q: Array, origin: Array, size: int) -> Array:
    """The step (of `size` numbers) from one configuration to another; twice the vector part for quaternions.

    It is the step of `retract` to second order, and grows with the angle up to half a turn.
    """
    step = np.zeros(size)
    for i, j in manifold.scalar_pairs:
        step[j] = q[i] - origin[i]
    for i, j in manifold.quaternions:
        relative = multiply(conjugate(origin[i : i + 4]), q[i : i + 4])
        step[j : j + 3] = 2 * relative[1:] * (1.0 if relative[0] >= 0 else -1.0)
    return step
