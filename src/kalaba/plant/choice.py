"""Which rows of a Plant are independent at a state, and what they leave free.

The rows chosen at the start serve every state whose pivots are still healthy; elsewhere rows are chosen on the spot.
For consistent rows the motion does not depend on the choice. `kalaba.constrain.rows` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.rows import IndependentRows, independent_rows, seat_rows, unit_rows
from kalaba.errors import ConstraintError, NotFiniteError
from kalaba.space.arrays import Array
from kalaba.tolerances import NOT_UNIQUE, NOT_UNIQUE_SHOWN, ROW_OPEN, ROW_PIVOT_FALLEN, ROW_SLACK

if TYPE_CHECKING:
    from kalaba.constrain.solvers import Problem
    from kalaba.plant.plant import Plant


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


def rows_at(plant: Plant, inputs: Array) -> IndependentRows:
    """The rows at packed inputs, whose state obeys them, and which are independent; refuses motions without inertia."""
    problem = plant.problem(inputs)
    if not (np.isfinite(problem.mass).all() and np.isfinite(problem.matrix).all()):
        raise not_finite(plant)
    return independent_rows_of(plant, problem)


def independent_rows_of(plant: Plant, problem: Problem, columns: Sequence[int] | None = None) -> IndependentRows:
    """The same where M and A are at hand; with `columns` for these velocities alone, while all others are held."""
    mass, A = problem.mass, problem.matrix
    metric = mass + plant.weight * A.T @ A if plant.is_singular else mass
    if columns is not None:
        metric, A = metric[np.ix_(columns, columns)], A[:, columns]
    rows = independent_rows(metric, A, plant.machine.is_velocity_level)
    if rows.rank < 0:
        raise not_unique(plant, problem)
    return rows


def free_directions(plant: Plant, q: Array, *, mass_orthonormal: bool = False) -> Array:
    """T (n_v, freedoms): velocities at a configuration that keep every row, TᵀT = 1, or TᵀM T = 1 if so asked."""
    return rows_at(plant, plant.inputs(q)).free_directions(mass_orthonormal=mass_orthonormal)


def choose(plant: Plant, inputs: Array) -> Choice:
    """Choose rows at a state by pivoted QR in the mass metric, with the pivots that the motion has there."""
    rows = rows_at(plant, inputs)
    mask = rows.mask
    if plant.solved_by_limbs is not None:
        seat_rows(_rows_of_length_one(plant, rows).ravel(), mask, plant.solved_by_limbs.limbs, len(plant.velocities))
    at_choice = inputs.copy()
    keep_rows(plant, at_choice, mask)
    pivots = plant.evaluate("motion", at_choice)["pivots"]
    return Choice(mask, np.where(mask > 0, ROW_PIVOT_FALLEN * pivots, -np.inf), rows.rank)


def _rows_of_length_one(plant: Plant, rows: IndependentRows) -> Array:
    """The rows from which limbs take their own."""
    lower = np.asarray(np.linalg.cholesky(rows.metric), dtype=np.float64)
    return unit_rows(lower, rows.matrix, np.zeros(len(plant.constraints)))


def keep_rows(plant: Plant, inputs: Array, mask: Array) -> None:
    """Write into packed inputs which rows are kept, and the weight w that goes with a singular mass matrix."""
    inputs[plant.layout.mask] = mask
    inputs[plant.layout.w] = plant.weight if plant.is_singular else 1.0


def first_choice(plant: Plant) -> Choice:
    """The rows chosen at the start; where there is no start to choose at, a choice that holds nowhere."""
    try:
        return choose(plant, plant.inputs(*plant.start))
    except ConstraintError:
        m = len(plant.constraints)
        return Choice(np.zeros(m), np.full(m, np.inf), 0)


def is_healthy(values: Array, outputs: dict[str, slice], choice: Choice) -> bool:
    """Tell whether a choice made elsewhere still holds: no pivot has collapsed, no row left out is open."""
    if not (values[outputs["pivots"]] >= choice.threshold).all():
        return False
    return choice.rank == len(choice.mask) or bool((values[outputs["gap"]][choice.left_out] <= ROW_OPEN).all())


def health_bounds(choice: Choice, size: int) -> tuple[Array, Array]:
    """Bounds of pivots, gaps and (where rows are left out) slack: a choice holds for motions that lie between them."""
    m = len(choice.mask)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    low[:m] = choice.threshold
    high[m : 2 * m][choice.left_out] = ROW_OPEN
    low[2 * m :], high[2 * m :] = -ROW_SLACK, ROW_SLACK
    return low, high


def not_finite(plant: Plant) -> NotFiniteError:
    """Word the error for equations without a value."""
    name = plant.system.name
    return NotFiniteError(f"{name}: the equations have no finite value at this state. Check q, v and the forces.")


def not_unique(plant: Plant, problem: Problem) -> ConstraintError:
    """Word the error for directions that have neither inertia nor constraint."""
    if not all(np.isfinite(part).all() for part in problem):
        return not_finite(plant)
    _, sigma, directions = np.linalg.svd(np.vstack([problem.mass, problem.matrix]))
    free = directions[int(np.sum(sigma > NOT_UNIQUE * sigma[0])) :]
    weight = np.abs(free).max(axis=0) if len(free) else np.zeros(len(plant.velocities))
    names = [name for name, size in zip(plant.velocities, weight, strict=True) if size > NOT_UNIQUE_SHOWN]
    return ConstraintError(
        f"{plant.system.name}: the motion is not unique; nothing gives {', '.join(names or ['none found'])} inertia or "
        "holds it. Give the body mass, or constrain it."
    )
