"""Stiff runs: scipy's Radau with the Jacobian from automatic differentiation, projected after each step."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.kernels.slopes import state_jacobian
from kalaba.constrain.stabilisation import Projection
from kalaba.errors import ConstraintError, IntegrationError, ModelError, NotFiniteError
from kalaba.native.backend import Interpreted
from kalaba.plant.evaluate import motion
from kalaba.plant.reference import Drive, packed_state, project_state
from kalaba.plant.state import State
from kalaba.results.run import Effort, Ending, Run, Status
from kalaba.run.progress import Lookout
from kalaba.run.python_loop import Held, _run, _sample
from kalaba.space.configuration import q_dot, unit

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.run.simulate import Task

Array = NDArray[np.float64]


def run_stiff(task: Task) -> Run:
    """Advance scipy's solver step by step; samples are taken from its dense output and projected."""
    from scipy.integrate import Radau

    from kalaba.run.simulate import event_function, failure_message, settings

    if task.samplers:
        raise IntegrationError(
            f"{task.plant.system.name}: kb.Radau() takes expressions only; sampled functions need another one."
        )
    plant, drive = task.plant, Held(task)
    event = None if task.stop is None else event_function(plant, task.stop)
    n_q, lookout = len(plant.coordinates), Lookout(task.progress, plant, task.duration)
    began = perf_counter()
    samples, steps, ending = [_sample(plant, task.start, 0.0, drive)], 0, Ending.DONE
    if not np.isfinite(samples[0][3]).all():
        status = Status(Ending.NOT_FINITE, 0.0, failure_message(plant, Ending.NOT_FINITE, 0.0, ""))
        return _run(plant, samples, status, Effort(settings=settings(task)))
    tolerances = {"rtol": task.stepper.rtol, "atol": task.stepper.atol}
    solver = Radau(
        _rate(plant, drive), 0.0, np.concatenate(task.start), task.duration, jac=_jacobian(task), **tolerances
    )
    before = -1.0 if event is None else float(event(packed_state(plant, task.start, 0.0, drive))[0])
    while solver.status == "running":
        ending = _step(solver)
        if ending.failed:
            break
        steps += 1
        dense = solver.dense_output()
        stop_time = solver.t
        if event is not None:
            after = float(event(packed_state(plant, _at(dense, solver.t, n_q), solver.t, drive))[0])
            if before < 0 <= after:
                ending, stop_time = Ending.STOPPED, _crossing(plant, event, dense, solver.t_old, solver.t)
            before = after
        samples += _samples_until(
            task, dense, samples[-1][0], stop_time, solver.t >= task.duration or ending is Ending.STOPPED
        )
        if ending is Ending.STOPPED:
            break
        _settle(task, solver)
        lookout.look(solver.t, steps, State(solver.y[:n_q], solver.y[n_q:]))
    status = Status(ending, samples[-1][0], failure_message(plant, ending, samples[-1][0], ""))
    return _run(plant, samples, status, Effort(steps=steps, wall_time=perf_counter() - began, settings=settings(task)))


def _rate(plant: Plant, drive: Drive) -> Callable[[float, Array], Array]:
    """ẏ of the state y = (q, v)."""
    n_q = len(plant.coordinates)

    def rate(t: float, y: Array) -> Array:
        state = State(y[:n_q], y[n_q:])
        try:
            found = motion(plant, packed_state(plant, state, t, drive))
        except (ModelError, NotFiniteError):  # Newton's method takes NaN for a step that is too long
            return np.full(len(y), np.nan)
        return np.concatenate([q_dot(plant.machine, *state), found.acceleration])

    return rate


def _step(solver: Any) -> Ending:  # noqa: ANN401
    """Take a step and say how it went."""
    try:
        failure = solver.step()
    except ConstraintError:
        return Ending.INCONSISTENT
    except (ValueError, np.linalg.LinAlgError) as error:
        failure = str(error)
    return Ending.DONE if failure is None else Ending.STEP_UNDERFLOW


def _at(dense: Any, t: float, n_q: int) -> State:  # noqa: ANN401
    y = dense(t)
    return State(y[:n_q], y[n_q:])


def _settle(task: Task, solver: Any) -> None:  # noqa: ANN401
    """Project the solver's state; a one-step method goes on from there."""
    n_q = len(task.plant.coordinates)
    solver.y = np.concatenate(_settled(task, State(solver.y[:n_q], solver.y[n_q:]), solver.t))
    solver.f = solver.fun(solver.t, solver.y)


def _settled(task: Task, state: State, t: float) -> State:
    """A state on the constraints; without projection one of unit quaternions."""
    if isinstance(task.stabilisation, Projection):
        return project_state(task.plant, state, t)
    return State(unit(task.plant.machine, state.q), state.v)


def _samples_until(task: Task, dense: Any, last: float, until: float, is_end: bool) -> list[Any]:  # noqa: ANN401, FBT001
    """Samples due in (last, until], projected; the end is always one."""
    first = int(np.floor(last / task.save_every + 1e-9)) + 1
    final = int(np.floor(until / task.save_every + 1e-9))
    times = [k * task.save_every for k in range(first, final + 1)]
    if is_end and (not times or times[-1] < until - 1e-12):
        times.append(until)
    n_q = len(task.plant.coordinates)
    drive = Held(task)
    return [_sample(task.plant, _settled(task, _at(dense, t, n_q), t), t, drive) for t in times if t > last]


def _crossing(plant: Plant, event: Any, dense: Any, low: float, high: float) -> float:  # noqa: ANN401
    n_q = len(plant.coordinates)
    for _ in range(60):
        middle = (low + high) / 2
        value = float(event(plant.layout.pack(*_at(dense, middle, n_q), middle))[0])
        low, high = (low, middle) if value >= 0 else (middle, high)
    return high


def _jacobian(task: Task) -> Any:  # noqa: ANN401
    """∂ẏ/∂y by automatic differentiation, rows chosen at the state."""
    plant, law = task.plant, task.law

    def trace() -> Any:  # noqa: ANN401
        control = [] if law is None else law.inputs(plant.equations)
        return state_jacobian(plant.equations, control, is_singular=plant.is_singular)

    function = Interpreted().evaluator("state_jacobian", plant.key, trace, plant.parameters)
    size, n_q = len(plant.coordinates) + len(plant.velocities), len(plant.coordinates)

    def jacobian(t: float, y: Array) -> Array:
        inputs = plant.pack(y[:n_q], y[n_q:], t, rows="here" if plant.constraints else "all")
        return function(inputs).reshape((size, size), order="F")

    return jacobian
