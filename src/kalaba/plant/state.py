"""What a machine is doing at an instant: small values that a Plant takes and gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.errors import ModelError
from kalaba.plant.arguments import checked, checked_configuration
from kalaba.space.arrays import Array
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

SHOWN = 3  # missing names in a message


class State(NamedTuple):
    """A configuration and a velocity.

    Arguments:
        q: configuration, (n_q,), one number per coordinate (m, rad, unit quaternions)
        v: velocities, (n_v,), one number per velocity (m/s, rad/s)
    """

    q: Array
    v: Array


class NamedState(State):
    """A State that knows the names of its numbers, so that a machine with other parts finds its own among them.

    Arguments:
        q: configuration, (n_q,)
        v: velocities, (n_v,)
    """

    coordinates: tuple[str, ...] = ()
    velocities: tuple[str, ...] = ()

    @classmethod
    def of(cls, state: State, coordinates: tuple[str, ...], velocities: tuple[str, ...]) -> NamedState:
        """Give names to the numbers of a state."""
        named = cls(*state)
        named.coordinates, named.velocities = coordinates, velocities
        return named


class Energy(NamedTuple):
    """Kinetic and potential energy in joules.

    Arguments:
        kinetic: energy of motion, J
        potential: of gravity, springs and bent beams, J
    """

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.kinetic + self.potential


def own_state(machine: Machine, state: object) -> State:
    """The machine's own q and v of a given state: by name where the state knows its names, else as they stand."""
    if not isinstance(state, tuple | list) or len(state) != 2:
        raise ModelError(f"{machine.name}.start: expected a State (q, v), got {state!r}. Try run.end or plant.start.")
    q, v = state
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
