"""Meshes: triangles of boxes, bars, balls and plates.

Corners at sharp edges stand once per face, so that shading keeps them. Faces are counter-clockwise seen from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.space.arrays import Array

Faces = NDArray[np.int64]
SIDES = 20  # of what is round
POLE = 0.12  # rad: where the rings of a ball end
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))  # of CORNERS


class Mesh(NamedTuple):
    """Triangles: corners (V, 3) and the three corners of each face (F, 3)."""

    vertices: Array
    faces: Faces

    def moved(self, position: ArrayLike, rotation: ArrayLike | None = None) -> Mesh:
        """The mesh turned, then moved."""
        turned = self.vertices if rotation is None else self.vertices @ np.asarray(rotation).T
        return Mesh(turned + np.asarray(position), self.faces)


def joined(parts: Iterable[Mesh]) -> Mesh:
    """Several meshes as one."""
    vertices, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.int64)], 0
    for part in parts:
        vertices.append(part.vertices)
        faces.append(part.faces + count)
        count += len(part.vertices)
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


def box(size: ArrayLike) -> Mesh:
    """A cuboid about the origin."""
    corners = CORNERS * np.asarray(size)
    vertices = np.concatenate([corners[list(quad)] for quad in QUADS])
    faces = [(4 * k, 4 * k + i, 4 * k + i + 1) for k in range(len(QUADS)) for i in (1, 2)]
    return Mesh(vertices, np.array(faces, dtype=np.int64))


def tube(rings: Sequence[Array] | Array) -> Mesh:
    """A closed tube through rings of corners, each (K, 3) and counter-clockwise seen from the far end."""
    sections = np.asarray(rings)
    count, sides = sections.shape[:2]
    shells = np.arange(count * sides).reshape(count, sides)
    a, b = shells[:-1], shells[1:]
    a_next, b_next = np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)
    wall = np.concatenate([np.stack([a, a_next, b_next], -1), np.stack([a, b_next, b], -1)]).reshape(-1, 3)
    near, far = count * sides, (count + 1) * sides
    fan = np.arange(1, sides - 1)
    caps = [
        np.stack([np.full_like(fan, near), near + fan + 1, near + fan], -1),
        np.stack([np.full_like(fan, far), far + fan, far + fan + 1], -1),
    ]
    vertices = np.concatenate([sections.reshape(-1, 3), sections[0], sections[-1]])
    return Mesh(vertices, np.concatenate([wall, *caps]))


def bar(start: ArrayLike, end: ArrayLike, radius: float, sides: int = SIDES) -> Mesh:
    """A round bar from point to point."""
    first, last = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    ring = radius * _circle(sides) @ across(last - first)
    return tube([first + ring, last + ring])


def _circle(sides: int) -> Array:
    angles = 2 * np.pi * np.arange(sides) / sides
    return np.column_stack([np.cos(angles), np.sin(angles)])


def across(direction: ArrayLike) -> Array:
    """Two unit vectors (2, 3) that make a right-handed triad with a direction."""
    along = np.asarray(direction, dtype=float)
    along = along / np.linalg.norm(along)
    helper = np.eye(3)[np.argmin(np.abs(along))]
    first = np.cross(helper, along)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(along, first)])


def ball(radius: float) -> Mesh:
    """A ball about the origin, of rings of latitude; its poles are small flats."""
    polar = np.linspace(np.pi - POLE, POLE, SIDES // 2)
    circle = _circle(SIDES)
    rings = [np.column_stack([circle * np.sin(p), np.full(SIDES, np.cos(p))]) for p in polar]
    return tube(radius * np.array(rings))


def hull(points: ArrayLike, radius: float) -> Mesh:
    """The convex hull of points, thickened by a radius: a plate where they lie in a plane."""
    from scipy.spatial import ConvexHull

    cloud = (np.asarray(points)[:, None, :] + radius * _ROUND[None]).reshape(-1, 3)
    convex = ConvexHull(cloud)
    corners = cloud[convex.simplices]  # (F, 3, 3)
    outward = np.einsum(
        "fi,fi->f", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), _normals(convex)
    )
    corners[outward < 0] = corners[outward < 0][:, ::-1]
    return Mesh(corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


def _normals(convex: object) -> Array:
    return np.asarray(convex.equations)[:, :3]  # type: ignore[attr-defined]


_ROUND = np.array(
    [
        [np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)]
        for b in np.radians([-90, -45, 0, 45, 90])
        for a in np.radians(np.arange(0, 360, 45))
    ]
)
