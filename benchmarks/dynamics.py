"""Constrained forward dynamics: one state in the native loop, a batch, and one call from Python."""

from itertools import cycle

import mujoco
import numpy as np

import kalaba as kb
from benchmarks.bars import AtMost, Faster, Report
from benchmarks.contenders import Contenders, agreement
from benchmarks.kernel_loop import kernel_loop
from benchmarks.machine import TO_PEER, Array
from benchmarks.timing import best_in_turns, median_and_best, repeated

BATCH = 4096
FRAME, PEER_JOINT = "right.link3", "right.theta3"
SAME = 1e-9  # relative: both work out the same sums
PINOCCHIO, MUJOCO = "Pinocchio, called from Python", "MuJoCo, called from Python"


def measure_dynamics(who: Contenders) -> Report:
    """Time forward dynamics beside the peers."""
    plant, states = who.plant, who.states
    loop = kernel_loop(plant, states)
    peer_states = cycle(list(zip(states.peer_q, states.peer_v, states.peer_force, strict=True)))
    q, v, force = (np.resize(part, (BATCH, part.shape[1])) for part in (states.q, states.v, states.force))
    who.mujoco.forward(*next(peer_states))  # writing the state into MuJoCo's arrays is not timed
    best = best_in_turns(
        {
            "loop": repeated(loop, 1 / loop.evaluations),
            "batch": repeated(lambda: plant.motion(q, v, force), 1 / BATCH),
            "pinocchio": repeated(lambda: who.pinocchio.acceleration(*next(peer_states))),
            "mujoco": repeated(lambda: mujoco.mj_forward(who.mujoco.model, who.mujoco.data)),
        }
    )
    peers = ((PINOCCHIO, best["pinocchio"]), (MUJOCO, best["mujoco"]))
    apart = agreement(who)[0].kalaba  # from the peer whose weld is rigid
    bars = (
        *(Faster("forward dynamics in the native loop", best["loop"], *peer, 10.0, apart) for peer in peers),
        *(Faster(f"forward dynamics, batch of {BATCH}, a state", best["batch"], *peer, 35.0, apart) for peer in peers),
        *_call_from_python(who),
    )
    return Report(bars, (f"motion kernel: {loop.function.kernel.instructions} operations",))


def measure_batches(who: Contenders) -> Report:
    """Batches of Jacobians and of inverse dynamics beside Pinocchio called from Python, agreement first."""
    plant, states, peer = who.plant, who.states, who.pinocchio
    joint = peer.model.getJointId(PEER_JOINT)
    mine, acceleration = plant.jacobian(FRAME, states.q), states.force  # any numbers are an acceleration
    theirs = np.array([peer.jacobian(q, joint).copy() @ TO_PEER for q in states.peer_q])
    peer_acceleration = np.ascontiguousarray(acceleration @ TO_PEER.T)
    rows = list(zip(states.peer_q, states.peer_v, peer_acceleration, strict=True))
    required = plant.required_force(states.q, states.v, acceleration)
    peer_required = np.array([peer.required_force(*row).copy() for row in rows]) @ TO_PEER
    agreement = (
        AtMost("Jacobians differ from Pinocchio's, relative", _apart(mine, theirs), SAME, ""),
        AtMost("inverse dynamics differs from Pinocchio's, relative", _apart(required, peer_required), SAME, ""),
    )
    if not all(bar.met for bar in agreement):
        return Report(agreement, ("NOT COMPARABLE: the engines disagree, so nothing was timed",))
    q, v, a = (np.resize(part, (BATCH, part.shape[1])) for part in (states.q, states.v, acceleration))
    turns = cycle(rows)
    best = best_in_turns(
        {
            "jacobian": repeated(lambda: plant.jacobian(FRAME, q), 1 / BATCH),
            "required": repeated(lambda: plant.required_force(q, v, a), 1 / BATCH),
            "peer jacobian": repeated(lambda: peer.jacobian(next(turns)[0], joint)),
            "peer required": repeated(lambda: peer.required_force(*next(turns))),
        }
    )
    bars = (
        Faster(f"Jacobian, batch of {BATCH}, a state", best["jacobian"], PINOCCHIO, best["peer jacobian"], 20.0),
        Faster(
            f"inverse dynamics, batch of {BATCH}, a state", best["required"], PINOCCHIO, best["peer required"], 20.0
        ),
    )
    return Report((*agreement, *bars))


def _apart(values: Array, expected: Array) -> float:
    return float(np.abs(values - expected).max() / np.abs(expected).max())


def _call_from_python(who: Contenders) -> tuple[AtMost, ...]:
    """Single calls, where a row depends on the others (the weld) and where none does."""
    independent = kb.build(kb.load("dual-mobile-arm", path=False))
    start = independent.start
    force = np.ones(len(independent.velocities))
    turns = cycle(list(zip(who.states.q, who.states.v, who.states.force, strict=True)))
    weld = median_and_best(lambda: who.plant.motion(*next(turns)))
    parts = median_and_best(lambda: independent.motion(*start, force))
    return tuple(
        AtMost(f"plant.motion, one call from Python, {closure}, {which}", time, 10e-6, "s")
        for closure, times in (("6 rows of rank 6", parts), ("6 rows of rank 5", weld))
        for which, time in zip(("median", "best"), times, strict=True)
    )
