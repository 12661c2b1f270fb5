"""What differs between the runs of a batch, and what is left of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kalaba.compiled.schedule import Schedule
from kalaba.errors import ModelError, near
from kalaba.plant.arguments import as_real, as_state
from kalaba.plant.plant import Plant
from kalaba.plant.state import State
from kalaba.results.run import Run, Status
from kalaba.results.runs import Runs
from kalaba.run.task import Task
from kalaba.space.arrays import Array


@dataclass(frozen=True)
class Cases:
    """What differs from run to run, one row per run."""

    names: tuple[str, ...]  # of the parameters that differ
    values: Array  # (runs, names)
    q: Array | None  # (runs, n_q); None = where the machine starts
    v: Array | None

    def __len__(self) -> int:
        return len(self.values)


def cases_of(
    plant: Plant, start: State | tuple[ArrayLike, ArrayLike] | None, parameters: Mapping[str, ArrayLike] | None
) -> Cases:
    """Check what differs; all that has several rows has as many."""
    columns = {name: np.atleast_1d(as_real(values, 1, name)) for name, values in (parameters or {}).items()}
    known = [parameter.name for parameter in plant.machine.free_parameters]
    for name, values in columns.items():
        if name not in known:
            every = {parameter.name for parameter in plant.machine.parameters}
            hint = "it shapes the equations: build a machine for each value" if name in every else near(name, known)
            raise ModelError(f"simulate_batch: {plant.system.name} has no free parameter {name!r}; {hint}")
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ModelError(f"simulate_batch: {name}: expected a finite number per run, got shape {values.shape}.")
    sides: list[Array] = []
    if start is not None:
        for name, part, width in zip("qv", as_state(start, "start"), widths(plant), strict=True):
            side = np.atleast_2d(as_real(part, width, f"start {name}"))
            if side.shape[1:] != (width,) or not np.isfinite(side).all():
                raise ModelError(
                    f"simulate_batch: start {name}: expected (runs, {width}) finite numbers, got {side.shape}."
                )
            sides.append(side)
    counts = {len(rows) for rows in (*columns.values(), *sides)} - {1}
    if len(counts) > 1:
        raise ModelError(f"simulate_batch: expected as many starts as numbers, got {sorted(counts)} of them.")
    count = counts.pop() if counts else 1
    values = np.array([np.broadcast_to(column, count) for column in columns.values()]).reshape(len(columns), count).T
    q, v = (np.array(np.broadcast_to(side, (count, side.shape[1]))) for side in sides) if sides else (None, None)
    return Cases(tuple(columns), values, q, v)


def widths(plant: Plant) -> tuple[int, int]:
    """How many numbers q and v have."""
    return len(plant.coordinates), len(plant.velocities)


class Done(NamedTuple):
    """What is left of one run."""

    time: Array
    state: Array  # (samples, n_q + n_v)
    acceleration: Array
    constraint_force: Array
    actuation: Array
    end: Array  # the last good state
    status: Status
    residual: float
    steps: int


def of_run(run: Run) -> Done:
    """What is left of a run that was made by itself."""
    size = 1.0
    if run.worst is not None:
        size = dict(zip(run.plant.constraints, run.plant.scales.rows.tolist(), strict=True))[run.worst.row]
    return Done(
        time=run.time,
        state=np.hstack([run.q, run.v]),
        acceleration=run.acceleration,
        constraint_force=run.constraint_force,
        actuation=run.actuation,
        end=np.concatenate([run.q[-1], run.v[-1]]),
        status=run.status,
        residual=0.0 if run.worst is None else run.worst.value / size,
        steps=run.effort.steps,
    )


def together(task: Task, cases: Cases, done: Sequence[Done], wall_time: float) -> Runs:
    """Put the runs into arrays along a common time; a sample at the moment of a stop is the end of its run alone."""
    n_q, _ = widths(task.plant)
    schedule = Schedule(task.duration, task.save_every)
    time = np.arange(schedule.n_samples, dtype=np.float64) * task.save_every
    time[-1] = task.duration
    arrays = {name: _filled(time, done, name) for name in ("state", "acceleration", "constraint_force", "actuation")}
    ends = np.array([one.end for one in done])
    state = arrays.pop("state")
    return Runs(
        plant=task.plant,
        parameters=dict(zip(cases.names, cases.values.T, strict=True)),
        time=time,
        q=state[..., :n_q],
        v=state[..., n_q:],
        **arrays,
        status=tuple(one.status for one in done),
        end=State(ends[:, :n_q], ends[:, n_q:]),
        residual=np.array([one.residual for one in done]),
        steps=sum(one.steps for one in done),
        wall_time=wall_time,
    )


def _filled(time: Array, done: Sequence[Done], name: str) -> Array:
    """The samples of all runs at common times; NaN where a run has none."""
    width = getattr(done[0], name).shape[1]
    filled = np.full((len(done), len(time), width), np.nan)
    for place, one in zip(filled, done, strict=True):
        count = min(len(one.time), len(time))
        count -= int((one.time[:count] != time[:count]).sum())
        place[:count] = getattr(one, name)[:count]
    return filled
