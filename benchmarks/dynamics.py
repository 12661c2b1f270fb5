"""Constrained forward dynamics: one state in the native loop, a batch, and one call from Python."""

from itertools import cycle

import mujoco
import numpy as np

import kalaba as kb
from benchmarks.bars import AtMost, Faster, Report
from benchmarks.contenders import Contenders, agreement
from benchmarks.kernel_loop import kernel_loop
from benchmarks.timing import best_in_turns, median_and_best, repeated

BATCH = 4096
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
