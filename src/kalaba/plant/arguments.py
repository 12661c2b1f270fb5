"""What a user hands in is checked here, at the boundary; inside, arrays are trusted."""

from __future__ import annotations

from collections.abc import ItemsView, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import checked_pairs, shown
from kalaba.errors import ModelError
from kalaba.hints import is_ordinary, is_real_array
from kalaba.plant.state import NamedState, State
from kalaba.space.arrays import Array
from kalaba.tolerances import QUATERNION_NEARLY_UNIT, QUATERNION_UNIT
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

NOTHING: ItemsView[str, ArrayLike] = {}.items()
SHOWN = 3  # missing names in a message
WRENCH = ("force x", "force y", "force z", "torque x", "torque y", "torque z")


def checked(value: ArrayLike, size: int, what: str, names: Sequence[str]) -> Array:
    """Refuse vectors of the wrong shape or with NaN, naming the entry."""
    vector = as_real(value, size, what)
    if vector.shape != (size,):
        first = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        raise ModelError(
            f"{what}: expected {counted(size, 'number')} ({first}), got shape {vector.shape}. Give them in that order."
        )
    if not np.isfinite(vector).all():
        index = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise ModelError(
            f"{what}: expected finite numbers, got {vector[index]} for {names[index]}. Check where it comes from."
        )
    return vector


def as_real(value: ArrayLike, size: int, what: str) -> Array:
    """Real numbers as an array of any shape; `size` is how many were expected, for the message."""
    if not is_real_array(value):
        if isinstance(value, np.ndarray) and value.dtype.kind == "c":
            raise ModelError(f"{what}: expected real numbers, got complex ones. Give their real parts.")
        raise ModelError(f"{what}: expected {counted(size, 'number')}, got {shown(value)}. Give an array.")
    return np.asarray(value, dtype=float)


def as_state(value: object, what: str) -> State:
    """A State, or a pair (q, v), as a State; what is neither is refused."""
    if not isinstance(value, tuple | list) or not is_ordinary(value) or len(value) != 2:
        raise ModelError(f"{what}: expected a State (q, v), got {shown(value)}. Try run.end or plant.start.")
    return State(*value)


def checked_configuration(value: State | ArrayLike, machine: Machine, what: str = "q") -> Array:
    """Refuse a configuration of the wrong shape or with NaN; quaternions that are nearly unit are made so.

    A State gives its q.
    """
    names = [coordinate.name for coordinate in machine.coordinates]
    q = checked(configuration_of(value), len(names), what, names)
    return np.asarray(made_unit(q[np.newaxis], machine, what)[0])


def configuration_of(value: State | ArrayLike) -> ArrayLike:
    """The q of a State; anything else is a configuration itself."""
    return value.q if isinstance(value, State) else value


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


def own_state(machine: Machine, state: object) -> State:
    """The machine's own q and v of a given state: by name where the state knows its names, else as they stand."""
    q, v = as_state(state, f"{machine.name}.start")
    coordinates, velocities = (tuple(c.name for c in side) for side in (machine.coordinates, machine.velocities))
    if isinstance(state, NamedState) and state.coordinates:
        q = _picked(machine.name, q, state.coordinates, coordinates)
        v = _picked(machine.name, v, state.velocities, velocities)
    return State(checked_configuration(q, machine, "start q"), checked(v, len(velocities), "start v", velocities))


def _picked(name: str, values: Array, known: tuple[str, ...], wanted: tuple[str, ...]) -> Array:
    """The wanted entries by name; those of parts that are gone are left behind."""
    missing = [entry for entry in wanted if entry not in known]
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise ModelError(
            f"{name}.start: the state given knows nothing of {', '.join(missing[:SHOWN])}{more}. "
            f"Give a State (q, v) with all {counted(len(wanted), 'number')}."
        )
    index = {entry: i for i, entry in enumerate(known)}
    return np.asarray([values[index[entry]] for entry in wanted], dtype=float)


def pushed_frames(wrenches: Mapping[str, ArrayLike] | None) -> ItemsView[str, ArrayLike]:
    """The frames that wrenches act on, with these; what is no map is refused."""
    if wrenches is None:
        return NOTHING
    expected = "{frame: six numbers}"
    if not isinstance(wrenches, Mapping):
        raise ModelError(f"wrenches: expected {expected}, got {shown(wrenches)}.")
    return dict(checked_pairs(wrenches, "wrenches", expected)).items()
