"""The oracle: Runge-Kutta in plain Python on any backend and solver. Slow, short, independent of the native loop."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.solvers import Motion
from kalaba.constrain.stabilisation import Projection
from kalaba.errors import ConstraintError, IntegrationError, ModelError, NotFiniteError
from kalaba.plant.evaluate import motion
from kalaba.plant.laws import law_function
from kalaba.plant.plant import Plant
from kalaba.plant.reference import Drive, hold, packed_state, step_state
from kalaba.plant.state import State
from kalaba.results.run import Effort, Ending, Run, Status, Worst
from kalaba.run.progress import Lookout
from kalaba.run.sampling import Sampler
from kalaba.steppers import RungeKutta4

if TYPE_CHECKING:
    from kalaba.run.simulate import Task

Array = NDArray[np.float64]


def run_python(task: Task) -> Run:
    """Fixed-step Runge-Kutta with projection, one Python call an evaluation."""
    from kalaba.run.simulate import event_function, failure_message, settings

    if not isinstance(task.stepper, RungeKutta4):
        raise IntegrationError(
            f"{task.plant.system.name}: {task.stepper!r} needs backend=Native() and the default solver."
        )
    plant, state, samples = task.plant, task.start, []
    event = None if task.stop is None else event_function(plant, task.stop)
    began = perf_counter()
    steps = max(1, int(np.ceil(task.duration / task.stepper.step - 1e-9)))
    drive, ending, t, saved = Held(task), Ending.DONE, 0.0, 0
    lookout = Lookout(task.progress, plant, task.duration)
    take_samples(task.samplers, drive.held, 0.0, state)
    before = -np.inf if event is None else float(event(packed_state(plant, state, t, drive))[0])
    for k in range(steps + 1):
        t = min(k * task.stepper.step, task.duration)
        if t >= saved * task.save_every - 1e-9 * task.stepper.step or k == steps:
            samples.append(_sample(plant, state, t, drive))
            saved = int(np.floor(t / task.save_every + 1e-9)) + 1
        if k == steps:
            break
        h = min((k + 1) * task.stepper.step, task.duration) - t
        try:
            with np.errstate(all="ignore"):  # numbers that are no longer finite are found below
                state = step_state(plant, state, drive, h, t, projects=isinstance(task.stabilisation, Projection))
            after = -np.inf if event is None else float(event(packed_state(plant, state, t + h, drive))[0])
        except (ModelError, NotFiniteError):  # numbers that are not finite are refused by the next call that meets them
            ending = Ending.NOT_FINITE
            break
        except ConstraintError:
            ending = Ending.INCONSISTENT
            break
        take_samples(task.samplers, drive.held, t + h, state)
        if before < 0 <= after:
            ending, t = Ending.STOPPED, t + h
            samples.append(_sample(plant, state, t, drive))
            break
        before = after
        lookout.look(t + h, k + 1, state)
    status = Status(ending, t, failure_message(plant, ending, t, ""))
    return _run(plant, samples, status, Effort(steps=k, wall_time=perf_counter() - began, settings=settings(task)))


def _run(
    plant: Plant, samples: list[tuple[float, Array, Array, Array, Array, Array]], status: Status, effort: Effort
) -> Run:
    time, q, v, acceleration, force, u = (np.array(column) for column in zip(*samples, strict=True))
    worst = None
    if plant.constraints:
        gaps = np.array([np.abs(plant.residual(x, t)) for x, t in zip(q, time, strict=True)])
        i, row = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        worst = Worst(float(gaps[i, row]), plant.constraints[int(row)], float(time[i]))
    done = integral(time, np.array([_power(plant, sample) for sample in samples]))
    return Run(plant, time, q, v, acceleration, force, u[:, : len(plant.actuators)], u, status, effort, worst, done)


def _power(plant: Plant, sample: tuple[float, Array, Array, Array, Array, Array]) -> float:
    """Power of motors, forces and moving constraints, less what dampers take."""
    t, q, v, _, constraint_force, u = sample
    packed = plant.layout.pack(q, v, t)
    hold(plant, packed, u)
    found = plant.evaluate("system_matrices", packed)
    return float((found["force"] + found["bias"] + constraint_force) @ v - found["damping_power"][0])


def integral(time: Array, rate: Array) -> Array:
    """Integral since the first sample, by a cubic spline through the samples (fourth order)."""
    if len(time) < 2:
        return np.zeros(len(time))
    from scipy.interpolate import CubicSpline

    increasing = np.concatenate([[True], np.diff(time) > 0])
    spline = CubicSpline(time[increasing], rate[increasing]).antiderivative()
    return np.asarray(spline(time) - spline(time[0]))


class Held:
    """Held inputs as a function of time and state: samples stay until the next are taken, a law follows the state."""

    def __init__(self, task: Task) -> None:
        self._plant = task.plant
        self._law = None if task.law is None else law_function(task.plant, task.law)
        layout = task.plant.layout
        self.held: Array = np.zeros((layout.f.stop if task.is_pushed else layout.u.stop) - layout.u.start)

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
        if sampler.due <= t + 1e-12 * max(1.0, t):
            held[sampler.part] = sampler.sample(t, state.q, state.v)


def _sample(plant: Plant, state: State, t: float, drive: Drive) -> tuple[float, Array, Array, Array, Array, Array]:
    inputs = drive(t, state.q, state.v)
    try:
        found = motion(plant, packed_state(plant, state, t, inputs))
    except NotFiniteError:  # the state is fine, and so part of the run; the step from here will fail
        unknown = np.full(len(state.v), np.nan)
        found = Motion(unknown, unknown.copy())
    return t, state.q, state.v, found.acceleration, found.constraint_force, inputs
