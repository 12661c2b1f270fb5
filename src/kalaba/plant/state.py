"""What a machine is doing at an instant: small values that a Plant takes and gives."""

from __future__ import annotations

from typing import Any, NamedTuple

from kalaba.space.arrays import Array


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


def as_number(values: Array) -> Any:  # noqa: ANN401  (a float, or an array of one per state)
    """The one number of a state, (1,), as a float; those of many states, (count, 1), as an array (count,)."""
    return float(values[0]) if values.ndim == 1 else values[:, 0]


class Energy(NamedTuple):
    """Kinetic and potential energy in joules: floats, or of a batch arrays of one number per state.

    Arguments:
        kinetic: energy of motion, J
        potential: of gravity, springs and bent beams, J
    """

    kinetic: Any
    potential: Any

    @property
    def total(self) -> Any:  # noqa: ANN401  (as they are)
        """Their sum."""
        return self.kinetic + self.potential
