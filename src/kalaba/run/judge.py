"""A run judges itself: another run of the same motion, with controlled error, says how far off it is, and why.

The other run costs little: it saves few samples, and it is coarse at first. A run with fixed steps is compared with one
that controls its error; a run that controls its own, with one of ten times the tolerance, which is off by about ten
times as much. Only if that leaves a doubt is there a sharp one, and what it says counts. Python functions that are
sampled cannot be called again, as they may remember; there the energy balance is all there is to judge by.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kalaba.constrain.stabilisation import Projection
from kalaba.errors import KalabaError
from kalaba.results.accuracy import Judgement, StateError, energy_cause, energy_error, is_wrong
from kalaba.run.native_loop import run_native
from kalaba.run.task import stable_step
from kalaba.steppers import Auto, Stepper
from kalaba.steppers.auto import STEPS_SHARE
from kalaba.tolerances import ENERGY_LOST, JOLT, MOVES_LITTLE

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.run.task import Task
    from kalaba.space.arrays import Array

COMPARED = 40  # samples of the two runs, at most
COARSE, SHARP = 1e-6, 1e-10  # rtol of a step of what runs with fixed steps are compared with
ATOL = 1e-3  # of rtol
LOOSER = 10.0  # times its own tolerance, for runs that control their error; their own error is so many times smaller
TIGHTER = 1e-3  # of its own tolerance, where that leaves a doubt
SHARPEST = 1e-13
MORE_STEPS = 20  # times those of the run: the other one may take so many, and a thousand


def judge(task: Task, run: Run) -> Judgement:
    """Say how far off the states of a run are, and why if they are far off."""
    if run.status.failed or len(run.time) < 2:
        return Judgement(cause=run.status.message)
    if task.is_sampled or not task.plant.is_native:
        return _by_energy(run)
    rtol = task.stepper.pace.rtol  # of a single step; None = steps are fixed
    checker = _checker(COARSE if rtol is None else LOOSER * rtol)
    other = _again(task, run, checker)
    error = _apart(task, run, other)
    if rtol is not None:
        error = error._replace(size=error.size / LOOSER)
    if is_wrong(error) or np.isnan(error.size):
        checker = _checker(SHARP if rtol is None else TIGHTER * rtol)
        other = _again(task, run, checker)
        error = _apart(task, run, other)
    cause = _cause(task, run, other, error) if is_wrong(error) else ""
    return Judgement(error, cause, checker.words, is_jolted=other is None or other.effort.jolt[0] > JOLT)


def _checker(rtol: float) -> Auto:
    """The stepper of another run, by the tolerance of a single step."""
    whole = float(f"{max(rtol, SHARPEST) / STEPS_SHARE:.3g}")  # as a person would write it
    return Auto(whole, float(f"{ATOL * whole:.3g}"))


def _by_energy(run: Run) -> Judgement:
    energy = energy_error(run)
    return Judgement(cause=f"{energy_cause(run, energy)}." if energy > ENERGY_LOST else "")


def _again(task: Task, run: Run, stepper: Stepper) -> Run | None:
    """The same motion by another stepper, projected, up to the last sample on the grid; None = it cannot start."""
    every = max(1, (len(run.time) - 1) // COMPARED)
    count = (len(run.time) - 1) // every
    duration = min(count * every * task.save_every, task.duration) or task.duration
    other = replace(
        task,
        stepper=stepper,
        stabilisation=Projection(),
        duration=min(duration, float(run.time[-1])),
        save_every=every * task.save_every,
        stop=None,
        progress=None,
        max_steps=MORE_STEPS * run.effort.steps + 1000,
        max_time=np.inf,
    )
    try:
        return run_native(other)
    except KalabaError:
        return None


def _apart(task: Task, run: Run, other: Run | None) -> StateError:
    """The largest difference of two runs at their common samples, and where it is."""
    if other is None:
        return StateError()
    places = np.searchsorted(run.time, other.time)
    places = np.minimum(places, len(run.time) - 1)
    places -= (places > 0) & (np.abs(run.time[places - 1] - other.time) < np.abs(run.time[places] - other.time))
    same = np.abs(run.time[places] - other.time) <= 1e-9 * max(task.save_every, float(run.time[-1]))
    if same.sum() < 2:
        return StateError()
    scales, plant = task.plant.scales, task.plant
    parts = [
        _relative(run.q, other.q[same], places[same], scales.coordinates, run.q[0]),
        _relative(run.v, other.v[same], places[same], scales.velocities, 0.0 * run.v[0]),
    ]
    found = []
    for part, names in zip(parts, (plant.coordinates, plant.velocities), strict=True):
        if part.size:
            k, i = np.unravel_index(int(np.argmax(part)), part.shape)
            found.append(StateError(float(part[k, i]), names[int(i)], float(other.time[same][k])))
    return max(found, key=lambda error: error.size, default=StateError())


def _relative(ours: Array, theirs: Array, places: npt.NDArray[np.intp], sizes: Array, origin: Array) -> Array:
    """Differences in parts of how far each column moves; one that moves little, of a part of what moves most."""
    extent = np.abs(np.vstack([ours[places], theirs]) - origin).max(axis=0)
    most = float((extent / sizes).max(initial=0.0))
    with np.errstate(all="ignore"):
        apart = np.abs(ours[places] - theirs) / np.maximum(extent, MOVES_LITTLE * most * sizes)
    return np.asarray(np.nan_to_num(apart, nan=0.0 if most == 0.0 else np.inf, posinf=np.inf))


def _cause(task: Task, run: Run, other: Run | None, error: StateError) -> str:
    """Name what makes a run wrong, and what to do."""
    name, pace = task.name, task.stepper.pace
    said = f"{name}: {error.name} is off by about {error.size:.2g} of its motion at t = {error.time:.4g} s"
    if other is not None and other.effort.jolt[0] > JOLT:  # whatever the steps are
        return (
            f"{said}: the machine passes near a singular position at t = {other.effort.jolt[1]:.4g} s, where motions "
            "part. Start or drive it so that it keeps away."
        )
    if pace.rtol is None:
        turning = float(np.abs(run.v / task.plant.scales.velocities).max())
        rate = max(2 / stable_step(task.plant, task.start), turning)
        return (
            f"{said}: the step of {pace.step:.3g} s is too long for rates up to {rate:.3g} /s, "
            f"ω h = {rate * pace.step:.2g}. Leave the steps to kb.Auto(), or shorten them."
        )
    return (
        f"{said}: the motion is sensitive, and errors of the tolerance rtol = {pace.rtol:.1g} grow to that. "
        f"Try kb.Auto(rtol={TIGHTER * pace.rtol / STEPS_SHARE:.0e}), or a shorter run."
    )
