"""Stiff runs: scipy's implicit solver with the Jacobian from automatic differentiation, projected after each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import scipy.integrate

from kalaba.constrain.kernels.slopes import state_jacobian
from kalaba.errors import ConstraintError, ModelError, NotFiniteError
from kalaba.native.backend import Interpreted
from kalaba.plant.choice import keep_rows, not_finite
from kalaba.plant.evaluate import motion_with
from kalaba.plant.reference import Drive, RowsInUse, packed_state
from kalaba.plant.state import State
from kalaba.results.run import Ending, Run
from kalaba.run.progress import Lookout
from kalaba.run.python_loop import Held, Sample, effort_of, ending_of, event_value, run_of_samples, sample_at
from kalaba.space.arrays import Array
from kalaba.space.configuration import q_dot
from kalaba.tolerances import ON_GRID, SAME_TIME

if TYPE_CHECKING:
    import casadi as ca
    from scipy.integrate import DenseOutput, OdeSolver

    from kalaba.plant.plant import Plant
    from kalaba.run.task import Task

HALVINGS = 60  # of the step: the event's time is then known to rounding


def run_stiff(task: Task) -> Run:
    """Advance scipy's solver step by step; samples are taken from its dense output and projected."""
    plant, drive = task.plant, Held(task)
    rows, began = RowsInUse(plant, projects=task.stabilisation.projects), perf_counter()
    steps, ending, row, samples = 0, Ending.DONE, "", list[Sample]()
    try:
        start = rows.watch(task.start, 0.0, is_start=True)
        samples.append(sample_at(plant, start, 0.0, drive, rows.choice))
        if not np.isfinite(samples[0].acceleration).all():
            raise not_finite(plant)
        for steps, ending in _steps(task, start, drive, rows, samples):  # noqa: B007  (the last ones count)
            if ending.failed:
                break
    except (ConstraintError, ModelError, NotFiniteError) as error:
        ending, row = ending_of(error)
    if not samples:
        samples.append(sample_at(plant, task.start, 0.0, drive, None))
    effort = effort_of(task, rows, steps, perf_counter() - began)
    return run_of_samples(plant, samples, task.status(ending, samples[-1].time, row), effort)


def _steps(
    task: Task, start: State, drive: Drive, rows: RowsInUse, samples: list[Sample]
) -> Iterator[tuple[int, Ending]]:
    """Take the steps of a run, and give their number and how each went; samples are added as they are due."""
    plant, steps = task.plant, 0
    n_q, lookout = len(plant.coordinates), Lookout(task.progress, plant, task.duration)
    solver = _solver(task, start, drive, rows)
    before = event_value(task, start, 0.0, drive)
    while solver.status == "running":
        ending = _step(solver)
        if ending.failed:
            yield steps, ending
            return
        steps += 1
        dense, stop_time = solver.dense_output(), solver.t
        after = event_value(task, _at(dense, solver.t, n_q), solver.t, drive)
        if before < 0 <= after:
            ending, stop_time = Ending.STOPPED, _crossing(task, dense, solver.t_old, solver.t)
        before = after
        is_end = solver.t >= task.duration or ending is Ending.STOPPED
        _take_samples(task, dense, rows, samples, stop_time, is_end=is_end)
        yield steps, ending
        if ending is Ending.STOPPED:
            return
        _settle(solver, n_q, rows)
        lookout.look(solver.t, steps, State(solver.y[:n_q], solver.y[n_q:]))


def _solver(task: Task, start: State, drive: Drive, rows: RowsInUse) -> OdeSolver:
    """The class of scipy that the stepper names, at the start of the run."""
    kind, pace = getattr(scipy.integrate, task.stepper.solver), task.stepper.pace
    rate, jacobian = _rate(task.plant, drive, rows), _jacobian(task, rows)
    return kind(rate, 0.0, np.concatenate(start), task.duration, jac=jacobian, rtol=pace.rtol, atol=pace.atol)


def _rate(plant: Plant, drive: Drive, rows: RowsInUse) -> Callable[[float, Array], Array]:
    """ẏ of the state y = (q, v) with the rows in use."""
    n_q = len(plant.coordinates)

    def rate(t: float, y: Array) -> Array:
        state = State(y[:n_q], y[n_q:])
        try:
            acceleration = motion_with(plant, packed_state(plant, state, t, drive), rows.choice).acceleration
        except (ModelError, NotFiniteError):  # Newton's method takes NaN for a step that is too long
            return np.full(len(y), np.nan)
        return np.concatenate([q_dot(plant.machine, *state), acceleration])

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


def _settle(solver: OdeSolver, n_q: int, rows: RowsInUse) -> None:
    """Project the solver's state, and choose rows again if need be; a one-step method goes on from there."""
    state = rows.project(State(solver.y[:n_q], solver.y[n_q:]), solver.t)
    solver.y = np.concatenate(rows.watch(state, solver.t))
    solver.f = solver.fun(solver.t, solver.y)


def _take_samples(
    task: Task, dense: DenseOutput, rows: RowsInUse, samples: list[Sample], until: float, *, is_end: bool
) -> None:
    """Add the samples due after the last one and until a time, projected; the end is always one."""
    last = samples[-1].time
    first = int(np.floor(last / task.save_every + ON_GRID)) + 1
    final = int(np.floor(until / task.save_every + ON_GRID))
    times = [k * task.save_every for k in range(first, final + 1)]
    if is_end and (not times or times[-1] < until - SAME_TIME):
        times.append(until)
    n_q, drive = len(task.plant.coordinates), Held(task)
    for t in (time for time in times if time > last):
        samples.append(sample_at(task.plant, rows.project(_at(dense, t, n_q), t), t, drive, rows.choice))  # noqa: PERF401  (those before an error stay)


def _crossing(task: Task, dense: DenseOutput, low: float, high: float) -> float:
    """The time at which the event comes, by bisection on the dense output of the step."""
    n_q, event, layout = len(task.plant.coordinates), task.event, task.plant.layout
    assert event is not None  # noqa: S101  (it came)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        value = float(event(layout.pack(*_at(dense, middle, n_q), middle))[0])
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
