"""Stiff runs: scipy's implicit solver with the Jacobian from automatic differentiation, projected after each step."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import scipy.integrate

from kalaba.constrain.kernels.slopes import state_jacobian
from kalaba.errors import ConstraintError, ModelError, NotFiniteError
from kalaba.native.backend import Interpreted
from kalaba.plant.evaluate import motion
from kalaba.plant.reference import Drive, packed_state, project_state
from kalaba.plant.state import State
from kalaba.results.run import Ending, Run
from kalaba.run.progress import Lookout
from kalaba.run.python_loop import Held, Sample, event_value, run_of_samples, sample_at
from kalaba.space.arrays import Array
from kalaba.space.configuration import q_dot, unit
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
    n_q, lookout = len(plant.coordinates), Lookout(task.progress, plant, task.duration)
    began = perf_counter()
    samples, steps, ending = [sample_at(plant, task.start, 0.0, drive)], 0, Ending.DONE
    if not np.isfinite(samples[0].acceleration).all():
        return run_of_samples(plant, samples, task.status(Ending.NOT_FINITE, 0.0), task.effort())
    solver = _solver(task, drive)
    before = event_value(task, task.start, 0.0, drive)
    while solver.status == "running":
        ending = _step(solver)
        if ending.failed:
            break
        steps += 1
        dense, stop_time = solver.dense_output(), solver.t
        after = event_value(task, _at(dense, solver.t, n_q), solver.t, drive)
        if before < 0 <= after:
            ending, stop_time = Ending.STOPPED, _crossing(task, dense, solver.t_old, solver.t)
        before = after
        is_end = solver.t >= task.duration or ending is Ending.STOPPED
        samples += _samples_until(task, dense, samples[-1].time, stop_time, is_end=is_end)
        if ending is Ending.STOPPED:
            break
        _settle(task, solver)
        lookout.look(solver.t, steps, State(solver.y[:n_q], solver.y[n_q:]))
    effort = task.effort(steps, perf_counter() - began)
    return run_of_samples(plant, samples, task.status(ending, samples[-1].time), effort)


def _solver(task: Task, drive: Drive) -> OdeSolver:
    """The class of scipy that the stepper names, at the start of the run."""
    kind, pace = getattr(scipy.integrate, task.stepper.solver), task.stepper.pace
    rate, jacobian = _rate(task.plant, drive), _jacobian(task)
    return kind(rate, 0.0, np.concatenate(task.start), task.duration, jac=jacobian, rtol=pace.rtol, atol=pace.atol)


def _rate(plant: Plant, drive: Drive) -> Callable[[float, Array], Array]:
    """ẏ of the state y = (q, v)."""
    n_q = len(plant.coordinates)

    def rate(t: float, y: Array) -> Array:
        state = State(y[:n_q], y[n_q:])
        try:
            acceleration = motion(plant, packed_state(plant, state, t, drive)).acceleration
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


def _settle(task: Task, solver: OdeSolver) -> None:
    """Project the solver's state; a one-step method goes on from there."""
    n_q = len(task.plant.coordinates)
    solver.y = np.concatenate(_settled(task, State(solver.y[:n_q], solver.y[n_q:]), solver.t))
    solver.f = solver.fun(solver.t, solver.y)


def _settled(task: Task, state: State, t: float) -> State:
    """A state on the constraints; without projection one of unit quaternions."""
    if task.stabilisation.projects:
        return project_state(task.plant, state, t)
    return State(unit(task.plant.machine, state.q), state.v)


def _samples_until(task: Task, dense: DenseOutput, last: float, until: float, *, is_end: bool) -> list[Sample]:
    """Samples due in (last, until], projected; the end is always one."""
    first = int(np.floor(last / task.save_every + ON_GRID)) + 1
    final = int(np.floor(until / task.save_every + ON_GRID))
    times = [k * task.save_every for k in range(first, final + 1)]
    if is_end and (not times or times[-1] < until - SAME_TIME):
        times.append(until)
    n_q = len(task.plant.coordinates)
    drive = Held(task)
    return [sample_at(task.plant, _settled(task, _at(dense, t, n_q), t), t, drive) for t in times if t > last]


def _crossing(task: Task, dense: DenseOutput, low: float, high: float) -> float:
    """The time at which the event comes, by bisection on the dense output of the step."""
    n_q, event, layout = len(task.plant.coordinates), task.event, task.plant.layout
    assert event is not None  # noqa: S101  (it came)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        value = float(event(layout.pack(*_at(dense, middle, n_q), middle))[0])
        low, high = (low, middle) if value >= 0 else (middle, high)
    return high


def _jacobian(task: Task) -> Callable[[float, Array], Array]:
    """∂ẏ/∂y by automatic differentiation, rows chosen at the state."""
    plant, law = task.plant, task.law

    def trace() -> ca.Function:
        control = [] if law is None else law.inputs(plant.equations)
        return state_jacobian(plant.equations, control, is_singular=plant.is_singular)

    function = Interpreted().evaluator("state_jacobian", plant.key, trace, plant.parameters)
    size, n_q = len(plant.coordinates) + len(plant.velocities), len(plant.coordinates)

    def jacobian(t: float, y: Array) -> Array:
        inputs = plant.pack(y[:n_q], y[n_q:], t, rows="here" if plant.constraints else "all")
        return function(inputs).reshape((size, size), order="F")

    return jacobian
