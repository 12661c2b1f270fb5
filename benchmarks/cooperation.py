"""Arms that carry one load: what more arms cost to evaluate and to build, and eight of them beside Pinocchio."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

import kalaba as kb
from benchmarks.bars import AtMost, Bar, Faster, Report, seconds
from benchmarks.kernel_loop import kernel_loop
from benchmarks.machine import States
from benchmarks.starting import cold
from benchmarks.timing import best_in_turns, elapsed, repeated
from kalaba.plant.plant import Plant
from kalaba.plant.reference import project_state

if TYPE_CHECKING:
    from benchmarks.peers.pinocchio_carry import Carrying

CARRY = "n-arm-carry"
ARMS = (2, 4, 8, 16, 32)
GROWTH = 1.1  # of cost with arms, as a power
BUILDS = (2, 32)  # arms
MORE_TO_BUILD = 1.4  # times
KERNEL = 7e-6  # s, of the largest of ARMS
LAW_ARMS, LAW = 16, 4.0  # arms whose law is compiled, s
BUILD_ROUNDS, BUDGET = 7, 30.0  # no more rounds after a build that took longer, s
BESIDE = 8  # arms
SAME = 1e-8  # of the largest acceleration
TIMES = 10.0
STATES = 16
TURNED, SPEED, FORCE = 0.05, 0.5, 10.0  # rad or m, rad/s or m/s, N·m or N: how far random states go
DURATION, STEP, RUN_ROUNDS = 0.2, 1e-3, 7
NATIVE, PYTHON = "the kernel in the native loop", "plant.motion, called from Python"


def measure_growth() -> Report:
    """Time forward dynamics from few arms to many, all of them in turns, and fit cost = c nᵖ."""
    plants = {arms: kb.build(kb.load(CARRY, arms=arms)) for arms in ARMS}
    contenders = {}
    for arms, plant in plants.items():
        states = states_near(plant)
        loop = kernel_loop(plant, states)
        turns = cycle(list(zip(states.q, states.v, strict=True)))
        contenders[f"{NATIVE} {arms}"] = repeated(loop, 1 / loop.evaluations)
        contenders[f"{PYTHON} {arms}"] = repeated(lambda plant=plant, turns=turns: plant.motion(*next(turns)))
    best = best_in_turns(contenders)
    costs = {name: [best[f"{name} {arms}"] for arms in ARMS] for name in (PYTHON, NATIVE)}
    bars = tuple(
        AtMost(f"{ARMS[0]} to {ARMS[-1]} arms, {name}: cost grows as power", power(ARMS, times), GROWTH, "")
        for name, times in costs.items()
    )
    kernel = AtMost(f"{ARMS[-1]} arms, {NATIVE}", costs[NATIVE][-1], KERNEL, "s")
    lines = [
        f"{arms:8d}{operations(plants[arms]):12d}{seconds(native):>12}{seconds(python):>14}"
        for arms, native, python in zip(ARMS, costs[NATIVE], costs[PYTHON], strict=True)
    ]
    head = f"{'arms':>8}{'operations':>12}{'kernel':>12}{'plant.motion':>14}"
    return Report((*bars, kernel), ("arms that carry one load, forward dynamics:\n" + "\n".join([head, *lines]),))


def measure_building() -> Report:
    """Build few arms and many from nothing, in fresh processes that take turns; the best of each counts."""
    best = dict.fromkeys(BUILDS, float("inf"))
    for _ in range(BUILD_ROUNDS):
        times = {arms: cold(f"carry_{arms}")["ready"] for arms in BUILDS}
        best = {arms: min(best[arms], times[arms]) for arms in BUILDS}
        if max(times.values()) > BUDGET:
            break
    few, many = BUILDS
    said = ", ".join(f"{arms} arms {seconds(time)}" for arms, time in best.items())
    what = f"build {many} arms to the first motion, nothing compiled: times that of {few}"
    return Report((AtMost(what, best[many] / best[few], MORE_TO_BUILD, ""),), (f"build to the first motion: {said}",))


def measure_law() -> Report:
    """Compile the law that carries, from nothing."""
    best = min(cold("carry_law")["law"] for _ in range(BUILD_ROUNDS // 2))
    return Report((AtMost(f"Carry with {LAW_ARMS} arms, its law compiled", best, LAW, "s"),))


def measure_beside_pinocchio() -> Report:
    """Eight arms: accelerations first; where they agree, one evaluation and a run in turns with Pinocchio."""
    from benchmarks.peers.pinocchio_carry import SETTINGS, pinocchio_carry

    system = kb.load(CARRY, arms=BESIDE)
    plant, peer = kb.build(system), pinocchio_carry(system)
    states = consistent(plant, states_near(plant))
    loaded = list(zip(states.q, states.v, states.force, strict=True))
    ours = np.array([plant.motion(*state).acceleration for state in loaded])
    theirs = np.array([peer.acceleration(*state) for state in loaded])
    apart = float(np.abs(theirs - ours).max() / np.abs(ours).max())
    same = AtMost(f"{BESIDE} arms: acceleration differs from Pinocchio's, relative", apart, SAME, "")
    remark = f"Pinocchio with {BESIDE} arms: {SETTINGS}"
    if not same.met:
        return Report((same,), (remark, "NOT COMPARABLE: the engines disagree, so nothing was timed"))

    loop, rest = kernel_loop(plant, states), np.zeros(len(plant.velocities))
    mine = cycle([(q, v) for q, v, _ in loaded])
    its = cycle([(peer.configuration(q), peer.velocity(q, v), rest) for q, v, _ in loaded])
    best = best_in_turns(
        {
            NATIVE: repeated(loop, 1 / loop.evaluations),
            PYTHON: repeated(lambda: plant.motion(*next(mine))),
            "peer": repeated(lambda: peer.peer.acceleration(*next(its))),
        }
    )
    faster = tuple(
        Faster(f"{BESIDE} arms, {name}", best[name], "Pinocchio, called from Python", best["peer"], TIMES, apart)
        for name in (PYTHON, NATIVE)
    )
    run, off = _run(plant, peer)
    return Report((same, *faster, run), (remark, off))


def _run(plant: Plant, peer: Carrying) -> tuple[Bar, str]:
    """The arms sink from their start without motors; the whole call of simulate, in turns with Pinocchio's loop."""
    steps, start = round(DURATION / STEP), plant.start

    def simulated() -> kb.Run:
        return kb.simulate(plant, DURATION, stepper=kb.RungeKutta4(STEP), save_every=DURATION)

    off = np.abs(peer.run(start, steps, STEP) - simulated().end.q).max()
    best = best_in_turns(
        {
            "whole": lambda: elapsed(simulated),
            "peer": lambda: elapsed(lambda: peer.run(start, steps, STEP)),
        },
        RUN_ROUNDS,
    )
    what = f"{BESIDE} arms, run of {DURATION:g} s at 1 ms, whole call"
    bar = Faster(what, best["whole"], "Pinocchio, RK4 in Python", best["peer"], TIMES)
    return bar, f"{BESIDE} arms, run: configuration after {DURATION:g} s differs from Pinocchio's by at most {off:.1e}"


def states_near(plant: Plant, count: int = STATES) -> States:
    """Random states near the start, quaternions of length one; they need not obey the grasps."""
    random = np.random.default_rng(11)
    q, v = plant.start
    near = q + random.uniform(-TURNED, TURNED, (count, len(q)))
    for first, _ in plant.machine.quaternions:
        near[:, first : first + 4] /= np.linalg.norm(near[:, first : first + 4], axis=1, keepdims=True)
    return States(near, random.uniform(-SPEED, SPEED, (count, len(v))), random.uniform(-FORCE, FORCE, (count, len(v))))


def consistent(plant: Plant, states: States) -> States:
    """The same states moved so that they obey the grasps and their rates."""
    projected = [project_state(plant, kb.State(q, v), 0.0) for q, v in zip(states.q, states.v, strict=True)]
    q, v = (np.array(part) for part in zip(*projected, strict=True))
    return States(q, v, states.force)


def power(sizes: tuple[int, ...], costs: list[float]) -> float:
    """The exponent p of cost = c sizeᵖ, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def operations(plant: Plant) -> int:
    """Operations of the motion kernel."""
    return int(plant.standard("motion").kernel.instructions)
