"""A run judges itself: another run of the same motion, with controlled error, says how far off it is, and why.

The other run costs little: it saves few samples, and it is coarse at first. A run with fixed steps is compared with one
that controls its error; a run that controls its own, with one of ten times the tolerance, which is off by about ten
times as much if the method is the same. Only if that leaves a doubt is there a sharp one with all samples, and what it
says counts; it ends soon after the time of the doubt if the run is wrong by then. In plain Python, which is slow, both
are coarser. Python functions that are sampled cannot be called again, as they may remember: the other run is given what
they gave. That opens the loop of a feedback law, so where errors of the tolerance then grow, as beside a position that
only feedback holds, the energy balance is all there is to judge by.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.constrain.stabilisation import Projection
from kalaba.errors import KalabaError
from kalaba.plant.state import State
from kalaba.results.accuracy import Judgement, StateError, energy_cause, energy_error, is_wrong
from kalaba.results.run import Ending
from kalaba.run.loops import run_task
from kalaba.run.task import fastest_rate
from kalaba.steppers import Auto, Stepper
from kalaba.steppers.auto import STEPS_SHARE
from kalaba.tolerances import (
    ENERGY_LOST,
    ERROR_GROWN,
    JOLT,
    MOVES_LITTLE,
    MOVES_NOT,
    ON_GRID,
    STATE_DOUBTED,
    STATE_WRONG,
)

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.run.task import Task
    from kalaba.space.arrays import Array

COMPARED = 100  # samples of a run and the first one beside it, about: up to twice as many
COARSEST, COARSE, SHARP = 1e-4, 1e-6, 1e-10  # rtol of a step of what runs with fixed steps are compared with
ATOL = 1e-3  # of rtol
LOOSEST, LOOSER = 1000.0, 10.0  # times its own tolerance, for runs that control their error
TIGHTER = 1e-3  # of its own tolerance, where that leaves a doubt
SHARPEST = 1e-13
MORE_STEPS, FEWEST_STEPS = 20, 20_000  # the other run may take so many times the steps of the run, and at least so many
FEWEST_PLAIN = 500  # the same in plain Python, where a step takes milliseconds
BEGINNING = 0.1  # of a run by a method for structures, which is compared first
STRUCTURAL_ORDER = 2  # of methods that collocate the acceleration
PAST_DOUBT = 1.5  # times the time when a coarse run was first off: how far a sharp one goes to see whether that is so
FARTHER = 10.0  # steps past where a run broke off
SHORTEST_CHECK = 1e-3  # s of wall time, where the run has used up its own
BY_LONG_STEPS = {Ending.NOT_FINITE, Ending.RESIDUAL_GROWTH, Ending.UNSOLVED, Ending.INCONSISTENT}  # may come of them


class Comparison(NamedTuple):
    """How far two runs of one motion are apart.

    Arguments:
        other: the run beside the one that is judged; None: there is none
        error: the largest difference; nan: they have no two samples in common
        since: when they were first apart by more than `STATE_WRONG`, s; infinite: never
    """

    other: Run | None
    error: StateError = StateError()
    since: float = np.inf

    @property
    def is_whole(self) -> bool:
        """Whether the other run came to its end; what is left out is less than one of its samples."""
        return self.other is not None and not self.other.status.failed and not np.isnan(self.error.size)


def judge(task: Task, run: Run) -> Judgement:
    """Say how far off the states of a run and its energy are, and why if they are far off."""
    if run.status.failed or len(run.time) < 2:
        return Judgement(cause=run.status.message)
    judged = _by_states(task, run)
    if judged.cause or (judged.is_jolted and run.effort.jolt[0] > JOLT):  # a jolt takes energy, and is told as such
        return judged
    return judged._replace(cause=_energy_cause(run))


def _by_states(task: Task, run: Run) -> Judgement:
    """Compare with another run, coarse at first; if that leaves a doubt, with a sharp one, and what it says counts."""
    coarse, sharp = _checkers(task)
    first = _coarsely(task, run, coarse)
    if first.is_whole and first.error.size <= STATE_DOUBTED:
        return Judgement(_error_of(task, first, coarse), "", coarse.words, is_jolted=_is_jolted(first))
    soon = task.duration if task.is_sampled else min(PAST_DOUBT * first.since, task.duration)
    beside = _sharply(task, run, sharp, soon)
    if task.is_sampled and _grows(task, first.other, beside.other, coarse):
        return Judgement()
    if is_wrong(beside.error):
        cause = _cause(task, beside)
    else:
        cause = "" if beside.is_whole else _not_checked(task, beside, sharp)
    return Judgement(beside.error, cause, sharp.words, is_jolted=_is_jolted(beside))


def _coarsely(task: Task, run: Run, coarse: Auto) -> Comparison:
    """Compare with a coarse run; methods for structures leave out what is fast, which shows soon, if it does."""
    if task.stepper.scheme is not None:
        beside = _beside(task, run, coarse, len(run.time), BEGINNING * task.duration)
        if beside.error.size > STATE_DOUBTED:
            return beside
    return _beside(task, run, coarse, COMPARED)


def _sharply(task: Task, run: Run, sharp: Auto, soon: float) -> Comparison:
    """Compare with a sharp run, up to a time at first: a motion that is off stays off, and its errors grow."""
    for until in (soon, task.duration) if soon < task.duration else (task.duration,):
        beside = _beside(task, run, sharp, len(run.time), until)
        beside = beside._replace(error=_error_of(task, beside, sharp))
        if is_wrong(beside.error):
            break
    return beside


def _grows(task: Task, first: Run | None, second: Run | None, checker: Auto) -> bool:
    """Whether errors of the first run's tolerance grow in a motion: a second, sharper one goes elsewhere."""
    if first is None or second is None or first.status.failed or second.status.failed:
        return True
    apart = _compare(task, first, second, is_part=False).error.size
    return not apart <= ERROR_GROWN * (checker.pace.rtol or 0.0) / STEPS_SHARE


def _checkers(task: Task) -> tuple[Auto, Auto]:
    """The steppers of a coarse and of a sharp run beside; plain Python, a thousand times slower, has coarser ones."""
    rtol = task.stepper.pace.rtol  # of a single step; None = steps are fixed
    if task.plant.is_native:
        tolerances = (COARSE, SHARP) if rtol is None else (LOOSER * rtol, TIGHTER * rtol)
    else:
        tolerances = (COARSEST, COARSE) if rtol is None else (LOOSEST * rtol, LOOSER * rtol)
    return _checker(tolerances[0]), _checker(tolerances[1])


def _error_of(task: Task, beside: Comparison, checker: Auto) -> StateError:
    """The run's own part of a difference: the error of one method falls with its tolerance."""
    error, rtol = beside.error, task.stepper.pace.rtol
    if rtol is None or task.stepper.tableau is not checker.tableau:
        return error
    looser = (checker.pace.rtol or rtol) / rtol if rtol else checker.pace.atol / task.stepper.pace.atol
    return error._replace(size=error.size / max(1.0, looser))


def _is_jolted(beside: Comparison) -> bool:
    return beside.other is None or beside.other.effort.jolt[0] > JOLT


@cache
def _checker(rtol: float) -> Auto:
    """The stepper of another run, by the tolerance of a single step."""
    whole = float(f"{max(rtol, SHARPEST) / STEPS_SHARE:.3g}")  # as a person would write it
    return Auto(whole, float(f"{ATOL * whole:.3g}"))


def _energy_cause(run: Run) -> str:
    """Words for a run whose states are as they should be, as far as they are known, and whose energy is not."""
    energy = energy_error(run)
    return energy_cause(run, energy) if energy > ENERGY_LOST else ""


def failure_cause(task: Task, run: Run) -> str:
    """Say that steps are too long, of a run with fixed steps that broke off where one with controlled error goes on."""
    step = task.stepper.pace.step
    if run.status.ending not in BY_LONG_STEPS or not task.stepper.pace.is_fixed:
        return ""
    if task.is_sampled:
        return ""
    duration = min(task.duration, run.status.time + FARTHER * step)
    other = _run_beside(task, run, _checker(COARSE), duration, max(task.save_every, duration / COMPARED))
    if other is None or other.status.failed:
        return ""
    states = (task.start, State(other.q[-1], other.v[-1]))
    return _long_steps(task, max(fastest_rate(task.plant, state) for state in states))


def _beside(task: Task, run: Run, stepper: Stepper, samples: int, until: float = np.inf) -> Comparison:
    """Compare with the same motion by another stepper, projected, at about so many samples, until a time."""
    every = max(1, (len(run.time) - 1) // samples)
    count = (len(run.time) - 1) // every
    duration = min(count * every * task.save_every, task.duration) or task.duration
    other = _run_beside(task, run, stepper, min(duration, until, float(run.time[-1])), every * task.save_every)
    return Comparison(None) if other is None else _compare(task, run, other, is_part=until < task.duration)


def _run_beside(task: Task, run: Run, stepper: Stepper, duration: float, save_every: float) -> Run | None:
    """The same motion by another stepper, projected; None: it cannot do it."""
    other = replace(
        task,
        stepper=stepper,
        stabilisation=Projection(),
        duration=duration,
        save_every=save_every,
        stop=None,
        progress=None,
        max_steps=max(MORE_STEPS * run.effort.steps, FEWEST_STEPS if task.plant.is_native else FEWEST_PLAIN),
        max_time=max(task.max_time - run.effort.wall_time, SHORTEST_CHECK),
        samplers=tuple(sampler.replayed() for sampler in task.samplers),
    )
    try:
        return run_task(other)
    except KalabaError:
        return None


def _compare(task: Task, run: Run, other: Run, *, is_part: bool) -> Comparison:
    """The largest difference of two runs at their common samples, and where it is.

    It is measured by how far the other run moves. One that is meant to end early does not know that: there the run's
    own motion counts too, so that nothing is taken for wrong that the whole run would show to be right.
    """
    places = np.minimum(np.searchsorted(run.time, other.time), len(run.time) - 1)
    places -= (places > 0) & (np.abs(run.time[places - 1] - other.time) < np.abs(run.time[places] - other.time))
    same = np.abs(run.time[places] - other.time) <= ON_GRID * max(task.save_every, float(run.time[-1]))
    if same.sum() < 2:
        return Comparison(other)
    scales, plant, places, times = task.plant.scales, task.plant, places[same], other.time[same]
    least = MOVES_NOT / float(run.time[-1])  # of a velocity
    q, v = other.q[same], other.v[same]
    moved = np.abs(np.vstack([q, run.q] if is_part else [q]) - other.q[0]).max(axis=0)
    fastest = np.abs(np.vstack([v, run.v] if is_part else [v])).max(axis=0)
    parts = (
        _relative(run.q[places] - q, moved, scales.coordinates, MOVES_NOT),
        _relative(run.v[places] - v, fastest, scales.velocities, least),
    )
    apart = np.concatenate(parts, axis=1)
    names = (*plant.coordinates, *plant.velocities)
    k, i = np.unravel_index(int(np.argmax(apart)), apart.shape)
    error = StateError(float(apart[k, i]), names[int(i)] if apart[k, i] > 0 else "", float(times[k]))
    is_off = (apart > STATE_WRONG).any(axis=1)
    return Comparison(other, error, float(times[np.argmax(is_off)]) if is_off.any() else np.inf)


def _relative(difference: Array, extent: Array, sizes: Array, least: float) -> Array:
    """Differences in parts of how far each column moves; one that moves little, of a part of what moves most."""
    most = float((extent / sizes).max(initial=0.0))
    with np.errstate(all="ignore"):
        apart = np.abs(difference) / np.maximum(extent, max(MOVES_LITTLE * most, least) * sizes)
    return np.asarray(np.nan_to_num(apart, nan=np.inf, posinf=np.inf))


def _cause(task: Task, beside: Comparison) -> str:
    """Name what makes a run wrong, and what to do."""
    error, other, pace = beside.error, beside.other, task.stepper.pace
    said = f"{task.name}: {error.name} is off by about {error.size:.2g} of its motion at t = {error.time:.4g} s"
    assert other is not None  # noqa: S101  (something was compared)
    jolt, time = other.effort.jolt
    if jolt > JOLT and time <= beside.since:  # whatever the steps are
        return (
            f"{said}: the machine passes near a singular position at t = {time:.4g} s, where motions part. "
            "Start or drive it so that it keeps away."
        )
    if pace.rtol is None:
        rate = _fastest(task, beside)
        if error.size > ERROR_GROWN * _error_of_steps(task, rate):
            return f"{said}: the motion is sensitive, and small errors of its steps grow to that. Try a shorter run."
        return f"{said}: {_long_steps(task, rate)}"
    tighter = f"Try kb.Auto(rtol={TIGHTER * pace.rtol / STEPS_SHARE:.0e})"
    if error.size < ERROR_GROWN * pace.rtol / STEPS_SHARE:
        return f"{said}: the tolerance of {task.stepper.words} is loose. {tighter}."
    return (
        f"{said}: the motion is sensitive, and errors of the tolerance of {task.stepper.words} grow to that. "
        f"{tighter}, or a shorter run."
    )


def _error_of_steps(task: Task, rate: float) -> float:
    """The order of magnitude of what fixed steps are off by where errors add up and do not grow: ω T (ω h)ᵖ."""
    stepper = task.stepper
    order = stepper.tableau.order if stepper.scheme is None else STRUCTURAL_ORDER
    return rate * task.duration * (rate * stepper.pace.step) ** order


def _long_steps(task: Task, rate: float) -> str:
    step = task.stepper.pace.step
    return (
        f"the step of {step:.3g} s is too long for rates up to {rate:.3g} /s, ω h = {rate * step:.2g}. "
        "Leave the steps to kb.Auto(), or shorten them."
    )


def _fastest(task: Task, beside: Comparison) -> float:
    """The fastest rate of the motion at the start and where the run was first off, 1/s: it swings, decays or turns."""
    other = beside.other
    assert other is not None  # noqa: S101  (something was compared)
    at = min(int(np.searchsorted(other.time, beside.since)), len(other.time) - 1)
    turns = np.array([velocity.unit == "rad/s" for velocity in task.plant.machine.velocities])
    turning = np.abs(other.v[: at + 1, turns]).max(initial=0.0)
    states = (task.start, State(other.q[at], other.v[at]))
    return float(max(turning, *(fastest_rate(task.plant, state) for state in states)))


def _not_checked(task: Task, beside: Comparison, checker: Auto) -> str:
    """Words for a run that cannot be compared up to its end."""
    if beside.other is None:
        return f"{task.name}: the run could not be checked, as {checker.words} cannot do it."
    ending = beside.other.status
    if ending.ending is Ending.TIME_LIMIT:  # the user's own
        return ""
    return (
        f"{task.name}: the run could be checked up to t = {ending.time:.4g} s only, where {checker.words} ended with "
        f'"{ending.ending.value}" after {beside.other.effort.steps} steps. Take shorter steps or a smaller tolerance.'
    )
