"""Back to the constraints: the nearest state that obeys the rows in use, for one state and for many at a time.

Newton steps in the mass metric (`constrain/kernels/project.py` has the equations): the configuration first, then the
velocity where the configuration has come to. Which rows are in use is decided elsewhere (`choice.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.constrain.solvers import Problem
from kalaba.plant.assembly import weighted_step
from kalaba.plant.lanes import run_lanes
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.configuration import displaced, unit
from kalaba.tolerances import MOST_PROJECTIONS, PROJECTED, REFERENCE_PROJECTED, ROW_OPEN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kalaba.plant.plant import Plant


class Instant(NamedTuple):
    """A machine at one state: what its motion is solved from, and how far its rows are open."""

    problem: Problem  # M, Q, A and b
    value: Array  # of every row at position level, m or rad; zero at velocity level
    rate: Array  # of every row, m/s or rad/s


def instant(plant: Plant, inputs: Array) -> Instant:
    """Evaluate a machine at packed inputs."""
    n, m = len(plant.velocities), len(plant.constraints)
    matrices = plant.evaluate("system_matrices", inputs)
    mass, matrix = matrices["mass"].reshape((n, n), order="F"), matrices["matrix"].reshape((m, n), order="F")
    return Instant(Problem(mass, matrices["force"], matrix, matrices["rhs"]), matrices["value"], matrices["rate"])


class Projected(NamedTuple):
    """A state on the rows in use, and what is left of all rows there."""

    state: State
    value: Array  # of every row at position level, m or rad
    rate: Array  # of every row, m/s or rad/s


def metric_of(plant: Plant, problem: Problem, mask: Array | float = 1.0) -> Array:
    """M, or M + AᵀwA over the rows that a mask keeps where M alone is singular."""
    if not plant.is_singular:
        return problem.mass
    A = problem.matrix
    return problem.mass + (A.T * (plant.row_weights * (np.asarray(mask) > 0.0))) @ A


def position_rows(plant: Plant, mask: Array) -> NDArray[np.bool_]:
    """The rows at position level that a mask keeps."""
    return np.asarray((mask > 0.0) & ~np.array(plant.machine.is_velocity_level, dtype=bool))


def project_on(plant: Plant, state: State, t: float, mask: Array) -> Projected:
    """The nearest state (in the mass metric) that obeys the rows that a mask keeps, in plain Python.

    A residual that no longer shrinks ends it: whoever asks looks at what is left.
    """
    q, v = unit(plant.machine, state.q), state.v
    kept, position, scales = mask > 0.0, position_rows(plant, mask), plant.scales
    previous = np.inf
    for _ in range(MOST_PROJECTIONS):
        problem, value, _ = instant(plant, plant.pack(q, v, t))
        size = float(np.max(np.abs(value[position]) / scales.rows[position], initial=0.0))
        if not REFERENCE_PROJECTED <= size < previous:  # also for NaN
            break
        previous = size
        step = _step(plant, problem, mask, np.where(position, -value, 0.0), position)
        q = displaced(plant.machine, q, step)
    for _ in range(2):  # rows at velocity level may be curved in v
        problem, _, rate = instant(plant, plant.pack(q, v, t))
        size = float(np.max(np.abs(rate[kept]) / scales.rows[kept], initial=0.0))
        if not size >= REFERENCE_PROJECTED * scales.fastest(v):
            break
        v = v + _step(plant, problem, mask, -rate, kept)
    _, value, rate = instant(plant, plant.pack(q, v, t))
    return Projected(State(q, v), value, rate)


def _step(plant: Plant, problem: Problem, mask: Array, wanted: Array, rows: NDArray[np.bool_]) -> Array:
    """The least change, in the mass metric, that changes some rows as wanted."""
    metric = metric_of(plant, problem, mask)
    return weighted_step(problem.matrix[rows], metric, wanted[rows], plant.scales.sizes.some(rows))


def is_open(plant: Plant, value: Array) -> bool:
    """Whether some row is open, so that the state lies off the manifold."""
    return not bool((np.abs(value) <= ROW_OPEN * plant.scales.rows).all())


def are_closed(plant: Plant, value: Array, rate: Array, v: Array) -> NDArray[np.bool_]:
    """Which rows are closed, in value and rate, to the rounding of a projection; also for many states."""
    small = ROW_OPEN * plant.scales.rows
    return np.asarray((np.abs(value) <= small) & (np.abs(rate) <= small * plant.scales.fastest(v)))


def project_each(plant: Plant, states: State, t: Array, mask: Array) -> tuple[State, NDArray[np.bool_]]:
    """The same of many states (count, n) in machine code, at times (count, 1); and which of them obey all rows."""
    (q, v), active, before = (states.q.copy(), states.v), np.arange(len(states.q)), np.full(len(states.q), np.inf)
    position = position_rows(plant, mask)
    for _ in range(MOST_PROJECTIONS):
        moved, _, residual, _ = _newton(plant, q[active], v[active], t[active], mask)
        q[active] = moved
        worst = np.max(np.abs(residual[:, position]) / plant.scales.rows[position], axis=1, initial=0.0)
        again = (worst > PROJECTED) & (worst < before[active])
        before[active] = worst
        active = active[again]
        if not len(active):
            break
    _, v, _, _ = _newton(plant, q, states.v, t, mask)  # with the speeds as given, where q has come to
    final_q, final_v, residual, rate = _newton(plant, q, v, t, mask)
    return State(final_q, final_v), np.asarray(are_closed(plant, residual, rate, v).all(axis=1))


def _newton(plant: Plant, q: Array, v: Array, t: Array, mask: Array) -> list[Array]:
    """One step of the kernel: q, v, and the values and rates of the rows before it."""
    fields = {"q": np.ascontiguousarray(q), "v": np.ascontiguousarray(v), "t": np.ascontiguousarray(t), "mask": mask}
    return run_lanes(plant, "project", fields, ("q_next", "v_next", "residual", "speed_residual"))
