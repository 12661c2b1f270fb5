"""Forward dynamics of a Plant: one state or a batch, with the row choice that goes with it.

The rows chosen at the start serve every state whose pivots are still healthy; elsewhere rows are chosen on the spot.
For consistent rows the motion does not depend on the choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.rows import choose_rows, seat_rows, unit_rows
from kalaba.constrain.solvers import Motion, Problem
from kalaba.errors import ConstraintError, NotFiniteError

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant

Array = NDArray[np.float64]
OPEN = 1e-11  # a row left out that is open by more than this was not dependent
PIVOT_DROP = 0.1  # a pivot that falls below this part of its value at the choice asks for a new one
SLACK = 1e-9  # at acceleration level; where a row has more, it is looked at closely
CONTRADICTION = 1e-7  # of the largest term in the rows


@dataclass(frozen=True)
class Choice:
    """A maximal set of independent rows at some state."""

    mask: Array  # 1 for a row that is kept, 0 for one that is left out
    threshold: Array  # pivots below this ask for a new choice
    rank: int

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """The rows that depend on the others."""
        return np.asarray(self.mask == 0.0)


def choose(plant: Plant, inputs: Array) -> Choice:
    """Choose rows at a state by pivoted QR in the mass metric."""
    found = plant.evaluate("rows", inputs)
    n, m = len(plant.velocities), len(plant.constraints)
    mask = np.zeros(m)
    mass, matrix = found["mass"].reshape((n, n), order="F"), found["matrix"].reshape((m, n), order="F")
    rank = choose_rows(np.ascontiguousarray(mass), np.ascontiguousarray(matrix), mask)
    if rank < 0:
        raise not_unique(plant, Problem(mass, np.zeros(n), matrix, np.zeros(m)))
    if plant.blocks is not None:
        lower = np.asarray(np.linalg.cholesky(mass), dtype=np.float64)
        seat_rows(unit_rows(lower, matrix, np.zeros(m)).ravel(), mask, plant.blocks.limbs, n)
    at_choice = inputs.copy()
    at_choice[plant.layout.mask] = mask
    pivots = plant.evaluate("motion", at_choice)["pivots"]
    return Choice(mask, np.where(mask > 0, PIVOT_DROP * pivots, -np.inf), rank)


def first_choice(plant: Plant) -> Choice:
    """The rows chosen at the start; where there is no start to choose at, a choice that holds nowhere."""
    try:
        return choose(plant, plant.inputs(*plant.start))
    except ConstraintError:
        m = len(plant.constraints)
        return Choice(np.zeros(m), np.full(m, np.inf), 0)


def health_bounds(choice: Choice, size: int) -> tuple[Array, Array]:
    """Between what lie pivots, gaps and (where rows are left out) slack of a motion for which a choice holds."""
    m = len(choice.mask)
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    low[:m] = choice.threshold
    high[m : 2 * m][choice.left_out] = OPEN
    low[2 * m :], high[2 * m :] = -SLACK, SLACK
    return low, high


def motion_name(plant: Plant) -> str:
    """The motion function whose outputs tell whether a choice holds: with slack where rows are left out."""
    return "motion" if plant.choice.rank == len(plant.constraints) else "motion_with_slack"


def motion(plant: Plant, inputs: Array) -> Motion:
    """The constrained motion at packed inputs."""
    if not plant.is_native:
        return _solve(plant, inputs)
    function = plant.standard("motion")
    if plant.is_singular:
        inputs[plant.layout.w] = plant.weight
    choice = plant.choice
    inputs[plant.layout.mask] = choice.mask
    values = function(inputs)
    if not is_healthy(values, function.outputs, choice):
        choice = choose(plant, inputs)
        inputs[plant.layout.mask] = choice.mask
        values = function(inputs)
    result = Motion(values[function.outputs["acceleration"]], values[function.outputs["constraint_force"]])
    if choice.rank < len(choice.mask):
        check_consistent(plant, plant.problem(inputs), result.acceleration)
    if not np.isfinite(result.acceleration.sum()):
        raise not_unique(plant, plant.problem(inputs))
    return result


def is_healthy(values: Array, outputs: dict[str, slice], choice: Choice) -> bool:
    """Tell whether a choice made elsewhere still holds: no pivot has collapsed, no row left out is open."""
    if not (values[outputs["pivots"]] >= choice.threshold).all():
        return False
    return choice.rank == len(choice.mask) or bool((values[outputs["gap"]][choice.left_out] <= OPEN).all())


def _solve(plant: Plant, inputs: Array) -> Motion:
    """Solve with a named solver on plain arrays."""
    problem = plant.problem(inputs)
    if not all(np.isfinite(part).all() for part in problem):
        raise not_finite(plant)
    stacked = np.vstack([problem.mass, problem.matrix])
    if plant.is_singular and np.linalg.matrix_rank(stacked) < len(problem.force):
        raise not_unique(plant, problem)
    result = plant.solver.solve(problem)
    check_consistent(plant, problem, result.acceleration)
    return result


def check_consistent(plant: Plant, problem: Problem, acceleration: Array) -> None:
    """Refuse rows that contradict each other, by name."""
    slack = np.abs(problem.matrix @ acceleration - problem.rhs)
    terms = np.abs(problem.matrix) @ np.abs(acceleration) + np.abs(problem.rhs)
    scale = max(1.0, float(terms.max(initial=0.0)))
    worst = int(np.argmax(slack)) if slack.size else -1
    if worst >= 0 and slack[worst] > CONTRADICTION * scale:
        names = [name for name, gap in zip(plant.constraints, slack, strict=True) if gap > CONTRADICTION * scale]
        raise ConstraintError(
            f"{plant.system.name}: no motion obeys all rows; {', '.join(names)} contradict the others "
            f"(by {slack[worst]:.3g}). Remove one, or check the state and the time dependence."
        )


def not_finite(plant: Plant) -> NotFiniteError:
    """Word the error for equations without a value."""
    name = plant.system.name
    return NotFiniteError(f"{name}: the equations have no finite value at this state. Check q, v and the forces.")


def not_unique(plant: Plant, problem: Problem) -> ConstraintError:
    """Word the error for directions that have neither inertia nor constraint."""
    stacked = np.vstack([problem.mass, problem.matrix])
    if not all(np.isfinite(part).all() for part in problem):
        return not_finite(plant)
    _, sigma, directions = np.linalg.svd(stacked)
    rank = int(np.sum(sigma > 1e-10 * sigma[0]))
    free = directions[rank:]
    weight = np.abs(free).max(axis=0) if len(free) else np.zeros(len(plant.velocities))
    names = [name for name, size in zip(plant.velocities, weight, strict=True) if size > 1e-6] or ["none found"]
    return ConstraintError(
        f"{plant.system.name}: the motion is not unique; nothing gives {', '.join(names)} inertia or holds it. "
        "Give the body mass, or constrain it."
    )
