"""The machine that every engine runs: dual-mobile-arm closed by one weld, at random states that obey it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import kalaba as kb
from kalaba.plant.plant import Plant
from kalaba.plant.reference import project_state

Array = NDArray[np.float64]

ARM_COORDINATES = 6  # of each arm: x, y, yaw, three elevations
TURNED = 0.2  # rad or m: how far random states lie from the start
SPEED = 0.5  # rad/s or m/s, before projection

# Peers measure each elevation from the link before, and turn about +y, which lowers a link: p = S q.
_ARM = np.eye(ARM_COORDINATES)
_ARM[3, 3], _ARM[4, 4], _ARM[5, 5] = -1.0, -1.0, -1.0
_ARM[4, 3], _ARM[5, 4] = 1.0, 1.0
TO_PEER: Array = np.kron(np.eye(2), _ARM)


@dataclass(frozen=True)
class States:
    """Consistent states in kalaba's coordinates, one per row, and the motor torques at them."""

    q: Array
    v: Array
    force: Array

    @property
    def peer_q(self) -> Array:
        """Configurations in the peers' coordinates."""
        return np.ascontiguousarray(self.q @ TO_PEER.T)

    @property
    def peer_v(self) -> Array:
        """Velocities in the peers' coordinates."""
        return np.ascontiguousarray(self.v @ TO_PEER.T)

    @property
    def peer_force(self) -> Array:
        """Generalised forces in the peers' coordinates: equal power, so S⁻ᵀ."""
        return np.ascontiguousarray(self.force @ np.linalg.inv(TO_PEER))

    @property
    def at_rest(self) -> "States":
        """The same configurations without speed."""
        return States(self.q, np.zeros_like(self.v), self.force)


def machine() -> Plant:
    """Build the machine."""
    return kb.build(kb.load("dual-mobile-arm", path=False, closure="weld"))


def consistent_states(plant: Plant, count: int) -> States:
    """Random states near the start that obey the weld and its rate, with random torques."""
    random, size = np.random.default_rng(7), len(plant.velocities)
    projected = [
        project_state(
            plant,
            kb.State(plant.start.q + random.uniform(-TURNED, TURNED, size), random.uniform(-SPEED, SPEED, size)),
            0.0,
        )
        for _ in range(count)
    ]
    q, v = (np.array(part) for part in zip(*projected, strict=True))
    return States(q, v, random.uniform(-10.0, 10.0, (count, size)))
