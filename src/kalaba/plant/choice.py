"""Which rows of a Plant are independent at a state, and what they leave free. `kalaba.constrain.rows` decides.

The rows chosen at the start serve every state whose pivots are still healthy, on the manifold or near it; elsewhere
rows are chosen on the spot. Off the manifold, where sensors put a machine, rows that depend look independent: there the
rows are those of the nearest state on it. For consistent rows the motion does not depend on the choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.rows import IndependentRows, hand_up_rows, independent_rows, pivots, unit_rows
from kalaba.errors import ConstraintError, NotFiniteError
from kalaba.plant.inertia import without_inertia
from kalaba.plant.projection import Projected, are_closed, instant, is_open, metric_of, project_on
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.tolerances import (
    MEASURED_SLACK,
    OPEN_ROWS_APART,
    ROW_INDEPENDENT,
    ROW_PIVOT_FALLEN,
    ROW_SLACK,
)

if TYPE_CHECKING:
    from kalaba.constrain.solvers import Problem
    from kalaba.plant.plant import Plant

NOTHING: Array = np.zeros(0)
CHOICES = 4  # of rows for one state off the manifold: each is made nearer to it than the one before


@dataclass(frozen=True)
class Choice:
    """A maximal set of independent rows at some state."""

    mask: Array  # 1 for a row that is kept, 0 for one that is left out; for limbs see `constrain/layout.py`
    threshold: Array  # pivots below this ask for a new choice
    rank: int

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """The rows that depend on the others."""
        return np.asarray(self.mask == 0.0)

    @property
    def keeps_all(self) -> bool:
        """Whether all rows are independent."""
        return self.rank == len(self.mask)


class Nearest(NamedTuple):
    """The nearest state that obeys all rows, and the rows chosen there."""

    state: State
    choice: Choice


def rows_at(plant: Plant, inputs: Array, columns: Sequence[int] | None = None) -> IndependentRows:
    """The rows at packed inputs, and which are independent there, or at the nearest state that obeys them all.

    With `columns` for these velocities alone, while all others are held. Refuses motions without inertia.
    """
    problem, value, _ = instant(plant, inputs)
    if not (np.isfinite(problem.mass).all() and np.isfinite(problem.matrix).all()):
        raise not_finite(plant)
    if not is_open(plant, value):
        return independent_rows_of(plant, problem, columns)
    state, t = state_of(plant, inputs)
    near = nearest(plant, state, t)
    if near is None:
        return independent_rows_of(plant, problem, columns)
    on_manifold = plant.problem(plant.pack(*near.state, t))
    there, here = (independent_rows_of(plant, at, columns) for at in (on_manifold, problem))
    return replace(here, mask=there.mask, rank=there.rank)


def independent_rows_of(
    plant: Plant,
    problem: Problem,
    columns: Sequence[int] | None = None,
    *,
    apart: float = ROW_INDEPENDENT,
    vanished: Array | None = None,
) -> IndependentRows:
    """The same where M and A of a state on the manifold are at hand; `apart` and `vanished` as in `choose_rows`."""
    metric, A, sizes = metric_of(plant, problem), problem.matrix, plant.scales.sizes
    if columns is not None:
        metric, A = metric[np.ix_(columns, columns)], A[:, columns]
        sizes = sizes._replace(velocities=sizes.velocities[columns])
    nothing = plant.scales.nothing if vanished is None else vanished
    moving = plant.machine.is_velocity_level
    rows = independent_rows(metric, A, moving, sizes=sizes, apart=apart, vanished=nothing)
    if rows.rank < 0:
        raise not_unique(plant, problem)
    return rows


def free_directions(plant: Plant, q: Array, *, mass_orthonormal: bool = False) -> Array:
    """T (n_v, freedoms): velocities at a configuration that keep every row, TᵀT = 1 in sizes, or TᵀM T = 1 if asked."""
    return rows_at(plant, plant.inputs(q)).free_directions(mass_orthonormal=mass_orthonormal)


def state_of(plant: Plant, inputs: Array) -> tuple[State, float]:
    """The state and the time of packed inputs."""
    layout = plant.layout
    return State(inputs[layout.q], inputs[layout.v]), float(inputs[layout.t])


def nearest(plant: Plant, state: State, t: float) -> Nearest | None:
    """The nearest state that obeys all rows, and the rows chosen there; None where `settled` finds none."""
    projected = settled(plant, state, t)
    if projected is None:
        return None
    there = choose(plant, plant.pack(*projected.state, t), apart=_apart(plant, projected.value))
    return Nearest(projected.state, there)


def settled(plant: Plant, state: State, t: float) -> Projected | None:
    """Project a state onto rows that are chosen where the projection ends; None where that closes not all of them.

    It begins with the rows chosen at the start if their pivots hold, else with rows that are independent by more than
    the state is off: those that depend on the manifold look independent by as much.
    """
    first = plant.pack(*state, t)
    choice = plant.choice
    if not (pivots_at(plant, first, choice) >= choice.threshold).all():
        choice = choose(plant, first, apart=_apart(plant, instant(plant, first).value))
    for _ in range(CHOICES):
        projected = project_on(plant, state, t, choice.mask)
        _, v = projected.state
        if not all(np.isfinite(part).all() for part in projected.state):
            return None
        closed = are_closed(plant, projected.value, projected.rate, v)
        if closed.all():
            return projected
        there = choose(plant, plant.pack(*projected.state, t), apart=_apart(plant, projected.value))
        if ((there.mask > 0.0) == (choice.mask > 0.0)).all():
            return None
        choice = there
    return None


def _apart(plant: Plant, value: Array) -> float:
    """How far apart rows must be at a state that is off the manifold to count as independent."""
    return max(ROW_INDEPENDENT, OPEN_ROWS_APART * float(np.max(np.abs(value) / plant.scales.rows, initial=0.0)))


def worst_row(plant: Plant, projected: Projected) -> int:
    """The row that is farthest open after a projection."""
    return int(np.argmax(np.abs(projected.value) / plant.scales.rows))


def choose(plant: Plant, inputs: Array, *, apart: float = ROW_INDEPENDENT, vanished: Array | None = None) -> Choice:
    """Choose rows at a state by pivoted QR in the mass metric, with the pivots that the motion has there."""
    problem = plant.problem(inputs)
    if not (np.isfinite(problem.mass).all() and np.isfinite(problem.matrix).all()):
        raise not_finite(plant)
    rows = independent_rows_of(plant, problem, apart=apart, vanished=vanished)
    mask = rows.mask
    if plant.solved_by_limbs is not None:
        hand_up_rows(_rows_of_length_one(plant, rows).ravel(), mask, plant.solved_by_limbs.limbs, len(plant.velocities))
    choice = Choice(mask, np.full(len(mask), -np.inf), rows.rank)
    by_limbs = plant.solved_by_limbs is not None  # these have pivots of their own, which their kernel alone knows
    at_choice = pivots_at(plant, inputs, choice) if by_limbs else _pivots_of(plant, problem, mask)
    return replace(choice, threshold=np.where(mask > 0, ROW_PIVOT_FALLEN * at_choice, -np.inf))


def pivots_at(plant: Plant, inputs: Array, choice: Choice) -> Array:
    """The pivots of the rows kept, of the kernel that solves with them; without one, by `rows.pivots`."""
    if plant.is_native:
        at_choice = inputs.copy()
        keep_rows(plant, at_choice, choice.mask)
        return plant.evaluate("motion", at_choice)["pivots"]
    return _pivots_of(plant, plant.problem(inputs), choice.mask)


def _pivots_of(plant: Plant, problem: Problem, mask: Array) -> Array:
    """The pivots of the rows that a mask keeps; NaN where the metric is not positive definite."""
    at_state = pivots(metric_of(plant, problem, mask), problem.matrix, mask)
    return np.full(len(mask), np.nan) if at_state is None else at_state


def _rows_of_length_one(plant: Plant, rows: IndependentRows) -> Array:
    """The rows from which limbs take their own."""
    lower = np.asarray(np.linalg.cholesky(rows.sizes.of_metric(rows.metric)), dtype=np.float64)
    return unit_rows(lower, rows.sizes.of_rows(rows.matrix), np.zeros(len(plant.constraints)), plant.scales.nothing)


def keep_rows(plant: Plant, inputs: Array, mask: Array) -> None:
    """Write into packed inputs which rows are kept, and the weights w that go with a singular mass matrix."""
    inputs[plant.layout.mask] = mask
    inputs[plant.layout.w] = plant.row_weights


def first_choice(plant: Plant) -> Choice:
    """The rows chosen at the start; where there is no start to choose at, a choice that holds nowhere."""
    try:
        return choose(plant, plant.inputs(*plant.start))
    except ConstraintError:
        m = len(plant.constraints)
        return Choice(np.zeros(m), np.full(m, np.inf), 0)


class Health(NamedTuple):
    """What tells whether a choice holds at a state: arrays (rows,), or (count, rows) for many states.

    Where all rows are kept, the pivots alone do, and the others are empty.
    """

    pivots: Array
    gap: Array = NOTHING  # of rows at position level; of those at velocity level the rate
    rate: Array = NOTHING
    slack: Array = NOTHING  # b − A v̇ of every row


def health_bounds(plant: Plant, choice: Choice, size: int) -> tuple[Array, Array]:
    """Bounds of pivots, gap, rate and slack one after the other: between them a choice holds, whatever the gap."""
    m = len(choice.mask)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    low[:m] = choice.threshold
    if size > 3 * m:
        slack = _rounding_slack(plant)
        low[3 * m :], high[3 * m :] = -slack, slack
    return low, high


def _rounding_slack(plant: Plant) -> Array:
    """Slack of each row at acceleration level that is not worth a look, m/s² or rad/s²."""
    return np.asarray(ROW_SLACK * plant.scales.rows * plant.scales.rate**2)


def holds(plant: Plant, choice: Choice, health: Health, acceleration: Array, v: Array) -> NDArray[np.bool_]:
    """Tell of each state whether a choice made elsewhere holds: no pivot has collapsed, and no row left out matters.

    A row left out follows from the others on the manifold, and so do their accelerations: its slack is rounding there.
    Off it, by a gap φ and a rate φ̇ (of the rows' sizes), rows and right-hand sides change by as much, and slack is
    within a multiple of φ (|v̇| + |v|²) + φ̇ (|v| + φ̇). A larger one says that the row does not follow from the others.
    """
    fine = _in_each(health.pivots >= choice.threshold)
    if not np.isfinite(acceleration.sum()):
        fine = fine & _in_each(np.isfinite(acceleration))
    if choice.keeps_all or (np.abs(health.slack) <= _rounding_slack(plant)).all():
        return fine
    rows, lengths = 1.0 / plant.scales.rows, 1.0 / plant.scales.velocities
    at_position_level = ~np.array(plant.machine.is_velocity_level, dtype=bool)
    gap, rate = _length(health.gap, rows * at_position_level), _length(health.rate, rows)
    slack, speed, turn = _length(health.slack, rows), _length(v, lengths), _length(acceleration, lengths)
    allowed = MEASURED_SLACK * (gap * (turn + speed**2) + rate * (speed + rate))
    return np.asarray(fine & (slack <= allowed + ROW_SLACK * plant.scales.rate**2))


def _in_each(are_fine: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether all is fine in each state; fast where it is in all of them."""
    return np.asarray(np.full(are_fine.shape[:-1], fill_value=True) if are_fine.all() else are_fine.all(axis=-1))


def _length(values: Array, scale: Array) -> Array:
    """Of each state the length of its values, each times its scale."""
    scaled = values * scale
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", scaled, scaled)))


def not_finite(plant: Plant) -> NotFiniteError:
    """Word the error for equations without a value."""
    name = plant.system.name
    return NotFiniteError(f"{name}: the equations have no finite value at this state. Check q, v and the forces.")


def not_unique(plant: Plant, problem: Problem) -> ConstraintError:
    """Word the error for directions that have neither inertia nor constraint."""
    if not all(np.isfinite(part).all() for part in problem):
        return not_finite(plant)
    return ConstraintError(without_inertia(plant, problem))
