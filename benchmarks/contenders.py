"""The three engines with the same machine, and how far apart their accelerations are."""

from dataclasses import dataclass

import numpy as np

from benchmarks.bars import AtMost
from benchmarks.machine import TO_PEER, Array, States, consistent_states, machine
from benchmarks.peers.mujoco_model import Mujoco, mujoco_machine
from benchmarks.peers.pinocchio_model import Pinocchio, pinocchio_machine
from kalaba.plant.plant import Plant

COUNT = 64  # states
SAME = 1e-6  # of the largest acceleration
SOFT = 1e-3  # the same for MuJoCo, whose weld gives way


@dataclass(frozen=True)
class Contenders:
    """Kalaba, its peers, and states that obey the weld."""

    plant: Plant
    pinocchio: Pinocchio
    mujoco: Mujoco
    states: States


def contenders() -> Contenders:
    """Make the machine three times."""
    plant = machine()
    return Contenders(plant, pinocchio_machine(), mujoco_machine(), consistent_states(plant, COUNT))


def agreement(who: Contenders) -> tuple[AtMost, ...]:
    """Accelerations of all engines at all states, before anything is timed."""
    states = who.states
    ours = [who.plant.motion(*state).acceleration for state in zip(states.q, states.v, states.force, strict=True)]
    expected = np.array(ours) @ TO_PEER.T
    states_of_peers = list(zip(states.peer_q, states.peer_v, states.peer_force, strict=True))
    pinocchio = np.array([who.pinocchio.acceleration(*state).copy() for state in states_of_peers])
    mujoco = np.array([who.mujoco.acceleration(*state) for state in states_of_peers])
    return (
        AtMost("acceleration differs from Pinocchio's, relative", _apart(pinocchio, expected), SAME, ""),
        AtMost("acceleration differs from MuJoCo's (soft weld), relative", _apart(mujoco, expected), SOFT, ""),
    )


def _apart(accelerations: Array, expected: Array) -> float:
    return float(np.abs(accelerations - expected).max() / np.abs(expected).max())
