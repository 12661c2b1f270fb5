"""Lines in space that things turn about: the axes of a chain of hinges at its configuration zero.

A point or a rotation carried by the chain is a product of turns about these fixed lines (product of exponentials).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Axes:
    """Unit directions and points of lines, from the ground outwards."""

    directions: Array  # (k, 3)
    points: Array  # (k, 3)

    def __getitem__(self, part: slice) -> Axes:
        """Some of the lines."""
        return Axes(self.directions[part], self.points[part])

    def carry(self, angles: Array, point: Array) -> tuple[Array, Array]:
        """Where the hinges carry a point, and the (3, k) matrix of its velocity by their rates."""
        columns = np.zeros((3, len(angles)))
        for k in reversed(range(len(angles))):
            R = turned(self.directions[k], angles[k])
            point = self.points[k] + R @ (point - self.points[k])
            columns[:, k + 1 :] = R @ columns[:, k + 1 :]
            columns[:, k] = skew(self.directions[k]) @ (point - self.points[k])
        return point, columns

    def rotation(self, angles: Array) -> Array:
        """The product of the turns."""
        R = np.eye(3)
        for direction, angle in zip(self.directions, angles, strict=True):
            R = R @ turned(direction, angle)
        return R

    def common_point(self) -> tuple[Array, float]:
        """The point nearest to all lines, and its largest distance from one; lines that are all parallel have none."""
        across = [np.eye(3) - np.outer(u, u) for u in self.directions]
        A, b = sum(across), sum(P @ o for P, o in zip(across, self.points, strict=True))
        if np.linalg.cond(A) > 1e12:
            return self.points[0], math.inf
        point = np.linalg.solve(A, b)
        gaps = [float(np.linalg.norm(P @ (point - o))) for P, o in zip(across, self.points, strict=True)]
        return point, max(gaps)


def skew(vector: Array) -> Array:
    """[a] with [a] b = a × b."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def turned(direction: Array, angle: float) -> Array:
    """Rotation about a unit direction: c 1 + s [u] + (1 − c) u uᵀ."""
    c = math.cos(angle)
    return np.asarray(c * np.eye(3) + math.sin(angle) * skew(direction) + (1 - c) * np.outer(direction, direction))


def angle_about(direction: Array, before: Array, after: Array) -> float:
    """The angle about a direction that turns one vector towards another; 0 where either lies along it."""
    sine, cosine = direction @ (skew(before) @ after), before @ after - (direction @ before) * (direction @ after)
    return math.atan2(sine, cosine)
