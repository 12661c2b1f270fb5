"""Stiff runs: scipy's Radau with the Jacobian from automatic differentiation, projected after each step."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.backend import Interpreted
from kalaba.constrain.functions import state_jacobian
from kalaba.constrain.stabilisation import Projection
from kalaba.errors import ConstraintError, IntegrationError
from kalaba.forward import choose, motion
from kalaba.oracle import project_state, q_dot
from kalaba.run import Effort, Ending, Run, Status
from kalaba.state import State

if TYPE_CHECKING:
    from kalaba.plant import Plant
    from kalaba.simulate import Task

Array = NDArray[np.float64]


def run_stiff(task: Task) -> Run:
    """Advance scipy's solver step by step; samples are taken from its dense output and projected."""
    from scipy.integrate import Radau

    from kalaba.oracle import Held, _packed, _run, _sample
    from kalaba.simulate import event_function, failure_message, settings

    if task.samplers:
        message = f"{task.plant.system.name}: kb.Radau() takes expressions only; sampled functions need another one."
        raise IntegrationError(message)
    plant, drive = task.plant, Held(task)
    event = None if task.stop is None else event_function(plant, task.stop)
    n_q = len(plant.coordinates)

    def rate(t: float, y: Array) -> Array:
        state = State(y[:n_q], y[n_q:])
        return np.concatenate([q_dot(plant, *state), motion(plant, _packed(plant, state, t, drive)).acceleration])

    solver = Radau(
        rate,
        0.0,
        np.concatenate(task.start),
        task.duration,
        rtol=task.stepper.rtol,
        atol=task.stepper.atol,
        jac=_jacobian(task),
    )
    began = perf_counter()
    samples, steps, ending = [_sample(plant, task.start, 0.0, drive)], 0, Ending.DONE
    before = -1.0 if event is None else float(event(_packed(plant, task.start, 0.0, drive))[0])
    while solver.status == "running":
        try:
            failure = solver.step()
        except (ConstraintError, ValueError, np.linalg.LinAlgError) as error:
            failure = str(error)
        if failure is not None:
            ending = Ending.STEP_UNDERFLOW
            break
        steps += 1
        dense = solver.dense_output()
        stop_time = solver.t
        if event is not None:
            after = float(event(_packed(plant, _at(dense, solver.t, n_q), solver.t, drive))[0])
            if before < 0 <= after:
                ending, stop_time = Ending.STOPPED, _crossing(plant, event, dense, solver.t_old, solver.t)
            before = after
        samples += _samples_until(
            task, dense, samples[-1][0], stop_time, solver.t >= task.duration or ending is Ending.STOPPED
        )
        if ending is Ending.STOPPED:
            break
        _settle(task, solver)
        if task.progress is not None:
            task.progress(solver.t)
    status = Status(ending, samples[-1][0], failure_message(plant, ending, samples[-1][0], ""))
    return _run(plant, samples, status, Effort(steps=steps, wall_time=perf_counter() - began, settings=settings(task)))


def _at(dense: Any, t: float, n_q: int) -> State:  # noqa: ANN401
    y = dense(t)
    return State(y[:n_q], y[n_q:])


def _settle(task: Task, solver: Any) -> None:  # noqa: ANN401
    """Project the solver's state; a one-step method goes on from there."""
    if not isinstance(task.stabilisation, Projection):
        return
    n_q = len(task.plant.coordinates)
    solver.y = np.concatenate(project_state(task.plant, State(solver.y[:n_q], solver.y[n_q:]), solver.t))
    solver.f = solver.fun(solver.t, solver.y)


def _samples_until(task: Task, dense: Any, last: float, until: float, is_end: bool) -> list[Any]:  # noqa: ANN401, FBT001
    """Samples due in (last, until], projected; the end is always one."""
    from kalaba.oracle import Held, _sample

    first = int(np.floor(last / task.save_every + 1e-9)) + 1
    final = int(np.floor(until / task.save_every + 1e-9))
    times = [k * task.save_every for k in range(first, final + 1)]
    if is_end and (not times or times[-1] < until - 1e-12):
        times.append(until)
    n_q = len(task.plant.coordinates)
    drive = Held(task)
    return [_sample(task.plant, project_state(task.plant, _at(dense, t, n_q), t), t, drive) for t in times if t > last]


def _crossing(plant: Plant, event: Any, dense: Any, low: float, high: float) -> float:  # noqa: ANN401
    n_q = len(plant.coordinates)
    for _ in range(60):
        middle = (low + high) / 2
        value = float(event(plant.layout.pack(*_at(dense, middle, n_q), middle))[0])
        low, high = (low, middle) if value >= 0 else (middle, high)
    return high


def _jacobian(task: Task) -> Any:  # noqa: ANN401
    """∂ẏ/∂y by automatic differentiation, rows chosen at the state."""
    plant = task.plant
    texts = dict(task.law.texts) if task.law is not None else {}

    def trace() -> Any:  # noqa: ANN401
        import casadi as ca

        k = plant.equations.kinematics
        control = [k.value(texts[name]) if name in texts else ca.SX(0) for name in plant.actuators]
        return state_jacobian(plant.equations, control, is_singular=plant.is_singular)

    function = Interpreted().evaluator("state_jacobian", plant.key, trace, plant.parameters)
    size, n_q = len(plant.coordinates) + len(plant.velocities), len(plant.coordinates)

    def jacobian(t: float, y: Array) -> Array:
        inputs = plant.layout.pack(y[:n_q], y[n_q:], t)
        inputs[plant.layout.w] = plant.weight if plant.is_singular else 1.0
        if plant.constraints:
            inputs[plant.layout.mask] = choose(plant, inputs).mask
        return function(inputs).reshape((size, size), order="F")

    return jacobian
