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
UNIT = 1e-6  # of the square of a quaternion's length: more is a mistake, not rounding
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

    def pack(self, q: Array, v: Array, t: float) -> Array:
        """Pack a state as it is; unlisted entries are zero, the mask keeps every row."""
        packed = np.zeros(self.size)
        packed[self.q], packed[self.v], packed[self.t] = q, v, t
        packed[self.mask], packed[self.w] = 1.0, 1.0
        return packed


def checked(given: ArrayLike, size: int, what: str, names: Sequence[str]) -> Array:
    """Refuse vectors of the wrong shape or with NaN, naming the entry."""
    try:
        vector = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: expected {size} numbers, got {given!r}. Give an array.") from error
    if vector.shape != (size,):
        shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        raise ModelError(
            f"{what}: expected {size} numbers ({shown}), got shape {vector.shape}. Give them in that order."
        )
    if not np.isfinite(vector).all():
        index = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ModelError(
            f"{what}: expected finite numbers, got {vector[index]} for {names[index]}. Check where it comes from."
        )
    return vector


def checked_configuration(given: ArrayLike, machine: Machine) -> Array:
    """Refuse a configuration of the wrong shape, with NaN, or with a quaternion that is not unit."""
    names = [coordinate.name for coordinate in machine.coordinates]
    q = checked(given, len(names), "q", names)
    check_unit(q[np.newaxis], machine)
    return q


def check_unit(configurations: Array, machine: Machine) -> None:
    """Refuse quaternions that are not unit: (1, 1, 0, 0) would stretch the body, not turn it."""
    for first, _ in machine.quaternions:
        squares = np.sum(configurations[:, first : first + 4] ** 2, axis=1)
        worst = int(np.argmax(np.abs(squares - 1.0)))
        if abs(squares[worst] - 1.0) > UNIT:
            name = machine.coordinates[first].name.rpartition(".")[0]
            raise ModelError(
                f"q: expected a unit quaternion for {name}, got one of length {np.sqrt(squares[worst]):.6g}."
            )
