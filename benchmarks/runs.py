"""Runs in steps of 1 ms: 4 s with projection beside the loops of the peers, and 1,000 s, what a step of them takes."""

import warnings

import numpy as np

import kalaba as kb
from benchmarks.bars import AtMost, Faster, Report
from benchmarks.contenders import Contenders
from benchmarks.machine import TO_PEER, Array, machine
from benchmarks.timing import best_in_turns, elapsed
from kalaba.run.checks import AccuracyWarning

DURATION, STEP = 4.0, 1e-3
LONG, A_STEP, CLOSED = 1000.0, 2e-6, 1e-14  # s, s, m or rad
ROUNDS = 7


def measure_runs(who: Contenders) -> Report:
    """Time whole runs beside the peers; no motor acts, the arms swing."""
    steps = round(DURATION / STEP)
    start = kb.State(who.states.q[0], who.states.v[0])
    q, v = who.states.peer_q[0], who.states.peer_v[0]
    run = _run(who, start)
    remarks = (
        f"run: {run.effort.steps} steps, {len(run.effort.choices)} choices of rows, worst gap {run.worst.value:.1e}",
        _difference("Pinocchio's loop", np.concatenate(who.pinocchio.run(q, v, steps, STEP)), run),
        _difference("MuJoCo's rollout (soft weld)", who.mujoco.roll(q, v, steps)[-1, 1:], run),
    )
    best = best_in_turns(
        {
            "inside": lambda: _run(who, start).effort.wall_time,
            "whole": lambda: elapsed(lambda: _run(who, start)),
            "pinocchio": lambda: elapsed(lambda: who.pinocchio.run(q, v, steps, STEP)),
            "mujoco": lambda: elapsed(lambda: who.mujoco.roll(q, v, steps)),
        },
        ROUNDS,
    )
    peers = (
        ("Pinocchio, RK4 in Python", best["pinocchio"], 20.0),
        ("MuJoCo, mujoco.rollout, RK4", best["mujoco"], 12.0),
    )
    bars = [
        Faster(f"run of {DURATION:g} s at 1 ms, {part}", best[key], *peer, run.worst.value)
        for key, part in (("inside", "integration"), ("whole", "whole call"))
        for peer in peers
    ]
    return Report(tuple(bars), remarks)


def measure_long_run() -> Report:
    """A long run without motors, closed by a weld, one of whose rows depends on the others."""
    plant = machine()

    def simulated(duration: float) -> kb.Run:
        return kb.simulate(plant, duration, stepper=kb.RungeKutta4(STEP), save_every=duration)

    simulated(STEP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # arms that swing so long are chaotic; their gap is asked for
        run = simulated(LONG)
    rounds = [simulated(DURATION).effort for _ in range(ROUNDS)]
    a_step = min(effort.wall_time / effort.steps for effort in rounds)
    what = f"step of {STEP:g} s with projection, of a run"
    return Report(
        (
            AtMost(what, a_step, A_STEP, "s", run.worst.value),
            AtMost(f"largest gap of a run of {LONG:g} s", run.worst.value, CLOSED, ""),
        ),
        (f"run of {LONG:g} s: {run.effort.wall_time / run.effort.steps * 1e6:.2f} µs per step, all of them",),
    )


def _run(who: Contenders, start: kb.State) -> kb.Run:
    return kb.simulate(who.plant, DURATION, start=start, stepper=kb.RungeKutta4(STEP))


def _difference(name: str, end: Array, run: kb.Run) -> str:
    """How far a peer ends from kalaba, in its coordinates."""
    expected = np.concatenate([TO_PEER @ run.end.q, TO_PEER @ run.end.v])
    return f"run: state after {DURATION:g} s differs from {name} by at most {np.abs(end - expected).max():.1e}"
