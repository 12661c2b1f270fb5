"""One step and one projection in plain Python, on any backend and solver: the reference for compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.errors import ConstraintError
from kalaba.plant.assembly import weighted_step
from kalaba.plant.evaluate import motion
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.configuration import displaced, q_dot, unit
from kalaba.steppers.runge_kutta4 import RungeKutta4
from kalaba.tolerances import REFERENCE_LOST, REFERENCE_PROJECTED

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.steppers.stepper import Stepper

Drive = Callable[[float, Array, Array], Array]
RUNGE_KUTTA = RungeKutta4()  # whose coefficients plant.step uses
PROJECTIONS = 12


def hold(plant: Plant, packed: Array, inputs: Array) -> None:
    """Put held inputs in their place: u, and after it the generalised force where that is pushed."""
    first = plant.layout.u.start
    packed[first : first + len(inputs)] = inputs


def packed_state(plant: Plant, state: State, t: float, drive: Drive | Array) -> Array:
    """Pack a state with what drives it there."""
    packed = plant.layout.pack(state.q, state.v, t)
    hold(plant, packed, drive(t, state.q, state.v) if callable(drive) else drive)
    return packed


class Span(NamedTuple):
    """The time that a step covers."""

    start: float  # s
    length: float  # h, s


def step_state(
    plant: Plant,
    state: State,
    drive: Drive | Array,
    span: Span,
    stepper: Stepper = RUNGE_KUTTA,
    *,
    projects: bool = True,
) -> State:
    """One step of an explicit stepper, then projection: k_i = f(t + c_i h, y + h Σ a_ij k_j), y⁺ = y + h Σ b_i k_i."""
    n_q, (t, h), tableau = len(plant.coordinates), span, stepper.tableau

    def rate(time: float, y: Array) -> Array:
        at = State(y[:n_q], y[n_q:])
        acceleration = motion(plant, packed_state(plant, at, time, drive)).acceleration
        return np.concatenate([q_dot(plant.machine, *at), acceleration])

    y = np.concatenate(state)
    stages: list[Array] = []
    for node, row in zip(tableau.nodes, tableau.matrix, strict=True):
        stages.append(rate(t + node * h, y + h * _weighted(row, stages)))
    # Sums of whole multiples of the smallest weight, (1, 2, 2, 1)/6 in Kutta's method, round least.
    whole = 1 / min(abs(weight) for weight in tableau.weights if weight)
    moved = y + h / whole * _weighted([whole * weight for weight in tableau.weights], stages)
    if stepper.velocity_first:
        moved[:n_q] = y[:n_q] + h * q_dot(plant.machine, y[:n_q], moved[n_q:])
    moved_state = State(unit(plant.machine, moved[:n_q]), moved[n_q:])
    return project_state(plant, moved_state, t + h) if projects else moved_state


def _weighted(weights: Sequence[float], stages: Sequence[Array]) -> Array | float:
    """Σ w_j k_j, without the terms that are nothing."""
    return sum((weight * stage for weight, stage in zip(weights, stages, strict=True) if weight), start=0.0)


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
        if size < REFERENCE_PROJECTED or size >= previous:
            break
        previous = size
        problem = plant.problem(plant.inputs(q, v, t))
        step = weighted_step(problem.matrix[position], problem.mass, -value[position])
        q = displaced(plant.machine, q, step)
    if previous != np.inf and float(np.max(np.abs(plant.residual(q, t)))) > REFERENCE_LOST:
        raise ConstraintError(
            f"{plant.system.name}: the state cannot be projected onto the constraints at t = {t:g} s."
        )
    for _ in range(2):
        rate = plant.velocity_residual(q, v, t)
        if np.max(np.abs(rate)) < REFERENCE_PROJECTED * max(1.0, float(np.max(np.abs(v)))):
            break
        problem = plant.problem(plant.inputs(q, v, t))
        v = v + weighted_step(problem.matrix, problem.mass, -rate)
    return State(q, v)
