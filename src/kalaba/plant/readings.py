"""What `Plant.watch` reads, taken apart: frames, and scalars such as displacements.

Each entry is one column of numbers, packed by `watch` in `constrain/kernels/functions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.boundary import shown
from kalaba.constrain.kernels.functions import watch
from kalaba.errors import ModelError, near
from kalaba.hints import is_text
from kalaba.plant.lanes import Traced
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant


# What the entry of a frame holds; matrices stand column by column.
PLACE, TURN, JACOBIAN = slice(0, 3), slice(3, 12), slice(12, None)


def by_columns(values: Array, rows: int, columns: int) -> Array:
    """Matrices (rows, columns), of numbers that stand column by column along the last axis."""
    return values.reshape((*values.shape[:-1], columns, rows)).swapaxes(-1, -2)


def moved(jacobian: Array, v: Array) -> Array:
    """J v, or Jᵀ F with a matrix that is turned, of one state or of each of many."""
    return np.asarray(np.matmul(jacobian, v[..., np.newaxis])[..., 0])


def watch_function(names: Sequence[str]) -> Traced:
    """The function that reads named scalars and frames."""
    return Traced("watch", lambda equations: watch(equations, tuple(names)), " ".join(names))


def frame_function(plant: Plant, frame: str) -> Traced:
    """The function that reads one frame; what is no name of one is refused, that of a coordinate too."""
    if not is_text(frame) or frame not in plant.machine.frames:
        raise ModelError(f"{plant.system.name}: no frame {shown(frame)}; {near(frame, plant.machine.frames)}")
    return watch_function((frame,))


class FrameReading(NamedTuple):
    """Where a frame is and how it moves with v, in world axes."""

    position: Array  # (3,), m
    rotation: Array  # (3, 3)
    jacobian: Array  # (6, n_v): linear velocity of the origin, then angular velocity

    @classmethod
    def of(cls, entry: Array) -> FrameReading:
        """Take the entry of a frame apart, or entries of many states, (count, width)."""
        entries = entry[..., JACOBIAN]
        jacobian = by_columns(entries, 6, entries.shape[-1] // 6)
        return cls(entry[..., PLACE], by_columns(entry[..., TURN], 3, 3), jacobian)


class ScalarReadings(NamedTuple):
    """Scalars and how they change with v."""

    values: Array  # (k,), m or rad
    gradients: Array  # (k, n_v)

    @classmethod
    def of(cls, entries: Sequence[Array], n_velocities: int) -> ScalarReadings:
        """Take the entries of scalars apart: value, then gradient; there may be none."""
        table = np.array(entries).reshape((len(entries), 1 + n_velocities))
        return cls(table[:, 0], table[:, 1:])
