"""The floating arm with flexible links: building, one evaluation, a run beside Exudyn, and what modes cost."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

import kalaba as kb
from benchmarks.bars import AtMost, Faster, Report, seconds
from benchmarks.kernel_loop import KernelLoop, kernel_loop
from benchmarks.machine import Array, States
from benchmarks.starting import ROOT, cold
from benchmarks.timing import best_in_turns, elapsed, repeated
from kalaba.plant.plant import Plant

ARM = "floating-flexible-arm"
REFERENCE = Path("tests/reference/data/floating-flexible-arm/case_a.npz")
MODES = (1, 2, 3, 5, 8, 12, 20)
BUDGET = 30.0  # s: no more modes after a build that took longer
ACCURACY = 2e-4  # m, of the tips
SAVE_EVERY = 0.002  # s, as the reference
STATES = 16
ROUNDS = 5  # of kalaba's runs; Exudyn's take turns with them
EXUDYN_STEPS = (5e-4, 2.5e-4)  # s
STEPPERS = {
    "generalised-α, 0.5 ms": kb.GeneralisedAlpha(5e-4),
    "central difference, 0.5 ms": kb.CentralDifference(5e-4),
    "Wilson-θ, 0.3 ms": kb.WilsonTheta(3e-4),
}


def measure_arm() -> Report:
    """Build from nothing in a fresh process, and evaluate in the native loop."""
    figures = cold("flexible")
    loop = arm_loop(kb.build(kb.load(ARM, modes=5)))
    best = best_in_turns({"loop": repeated(loop, 1 / loop.evaluations)})["loop"]
    bars = (
        AtMost(f"build {ARM}, 5 modes, all kernels of a run, nothing compiled", figures["ready"], 5.0, "s"),
        AtMost("forward dynamics of it in the native loop", best, 5e-6, "s"),
    )
    return Report(
        bars, (f"flexible: structural steppers also compile the tangent: {seconds(figures['tangent'])} more",)
    )


def measure_beside_exudyn() -> Report:
    """The run of case a with 5 modes: how far from the reference, then how long, in turns with Exudyn."""
    sys.exudynFast = True  # type: ignore[attr-defined]  (its build without range checks; read at its import)
    from benchmarks.peers.exudyn_model import SETTINGS, exudyn_arm

    scenario = kb.scenario(ARM, modes=5, case="a")
    plant = kb.build(scenario.system)
    x, y = plant.start.q[:2]

    def run(stepper: Any) -> Array:
        done = kb.simulate(plant, 1.0, stepper=stepper, control=scenario.control or None, save_every=SAVE_EVERY)
        return np.column_stack([done["link2.tip_deflection"], done["link3.tip_deflection"]])

    def peer(step: float) -> tuple[Array, float]:
        model = exudyn_arm(5, (float(x), float(y)))
        tips: list[Array] = []
        time = elapsed(lambda: tips.append(model.run(1.0, step, SAVE_EVERY)))  # its assembly is not timed
        return tips[0], time

    with np.load(ROOT / REFERENCE) as file:
        expected = file["cf5_full_tips"]
    ours = {name: float(np.abs(run(stepper) - expected).max()) for name, stepper in STEPPERS.items()}
    theirs = {step: float(np.abs(peer(step)[0] - expected).max()) for step in EXUDYN_STEPS}
    best = best_in_turns(
        {name: lambda stepper=stepper: elapsed(lambda: run(stepper)) for name, stepper in STEPPERS.items()}
        | {f"{step}": lambda step=step: peer(step)[1] for step in EXUDYN_STEPS},
        ROUNDS,
    )
    apart = tuple(AtMost(f"arm, 5 modes, {name}: tips off", off, ACCURACY, "m") for name, off in ours.items())
    same = tuple(AtMost(f"arm, 5 modes, Exudyn at {seconds(s)}: tips off", o, ACCURACY, "m") for s, o in theirs.items())
    faster = tuple(
        Faster(f"arm, 5 modes, 1 s, {name}", best[name], f"Exudyn FFRF at {seconds(step)}", best[f"{step}"], 20.0)
        for step in EXUDYN_STEPS
        for name in STEPPERS
        if max(theirs[step], ours[name]) <= ACCURACY
    )
    remarks = (
        f"Exudyn, its build without range checks: {SETTINGS}",
        "flexible: kalaba's time is the whole call of simulate, Exudyn's its SolveDynamic",
    )
    return Report((*apart, *same, *faster), remarks)


def measure_modes() -> Report:
    """What more modes cost, as a small table."""
    figures = cold("modes")
    lines = [
        f"{count:8d}{figures[f'{count} operations']:12.0f}{seconds(figures[f'{count} build']):>12}"
        f"{seconds(figures[f'{count} evaluation']):>12}"
        for count in MODES
        if f"{count} build" in figures
    ]
    left = [f"{count}" for count in MODES if f"{count} build" not in figures]
    said = f"\n  left out, the build before took over {BUDGET:g} s: {', '.join(left)} modes" if left else ""
    head = f"{'modes':>8}{'operations':>12}{'build':>12}{'evaluation':>12}"
    return Report(
        (), ("modes of each link of the floating arm, nothing compiled:\n" + "\n".join([head, *lines]) + said,)
    )


def arm_loop(plant: Plant) -> KernelLoop:
    """The motion kernel at states near the start."""
    random = np.random.default_rng(0)
    q, v = plant.start
    near = q + 0.02 * random.normal(size=(STATES, len(q)))
    states = States(near, 0.1 * random.normal(size=(STATES, len(v))), random.normal(size=(STATES, len(v))))
    return kernel_loop(plant, states)
