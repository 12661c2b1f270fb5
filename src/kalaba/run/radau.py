"""Stiff runs: scipy's implicit solver with the Jacobian from automatic differentiation, projected after each step.

The plain loop goes on with it where its motion turns out to be stiff.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.integrate

from kalaba.constrain.kernels.slopes import state_jacobian
from kalaba.errors import ConstraintError, ModelError, NotFiniteError
from kalaba.interruption import caught
from kalaba.native.backend import Interpreted
from kalaba.plant.choice import keep_rows, not_finite
from kalaba.plant.evaluate import motion_with
from kalaba.plant.reference import Drive, RowsInUse, packed_state, power_at
from kalaba.plant.state import State
from kalaba.results.run import Ending, Run
from kalaba.run.plain_pace import absolute_tolerances
from kalaba.run.progress import Lookout
from kalaba.run.recording import Held, Sample, effort_of, ending_of, event_value, run_of_samples, sample_at
from kalaba.space.arrays import Array
from kalaba.space.configuration import q_dot
from kalaba.steppers.step_length import HALVINGS
from kalaba.tolerances import ON_GRID, SAME_TIME

if TYPE_CHECKING:
    import casadi as ca
    from scipy.integrate import DenseOutput, OdeSolver

    from kalaba.plant.plant import Plant
    from kalaba.run.task import Task

GAUSS = np.polynomial.legendre.leggauss(4)  # nodes and weights on [-1, 1], exact to order 8


class Method(NamedTuple):
    """An implicit method of scipy and its tolerances."""

    kind: str  # its class in scipy.integrate
    rtol: float
    atol: float | Array


def run_stiff(task: Task) -> Run:
    """Advance scipy's solver step by step; samples are taken from its dense output and projected."""
    plant, drive, pace = task.plant, Held(task), task.stepper.pace
    rows, began = RowsInUse(plant, projects=task.stabilisation.projects), perf_counter()
    steps, time, ending, row, samples = 0, 0.0, None, "", list[Sample]()
    try:
        y = np.concatenate([[0.0], *rows.watch(task.start, 0.0, is_start=True)])
        samples.append(sample_at(plant, y, 0.0, drive, rows.choice))
        if not np.isfinite(samples[0].acceleration).all():
            raise not_finite(plant)
        method = Method(task.stepper.scipy_class, pace.rtol or 0.0, absolute_tolerances(task))
        loop = ImplicitLoop(task, method, (0.0, y), drive, rows, samples)
        while ending is None:
            ending = loop.step() or task.limit_reached(loop.steps, perf_counter() - began, is_at_end=False)
            steps, time = loop.steps, loop.time
    except (ConstraintError, ModelError, NotFiniteError) as error:
        ending, row = ending_of(error)
    except KeyboardInterrupt:
        caught()
        ending = Ending.INTERRUPTED
    if not samples:
        samples.append(sample_at(plant, np.concatenate([[0.0], *task.start]), 0.0, drive, None))
    effort = effort_of(task, rows, steps, perf_counter() - began)
    time = samples[-1].time if ending is Ending.STOPPED else time
    return run_of_samples(plant, samples, task.status(ending, time, row), effort)


class ImplicitLoop:
    """A run that goes on by a solver of scipy, from a time and y = (work, q, v) there; it adds to the samples."""

    def __init__(
        self,
        task: Task,
        method: Method,
        begin: tuple[float, Array],
        drive: Drive,
        rows: RowsInUse,
        samples: list[Sample],
    ) -> None:
        (t, y), kind = begin, getattr(scipy.integrate, method.kind)
        self._task, self._plant, self._drive, self._rows, self._samples = task, task.plant, drive, rows, samples
        self._rate, jacobian = _Rate(task.plant, drive, rows), _jacobian(task, rows)
        self._solver = kind(self._rate, t, y[1:], task.duration, jac=jacobian, rtol=method.rtol, atol=method.atol)
        self._work, self._worked_until = float(y[0]), t
        self._event = event_value(task, self._state, t, drive)
        self._lookout = Lookout(task.progress, task.plant, task.duration)
        self.steps = 0

    @property
    def time(self) -> float:
        """Where the run stands, s."""
        return float(self._solver.t)

    @property
    def _state(self) -> State:
        return State(*np.split(self._solver.y, [len(self._plant.coordinates)]))

    def step(self) -> Ending | None:
        """One step; how the run ends if it does. Samples are added as they are due."""
        task, solver = self._task, self._solver
        ending = _step(solver)
        if ending.failed:
            return ending if self._rate.is_finite or ending is not Ending.STEP_UNDERFLOW else Ending.NOT_FINITE
        self.steps += 1
        dense, stop = solver.dense_output(), solver.t
        before, self._event = self._event, event_value(task, self._state, solver.t, self._drive)
        is_stopped = before < 0 <= self._event
        if is_stopped:
            stop = _crossing(task, self._rows, dense, (solver.t_old, solver.t))
        is_done = solver.status != "running"
        self._take_samples(dense, stop, is_end=is_done or is_stopped)
        if is_stopped:
            return Ending.STOPPED
        self._settle()
        self._lookout.look(solver.t, self.steps, self._state)
        return Ending.DONE if is_done else None

    def _settle(self) -> None:
        """Project the solver's state, and choose rows again if need be; a one-step method goes on from there."""
        state = self._rows.project(self._state, self._solver.t)
        self._solver.y = np.concatenate(self._rows.watch(state, self._solver.t))
        self._solver.f = self._solver.fun(self._solver.t, self._solver.y)

    def _take_samples(self, dense: DenseOutput, until: float, *, is_end: bool) -> None:
        """Add the samples due after the last one and until a time, projected; the end is always one."""
        last, save_every = self._samples[-1].time, self._task.save_every
        first = int(np.floor(last / save_every + ON_GRID)) + 1
        final = int(np.floor(until / save_every + ON_GRID))
        times = [k * save_every for k in range(first, final + 1)]
        if is_end and (not times or times[-1] < until - SAME_TIME * min(save_every, 1.0)):
            times.append(until)
        n_q = len(self._plant.coordinates)
        for t in (time for time in times if time > last):
            self._add_work(dense, t)
            y = np.concatenate([[self._work], *self._rows.project(_at(dense, t, n_q), t)])
            self._samples.append(sample_at(self._plant, y, t, self._drive, self._rows.choice))
        self._add_work(dense, until)

    def _add_work(self, dense: DenseOutput, until: float) -> None:
        """Integrate the power along the step's dense output, by Gauss's rule."""
        start, length = self._worked_until, until - self._worked_until
        for node, weight in zip(*GAUSS, strict=True):
            t = start + (1.0 + node) / 2 * length
            packed = packed_state(self._plant, _at(dense, t, len(self._plant.coordinates)), t, self._drive)
            force = motion_with(self._plant, packed.copy(), self._rows.choice).constraint_force
            self._work += weight / 2 * length * power_at(self._plant, packed, force)
        self._worked_until = until


class _Rate:
    """ẏ of the state y = (q, v) with the rows in use, and whether the last one had a finite value."""

    def __init__(self, plant: Plant, drive: Drive, rows: RowsInUse) -> None:
        self._plant, self._drive, self._rows = plant, drive, rows
        self.is_finite = True

    def __call__(self, t: float, y: Array) -> Array:
        plant, n_q = self._plant, len(self._plant.coordinates)
        state = State(y[:n_q], y[n_q:])
        try:
            packed = packed_state(plant, state, t, self._drive)
            rate = np.concatenate(
                [q_dot(plant.machine, *state), motion_with(plant, packed, self._rows.choice).acceleration]
            )
        except (ModelError, NotFiniteError):  # Newton's method takes NaN for a step that is too long
            rate = np.full(len(y), np.nan)
        self.is_finite = bool(np.isfinite(rate).all())
        return rate


def _step(solver: OdeSolver) -> Ending:
    """Take a step and say how it went."""
    try:
        failure = solver.step()
    except ConstraintError:
        return Ending.INCONSISTENT
    except (ValueError, np.linalg.LinAlgError) as error:
        failure = str(error)
    return Ending.DONE if failure is None else Ending.STEP_UNDERFLOW


def _at(dense: DenseOutput, t: float, n_q: int) -> State:
    y = dense(t)
    return State(y[:n_q], y[n_q:])


def _crossing(task: Task, rows: RowsInUse, dense: DenseOutput, span: tuple[float, float]) -> float:
    """The time at which the event comes within a step, by bisection on the states that would be recorded."""
    low, high = span
    n_q, event, layout = len(task.plant.coordinates), task.event, task.plant.layout
    assert event is not None  # noqa: S101  (it came)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        value = float(event(layout.pack(*rows.project(_at(dense, middle, n_q), middle), middle))[0])
        low, high = (low, middle) if value >= 0 else (middle, high)
    return high


def _jacobian(task: Task, rows: RowsInUse) -> Callable[[float, Array], Array]:
    """∂ẏ/∂y by automatic differentiation with the rows in use."""
    plant, law = task.plant, task.law

    def trace() -> ca.Function:
        control = [] if law is None else law.inputs(plant.equations)
        return state_jacobian(plant.equations, control, is_singular=plant.is_singular)

    function = Interpreted().evaluator("state_jacobian", plant.key, trace, plant.parameters)
    size, n_q = len(plant.coordinates) + len(plant.velocities), len(plant.coordinates)

    def jacobian(t: float, y: Array) -> Array:
        inputs = plant.pack(y[:n_q], y[n_q:], t)
        keep_rows(plant, inputs, (rows.choice.mask > 0.0).astype(float))  # the whole machine, whoever eliminates a row
        return function(inputs).reshape((size, size), order="F")

    return jacobian
