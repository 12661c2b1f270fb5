"""Shortfalls: where a control law asks motors for more than they may give, by time, motor and amount."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from kalaba import tolerances
from kalaba.plant.choice import keep_rows, rows_at
from kalaba.plant.laws import law_function
from kalaba.results.observe import packed_samples
from kalaba.results.run import Shortfall
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.plant.laws import Law
    from kalaba.results.run import Run
    from kalaba.run.task import Task


class ShortfallWarning(UserWarning):
    """A control law asked motors for more than they may give, so that its goals are not met there."""


def shortfalls(task: Task, run: Run) -> tuple[Shortfall, ...]:
    """Every sample of a run, and motor, at which a law asked for more than its bounds allow.

    A law of expressions is evaluated again at the samples that were saved; a sampled one at each of its own.
    """
    sampled = [short for sampler in task.samplers for short in sampler.short]
    return (*(_of_law(task.law, run) if task.law is not None else ()), *sampled)


def _of_law(law: Law, run: Run) -> tuple[Shortfall, ...]:
    plant = run.plant
    low, high = law.range(plant)
    near = 1 - tolerances.WITHIN_BOUNDS  # of a bound: a larger effort may have been wanted there
    reached = ((run.actuation < near * low) | (run.actuation > near * high)).any(axis=1)
    samples = np.flatnonzero(reached)  # elsewhere motors gave all that was wanted
    if not samples.size:
        return ()
    wanted = law_function(plant, law, limited=False)  # the kernel of the run, with other bounds
    short = []
    for k in samples:
        packed = packed_samples(run, slice(k, k + 1))[0]
        if plant.constraints:
            keep_rows(plant, packed, rows_at(plant, packed).mask)
        efforts = wanted(packed)[: len(low)]
        missing = np.maximum(efforts - high, low - efforts)
        is_short = missing > tolerances.WITHIN_BOUNDS * np.maximum(np.abs(low), np.abs(high))
        time = float(run.time[k])
        short += [Shortfall(time, plant.actuators[i], float(missing[i])) for i in np.flatnonzero(is_short)]
    return tuple(short)


def shortfall_message(run: Run) -> str:
    """Say the worst of them in one line."""
    return f"{run.plant.system.name}: {worst_shortfall(run.shortfalls)}. Slow the goals down, or raise the limits."


def worst_shortfall(shortfalls: Sequence[Shortfall]) -> str:
    """Name the largest, and count the samples."""
    worst, samples = max(shortfalls, key=lambda one: one.missing), len({one.time for one in shortfalls})
    return (
        f"{worst.motor} falls short by {worst.missing:.4g} at t = {worst.time:.4g} s; motors are asked for more than "
        f"they may give at {counted(samples, 'sample')}"
    )
