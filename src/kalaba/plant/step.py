"""One native step at a time, for people who write their own loop: Runge-Kutta stages, then projection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ConstraintError, ModelError
from kalaba.native.backend import NativeFunction
from kalaba.plant.arguments import checked
from kalaba.plant.choice import choose, is_healthy
from kalaba.plant.reference import Span, step_state
from kalaba.plant.state import State
from kalaba.space.number import is_number

if TYPE_CHECKING:
    from kalaba.plant.choice import Choice
    from kalaba.plant.plant import Plant

Array = NDArray[np.float64]
CLOSED = 1e-9  # a residual found below this before a Newton step is at rounding after it
PROJECTIONS = 10
WEIGHTS = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))  # node and weight of each stage


def one_step(plant: Plant, state: State, actuation: Any, dt: float, t: float) -> State:  # noqa: ANN401
    """Advance a state by one step with held actuation."""
    held = np.zeros(plant.layout.u.stop - plant.layout.u.start)
    if actuation is not None:
        held[: len(plant.actuators)] = checked(actuation, len(plant.actuators), "actuation", plant.actuators)
    if not is_number(dt) or not dt > 0:
        raise ModelError(f"{plant.system.name}.step: expected dt above 0 s, got {dt!r}. One step forward in time.")
    if plant.is_native:
        return native_step(plant, State(*state), held, dt, t)
    return step_state(plant, State(*state), held, Span(t, dt))


def native_step(plant: Plant, state: State, held: Array, h: float, t: float) -> State:
    """One classical Runge-Kutta step with rows frozen, then projection at the new time."""
    function = plant.standard("motion")
    assert isinstance(function, NativeFunction)  # noqa: S101  (callers ask native plants only)
    bound, layout = function.bound, plant.layout
    choice = _choice_at(plant, function, state, held, t)
    n_y, y = layout.v.stop, np.concatenate([[0.0], *state])
    rate, total = np.zeros(n_y), np.zeros(n_y)
    for node, weight in WEIGHTS:
        bound.inputs[:n_y], bound.inputs[layout.t] = y + node * h * rate, t + node * h
        bound.run()
        rate = bound.outputs[:n_y].copy()
        total += weight * rate
    y = project(plant, y + h * total, choice, t + h)
    return State(y[layout.q].copy(), y[layout.v].copy())


def _choice_at(plant: Plant, function: NativeFunction, state: State, held: Array, t: float) -> Choice:
    """Fill the kernel's inputs at the start of a step and make sure that the rows chosen hold there."""
    layout, choice = plant.layout, plant.choice
    packed = plant.inputs(state.q, state.v, t)
    packed[layout.u], packed[layout.w] = held, plant.weight if plant.is_singular else 1.0
    packed[layout.mask] = choice.mask
    if not is_healthy(function(packed), function.outputs, choice):
        choice = choose(plant, packed)
        packed[layout.mask] = choice.mask
    function.bound.inputs[:] = packed
    return choice


def project(plant: Plant, y: Array, choice: Choice, t: float) -> Array:
    """Newton steps onto the rows that are kept, until nothing is left to correct; quaternions made unit."""
    if not plant.constraints and not plant.machine.quaternions:
        return y
    function = plant.standard("project")
    assert isinstance(function, NativeFunction)  # noqa: S101
    bound, layout, n_y = function.bound, plant.layout, len(y)
    bound.inputs[n_y:] = 0.0
    bound.inputs[layout.t], bound.inputs[layout.mask] = t, choice.mask
    bound.inputs[layout.w] = plant.weight if plant.is_singular else 1.0
    position = ~np.array(plant.machine.is_velocity_level, dtype=bool) & (choice.mask > 0)
    for _ in range(PROJECTIONS):
        bound.inputs[:n_y] = y
        bound.run()
        y = bound.outputs[:n_y].copy()
        found = np.abs(bound.outputs[function.outputs["residual"]][position]).max(initial=0.0)
        if found < CLOSED:
            return y
    raise ConstraintError(
        f"{plant.system.name}: the state cannot be projected onto the constraints at t = {t:g} s. Try a smaller dt."
    )
