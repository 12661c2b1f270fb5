"""The reference: explicit steppers in plain Python, for any backend and solver; independent of `compiled`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from kalaba.errors import ConstraintError, ModelError, NotFiniteError
from kalaba.interruption import caught
from kalaba.plant.reference import Rate, RowsInUse, Stages, parts, rate_of, weighted
from kalaba.results.run import Ending, MethodChange, Run
from kalaba.run.plain_pace import AdaptedPace, FixedPace, StepUnderflowError, absolute_tolerances
from kalaba.run.progress import Lookout
from kalaba.run.recording import (
    Held,
    Sample,
    effort_of,
    ending_of,
    event_value,
    run_of_samples,
    sample_at,
    sample_times,
    take_samples,
)
from kalaba.space.arrays import Array
from kalaba.steppers.step_length import HALVINGS
from kalaba.steppers.tableau import ButcherTableau

if TYPE_CHECKING:
    from kalaba.run.radau import ImplicitLoop
    from kalaba.run.task import Task

CALLER_OF_SIMULATE = 6  # stack levels from here to who is warned


class StiffWarning(UserWarning):
    """A run takes long, since its motion is stiff and its loop has no implicit method for it."""


def run_python(task: Task) -> Run:
    """Explicit steps, fixed or adapted, with projection: one Python call per evaluation."""
    loop, began, row = PlainLoop(task), perf_counter(), ""
    ending: Ending | None = None
    try:
        with np.errstate(all="ignore"):  # numbers that are no longer finite are found below
            while ending is None:
                ending = loop.step() or task.limit_reached(loop.steps, perf_counter() - began, is_at_end=loop.is_at_end)
    except StepUnderflowError:
        ending = Ending.STEP_UNDERFLOW
    except (ModelError, ConstraintError, NotFiniteError) as error:
        ending, row = ending_of(error)
    except KeyboardInterrupt:
        caught()
        ending = Ending.INTERRUPTED
    return loop.finish(ending, row, perf_counter() - began)


class PlainLoop:
    """A run under way in plain Python: `step` does what `step` in `compiled/engine.py` does, in the same order."""

    def __init__(self, task: Task) -> None:
        self._task, self._plant, self._drive = task, task.plant, Held(task)
        self._rows = RowsInUse(task.plant, projects=task.stabilisation.projects)
        self._lookout = Lookout(task.progress, task.plant, task.duration)
        self._times = sample_times(task)
        self._samples: list[Sample] = []
        self.steps, self._time, self._y = 0, 0.0, np.concatenate([[0.0], *task.start])
        self._pace = FixedPace(task) if task.stepper.pace.is_fixed else AdaptedPace(task, self._y, self._rows)
        take_samples(task.samplers, self._drive.held, 0.0, task.start)
        self._event = event_value(task, task.start, 0.0, self._drive)
        self._implicit: ImplicitLoop | None = None  # what goes on where the motion is stiff
        self._changes: tuple[MethodChange, ...] = ()
        self._is_stiff = False

    @property
    def is_at_end(self) -> bool:
        """Whether the time is that of the end: no step is left to take, only a sample."""
        return self._time >= self._task.duration - self._pace.slack

    def step(self) -> Ending | None:
        """One step; how the run ends if it does."""
        if self._implicit is not None:
            return self._implicit_step(self._implicit)
        task, plant, t, slack = self._task, self._plant, self._time, self._pace.slack
        work, state = parts(plant, self._y)
        take_samples(task.samplers, self._drive.held, t, state)
        state = self._rows.watch(state, t, is_start=self.steps == 0)
        self._y = np.concatenate([[work], *state])
        if self._times[len(self._samples)] <= t + slack:
            self._record(self._times[len(self._samples)], self._y)
        if self.is_at_end:
            return Ending.DONE
        until = min([task.duration, *(sampler.due for sampler in task.samplers)])
        rate = rate_of(plant, self._drive, self._rows.choice)
        ahead, stages = self._pace.take(rate, t, self._y, until)
        work, end = parts(plant, stages.end)
        settled = np.concatenate([[work], *self._rows.settle(end, ahead)])
        self.steps += 1
        if self._look_within(Dense(task.stepper.tableau, stages, settled, rate), ahead):
            return Ending.STOPPED
        self._time, self._y = ahead, settled
        self._pace.widen(settled)
        self._lookout.look(ahead, self.steps, parts(plant, settled)[1])
        if not self._is_stiff and self._pace.is_stiff(ahead):
            self._go_on_stiff()
        return None

    def finish(self, ending: Ending, row: str, wall_time: float) -> Run:
        """The Run of what was recorded."""
        task, rows, time = self._task, self._rows, self._time
        if not self._samples:
            self._samples.append(sample_at(self._plant, self._y, 0.0, self._drive, None))
        if ending is Ending.STOPPED:
            time = self._samples[-1].time
        effort = effort_of(task, rows, self.steps, wall_time)
        rate = self._pace.stiffest
        effort = replace(effort, rejected=self._pace.rejected, changes=self._changes, stiff_rate=rate)
        effort = replace(effort, stays="" if self._changes else task.why_explicit(rate))
        return run_of_samples(self._plant, self._samples, task.status(ending, time, row), effort)

    def _go_on_stiff(self) -> None:
        """Let scipy's implicit method go on where the stepper has one for stiff motions; else say so, and stay."""
        task, plant, t = self._task, self._plant, self._time
        self._is_stiff = True
        stepper, rate = task.stepper.if_stiff, self._pace.stiffest
        if stepper is None:
            return
        if task.is_sampled:
            warnings.warn(
                f"{task.name}: stiff from t = {t:.4g} s on, rates up to {rate:.3g} /s: steps are short, since this "
                "loop has no implicit method for sampled functions. Take backend=kb.Native() and the default solver.",
                StiffWarning,
                stacklevel=CALLER_OF_SIMULATE,
            )
            return
        from kalaba.run.radau import ImplicitLoop, Method  # which imports scipy's solvers

        work, state = parts(plant, self._y)
        y = np.concatenate([[work], *self._rows.watch(state, t)])
        method = Method("Radau", stepper.pace.rtol or 0.0, absolute_tolerances(task))
        self._implicit = ImplicitLoop(task, method, (t, y), self._drive, self._rows, self._samples)
        self._changes = (MethodChange(t, method.kind, rate),)

    def _implicit_step(self, loop: ImplicitLoop) -> Ending | None:
        """One step of the implicit method."""
        ending = loop.step()
        self.steps, self._time = self.steps + 1, loop.time
        return ending

    def _look_within(self, dense: Dense, ahead: float) -> bool:
        """Record the samples that lie within a step, and the state where it meets the event; then True."""
        _, settled = parts(self._plant, dense.end)
        before, self._event = self._event, event_value(self._task, settled, ahead, self._drive)
        stop = self._crossing(dense) if before < 0 <= self._event else np.inf
        while (due := self._times[len(self._samples)]) < min(ahead - self._pace.slack, stop):
            self._record(due, self._between(dense, due))
        if stop < np.inf:
            self._record(stop, self._between(dense, stop))
        return stop < np.inf

    def _crossing(self, dense: Dense) -> float:
        """The time at which the event comes, by bisection on the states that would be recorded: projected ones."""
        low, high = 0.0, 1.0
        t, h = dense.stages.span
        for _ in range(HALVINGS):
            part = (low + high) / 2
            _, state = parts(self._plant, self._between(dense, t + part * h))
            value = event_value(self._task, state, t + part * h, self._drive)
            low, high = (low, part) if value >= 0 else (part, high)
        return t + high * h

    def _between(self, dense: Dense, t: float) -> Array:
        """The state within a step, projected, but not where that is noise."""
        start, h = dense.stages.span
        work, raw = parts(self._plant, dense((t - start) / h))
        settled = self._rows.project(raw, t)
        return np.concatenate([[work], *(raw if self._rows.is_noise(raw, settled, t) else settled)])

    def _record(self, t: float, y: Array) -> None:
        self._samples.append(sample_at(self._plant, y, t, self._drive, self._rows.choice))


class Dense:
    """The states within a step, by the tableau's dense output; without one, by the cubic through both ends."""

    def __init__(self, tableau: ButcherTableau, stages: Stages, end: Array, rate: Rate) -> None:
        self._tableau, self.stages, self.end, self._rate = tableau, stages, end, rate
        self._last: Array | None = None

    def __call__(self, part: float) -> Array:
        """The state at the part θ of the step."""
        y, (t, h), rates = self.stages.start, self.stages.span, self.stages.rates
        if self._tableau.dense:
            return y + h * weighted(self._tableau.dense_weights(part), rates)
        if self._last is None:
            self._last = self._rate(t + h, self.end)
        left = 1.0 - part
        ends = left**2 * (1.0 + 2.0 * part) * y + part**2 * (3.0 - 2.0 * part) * self.end
        return np.asarray(ends + h * part * left * (left * rates[0] - part * self._last))
