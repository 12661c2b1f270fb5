"""Forward dynamics of a Plant: one state or a batch, with the row choice that goes with it.

The rows chosen at the start serve every state whose pivots are still healthy; elsewhere rows are chosen on the spot.
For consistent rows the motion does not depend on the choice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.solvers import Motion, Problem
from kalaba.errors import ConstraintError
from kalaba.plant.choice import choose, independent_rows_of, is_healthy, keep_rows, not_finite, not_unique
from kalaba.tolerances import ROW_CONTRADICTION

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant

Array = NDArray[np.float64]


def motion_name(plant: Plant) -> str:
    """The motion function whose outputs tell whether a choice holds: with slack where rows are left out."""
    return "motion" if plant.choice.rank == len(plant.constraints) else "motion_with_slack"


def motion(plant: Plant, inputs: Array) -> Motion:
    """The constrained motion at packed inputs."""
    if not plant.is_native:
        return _solve(plant, inputs)
    function = plant.standard("motion")
    choice = plant.choice
    keep_rows(plant, inputs, choice.mask)
    values = function(inputs)
    if not is_healthy(values, function.outputs, choice):
        choice = choose(plant, inputs)
        keep_rows(plant, inputs, choice.mask)
        values = function(inputs)
    result = Motion(values[function.outputs["acceleration"]], values[function.outputs["constraint_force"]])
    if choice.rank < len(choice.mask):
        check_consistent(plant, plant.problem(inputs), result.acceleration)
    if not np.isfinite(result.acceleration.sum()):
        raise not_unique(plant, plant.problem(inputs))
    return result


def _solve(plant: Plant, inputs: Array) -> Motion:
    """Solve with a named solver on plain arrays."""
    problem = plant.problem(inputs)
    if not all(np.isfinite(part).all() for part in problem):
        raise not_finite(plant)
    if plant.is_singular:
        independent_rows_of(plant, problem)  # refuses directions that have neither inertia nor a row
    result = plant.solver.solve(problem)
    check_consistent(plant, problem, result.acceleration)
    return result


def check_consistent(plant: Plant, problem: Problem, acceleration: Array) -> None:
    """Refuse rows that contradict each other, by name."""
    slack = np.abs(problem.matrix @ acceleration - problem.rhs)
    terms = np.abs(problem.matrix) @ np.abs(acceleration) + np.abs(problem.rhs)
    scale = max(1.0, float(terms.max(initial=0.0)))
    worst = int(np.argmax(slack)) if slack.size else -1
    if worst >= 0 and slack[worst] > ROW_CONTRADICTION * scale:
        names = [name for name, gap in zip(plant.constraints, slack, strict=True) if gap > ROW_CONTRADICTION * scale]
        raise ConstraintError(
            f"{plant.system.name}: no motion obeys all rows; {', '.join(names)} contradict the others "
            f"(by {slack[worst]:.3g}). Remove one, or check the state and the time dependence."
        )
