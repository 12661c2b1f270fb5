"""A beam as a prism that bends: its section carried along the bent line.

With the shapes φ of ξ = x/L and the modes η, in the body's frame::

    w = Σ φ η        u = −1/(2L) ∫ (w_y′² + w_z′²) dξ (with foreshortening)        r = (L ξ + u, w_y, w_z)

Sections turn by Rz(w_y′/L) Ry(−w_z′/L) Rx(twist), as the tip's frame does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.space.arrays import Array
from kalaba.view.scene.meshes import SIDES, Mesh, tube

if TYPE_CHECKING:
    from collections.abc import Callable

    from kalaba.model.beams.beam import Beam
    from kalaba.view.scene.places import Placed

STATIONS = 25  # sections along a beam
GAUSS = np.polynomial.legendre.leggauss(4)  # between two stations, for the foreshortening


@dataclass(frozen=True)
class BentBeam:
    """A beam on the way from its modes to a mesh."""

    beam: Beam
    first: int  # of its modes in q
    length: float
    outline: Array  # (K, 2): corners of the section along y and z, counter-clockwise seen from the tip

    @cached_property
    def stations(self) -> Array:
        """ξ of the sections."""
        return np.linspace(0, 1, STATIONS)

    def mesh(self, q: Array, placed: Placed) -> Mesh:
        """The prism at a configuration."""
        beam, count = self.beam, self.beam.shapes.count
        modes = q[self.first : self.first + beam.modes]
        planes = np.zeros((3, count))
        for index, plane in enumerate(beam.planes):
            planes[plane] = modes[index * count : (index + 1) * count]
        value, slope, _ = self._shapes
        line = planes @ value  # (3, STATIONS)
        line[0] = self.length * self.stations + self._pulled(planes)
        _, yaw, pitch = planes @ slope / self.length
        turns = _sections(yaw, pitch, self._twist(modes[beam.bending_modes :]))
        outline = np.column_stack([np.zeros(len(self.outline)), self.outline])
        return tube(line.T[:, None, :] + np.einsum("sij,kj->ski", turns, outline))

    @cached_property
    def _shapes(self) -> tuple[Array, Array, Array]:
        return self.beam.shapes.evaluate(self.stations)

    def _pulled(self, planes: Array) -> Array:
        """The shift towards the root at every station."""
        if not self.beam.foreshortening:
            return np.zeros(STATIONS)
        points, weights = GAUSS
        width = 1 / (STATIONS - 1)
        inner = (self.stations[:-1, None] + width * (points + 1) / 2).ravel()
        slopes = planes @ self.beam.shapes.evaluate(inner)[1]
        pieces = np.square(slopes).sum(axis=0).reshape(STATIONS - 1, len(points)) @ weights * width / 2
        return np.concatenate([[0.0], -np.cumsum(pieces) / (2 * self.length)])

    def _twist(self, modes: Array) -> Array:
        rates = (np.arange(len(modes)) + 0.5) * np.pi
        signs = (-1.0) ** np.arange(len(modes))
        return np.asarray((signs * modes) @ np.sin(rates[:, None] * self.stations))


def _sections(yaw: Array, pitch: Array, twist: Array) -> Array:
    """Rz(yaw) Ry(−pitch) Rx(twist) of every section, (STATIONS, 3, 3)."""
    z, y, x = _about(2, yaw), _about(1, -pitch), _about(0, twist)
    return np.asarray(z @ y @ x)


def _about(axis: int, angle: Array) -> Array:
    turns = np.zeros((len(angle), 3, 3))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turns[:, axis, axis] = 1
    turns[:, i, i] = turns[:, j, j] = np.cos(angle)
    turns[:, i, j], turns[:, j, i] = -np.sin(angle), np.sin(angle)
    return turns


def outline(beam: Beam, number: Callable[[Any], float], least: float) -> Array:
    """Corners of a beam's section along y and z; no thinner than can be seen (`least`, half of it)."""
    half = beam.section.outline(number(beam.length), number)
    if isinstance(half, tuple):
        return np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * np.maximum(half, least)
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    return max(half, least) * np.column_stack([np.cos(angles), np.sin(angles)])
