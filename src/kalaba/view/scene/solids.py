"""What a body looks like: its solid where that has a shape, else bars or a plate to all that sits on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kalaba.joints.marker import Marker
from kalaba.model.solids import AnySolid, Bar, Cuboid, MassProperties, Roller
from kalaba.space.arrays import Array
from kalaba.tolerances import CUBOID_THIN, PLACES_SAME
from kalaba.view.scene.meshes import Mesh, across, ball, bar, box, hull, joined, tube

Number = Callable[[Any], float]
THIN = 0.012  # radius of a bar, of the machine's size
SHARE = 0.12  # radius of a bar, of its own length, at most
TYPICAL = 0.05  # radius of a bar, of the length of the machine's middling links, at most
LEAST = 0.004  # of the machine's size: what is thinner cannot be seen
LUMP = (0.015, 0.035)  # half-width of a body without length, of the machine's size: least and most
DISC = (0.07, 0.018)  # radius and half-height of one that glides in a plane, of the machine's size
OBJECT = 1.5  # of how far its grips are: the longest edge of a thing that is held
SLIM = 0.65  # of a bar's radius: that of one that slides in another
FLAT = 0.35  # of its radius: half-thickness of a plate's edge


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths that what has none of its own is drawn with, in metres."""

    machine: float  # the diagonal of the box around it
    link: float  # the median, over bodies, of how far what sits on them is from their origin

    @property
    def thin(self) -> float:
        """Radius of the bars, and what joints are drawn by."""
        return max(min(THIN * self.machine, TYPICAL * self.link), self.least)

    def radius(self, length: float) -> float:
        """Radius of a bar of a length."""
        return max(min(self.thin, SHARE * length), self.least)

    @property
    def least(self) -> float:
        """The smallest half-width that is drawn."""
        return LEAST * self.machine


def body_mesh(solid: AnySolid, marker: Marker, anchors: Array, number: Number, sizes: Sizes) -> Mesh:
    """The mesh of a rigid body in its frame; `anchors` (A, 3) are the places of all that sits on it."""
    match solid.form(number):
        case Cuboid(edges):
            mesh = box(np.maximum(edges, 2 * sizes.least))
        case Roller(radius, length, axis):
            mesh = _cylinder(radius, length, axis.components, sizes)
        case Bar(length, axis):
            end = length * np.array(axis.components)
            slim = SLIM if marker.slides_along is not None else 1.0
            mesh = bar(np.zeros(3), end, slim * sizes.radius(float(np.linalg.norm(end))))
        case None:
            numbers = solid.mass_properties(number)
            makes_plate = marker.glides_across is not None and len(_distinct(anchors, sizes)) > 2
            mesh = joined(() if numbers.tip is not None or makes_plate else _core(numbers, marker, anchors, sizes))
            if not len(mesh.faces):
                return _skeleton(numbers, anchors, sizes)
    outside = [point for point in _distinct(anchors, sizes) if not _touches(mesh, point, sizes)]
    return joined([mesh, *_bars(np.array(outside).reshape(-1, 3), sizes)])


def _core(numbers: MassProperties, marker: Marker, anchors: Array, sizes: Sizes) -> tuple[Mesh, ...]:
    """What stands in the middle of a solid without a tip: a disc that glides, a block that slides, a held thing.

    The last is the cuboid of the same mass and inertia, no larger than lets its grips be seen. Links have none.
    """
    radius, half = (share * sizes.machine for share in DISC)
    if marker.glides_across is not None:
        return (axle(marker.glides_across.components, radius, half),)
    edges, axes = equivalent_edges(numbers)
    if marker.makes_block and edges is not None:
        away = float(np.linalg.norm(anchors, axis=1).max(initial=0.0))
        most = max(OBJECT * away, 4 * sizes.thin) if away > PLACES_SAME * sizes.machine else sizes.machine
        return (box(np.clip(edges, 2 * sizes.least, most)).moved(numbers.com, axes),)
    if marker.slides_along is not None:
        return (sleeve(marker.slides_along.components, 2 * sizes.thin, 6 * sizes.thin),)
    return ()


def _skeleton(numbers: MassProperties, anchors: Array, sizes: Sizes) -> Mesh:
    """Bars from the origin to one or two places, a plate through more, a lump where there is no length."""
    points = _distinct(anchors, sizes)
    if not len(points):
        return _lump(numbers, sizes)
    if len(points) <= 2:
        return joined(_bars(points, sizes))
    radius = sizes.thin
    plate = hull(points, radius * FLAT * 2) if _spread(points) > radius else joined(_bars(points, sizes))
    reach = float(np.linalg.norm(points.mean(axis=0)))
    centre = _bars(points.mean(axis=0)[None], sizes) if reach > radius else []
    return joined([plate, *centre])


def _spread(points: Array) -> float:
    """The second largest extent of points about their middle: zero on a line."""
    return float(np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[1])


def _bars(points: Array, sizes: Sizes) -> list[Mesh]:
    """Bars from the origin, each with a round end."""
    meshes = []
    for point in points:
        radius = sizes.radius(float(np.linalg.norm(point)))
        meshes += [bar(np.zeros(3), point, radius), ball(1.25 * radius).moved(point)]
    return meshes


def _lump(numbers: MassProperties, sizes: Sizes) -> Mesh:
    """The cuboid of the same mass and inertia where the inertia says one, else a ball of the density of water.

    It stands at the centre of mass; where that is away from the origin, a bar leads to it from there.
    """
    low, high = (share * sizes.machine for share in LUMP)
    edges, axes = equivalent_edges(numbers)
    if edges is not None:
        mesh = box(np.clip(edges, 2 * low, 2 * high)).moved(numbers.com, axes)
    else:
        radius = (3 * max(float(numbers.mass), 0.0) / (4e3 * np.pi)) ** (1 / 3)
        mesh = ball(float(np.clip(radius, low, high))).moved(numbers.com)
    centre = np.array(numbers.com, dtype=float)
    if _touches(mesh, np.zeros(3), sizes):
        return mesh
    return joined([mesh, bar(np.zeros(3), centre, sizes.radius(float(np.linalg.norm(centre))))])


def equivalent_edges(numbers: MassProperties) -> tuple[Array | None, Array]:
    """Edges of the homogeneous cuboid of a mass and inertia, with its axes; None for a point or a thin one.

    Of principal moments I: a² = 6 (I_b + I_c − I_a)/m, and so on.
    """
    xx, yy, zz, xy, xz, yz = (float(entry) for entry in numbers.inertia)
    moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    if not numbers.mass > 0:
        return None, axes
    squares = 6 * (moments.sum() - 2 * moments) / float(numbers.mass)
    if not (squares > CUBOID_THIN * max(squares.max(), 1e-300)).all():
        return None, axes
    return np.sqrt(squares), axes * np.sign(np.linalg.det(axes))


def _cylinder(radius: float, length: float, axis: tuple[float, float, float], sizes: Sizes) -> Mesh:
    half = max(length / 2, sizes.least) * np.array(axis)
    return bar(-half, half, max(radius, sizes.least))


def _distinct(anchors: Array, sizes: Sizes) -> Array:
    """Anchors off the origin, each once."""
    points: list[Array] = []
    for point in anchors:
        if all(np.linalg.norm(point - other) > PLACES_SAME * sizes.machine for other in (np.zeros(3), *points)):
            points.append(point)
    return np.array(points).reshape(-1, 3)


def _touches(mesh: Mesh, point: Array, sizes: Sizes) -> bool:
    """Whether a point lies in the box around a mesh, so that no bar need lead to it."""
    slack = 2 * sizes.least
    return bool(
        (point >= mesh.vertices.min(axis=0) - slack).all() and (point <= mesh.vertices.max(axis=0) + slack).all()
    )


def axle(axis: tuple[float, float, float], radius: float, half: float) -> Mesh:
    """A short round bar about an axis through the origin."""
    direction = np.array(axis)
    return bar(-half * direction, half * direction, radius)


def sleeve(axis: tuple[float, float, float], half: float, length: float) -> Mesh:
    """A square block along an axis through the origin."""
    first, second = across(axis)
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) @ np.array([first, second]) * half
    along = np.array(axis) * length / 2
    return tube([corners - along, corners + along])
