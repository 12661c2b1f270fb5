"""Packed vectors: where q, v and the rest stand, and the check of what a user hands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.errors import ModelError

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

Array = NDArray[np.float64]
WRENCH = ("force x", "force y", "force z", "torque x", "torque y", "torque z")


@dataclass(frozen=True, slots=True)
class Layout:
    """Slices of the packed input W | q | v | t | u | f | mask | w. W, the work done, rides along with the state."""

    q: slice
    v: slice
    t: int
    u: slice
    f: slice
    mask: slice
    w: int
    size: int

    @classmethod
    def of(cls, machine: Machine) -> Layout:
        """The layout of a machine."""
        n_q, n_v, m = len(machine.coordinates), len(machine.velocities), len(machine.rows)
        n_u = len(machine.actuators) + len(machine.sampled_inputs)
        n_y = 1 + n_q + n_v
        f = n_y + 1 + n_u
        return cls(
            q=slice(1, 1 + n_q),
            v=slice(1 + n_q, n_y),
            t=n_y,
            u=slice(n_y + 1, f),
            f=slice(f, f + n_v),
            mask=slice(f + n_v, f + n_v + m),
            w=f + n_v + m,
            size=f + n_v + m + 1,
        )

    @property
    def state(self) -> slice:
        """Q and v together."""
        return slice(0, self.v.stop)


def checked(given: ArrayLike, size: int, what: str, names: Sequence[str]) -> Array:
    """Refuse vectors of the wrong shape or with NaN, naming the entry."""
    try:
        vector = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        message = f"{what}: expected {size} numbers, got {given!r}. Give an array."
        raise ModelError(message) from error
    if vector.shape != (size,):
        shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        message = f"{what}: expected {size} numbers ({shown}), got shape {vector.shape}. Give them in that order."
        raise ModelError(message)
    if not np.isfinite(vector).all():
        index = int(np.flatnonzero(~np.isfinite(vector))[0])
        message = f"{what}: expected finite numbers, got {vector[index]} for {names[index]}. Check where it comes from."
        raise ModelError(message)
    return vector
