"""What runs in plain Python record: samples, what drives the motors, how they end, and the Run made of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.constrain.solvers import Motion
from kalaba.errors import ConstraintError, KalabaError, NotFiniteError
from kalaba.plant.evaluate import motion_with
from kalaba.plant.reference import Drive, RowError, RowsInUse, hold, packed_state, parts
from kalaba.results.run import Effort, Ending, Run, Status, Worst
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
    work: float  # done since the start, J


def sample_times(task: Task) -> list[float]:
    """When samples are due: at multiples of save_every, at last at the end, then never."""
    whole = int(np.floor(task.duration / task.save_every + ON_GRID))
    times = [k * task.save_every for k in range(whole + 1)]
    if task.duration / task.save_every - whole > ON_GRID:
        times.append(task.duration)
    return [*times[:-1], task.duration, np.inf]


def effort_of(task: Task, rows: RowsInUse, steps: int, wall_time: float) -> Effort:
    """What a run took, with the rows that it chose."""
    return replace(task.effort(steps, wall_time), choices=tuple(rows.choices), jolt=rows.jolt)


def ending_of(error: KalabaError) -> tuple[Ending, str]:
    """How a run ends by an error, and the row that it speaks of.

    Numbers that are not finite are refused by the next call that meets them.
    """
    if isinstance(error, RowError):
        return (Ending.INCONSISTENT if error.is_left_out else Ending.RESIDUAL_GROWTH), error.row
    contradicts = isinstance(error, ConstraintError) and not isinstance(error, NotFiniteError)
    return (Ending.INCONSISTENT if contradicts else Ending.NOT_FINITE), ""


def event_value(task: Task, state: State, t: float, drive: Drive) -> float:
    """Value of the event at a state: below 0 until the stop condition is true; -∞ = there is none."""
    return -np.inf if task.event is None else float(task.event(packed_state(task.plant, state, t, drive))[0])


def run_of_samples(plant: Plant, samples: list[Sample], status: Status, effort: Effort) -> Run:
    """A Run of what was recorded; the largest residual is that of the samples."""
    time, q, v, acceleration, force, u, work = (np.array(column) for column in zip(*samples, strict=True))
    worst = None
    if plant.constraints:
        gaps = np.array([np.abs(plant.residual(x, t)) for x, t in zip(q, time, strict=True)])
        i, row = np.unravel_index(int(np.argmax(gaps / plant.scales.rows)), gaps.shape)
        worst = Worst(float(gaps[i, row]), plant.constraints[int(row)], float(time[i]))
    return Run(plant, time, q, v, acceleration, force, u[:, : len(plant.actuators)], u, status, effort, worst, work)


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


def sample_at(plant: Plant, y: Array, t: float, drive: Drive, choice: Choice | None) -> Sample:
    """The motion at y = (work, q, v) with the rows in use; without any it is unknown."""
    work, state = parts(plant, y)
    inputs = drive(t, state.q, state.v)
    unknown = np.full(len(state.v), np.nan)
    if choice is None:
        return Sample(t, state.q, state.v, unknown, unknown.copy(), inputs, work)
    try:
        result = motion_with(plant, packed_state(plant, state, t, inputs), choice)
    except NotFiniteError:  # the state is fine, and so part of the run; the step from here will fail
        result = Motion(unknown, unknown.copy())
    return Sample(t, state.q, state.v, result.acceleration, result.constraint_force, inputs, work)
