"""What a machine is doing at an instant: small values that a Plant takes and gives."""

from __future__ import annotations

from typing import NamedTuple

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
