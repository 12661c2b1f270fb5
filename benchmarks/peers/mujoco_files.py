"""A file in MuJoCo and here: the mass matrix and the bias with springs and dampers, at random states.

Joints are matched in the order of the file: first hinges and slides, which are coordinates of their own here, then
balls and free joints. Left out on both sides: contacts, limits, equalities, dry friction (smooth here, a row there) and
fluid.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

import kalaba as kb
from kalaba.model.parts import Connection, Constraint

SIZES = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # of free, ball, slide, hinge: numbers in qpos, in qvel
SMALL_BIAS = 1e-3  # of the largest entry of M, at speeds of some rad/s and m/s
SPREAD = 0.5  # rad, m: how far states lie from the pose that a file draws


@dataclass
class Peer:
    """A model of MuJoCo's and the entries of its state in the order of those here."""

    model: mujoco.MjModel

    def __post_init__(self) -> None:
        model = self.model
        self.data = mujoco.MjData(model)
        kinds = [int(kind) for kind in model.jnt_type]
        order = [j for j, kind in enumerate(kinds) if kind >= 2] + [j for j, kind in enumerate(kinds) if kind < 2]
        self.q, self.v = [], []
        for j in order:
            in_q, in_v = SIZES[kinds[j]]
            self.q += range(model.jnt_qposadr[j], model.jnt_qposadr[j] + in_q)
            self.v += range(model.jnt_dofadr[j], model.jnt_dofadr[j] + in_v)
        model.opt.density = model.opt.viscosity = 0.0
        off = mujoco.mjtDisableBit
        model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS

    def random_state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Go to a random state; q and v here."""
        model, data = self.model, self.data
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, SPREAD * rng.normal(size=model.nv), 1.0)
        data.qvel[:] = rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        return data.qpos[self.q].copy(), data.qvel[self.v].copy()

    def mass_matrix(self) -> np.ndarray:
        """M at the state, in the order here."""
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M[np.ix_(self.v, self.v)]

    def bias(self) -> np.ndarray:
        """What stands on the left of M v̇ + h = τ: Coriolis, gravity, springs, dampers."""
        return (self.data.qfrc_bias - self.data.qfrc_passive)[self.v]


def without_rows(system: kb.System) -> kb.System:
    """The machine without its rows and its dry friction."""
    friction = {p.name: 0.0 for p in system.machine.parameters if p.name.endswith(".friction") and p.value}
    rows = [part.name for part in system.parts if isinstance(part, Connection | Constraint)]
    return system.remove(*rows).with_parameters(friction)


def bias(plant: kb.Plant, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The bias here, forces of Force parts included."""
    if plant.machine.forces:
        return -plant.mass_matrix(q) @ plant.motion(q, v).acceleration
    return plant.bias(q, v)


def differences(peer: Peer, system: kb.System, states: int = 5, seed: int = 1) -> tuple[float, float]:
    """Largest differences of M and of the bias, each of the largest entry of MuJoCo's."""
    plant = kb.build(without_rows(system), backend=kb.Interpreted())
    if len(plant.coordinates) != len(peer.q):
        raise ValueError(f"{len(plant.coordinates)} numbers in q, {len(peer.q)} in MuJoCo")
    rng, worst = np.random.default_rng(seed), np.zeros(2)
    for _ in range(states if peer.v else 0):
        q, v = peer.random_state(rng)
        M, M_there, h, h_there = plant.mass_matrix(q), peer.mass_matrix(), bias(plant, q, v), peer.bias()
        largest = np.abs(M_there).max()  # a bias that vanishes, as of one hinge without weight, is held to M instead
        scale = max(largest, 1e-300), max(np.abs(h_there).max(), SMALL_BIAS * largest, 1e-300)
        gaps = [np.abs(M - M_there).max() / scale[0], np.abs(h - h_there).max() / scale[1]]
        worst = np.maximum(worst, gaps)
    return float(worst[0]), float(worst[1])


def load(path: Path) -> Peer | None:
    """MuJoCo's model of a file; None: it refuses it."""
    try:
        return Peer(mujoco.MjModel.from_xml_path(str(path)))
    except ValueError:
        return None
