"""How long the steps of the plain loop are: on a grid, or adapted to their error. The twin of `compiled/pace.py`."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from kalaba.errors import IntegrationError, ModelError, NotFiniteError
from kalaba.plant.reference import Rate, RowsInUse, Span, Stages, parts, take_stages, weighted
from kalaba.space.arrays import Array
from kalaba.steppers.step_length import (
    FIRST_PROBE,
    MILD_STEPS,
    SMALLEST_ERROR,
    STIFF_STEPS,
    STRETCH,
    first_length,
    next_factor,
    retry_factor,
)
from kalaba.tolerances import ON_GRID, PIVOT_BESIDE, PIVOT_FADED, SAME_TIME, SHORTEST_STEP, STIFF_PAYS, STIFF_STEP

if TYPE_CHECKING:
    from kalaba.run.task import Task

EPS = float(np.finfo(np.float64).eps)


class StepUnderflowError(IntegrationError):
    """A step would have to be shorter than rounding."""


def absolute_tolerances(task: Task) -> Array:
    """The error of each entry of (q, v) that is allowed however little it has moved."""
    scales = task.plant.scales
    return task.stepper.pace.atol * np.concatenate([scales.coordinates, scales.velocities / task.duration])


class FixedPace:
    """Steps that end on the grid origin + k·step; an end off the grid shortens the step and moves the grid."""

    rejected, stiffest = 0, 0.0

    def __init__(self, task: Task) -> None:
        self._task, self._step = task, task.stepper.pace.step
        self.slack = ON_GRID * self._step + 4 * EPS * task.duration
        self._origin, self._since = 0.0, 0

    def take(self, rate: Rate, t: float, y: Array, until: float) -> tuple[float, Stages]:
        """The next step, at the latest to `until`, and where it ends."""
        h, self._since = self._step, self._since + 1
        ahead = self._origin + self._since * h
        if ahead > until + self.slack:
            h, ahead, self._origin, self._since = until - t, until, until, 0
        return ahead, take_stages(self._task.plant, self._task.stepper, rate, y, Span(t, h))

    def widen(self, y: Array) -> None:
        """Nothing is measured."""

    def is_stiff(self, _t: float) -> bool:
        """Steps stay as they are."""
        return False


class AdaptedPace:
    """Steps as long as their error estimate allows, by the controller of `steppers/step_length.py`."""

    def __init__(self, task: Task, y: Array, rows: RowsInUse) -> None:
        pace, tableau = task.stepper.pace, task.stepper.tableau
        assert pace.rtol is not None  # noqa: S101  (it is not fixed)
        self._task, self._tableau, self._rtol, self._rows = task, tableau, pace.rtol, rows
        self._exponent = 1 + min(tableau.order, tableau.embedded_order)
        self._error_weights = np.array(tableau.weights) - np.array(tableau.embedded)
        self._floors = absolute_tolerances(task)
        self._origins = np.where(np.arange(len(y) - 1) < len(task.plant.coordinates), y[1:], 0.0)
        self._extents = np.abs(y[1:] - self._origins)
        self.slack = SAME_TIME * min(task.save_every, 1.0) + 4 * EPS * task.duration
        self._next, self._longest, self._taken, self._error = pace.step, pace.max_step, 0.0, 0.0
        self.rejected, self.stiffest, self._n_stiff, self._n_mild = 0, 0.0, 0, 0
        self._first_pivots = self._largest_pivots = np.zeros(len(task.plant.constraints))

    def take(self, rate: Rate, t: float, y: Array, until: float) -> tuple[float, Stages]:
        """The next step, shortened until its error before projection is at most 1, and where it ends.

        One that would end beside a singular position is halved, once, and the next one goes through it.
        """
        h = min(self._next or self._first(rate, t, y), self._longest)
        tries, passing, has_rate, self._first_pivots = 0, 0.0, True, self._pivots(t, y)
        known = np.isfinite(self._first_pivots)
        self._largest_pivots[known] = np.maximum(self._largest_pivots, self._first_pivots)[known]
        while True:
            h, ahead = self._reach(t, h, until, has_rate=has_rate)
            stages, error = self._attempt(rate, y, Span(t, h))
            has_rate = stages is not None
            if stages is None or not error <= 1.0:
                tries, self.rejected = tries + 1, self.rejected + 1
                h *= retry_factor(error, self._exponent)
            elif not passing and ahead != until and self._ends_beside(ahead, stages):
                passing, h = h, h / 2
            else:
                break
        following = h * next_factor(error, self._error, self._exponent)
        if passing:  # cut short so that the next step goes through the singular position
            following = max(following, passing)
        elif tries:
            following = min(following, h)
        elif ahead == until:  # cut short by the end, not by the error
            following = max(following, self._next)
        self._next, self._taken, self._error = following, h, max(error, SMALLEST_ERROR)
        self._watch_stiffness(stages)
        return ahead, stages

    def widen(self, y: Array) -> None:
        """Let the extents take in a state of the run."""
        self._extents = np.maximum(self._extents, np.abs(y[1:] - self._origins))

    def is_stiff(self, t: float) -> bool:
        """Whether stability limits the steps, and many such steps lie ahead."""
        return self._n_stiff >= STIFF_STEPS and self._task.duration - t > STIFF_PAYS * self._taken

    def _reach(self, t: float, h: float, until: float, *, has_rate: bool) -> tuple[float, float]:
        """Length and end of a step: a little farther to land on `until` and not just short of it.

        Below rounding there is none: where the last try had no finite rate the motion has no value from here on.
        """
        if STRETCH * h >= until - t:
            return until - t, until
        if not h > SHORTEST_STEP * max(abs(t), self.slack):
            if not has_rate:
                raise NotFiniteError(f"{self._task.name}: the motion is not finite after t = {t:g} s.")
            raise StepUnderflowError(f"{self._task.name}: steps fall below rounding at t = {t:g} s.")
        return h, t + h

    def _attempt(self, rate: Rate, y: Array, span: Span) -> tuple[Stages | None, float]:
        """The stages of a step and their error; none where a stage has no finite value."""
        try:
            stages = take_stages(self._task.plant, self._task.stepper, rate, y, span)
        except (ModelError, NotFiniteError):  # so far off that a shorter step is the answer
            return None, inf
        if not np.isfinite(stages.rates[-1]).all():
            return None, inf
        e = span.length * np.asarray(weighted(self._error_weights, stages.rates))
        error = self._norm(e, stages.end)
        if 1.0 < error < inf and self._rows.projects:
            faded = self._least_pivot(sum(span), stages)  # σ²
            tolerance = self._rtol + self._task.stepper.pace.atol
            if faded < PIVOT_FADED and error**4 * tolerance**2 < faded:  # what projection takes away does not count
                (work, end), (_, errors) = parts(self._task.plant, stages.end), parts(self._task.plant, e)
                left = self._rows.tangent_part(end, sum(span), errors)
                error = min(error, self._norm(np.concatenate([[work], *left]), stages.end))
        return stages, error

    def _pivots(self, t: float, y: Array) -> Array:
        """The pivots of the rows in use, infinite for the others."""
        return self._rows.pivots_at(parts(self._task.plant, y)[1], t)

    def _least_pivot(self, ahead: float, stages: Stages) -> float:
        """The least pivot at the start or the end of a step, of the largest that each has been."""
        least = np.minimum(self._first_pivots, self._pivots(ahead, stages.end))
        known = np.isfinite(least) & (self._largest_pivots > 0.0)
        return float(np.min(least[known] / self._largest_pivots[known], initial=1.0))

    def _ends_beside(self, ahead: float, stages: Stages) -> bool:
        """Whether a row in use has all but vanished at the end of a step; see `PIVOT_BESIDE`."""
        return bool((self._pivots(ahead, stages.end) < PIVOT_BESIDE * self._first_pivots).any())

    def _norm(self, values: Array, trial: Array) -> float:
        """Root mean square of values_i / (floor_i + rtol E_i), without the work; see `Pace`."""
        extents = np.maximum(self._extents, np.abs(trial[1:] - self._origins))
        scale = self._floors + self._rtol * extents
        parts = np.divide(values[1:], scale, out=np.where(values[1:] == 0.0, 0.0, inf), where=scale > 0.0)
        return float(np.sqrt(np.mean(parts**2)))

    def _first(self, rate: Rate, t: float, y: Array) -> float:
        """Guess the first step from ẏ and its change over a small Euler step."""
        probe = FIRST_PROBE * self._task.duration
        here = rate(t, y)
        moved = y + probe * here
        change = self._norm(rate(t + probe, moved) - here, moved) / probe
        self._next = first_length(self._norm(here, moved), change, probe, self._exponent)
        return self._next

    def _watch_stiffness(self, stages: Stages) -> None:
        """Count the steps that stability may have limited, as `watch_stiffness` in `compiled/explicit.py` does."""
        nodes, matrix, rates = self._tableau.nodes, self._tableau.square_matrix(), stages.rates
        if nodes[-1] != nodes[-2]:
            return
        h = stages.span.length
        apart = self._norm(h * np.asarray(weighted(matrix[-1] - matrix[-2], rates)), stages.end)
        fastest = self._norm(rates[-1] - rates[-2], stages.end) / apart if apart > 0.0 else 0.0
        if h * fastest > STIFF_STEP:
            self._n_stiff, self._n_mild = self._n_stiff + 1, 0
            if self._n_stiff >= STIFF_STEPS:
                self.stiffest = max(self.stiffest, fastest)
        else:
            self._n_mild += 1
            self._n_stiff = 0 if self._n_mild == MILD_STEPS else self._n_stiff
