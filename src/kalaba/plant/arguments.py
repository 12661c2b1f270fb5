"""What a user hands in is checked here, at the boundary; inside, arrays are trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba.errors import ModelError
from kalaba.space.arrays import Array
from kalaba.tolerances import QUATERNION_UNIT

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

WRENCH = ("force x", "force y", "force z", "torque x", "torque y", "torque z")


def checked(value: ArrayLike, size: int, what: str, names: Sequence[str]) -> Array:
    """Refuse vectors of the wrong shape or with NaN, naming the entry."""
    try:
        vector = np.asarray(value, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: expected {size} numbers, got {value!r}. Give an array.") from error
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


def checked_configuration(value: ArrayLike, machine: Machine) -> Array:
    """Refuse a configuration of the wrong shape, with NaN, or with a quaternion that is not unit."""
    names = [coordinate.name for coordinate in machine.coordinates]
    q = checked(value, len(names), "q", names)
    check_unit(q[np.newaxis], machine)
    return q


def check_unit(configurations: Array, machine: Machine) -> None:
    """Refuse quaternions that are not unit: (1, 1, 0, 0) would stretch the body, not turn it."""
    for first, _ in machine.quaternions:
        squares = np.sum(configurations[:, first : first + 4] ** 2, axis=1)
        worst = int(np.argmax(np.abs(squares - 1.0)))
        if abs(squares[worst] - 1.0) > QUATERNION_UNIT:
            name = machine.coordinates[first].name.rpartition(".")[0]
            raise ModelError(
                f"q: expected a unit quaternion for {name}, got one of length {np.sqrt(squares[worst]):.6g}."
            )
