"""Long machines: how building and evaluating them grow, and chains beside Pinocchio's articulated bodies."""

from collections.abc import Callable
from itertools import cycle

import numpy as np

import kalaba as kb
from benchmarks.bars import AtMost, Bar, Faster, Report, seconds
from benchmarks.chain_machines import chain, chain_in_space, four_bars, ladder
from benchmarks.cooperation import operations, power
from benchmarks.kernel_loop import kernel_loop
from benchmarks.machine import States
from benchmarks.starting import cold
from benchmarks.timing import best_in_turns, repeated

LENGTHS = (10, 50, 100, 200)
GROWTH = 1.15  # of cost with links, as a power
BATCH = 1024
TIMES = 4.0
SAME = 1e-9  # of the largest acceleration
STATES = 16
KINDS: dict[str, Callable[[int], kb.System]] = {"in a plane": chain, "in space": chain_in_space}
BUILDS: dict[str, tuple[Callable[[int], kb.System], int, float]] = {  # what, how many, and s of processor time
    **{f"chain_{count}": (chain, count, limit) for count, limit in ((50, 3.0), (100, 6.0), (200, 15.0))},
    **{f"chain_in_space_{count}": (chain_in_space, count, limit) for count, limit in ((50, 3.0), (100, 6.0))},
    "four_bars_50": (four_bars, 50, 6.0),
    "ladder_15": (ladder, 15, 6.0),
}
ROUNDS = 3


def measure_building() -> Report:
    """Build machines from nothing to their first motion, each in fresh processes; the best of each counts."""
    bars = []
    for name, (_, _, limit) in BUILDS.items():
        best = min(cold(f"machine {name}")["ready"] for _ in range(ROUNDS))
        what = f"build {name.replace('_', ' ')} to the first motion, nothing compiled, processor time"
        bars.append(AtMost(what, best, limit, "s"))
    return Report(tuple(bars))


def measure_growth() -> Report:
    """Time one evaluation in the native loop from short chains to long ones, and fit cost = c nᵖ."""
    bars: list[Bar] = []
    remarks = []
    for kind, make in KINDS.items():
        plants = {count: kb.build(make(count)) for count in LENGTHS}
        loops = {count: kernel_loop(plant, _states(count)) for count, plant in plants.items()}
        best = best_in_turns({str(count): repeated(loop, 1 / loop.evaluations) for count, loop in loops.items()})
        times = [best[str(count)] for count in LENGTHS]
        what = f"chains {kind}, {LENGTHS[0]} to {LENGTHS[-1]} links, the kernel in the native loop: cost grows as power"
        bars.append(AtMost(what, power(LENGTHS, times), GROWTH, ""))
        counts = [operations(plants[count]) for count in LENGTHS]
        lines = [f"{n:8d}{k:12d}{seconds(t):>12}" for n, k, t in zip(LENGTHS, counts, times, strict=True)]
        head = f"{'links':>8}{'operations':>12}{'kernel':>12}"
        remarks.append(f"chains {kind}:\n" + "\n".join([head, *lines]))
    return Report(tuple(bars), tuple(remarks))


def measure_beside_pinocchio() -> Report:
    """Accelerations first; where they agree, a batch in turns with Pinocchio's `aba`."""
    from benchmarks.peers.pinocchio_chain import SETTINGS, pinocchio_chain

    bars: list[Bar] = []
    for kind, make in KINDS.items():
        for count in LENGTHS:
            system = make(count)
            plant, peer, states = kb.build(system), pinocchio_chain(system), _states(count)
            each = list(zip(states.q, states.v, states.force, strict=True))
            ours = plant.motion(states.q, states.v, states.force).acceleration
            theirs = np.array([peer.acceleration(*state) for state in each])
            apart = float(np.abs(theirs - ours).max() / np.abs(ours).max())
            if not (same := AtMost(f"chain of {count} {kind}: differs from Pinocchio, relative", apart, SAME, "")).met:
                bars.append(same)
                continue
            turns = cycle(each)
            batch = [np.resize(part, (BATCH, count)) for part in (states.q, states.v, states.force)]
            best = best_in_turns(
                {
                    "batch": repeated(lambda plant=plant, batch=batch: plant.motion(*batch), 1 / BATCH),
                    "peer": repeated(lambda peer=peer, turns=turns: peer.acceleration(*next(turns))),
                }
            )
            what = f"chain of {count} {kind}, batch of {BATCH}, a state"
            bars.append(Faster(what, best["batch"], "Pinocchio, called from Python", best["peer"], TIMES, apart))
    return Report(tuple(bars), (f"Pinocchio with chains: {SETTINGS}",))


def _states(count: int) -> States:
    """Random states of a chain."""
    random = np.random.default_rng(12)
    q, v, force = (random.uniform(-1.0, 1.0, (STATES, count)) for _ in range(3))
    return States(q, v, force)
