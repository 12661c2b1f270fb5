"""How well runs judge themselves: random machines, speeds and steps, beside sharp runs of the same motion.

    python tests/accuracy_study.py 1000

prints how many runs were wrong and how many of those said nothing, and how many were right and warned of. A run is
wrong if a coordinate is off by more than 1 % of its range of motion, a velocity by more than 1 % of its largest, or
the energy by more than 1 % of what is exchanged, at any sample. Where two sharp runs do not agree either, the motion is
beyond double precision and a warning is right.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf, log10

import numpy as np

import kalaba as kb
from kalaba.constrain.stabilisation import Projection
from kalaba.errors import KalabaError
from kalaba.plant.start import take_over
from kalaba.run.checks import AccuracyWarning, SingularWarning
from kalaba.run.native_loop import run_native
from kalaba.run.task import Task
from kalaba.steppers import Stepper
from study_machines import STRUCTURES, Numbers

WRONG = 1e-2
REPRODUCIBLE = 1e-3  # the two sharp runs agree to this, or there is no truth
LITTLE = 1e-4  # of what moves most, in the machine's scales: a coordinate that moves less is measured against that
NOTHING = 1e-7  # of the size: no motion
SHARP, SHARPER = (1e-11, 1e-13), (1e-12, 1e-14)  # rtol and atol of the true motion
MOST_STEPS = 300_000  # of a run with fixed steps
TRUTH_STEPS = 1_000_000


@dataclass(frozen=True)
class Case:
    """One run of the study."""

    seed: int
    kind: str
    name: str
    stepper: Stepper
    coordinate: float = np.nan  # true error of a coordinate, of its range
    velocity: float = np.nan
    energy: float = np.nan
    said: str = ""
    has_truth: bool = True

    @property
    def is_wrong(self) -> bool:
        return not max(self.coordinate, self.velocity, self.energy) <= WRONG

    @property
    def is_wrong_in_velocity_alone(self) -> bool:
        return self.is_wrong and max(self.coordinate, self.energy) <= WRONG

    @property
    def outcome(self) -> str:
        if not self.has_truth:
            return "no truth, warned" if self.said else "no truth, silent"
        return f"{'wrong' if self.is_wrong else 'right'}, {'warned' if self.said else 'silent'}"


def random_stepper(rng: np.random.Generator, duration: float) -> Stepper:
    """The default, fixed steps from far too long to fine, or loose tolerances."""
    step = max(float(10 ** rng.uniform(-4.5, log10(duration / 4))), duration / MOST_STEPS)
    rtol = float(10 ** rng.uniform(-8, -2))
    kinds = (
        [kb.Auto()] * 6
        + [kb.RungeKutta4(step)] * 5
        + [kb.SemiImplicitEuler(step)] * 2
        + [kb.GeneralisedAlpha(step), kb.Newmark(step), kb.HHT(step), kb.WilsonTheta(step), kb.CentralDifference(step)]
        + [kb.DormandPrince(rtol, 1e-3 * rtol), kb.Kvaerno(rtol, 1e-3 * rtol), kb.Auto(rtol, 1e-3 * rtol)]
    )
    return kinds[rng.integers(len(kinds))]


def study(seeds: range) -> Iterator[Case]:
    """Run one case per seed."""
    for seed in seeds:
        rng = np.random.default_rng([seed, 12])
        kind = list(STRUCTURES)[seed % len(STRUCTURES)]
        structure = STRUCTURES[kind][rng.integers(len(STRUCTURES[kind]))]
        try:
            plant = kb.build(structure(Numbers(rng)))
            start, _ = take_over(plant, (plant.start.q, random_speeds(plant, rng)))
        except KalabaError:
            continue  # no such machine: it cannot be put together there
        duration = float(10 ** rng.uniform(log10(0.2), log10(3.0)))
        case = Case(seed, kind, plant.system.name, random_stepper(rng, duration))
        yield judged(case, plant, start, duration)


def random_speeds(plant: kb.Plant, rng: np.random.Generator) -> np.ndarray:
    """At rest, or up to hundreds of rad/s (sizes per second); beams are not bent."""
    size = 0.0 if rng.random() < 0.2 else float(10 ** rng.uniform(-1, 2.5))
    v = size * rng.normal(size=len(plant.velocities)) * plant.scales.velocities
    modes = [i for i, name in enumerate(plant.velocities) if ".mode" in name or ".twist" in name]
    v[modes] = 0.0
    return v


def judged(case: Case, plant: kb.Plant, start: kb.State, duration: float) -> Case:
    """Run, note what was said, and compare with the truth."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run = kb.simulate(plant, duration, start=start, stepper=case.stepper)
        except KalabaError as error:  # refused, or broke off: a word
            return replace(case, said=str(error), coordinate=inf, velocity=inf, energy=inf)
    words = [str(w.message) for w in caught if issubclass(w.category, AccuracyWarning | SingularWarning)]
    case = replace(case, said=" | ".join(words))
    truth = true_run(plant, start, duration, SHARPER)
    again = true_run(plant, start, duration, SHARP)
    if truth is None or again is None or max(errors(again, truth)) > REPRODUCIBLE:
        return replace(case, has_truth=False)
    coordinate, velocity, energy = errors(run, truth)
    return replace(case, coordinate=coordinate, velocity=velocity, energy=energy)


def true_run(plant: kb.Plant, start: kb.State, duration: float, tolerances: tuple[float, float]) -> kb.Run | None:
    """A sharp run, explicit if that comes to an end; None = there is none."""
    for stepper, limit in ((kb.DormandPrince(*tolerances), TRUTH_STEPS), (kb.Kvaerno(*tolerances), 10 * TRUTH_STEPS)):
        task = Task(plant, start, 0.0, duration, stepper, None, (), Projection(), 0.01, None, None, limit, inf)
        run = run_native(task)
        if not run.status.failed:
            return run
    return None


def errors(run: kb.Run, truth: kb.Run) -> tuple[float, float, float]:
    """The largest of coordinates, velocities and energy, as parts of what they do."""
    scales = truth.plant.scales
    q = part(run.q, truth.q, truth.q - truth.q[0], scales.coordinates, NOTHING)
    v = part(run.v, truth.v, truth.v, scales.velocities, NOTHING / truth.time[-1])
    kinetic, potential = truth.observed["kinetic"], truth.observed["potential"]
    exchanged = max(kinetic.max(), np.ptp(potential), np.abs(truth.work).max())
    rounding = 1e-12 * max(np.abs(potential).max(), kinetic.max())
    off = max(np.abs(run.energy - truth.energy).max(), np.abs(run.energy_balance).max())
    return q, v, float(off / exchanged) if exchanged > rounding else 0.0


def part(ours: np.ndarray, truth: np.ndarray, motion: np.ndarray, sizes: np.ndarray, least: float) -> float:
    extent = np.abs(motion).max(axis=0)
    floor = max(LITTLE * float((extent / sizes).max()), least)
    return float((np.abs(ours - truth) / np.maximum(extent, floor * sizes)).max())


def table(cases: list[Case]) -> str:
    """The counts by kind of machine, and the two figures."""
    outcomes = [
        "right, silent",
        "right, warned",
        "wrong, warned",
        "wrong, silent",
        "no truth, warned",
        "no truth, silent",
    ]
    lines = [f"{'':>10}" + "".join(f"{outcome:>18}" for outcome in outcomes)]
    for kind in (*STRUCTURES, "all"):
        counts = Counter(case.outcome for case in cases if kind in {case.kind, "all"})
        lines.append(f"{kind:>10}" + "".join(f"{counts[outcome]:>18}" for outcome in outcomes))
    total = Counter(case.outcome for case in cases)
    right = total["right, silent"] + total["right, warned"]
    lines.append(f"wrong without a word: {total['wrong, silent']} of {len(cases)}")
    lines.append(
        f"right and warned of: {total['right, warned']} of {right}, {total['right, warned'] / max(right, 1):.2%}"
    )
    alone = sum(case.is_wrong_in_velocity_alone for case in cases)
    lines.append(f"wrong in velocities alone: {alone} of {total['wrong, warned'] + total['wrong, silent']}")
    return "\n".join(lines)


if __name__ == "__main__":
    first, last = (0, int(sys.argv[1])) if len(sys.argv) < 3 else (int(sys.argv[1]), int(sys.argv[2]))
    done = []
    for case in study(range(first, last)):
        done.append(case)
        if case.outcome not in {"right, silent", "wrong, warned"}:
            print(case, flush=True)  # noqa: T201
    print(table(done))  # noqa: T201
