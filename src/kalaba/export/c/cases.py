"""States for the test program: random ones near a machine's start or its run, on its constraints."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from kalaba.errors import ConstraintError, FileError
from kalaba.plant.assembly import weighted_step
from kalaba.plant.choice import free_directions
from kalaba.plant.reference import project_state
from kalaba.plant.start import closing
from kalaba.plant.state import State
from kalaba.run.simulate import simulate
from kalaba.space.configuration import displaced
from kalaba.steppers import Auto
from kalaba.tolerances import C_CASE_CLOSED

if TYPE_CHECKING:
    from kalaba.control.exportable import Exportable
    from kalaba.plant.plant import Plant
    from kalaba.run.scenario import Scenario

SEED = 6
CASES = 8
LATEST = 0.05  # s: where rows move with time, no farther than Newton's method follows
SPREAD = 0.1  # rad, or of the machine's length; and the same per second for velocities times FAST
FAST = 5.0
HALVINGS = 12
LONGEST = 2.0  # s, of a run that cases are taken from
# rad, or of the machine's length: how far from it, so that there are errors to control and few motors at their limits
NEAR = 1e-3


def near_start(plant: Plant, rng: np.random.Generator, count: int = CASES) -> list[tuple[State, float]]:
    """Random states with their times."""
    times = rng.uniform(0.0, LATEST, count)
    return [(moved(plant, plant.start, float(t), rng, SPREAD), float(t)) for t in times]


def moved(plant: Plant, state: State, t: float, rng: np.random.Generator, spread: float) -> State:
    """A state near another one, on the constraints at a time; nearer the harder they are to meet."""
    N = free_directions(plant, state.q)
    step, speed = rng.uniform(-spread, spread, (2, N.shape[1]))
    for halving in range(HALVINGS):
        part = 0.5**halving
        q = closing(plant).retract(state.q, part * (N @ step))
        try:
            near = project_state(plant, State(q, state.v + part * FAST * (N @ speed)), t)
        except ConstraintError:
            continue
        if (np.abs(plant.residual(near.q, t)) < C_CASE_CLOSED * plant.scales.rows).all():
            return _settled(plant, near, t)
    raise FileError(f"{plant.system.name}: no states for a test were found near its start. Does the machine move?")


def _settled(plant: Plant, state: State, t: float) -> State:
    """The state as close to its constraints as rounding allows: gains make a multiple of what is left."""
    (q, v), sizes = state, plant.scales.sizes
    position = ~np.array(plant.machine.is_velocity_level, dtype=bool)
    for _ in range(2 if plant.constraints else 0):
        problem = plant.problem(plant.inputs(q, v, t))
        gaps = plant.residual(q, t)[position]
        step = weighted_step(problem.matrix[position], problem.mass, -gaps, sizes.some(position))
        q = displaced(plant.machine, q, step)
    for _ in range(2 if plant.constraints else 0):
        problem = plant.problem(plant.inputs(q, v, t))
        v = v + weighted_step(problem.matrix, problem.mass, -plant.velocity_residual(q, v, t), sizes)
    return State(q, v)


def along(
    plant: Plant, control: Exportable, scenario: Scenario | None, rng: np.random.Generator
) -> list[tuple[State, float]]:
    """States close to where a control leads a machine, with their times."""
    assert scenario is not None  # noqa: S101  (there is no control without one)
    latest = min(scenario.duration, LONGEST)
    times = np.sort(rng.uniform(0.0, latest, CASES)).tolist()
    states = control.states_at(plant, times)
    if states is None:
        states = _on_run(plant, scenario, times)
    return [(moved(plant, state, t, rng, NEAR), t) for state, t in zip(states, times, strict=True)]


def _on_run(plant: Plant, scenario: Scenario, times: list[float]) -> list[State]:
    """States of a run, by its samples nearest to the times."""
    stepper = scenario.stepper or Auto()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever runs the scenario is told; here it only lends its states
        run = simulate(plant, max(times), stepper=stepper, control=scenario.control, check=False)
    nearest = [int(np.abs(run.time - t).argmin()) for t in times]
    return [State(run.q[k], run.v[k]) for k in nearest]
