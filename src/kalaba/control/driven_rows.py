"""Motors in place of rows: what motors must give to move a machine as rows that prescribe its motion in time do.

A row such as `tip.x - 0.1*cos(t)` leads a machine by a force of its own, on coordinates that no motor drives. Let T be
the directions that all other rows leave free, A_o T = 0. Motors do the same as the rows that lead when::

    Tᵀ B u = Tᵀ (Qc + B u₀)         Qc the force of all rows, u₀ what motors gave beside them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.boundary import check_arguments, check_whole
from kalaba.constrain.rows import independent_rows
from kalaba.control.allocation import Allocation, LeastSquares, checked_rule, rule_for_units
from kalaba.control.inverse_dynamics import Efforts
from kalaba.errors import ControlError, near
from kalaba.model.units import actuator_units
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.results.run import Run


def driven_constraints(plant: Plant) -> tuple[str, ...]:
    """Names of the constraints that prescribe a motion in time: those with a row that reads t.

    Arguments:
        plant: the machine
    """
    check_arguments(driven_constraints, locals(), ControlError)
    equations, names = plant.equations, list(plant.constraints)
    if not names:
        return ()
    reads_time = ca.which_depends(equations.rows.value, equations.symbols.t, 1, True)  # noqa: FBT003  (CasADi: by row)
    return tuple(
        closure.name for closure in plant.machine.closures if any(reads_time[names.index(row)] for row in closure.rows)
    )


def motors_for_rows(
    run: Run,
    constraints: Sequence[str] | None = None,
    allocation: Allocation = LeastSquares(),
    *,
    samples: int | None = None,
) -> Efforts:
    """Work out what motors must give, at the samples of a run, to do what its driving rows did.

    Arguments:
        run: a run of a machine with such rows
        constraints: names of the constraints that motors are to stand in for; None: all that prescribe a motion in time
        allocation: how spare motors share
        samples: of this many samples at most, evenly spread; None: of all

    Raises:
        ControlError: there are no motors or no such rows, or motors cannot do it
    """
    check_arguments(motors_for_rows, locals(), ControlError)
    if samples is not None:
        check_whole(samples, "motors_for_rows.samples", 1, 10**9, ControlError)
    plant, driven = run.plant, driven_constraints(run.plant) if constraints is None else tuple(constraints)
    known = [closure.name for closure in plant.machine.closures]
    for name in driven:
        if name not in known:
            raise ControlError(f"{plant.system.name}: no constraint {name!r}; {near(name, known)}")
    if not driven or not plant.actuators:
        lacking = "motors" if driven else "rows that prescribe a motion in time"
        raise ControlError(f"{plant.system.name}: the machine has no {lacking}.")
    if plant.is_singular:
        raise ControlError(f"{plant.system.name}: motors_for_rows needs a mass matrix of full rank. Give bodies mass.")
    rule = rule_for_units(
        checked_rule(allocation, "motors_for_rows"), plant.actuators, actuator_units(plant.machine), plant.limits
    )
    chosen = _spread(len(run.time), samples)
    others = np.array([row not in _rows(plant, driven) for row in plant.constraints])
    found = [_efforts(run, k, others, rule) for k in chosen]
    efforts, nulls = (np.array([pair[i] for pair in found]) for i in (0, 1))
    return Efforts(plant, run.time[chosen], run.q[chosen], run.v[chosen], efforts, nulls)


def motors_in_place(run: Run, samples: int | None = None) -> Efforts | None:
    """The same where it says something: no motor acts, rows prescribe a motion, and motors could do it; else None.

    Arguments:
        run: any run
        samples: of this many samples at most; None: of all
    """
    if not run.plant.actuators or run.actuation.any():
        return None
    try:
        return motors_for_rows(run, samples=samples)
    except ControlError:  # no such rows, motors that cannot do it, or forces and torques without weights
        return None


def _rows(plant: Plant, constraints: Sequence[str]) -> set[str]:
    return {row for closure in plant.machine.closures if closure.name in constraints for row in closure.rows}


def _spread(count: int, most: int | None) -> list[int]:
    if most is None or count <= most:
        return list(range(count))
    return [int(k) for k in np.unique(np.linspace(0, count - 1, most).round())]


def _efforts(run: Run, k: int, others: Array, rule: Allocation) -> tuple[Array, Array]:
    """Efforts at a sample, and the preload direction if there is one only; NaN where the run broke off."""
    plant, motors = run.plant, len(run.plant.actuators)
    if not (np.isfinite(run.q[k]).all() and np.isfinite(run.constraint_force[k]).all()):
        return np.full(motors, np.nan), np.zeros(motors)
    problem = plant.problem(plant.inputs(run.q[k], run.v[k], float(run.time[k])))
    levels = [level for level, is_other in zip(plant.machine.is_velocity_level, others, strict=True) if is_other]
    T = independent_rows(problem.mass, problem.matrix[others], levels).free_directions(mass_orthonormal=True)
    B = plant.actuation_map(run.q[k])
    W, F = T.T @ B, T.T @ (run.constraint_force[k] + B @ run.actuation[k])
    try:
        u = rule.allocate(W, F, plant.limits)
    except ControlError as error:
        raise ControlError(f"{plant.system.name} at t = {run.time[k]:.4g} s: {error}") from None
    null = np.linalg.svd(W)[2][-1] if motors == T.shape[1] + 1 else np.zeros(motors)
    return u, null
