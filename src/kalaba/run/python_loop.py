"""The reference: explicit steppers in plain Python, for any backend and solver; independent of `compiled`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.constrain.solvers import Motion
from kalaba.errors import ConstraintError, KalabaError, ModelError, NotFiniteError
from kalaba.plant.evaluate import motion_with
from kalaba.plant.plant import Plant
from kalaba.plant.reference import (
    Drive,
    RowError,
    RowsInUse,
    Span,
    hold,
    packed_state,
    step_state,
)
from kalaba.plant.state import State
from kalaba.results.run import Effort, Ending, Run, Status, Worst
from kalaba.run.progress import Lookout
from kalaba.run.sampling import Sampler
from kalaba.space.arrays import Array
from kalaba.tolerances import ON_GRID, SAME_TIME

if TYPE_CHECKING:
    from kalaba.plant.choice import Choice
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State
    from kalaba.run.task import Task


class Sample(NamedTuple):
    """What a run records at one time."""

    time: float  # s
    q: Array
    v: Array
    acceleration: Array
    constraint_force: Array
    inputs: Array  # efforts of motors, sampled forces, and the generalised force where it is pushed


def run_python(task: Task) -> Run:
    """Fixed steps with projection, one Python call per evaluation."""
    plant, state, step = task.plant, task.start, task.stepper.pace.step
    samples: list[Sample] = []
    began = perf_counter()
    steps = max(1, int(np.ceil(task.duration / step - ON_GRID)))
    drive, ending, t, saved, row = Held(task), Ending.DONE, 0.0, 0, ""
    rows = RowsInUse(plant, projects=task.stabilisation.projects)
    lookout = Lookout(task.progress, plant, task.duration)
    take_samples(task.samplers, drive.held, 0.0, state)
    before = event_value(task, state, t, drive)
    for k in range(steps + 1):
        t = min(k * step, task.duration)
        try:
            state = rows.watch(state, t, is_start=k == 0)
        except (ConstraintError, NotFiniteError) as error:
            ending, row = ending_of(error)
            break
        if t >= saved * task.save_every - ON_GRID * step or k == steps:
            samples.append(sample_at(plant, state, t, drive, rows.choice))
            saved = int(np.floor(t / task.save_every + ON_GRID)) + 1
        if k == steps:
            break
        h = min((k + 1) * step, task.duration) - t
        try:
            with np.errstate(all="ignore"):  # numbers that are no longer finite are found below
                state = step_state(plant, state, drive, Span(t, h), task.stepper, rows)
            after = event_value(task, state, t + h, drive)
        except (ModelError, ConstraintError, NotFiniteError) as error:
            ending, row = ending_of(error)
            break
        take_samples(task.samplers, drive.held, t + h, state)
        if before < 0 <= after:
            ending, t = Ending.STOPPED, t + h
            samples.append(sample_at(plant, state, t, drive, rows.choice))
            break
        before = after
        lookout.look(t + h, k + 1, state)
    if not samples:
        samples.append(sample_at(plant, state, t, drive, None))
    return run_of_samples(plant, samples, task.status(ending, t, row), effort_of(task, rows, k, perf_counter() - began))


def effort_of(task: Task, rows: RowsInUse, steps: int, wall_time: float) -> Effort:
    """What a run took, with the rows that it chose."""
    return replace(task.effort(steps, wall_time), choices=tuple(rows.choices), jolt=rows.jolt)


def ending_of(error: KalabaError) -> tuple[Ending, str]:
    """How a run ends by an error, and the row that it speaks of.

    Numbers that are not finite are refused by the next call that meets them.
    """
    if isinstance(error, RowError):
        return (Ending.INCONSISTENT if error.is_left_out else Ending.RESIDUAL_GROWTH), error.row
    return (Ending.INCONSISTENT if isinstance(error, ConstraintError) else Ending.NOT_FINITE), ""


def event_value(task: Task, state: State, t: float, drive: Drive) -> float:
    """Value of the event at a state: below 0 until the stop condition is true; -∞ = there is none."""
    return -np.inf if task.event is None else float(task.event(packed_state(task.plant, state, t, drive))[0])


def run_of_samples(plant: Plant, samples: list[Sample], status: Status, effort: Effort) -> Run:
    """A Run of what was recorded; the largest residual is that of the samples, the work an integral of the power."""
    time, q, v, acceleration, force, u = (np.array(column) for column in zip(*samples, strict=True))
    worst = None
    if plant.constraints:
        gaps = np.array([np.abs(plant.residual(x, t)) for x, t in zip(q, time, strict=True)])
        i, row = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        worst = Worst(float(gaps[i, row]), plant.constraints[int(row)], float(time[i]))
    work = integral(time, np.array([_power(plant, sample) for sample in samples]))
    return Run(plant, time, q, v, acceleration, force, u[:, : len(plant.actuators)], u, status, effort, worst, work)


def _power(plant: Plant, sample: Sample) -> float:
    """Power of motors, forces and moving constraints, less what dampers take."""
    packed = plant.layout.pack(sample.q, sample.v, sample.time)
    hold(plant, packed, sample.inputs)
    terms = plant.evaluate("system_matrices", packed)
    force = terms["force"] + terms["bias"] + sample.constraint_force
    return float(force @ sample.v - terms["damping_power"][0])


def integral(time: Array, rate: Array) -> Array:
    """Integral since the first sample, by a cubic spline through the samples (fourth order)."""
    if len(time) < 2:
        return np.zeros(len(time))
    from scipy.interpolate import CubicSpline

    increasing = np.concatenate([[True], np.diff(time) > 0])
    spline = CubicSpline(time[increasing], rate[increasing]).antiderivative()
    return np.asarray(spline(time) - spline(time[0]))


class Held:
    """Held inputs as a function of time and state: samples stay until the next are taken, a law follows the state."""

    def __init__(self, task: Task) -> None:
        self._plant = task.plant
        self._law = task.control
        self.held: Array = np.zeros(task.held.stop - task.held.start)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Evaluate the law, if there is one."""
        if self._law is None:
            return self.held.copy()
        packed = self._plant.layout.pack(q, v, t)
        hold(self._plant, packed, self.held)
        return self._law(packed)


def take_samples(samplers: Iterable[Sampler], held: Array, t: float, state: State) -> None:
    """Take the samples that are due, between steps: a sampled function sees states of the run and no stages."""
    for sampler in samplers:
        if sampler.due <= t + SAME_TIME * max(1.0, t):
            held[sampler.part] = sampler.sample(t, state.q, state.v)


def sample_at(plant: Plant, state: State, t: float, drive: Drive, choice: Choice | None) -> Sample:
    """The motion at a state of the run with the rows in use; without any it is unknown."""
    inputs = drive(t, state.q, state.v)
    unknown = np.full(len(state.v), np.nan)
    if choice is None:
        return Sample(t, state.q, state.v, unknown, unknown.copy(), inputs)
    try:
        result = motion_with(plant, packed_state(plant, state, t, inputs), choice)
    except NotFiniteError:  # the state is fine, and so part of the run; the step from here will fail
        result = Motion(unknown, unknown.copy())
    return Sample(t, state.q, state.v, result.acceleration, result.constraint_force, inputs)
