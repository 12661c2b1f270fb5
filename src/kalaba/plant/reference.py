"""One step and one projection in plain Python, on any backend and solver: the reference for compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ConstraintError
from kalaba.plant.assembly import weighted_step
from kalaba.plant.evaluate import motion
from kalaba.plant.state import State
from kalaba.space.configuration import displaced, q_dot, unit

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant

Array = NDArray[np.float64]
Drive = Callable[[float, Array, Array], Array]
PROJECTIONS = 12
CLOSED = 1e-14
LOST = 1e-6


def hold(plant: Plant, packed: Array, inputs: Array) -> None:
    """Put held inputs in their place: u, and after it the generalised force where that is pushed."""
    first = plant.layout.u.start
    packed[first : first + len(inputs)] = inputs


def packed_state(plant: Plant, state: State, t: float, drive: Drive | Array) -> Array:
    """Pack a state with what drives it there."""
    packed = plant.layout.pack(state.q, state.v, t)
    hold(plant, packed, drive(t, state.q, state.v) if callable(drive) else drive)
    return packed


def step_state(plant: Plant, state: State, drive: Drive | Array, h: float, t: float, *, projects: bool = True) -> State:
    """One classical Runge-Kutta step, then projection."""
    n_q = len(plant.coordinates)

    def rate(time: float, y: Array) -> Array:
        at = State(y[:n_q], y[n_q:])
        acceleration = motion(plant, packed_state(plant, at, time, drive)).acceleration
        return np.concatenate([q_dot(plant.machine, *at), acceleration])

    y = np.concatenate(state)
    k1 = rate(t, y)
    k2 = rate(t + h / 2, y + h / 2 * k1)
    k3 = rate(t + h / 2, y + h / 2 * k2)
    k4 = rate(t + h, y + h * k3)
    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    moved = State(unit(plant.machine, y[:n_q]), y[n_q:])
    return project_state(plant, moved, t + h) if projects else moved


def project_state(plant: Plant, state: State, t: float) -> State:
    """The nearest state (in the mass metric) that obeys every row and its rate."""
    q, v = unit(plant.machine, state.q), state.v
    if not plant.constraints:
        return State(q, v)
    position = ~np.array(plant.machine.is_velocity_level, dtype=bool)
    previous = np.inf
    for _ in range(PROJECTIONS):
        value = plant.residual(q, t)
        size = float(np.max(np.abs(value)))
        if size < CLOSED or size >= previous:
            break
        previous = size
        problem = plant.problem(plant.inputs(q, v, t))
        step = weighted_step(problem.matrix[position], problem.mass, -value[position])
        q = displaced(plant.machine, q, step)
    if previous != np.inf and float(np.max(np.abs(plant.residual(q, t)))) > LOST:
        raise ConstraintError(
            f"{plant.system.name}: the state cannot be projected onto the constraints at t = {t:g} s."
        )
    for _ in range(2):
        rate = plant.velocity_residual(q, v, t)
        if np.max(np.abs(rate)) < CLOSED * max(1.0, float(np.max(np.abs(v)))):
            break
        problem = plant.problem(plant.inputs(q, v, t))
        v = v + weighted_step(problem.matrix, problem.mass, -rate)
    return State(q, v)
