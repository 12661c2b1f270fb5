"""What `Plant.watch` reads, taken apart: frames, and scalars such as displacements.

Each entry is one column of numbers, packed by `watch` in `constrain/kernels/functions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kalaba.space.arrays import Array


class FrameReading(NamedTuple):
    """Where a frame is and how it moves with v, in world axes."""

    position: Array  # (3,), m
    rotation: Array  # (3, 3)
    jacobian: Array  # (6, n_v): linear velocity of the origin, then angular velocity

    @classmethod
    def of(cls, entry: Array) -> FrameReading:
        """Take the entry of a frame apart: position, then rotation and Jacobian column by column."""
        return cls(entry[:3], entry[3:12].reshape((3, 3), order="F"), entry[12:].reshape((6, -1), order="F"))


class ScalarReadings(NamedTuple):
    """Scalars and how they change with v."""

    values: Array  # (k,), m or rad
    gradients: Array  # (k, n_v)

    @classmethod
    def of(cls, entries: Sequence[Array], n_velocities: int) -> ScalarReadings:
        """Take the entries of scalars apart: value, then gradient; there may be none."""
        table = np.array(entries).reshape((len(entries), 1 + n_velocities))
        return cls(table[:, 0], table[:, 1:])
