"""Lines joined at their corners: by arcs, or by quintics whose curvature begins and ends at zero."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ControlError
from kalaba.paths.chain import Chain, Piece, arc, straight
from kalaba.paths.checks import positive
from kalaba.paths.polynomials import Polynomials, polynomials

Array = NDArray[np.float64]
STRAIGHT = 1e-12  # rad: a corner that turns less is none
BEZIER = np.array(  # powers of u from the control points of a quintic
    [[math.comb(5, i) * math.comb(i, j) * (-1.0) ** (i - j) if j <= i else 0.0 for j in range(6)] for i in range(6)]
)


@dataclass(frozen=True, slots=True)
class Circular:
    """An arc that leaves a leg at `distance` before the corner: its radius is distance/tan(turn/2).

    The direction is continuous and the curvature jumps, so the acceleration does.
    """

    distance: float  # m

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", positive(self.distance, "blend"))

    def curve(self, points: Array) -> Chain:
        """The chain of legs and arcs."""
        corners = _corners(points, self.distance)
        pieces: list[Piece] = []
        here = points[0]
        for corner in corners:
            pieces += _leg(here, corner.before(self.distance))
            radius = self.distance / math.tan(corner.turn / 2)
            pieces.append(arc(radius, corner.turn, corner.incoming, corner.inward))
            here = corner.after(self.distance)
        pieces += _leg(here, points[-1])
        return Chain(tuple(points[0].tolist()), tuple(pieces))


@dataclass(frozen=True, slots=True)
class Quintic:
    """A quintic that leaves a leg at `distance` before the corner, with no curvature there: no jump of acceleration.

    Its six control points stand on the two legs, 2/5 of the distance apart.
    """

    distance: float  # m

    def __post_init__(self) -> None:
        object.__setattr__(self, "distance", positive(self.distance, "blend"))

    def curve(self, points: Array) -> Polynomials:
        """The legs and quintics by arc length."""
        parts: list[tuple[Array, float]] = []
        here = points[0]
        for corner in _corners(points, self.distance):
            parts += _leg_polynomial(here, corner.before(self.distance))
            along = self.distance * np.array([1.0, 0.6, 0.2])[:, np.newaxis]
            control = np.vstack([corner.place - along * corner.incoming, corner.place + along[::-1] * corner.outgoing])
            parts.append((BEZIER @ control, 1.0))
            here = corner.after(self.distance)
        parts += _leg_polynomial(here, points[-1])
        return polynomials(parts, "polyline")


@dataclass(frozen=True, slots=True)
class _Corner:
    place: Array
    incoming: Array  # unit vectors
    outgoing: Array

    @property
    def turn(self) -> float:
        """Angle by which the direction turns."""
        u, v = self.incoming, self.outgoing
        return 2 * math.atan2(float(np.linalg.norm(v - u)), float(np.linalg.norm(v + u)))

    @property
    def inward(self) -> Array:
        """Unit vector across the incoming leg, towards the outgoing one."""
        across = self.outgoing - self.incoming * float(self.incoming @ self.outgoing)
        return np.asarray(across / np.linalg.norm(across))

    def before(self, distance: float) -> Array:
        return self.place - distance * self.incoming

    def after(self, distance: float) -> Array:
        return self.place + distance * self.outgoing


def _corners(points: Array, distance: float) -> list[_Corner]:
    """The corners that turn, checked: the blends of two ends fit on a leg and none turns back."""
    ways = np.diff(points, axis=0)
    lengths = np.linalg.norm(ways, axis=1)
    if len(lengths) > 1 and distance > lengths.min() / 2 * (1 + 1e-12):
        k = int(lengths.argmin())
        raise ControlError(
            f"polyline.blend: expected at most half of the leg between points {k} and {k + 1}, {lengths[k] / 2:.6g} m, "
            f"got {distance:g}."
        )
    units = ways / lengths[:, np.newaxis]
    corners = [_Corner(place, u, v) for place, (u, v) in zip(points[1:-1], pairwise(units), strict=True)]
    for k, corner in enumerate(corners, 1):
        if corner.turn > math.pi - 1e-6:
            raise ControlError(f"polyline: the legs at point {k} turn back on themselves; give two paths.")
    return [corner for corner in corners if corner.turn > STRAIGHT]


def _leg(start: Array, end: Array) -> list[Piece]:
    return [straight(start, end)] if _is_long(start, end) else []


def _leg_polynomial(start: Array, end: Array) -> list[tuple[Array, float]]:
    return [(np.array([start, end - start]), 1.0)] if _is_long(start, end) else []


def _is_long(start: Array, end: Array) -> bool:
    """Whether there is a leg between two blends, more than rounding."""
    return bool(np.linalg.norm(end - start) > 1e-13 * max(np.abs(start).max(), np.abs(end).max()))
