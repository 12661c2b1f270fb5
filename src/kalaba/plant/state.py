"""What a machine is doing at an instant: small values that a Plant takes and gives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class State(NamedTuple):
    """A configuration and a velocity."""

    q: Array
    v: Array


class NamedState(State):
    """A State that knows the names of its numbers, so that a machine with other parts finds its own among them."""

    coordinates: tuple[str, ...] = ()
    velocities: tuple[str, ...] = ()

    @classmethod
    def of(cls, state: State, coordinates: tuple[str, ...], velocities: tuple[str, ...]) -> NamedState:
        """Give names to the numbers of a state."""
        named = cls(*state)
        named.coordinates, named.velocities = coordinates, velocities
        return named


class Pose(NamedTuple):
    """Where a frame is in the world."""

    position: Array  # (3,)
    rotation: Array  # (3, 3), columns are the frame's axes in the world


class Energy(NamedTuple):
    """Kinetic and potential energy in joules."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Their sum."""
        return self.kinetic + self.potential
