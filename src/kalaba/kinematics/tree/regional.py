"""Three hinges that carry a point to a place: all solutions.

Let u₁, u₂ be the first two axes, o₁, o₂ the feet of their common normal d = o₂ − o₁ = a e₁, and p(θ₃) the point after
the third hinge, relative to o₂. The turn θ₁ keeps the distance from o₁ and the height along u₁ of the place c. With
e₂ = e₁ × u₂, u₁ = (u₁·u₂) u₂ + s e₂, X = p·e₁, Y = p·e₂::

    a (X cos θ₂ + Y sin θ₂) = R        R = (|c − o₁|² − a² − |p|²)/2
    s (Y cos θ₂ − X sin θ₂) = Z        Z = u₁·(c − o₁) − (u₁·u₂)(u₂·p)

R, Z, X and Y are linear in cos θ₃ and sin θ₃. Without θ₂, (s R)² + (a Z)² = (a s)² (X² + Y²), a quartic in tan(θ₃/2).
Where the axes meet, a = 0, only R = 0 is left of it, as a double root; where they are parallel, s = 0, only Z = 0:
there these are solved themselves. What comes out are seeds: Newton's method on the point itself decides.

Reference: Pieper (1968), The Kinematics of Manipulators Under Computer Control, Stanford University.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalaba.kinematics.tree.bounds import damped_step
from kalaba.kinematics.tree.hinges import Axes, angle_about, turned
from kalaba.kinematics.tree.trigonometric import Series, angles_of, linear, times, zeros

Array = NDArray[np.float64]
SMALL = 1e-4  # of the size of the arm, or of one: below this the degenerate equations give seeds too
APART = 0.05  # of the size: a seed that misses by more is none
STEPS = 40
REACHED = 1e-11  # of the size, at a double root; Newton's method on the whole arm follows
SAME = 1e-6  # rad


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
    def of(cls, axes: Axes) -> _Shoulder:
        """From two lines; the triad is completed where they meet or are parallel."""
        u1, u2 = axes.directions[:2]
        o1, o2 = _feet(axes)
        d, w = o2 - o1, u1 - (u1 @ u2) * u2
        a, s = float(np.linalg.norm(d)), float(np.linalg.norm(w))
        e1 = d / a if a > s * 1e-12 else np.cross(u2, w / s)
        e1 -= (e1 @ u2) * u2
        e1 /= np.linalg.norm(e1)
        e2 = np.cross(e1, u2)
        return cls(o1, o2, a, float(w @ e2), e1, e2)


def _feet(axes: Axes) -> tuple[Array, Array]:
    """Where the common normal of two lines stands on them; of parallel ones, the one through the second's point."""
    (u1, u2), (o1, o2) = axes.directions[:2], axes.points[:2]
    between, cosine = o2 - o1, float(u1 @ u2)
    square = float(np.cross(u1, u2) @ np.cross(u1, u2))
    if square < SMALL**2:  # far feet would cost digits; the seeds may miss by this much
        return o1 + (between @ u1) * u1, o2
    along1 = (between @ u1 - cosine * (between @ u2)) / square
    along2 = (cosine * (between @ u1) - between @ u2) / square
    return o1 + along1 * u1, o2 + along2 * u2


def carry_to(axes: Axes, point: Array, place: Array) -> list[Array]:
    """All angles of three hinges that carry a point to a place; where an angle is free, it is left at one value."""
    size = max(float(np.abs(axes.points - point).max()), float(np.abs(axes.points - place).max()), 1e-300)
    found: list[Array] = []
    for seed in _seeds(axes, point, place, size):
        angles, missed = _polished(axes, point, place, seed)
        if missed < REACHED * size and all(_apart(angles, other) > SAME for other in found):
            found.append(angles)
    return found


def _apart(a: Array, b: Array) -> float:
    """The largest difference of angles, whole turns left out."""
    return float(np.abs(np.remainder(a - b + math.pi, 2 * math.pi) - math.pi).max())


def _seeds(axes: Axes, point: Array, place: Array, size: float) -> list[Array]:
    """Angles that come near: θ₃ from the quartic, θ₂ from either equation, θ₁ as the angle left over."""
    shoulder = _Shoulder.of(axes)
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
            if np.linalg.norm(axes.carry(angles, point)[0] - place) < APART * size:
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
    seeds += zeros(R, size) if a < SMALL * math.sqrt(size) else []
    seeds += zeros(Z, math.sqrt(size)) if abs(s) < SMALL else []
    return seeds


def _seconds(axes: Axes, shoulder: _Shoulder, p: Array, place: Array, size: float) -> list[float]:
    """Seeds of θ₂ at a point p relative to o₂."""
    u1, u2 = axes.directions[:2]
    a, s, c = shoulder.a, shoulder.s, place - shoulder.first
    X, Y = float(p @ shoulder.e1), float(p @ shoulder.e2)
    R, Z = float(c @ c - a * a - p @ p) / 2, float(u1 @ c - (u1 @ u2) * (u2 @ p))
    seeds = []
    if a > SMALL * size and abs(s) > SMALL:
        seeds.append(math.atan2(Y * R / a - X * Z / s, X * R / a + Y * Z / s))
    if a > 1e-9 * size:
        seeds += angles_of(X, Y, R / a)
    if abs(s) > 1e-9:
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
