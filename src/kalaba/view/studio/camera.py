"""Where to look from: the whole of a box in sight, across the plane that a flat machine moves in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kalaba.space.arrays import Array
from kalaba.tolerances import STUDIO_FLAT
from kalaba.view.scene.machine import BARE

ANGLE = np.radians(38.0)  # of sight, vertical
MARGIN = 1.02
AROUND = (0.75, -1.0, 0.55)  # seen from in front, from the right and from above
ACROSS = ((1.0, -0.32, 0.3), (0.28, -1.0, 0.26), (0.12, -0.62, 1.0))  # of what is flat along x, y and z


class View(NamedTuple):
    """Where a camera is, what it looks at, and its vertical angle of sight."""

    position: Array
    target: Array
    angle: float


def view_of(low: Array, high: Array) -> View:
    """A view that has a box in sight."""
    extents, middle = high - low, (low + high) / 2
    thin = int(np.argmin(extents))
    others = np.delete(extents, thin)
    direction = np.array(ACROSS[thin] if extents[thin] < STUDIO_FLAT * others.min() else AROUND)
    direction = direction / np.linalg.norm(direction)
    radius = float(np.linalg.norm(extents)) / 2 or BARE
    return View(middle + direction * MARGIN * radius / np.sin(ANGLE / 2), middle, float(ANGLE))


def cell_size(size: float) -> float:
    """A tenth of a size, rounded to 1, 2 or 5 of a power of ten."""
    wanted = (size or BARE) / 10
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(power * min((1, 2, 5, 10), key=lambda digit: abs(np.log(digit * power / wanted))))
