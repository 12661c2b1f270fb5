"""What a user hands in is checked here, at the boundary; inside, arrays are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba.errors import ModelError
from kalaba.space.arrays import Array
from kalaba.tolerances import QUATERNION_NEARLY_UNIT, QUATERNION_UNIT
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

WRENCH = ("force x", "force y", "force z", "torque x", "torque y", "torque z")


def checked(value: ArrayLike, size: int, what: str, names: Sequence[str]) -> Array:
    """Refuse vectors of the wrong shape or with NaN, naming the entry."""
    try:
        vector = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: expected {counted(size, 'number')}, got {value!r}. Give an array.") from error
    if vector.shape != (size,):
        shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        raise ModelError(
            f"{what}: expected {counted(size, 'number')} ({shown}), got shape {vector.shape}. Give them in that order."
        )
    if not np.isfinite(vector).all():
        index = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ModelError(
            f"{what}: expected finite numbers, got {vector[index]} for {names[index]}. Check where it comes from."
        )
    return vector


def checked_configuration(value: ArrayLike, machine: Machine, what: str = "q") -> Array:
    """Refuse a configuration of the wrong shape or with NaN; quaternions that are nearly unit are made so."""
    names = [coordinate.name for coordinate in machine.coordinates]
    q = checked(value, len(names), what, names)
    return np.asarray(made_unit(q[np.newaxis], machine, what)[0])


def made_unit(configurations: Array, machine: Machine, what: str = "q") -> Array:
    """Configurations (count, n_q) with unit quaternions: those that are nearly unit, as sensors give them, are made so.

    One that is not is refused: (1, 1, 0, 0) would stretch the body, not turn it.
    """
    made = configurations
    for first, _ in machine.quaternions:
        squares = np.sum(configurations[:, first : first + 4] ** 2, axis=1)
        off = np.abs(squares - 1.0)
        worst = int(np.argmax(off)) if len(off) else 0
        if len(off) and off[worst] > QUATERNION_NEARLY_UNIT:
            name = machine.coordinates[first].name.rpartition(".")[0]
            raise ModelError(
                f"{what}: expected a unit quaternion for {name}, got one of length {np.sqrt(squares[worst]):.6g}. "
                "Divide it by its length, if it is meant so."
            )
        if (off > QUATERNION_UNIT).any():
            made = made.copy() if made is configurations else made
            made[:, first : first + 4] /= np.sqrt(np.where(off > QUATERNION_UNIT, squares, 1.0))[:, np.newaxis]
    return made
