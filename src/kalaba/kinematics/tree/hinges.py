"""Hinges as lines in space: the axes of a chain at its configuration zero, and the angles that solve for them.

A point or a rotation carried by the chain is a product of turns about these fixed lines (product of exponentials).

Three hinges that carry a point to a place, all solutions (`carry_to`): let u₁, u₂ be the first two axes, o₁, o₂ the
feet of their common normal d = o₂ − o₁ = a e₁, and p(θ₃) the point after the third hinge, relative to o₂. The turn θ₁
keeps the distance from o₁ and the height along u₁ of the place c. With e₂ = e₁ × u₂, u₁ = (u₁·u₂) u₂ + s e₂, X = p·e₁,
Y = p·e₂::

    a (X cos θ₂ + Y sin θ₂) = R        R = (|c − o₁|² − a² − |p|²)/2
    s (Y cos θ₂ − X sin θ₂) = Z        Z = u₁·(c − o₁) − (u₁·u₂)(u₂·p)

R, Z, X and Y are linear in cos θ₃ and sin θ₃. Without θ₂, (s R)² + (a Z)² = (a s)² (X² + Y²), a quartic in tan(θ₃/2).
Where the axes meet, a = 0, only R = 0 is left of it, as a double root; where they are parallel, s = 0, only Z = 0:
there these are solved themselves. What comes out are seeds: Newton's method on the point itself decides.

Reference: Pieper (1968), The Kinematics of Manipulators Under Computer Control, Stanford University.

Three hinges whose axes meet in a point, the turns that give a rotation (`turns_of`): with the unit axes a, b, c of the
chain at zero, R = R(a, α) R(b, β) R(c, γ)::

    a·R c = a·R(b, β) c                      linear in cos β and sin β: two β
    R(a, α) R(b, β) c = R c                  α
    R(c, γ) = R(b, β)ᵀ R(a, α)ᵀ R            γ

The axes need not be at right angles; then some rotations cannot be reached. Where R c lies along a, only α ± γ counts
and α is left at zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalaba import tolerances
from kalaba.kinematics.tree.bounds import damped_step
from kalaba.space.arrays import Array

Series = NDArray[np.complex128]  # f(θ) = Σ F_k e^{ikθ}, as (F_n, ..., F_−n)
STEPS = 40  # of Newton's method on a point at the most


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
        if np.linalg.cond(A) > 1 / tolerances.AXES_CROSS:
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


def linear(constant: float, cosine: float, sine: float) -> Series:
    """c₀ + c cos θ + s sin θ."""
    first = complex(cosine, -sine) / 2
    return np.array([first, constant, first.conjugate()])


def times(a: Series, b: Series) -> Series:
    """The product."""
    return np.convolve(a, b)


def zeros(series: Series, scale: float) -> list[float]:
    """Angles at or near which f is zero, as seeds: e^{iθ} are roots of a polynomial on the unit circle.

    In w = e^{iθ} no angle is at infinity, as π is in tan(θ/2). A series that vanishes altogether, beside the `scale`
    of its terms, has none to give.
    """
    size = float(np.abs(series).max())
    if size <= tolerances.VANISHED_SERIES * scale:
        return []
    series = series / size
    while len(series) > 1 and abs(series[0]) < tolerances.LEADING_TERM:
        series = series[1:-1]
    roots = np.roots(series)
    near = np.abs(np.abs(roots) - 1.0) < tolerances.OFF_CIRCLE
    return [float(angle) for angle in np.angle(roots[near])]


def angles_of(cosine: float, sine: float, value: float) -> list[float]:
    """The two θ with c cos θ + s sin θ = value; the nearest one twice where there is none, 0 where all will do."""
    size = math.hypot(cosine, sine)
    if size == 0.0:
        return [0.0]
    middle, half = math.atan2(sine, cosine), math.acos(min(1.0, max(-1.0, value / size)))
    return [middle - half, middle + half]


@dataclass(frozen=True)
class _Shoulder:
    """The first two axes: feet of their common normal, and its triad."""

    first: Array  # o₁
    second: Array  # o₂
    a: float
    s: float
    e1: Array
    e2: Array

    @classmethod
    def of(cls, axes: Axes, size: float) -> _Shoulder:
        """From two lines; the triad is completed where they meet, of the arm's size, or are parallel."""
        u1, u2 = axes.directions[:2]
        o1, o2 = _feet(axes)
        d, w = o2 - o1, u1 - (u1 @ u2) * u2
        a, s = float(np.linalg.norm(d)), float(np.linalg.norm(w))
        e1 = d / a if a > s * tolerances.AXES_CROSS * size else np.cross(u2, w / s)
        e1 -= (e1 @ u2) * u2
        e1 /= np.linalg.norm(e1)
        e2 = np.cross(e1, u2)
        return cls(o1, o2, a, float(w @ e2), e1, e2)


def _feet(axes: Axes) -> tuple[Array, Array]:
    """Where the common normal of two lines stands on them; of parallel ones, the one through the second's point."""
    (u1, u2), (o1, o2) = axes.directions[:2], axes.points[:2]
    between, cosine = o2 - o1, float(u1 @ u2)
    square = float(np.cross(u1, u2) @ np.cross(u1, u2))
    if square < tolerances.DEGENERATE_SHOULDER**2:  # far feet would cost digits; the seeds may miss by this much
        return o1 + (between @ u1) * u1, o2
    along1 = (between @ u1 - cosine * (between @ u2)) / square
    along2 = (cosine * (between @ u1) - between @ u2) / square
    return o1 + along1 * u1, o2 + along2 * u2


def carry_to(axes: Axes, point: Array, place: Array) -> list[Array]:
    """All angles of three hinges that carry a point to a place; where an angle is free, it is left at one value."""
    size = max(float(np.abs(axes.points - point).max()), float(np.abs(axes.points - place).max()), 1e-300)
    solutions: list[Array] = []
    for seed in _seeds(axes, point, place, size):
        angles, missed = _polished(axes, point, place, seed)
        if missed < tolerances.POINT_REACHED * size and all(
            _angle_apart(angles, other) > tolerances.SAME_SOLUTION for other in solutions
        ):
            solutions.append(angles)
    return solutions


def _angle_apart(a: Array, b: Array) -> float:
    """The largest difference of angles, whole turns left out."""
    return float(np.abs(np.remainder(a - b + math.pi, 2 * math.pi) - math.pi).max())


def _seeds(axes: Axes, point: Array, place: Array, size: float) -> list[Array]:
    """Angles that come near: θ₃ from the quartic, θ₂ from either equation, θ₁ as the angle left over."""
    shoulder = _Shoulder.of(axes, size)
    (u1, u2, u3), o3 = axes.directions, axes.points[2]
    middle = o3 + (u3 @ (point - o3)) * u3
    parts = (middle, point - middle, np.cross(u3, point - middle))  # p = m + r cos θ₃ + (u₃ × r) sin θ₃
    seeds = []
    for third in _thirds(axes, shoulder, parts, place):
        p = parts[0] + math.cos(third) * parts[1] + math.sin(third) * parts[2] - shoulder.second
        for second in _seconds(axes, shoulder, p, place, size):
            g = shoulder.second + turned(u2, second) @ p
            first = angle_about(u1, g - shoulder.first, place - shoulder.first)
            angles = np.array([first, second, third])
            if np.linalg.norm(axes.carry(angles, point)[0] - place) < tolerances.SEED_MISS * size:
                seeds.append(angles)
    return seeds


def _series(parts: tuple[Array, Array, Array], along: Array, origin: Array) -> Series:
    """(p − origin)·along as a series in θ₃."""
    return linear(float((parts[0] - origin) @ along), float(parts[1] @ along), float(parts[2] @ along))


def _thirds(axes: Axes, shoulder: _Shoulder, parts: tuple[Array, Array, Array], place: Array) -> list[float]:
    """Seeds of θ₃."""
    u1, u2 = axes.directions[:2]
    a, s, c = shoulder.a, shoulder.s, place - shoulder.first
    m = parts[0] - shoulder.second
    square = linear(float(m @ m + parts[1] @ parts[1]), float(2 * m @ parts[1]), float(2 * m @ parts[2]))  # |p|²
    R = (linear(float(c @ c) - a * a, 0.0, 0.0) - square) / 2
    Z = linear(float(u1 @ c), 0.0, 0.0) - (u1 @ u2) * _series(parts, u2, shoulder.second)
    X, Y = (_series(parts, e, shoulder.second) for e in (shoulder.e1, shoulder.e2))
    quartic = s * s * times(R, R) + a * a * times(Z, Z) - (a * s) ** 2 * (times(X, X) + times(Y, Y))
    size = float(np.abs(square).max())
    seeds = zeros(quartic, s * s * size * size + a * a * size)
    seeds += zeros(R, size) if a < tolerances.DEGENERATE_SHOULDER * math.sqrt(size) else []
    seeds += zeros(Z, math.sqrt(size)) if abs(s) < tolerances.DEGENERATE_SHOULDER else []
    return seeds


def _seconds(axes: Axes, shoulder: _Shoulder, p: Array, place: Array, size: float) -> list[float]:
    """Seeds of θ₂ at a point p relative to o₂."""
    u1, u2 = axes.directions[:2]
    a, s, c = shoulder.a, shoulder.s, place - shoulder.first
    X, Y = float(p @ shoulder.e1), float(p @ shoulder.e2)
    R, Z = float(c @ c - a * a - p @ p) / 2, float(u1 @ c - (u1 @ u2) * (u2 @ p))
    seeds = []
    if a > tolerances.DEGENERATE_SHOULDER * size and abs(s) > tolerances.DEGENERATE_SHOULDER:
        seeds.append(math.atan2(Y * R / a - X * Z / s, X * R / a + Y * Z / s))
    if a > tolerances.AXES_MEET * size:
        seeds += angles_of(X, Y, R / a)
    if abs(s) > tolerances.AXES_MEET:
        seeds += angles_of(Y, -X, Z / s)
    return seeds


def _polished(axes: Axes, point: Array, place: Array, angles: Array) -> tuple[Array, float]:
    """Newton's method on the place, damped by the gap so that double roots are found too; angles and what is missed."""
    there, J = axes.carry(angles, point)
    missed = float(np.linalg.norm(there - place))
    for _ in range(STEPS):
        trial = angles + damped_step(J, place - there, 1e-3 * missed**2)
        there_next, J_next = axes.carry(trial, point)
        ahead = float(np.linalg.norm(there_next - place))
        if not ahead < missed:
            break
        angles, there, J, missed = trial, there_next, J_next, ahead
    return angles, missed


def turns_of(directions: Array, rotation: Array) -> list[Array]:
    """The two triples of angles; seeds where the rotation is at the edge of what can be reached or beyond it."""
    a, b, c = directions
    goal = rotation @ c
    across = c - (b @ c) * b  # R(b, β) c = (b·c) b + cos β (c − (b·c) b) + sin β b × c
    middles = angles_of(float(a @ across), float(a @ np.cross(b, c)), float(a @ goal - (a @ b) * (b @ c)))
    triples = []
    for middle in middles:
        tilted = turned(b, middle)
        is_along = np.linalg.norm(np.cross(a, goal)) < tolerances.WRIST_ALIGNED
        first = 0.0 if is_along else angle_about(a, tilted @ c, goal)
        rest = tilted.T @ turned(a, first).T @ rotation
        triples.append(np.array([first, middle, angle_about(c, b - (b @ c) * c, rest @ (b - (b @ c) * c))]))
    return triples
