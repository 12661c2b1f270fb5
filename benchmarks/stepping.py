"""Single steps called from Python, as in a loop of one's own."""

from __future__ import annotations

import numpy as np

import kalaba as kb
from benchmarks.bars import AtMost, Report
from benchmarks.kernel_loop import kernel_loop
from benchmarks.machine import States
from benchmarks.timing import best_in_turns, repeated

MACHINE = "dual-mobile-arm"
CLOSURES = ("parts", "weld")
STEP, BAR = 1e-3, 3e-6  # s
STEPS = 1000  # after which the gap is asked for


def measure_steps() -> Report:
    """Time `plant.step` beside one evaluation of the motion in machine code, and ask how far rows are open."""
    bars, remarks = [], []
    for closure in CLOSURES:
        plant = kb.build(kb.load(MACHINE, path=False, closure=closure))
        state, held = plant.start, np.zeros(len(plant.actuators))
        at_rest = States(state.q[np.newaxis], state.v[np.newaxis], np.zeros((1, len(state.v))))
        loop = kernel_loop(plant, at_rest)
        best = best_in_turns(
            {
                "step": repeated(lambda plant=plant, state=state, held=held: plant.step(state, held, STEP)),
                "kernel": repeated(loop, 1 / loop.evaluations),
            }
        )
        for _ in range(STEPS):
            state = plant.step(state, held, STEP)
        gap = float(np.abs(plant.residual(state.q)).max())
        what = f"plant.step of {MACHINE} ({closure}), one call from Python"
        bars.append(AtMost(what, best["step"], BAR, "s", gap))
        remarks.append(f"{what}: {best['step'] / best['kernel']:.1f} evaluations of its motion kernel")
    return Report(tuple(bars), tuple(remarks))
