"""Forward dynamics of a Plant: one state in the general way, one at the least cost of a call, or many at a time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.constrain.solvers import Motion, Problem
from kalaba.errors import ConstraintError, ModelError
from kalaba.native.backend import machine_code, slices
from kalaba.native.watched import Watch, watched
from kalaba.plant.arguments import check_unit
from kalaba.plant.choice import (
    choose,
    health_bounds,
    independent_rows_of,
    is_healthy,
    keep_rows,
    not_finite,
    not_unique,
)
from kalaba.space.arrays import Array
from kalaba.tolerances import QUATERNION_UNIT, ROW_CONTRADICTION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kalaba.plant.choice import Choice
    from kalaba.plant.plant import Plant

LANES = 8  # states that a kernel works on at a time


def motion_name(plant: Plant) -> str:
    """The motion function whose outputs tell whether a choice holds: with slack where rows are left out."""
    return "motion" if plant.choice.rank == len(plant.constraints) else "motion_with_slack"


def motion(plant: Plant, inputs: Array) -> Motion:
    """The constrained motion at packed inputs, into which the rows that were kept are written."""
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


class Quick:
    """One native call; None where `motion` must look closer: other shapes, NaN, rows that are not as chosen."""

    def __init__(self, plant: Plant) -> None:
        self.is_used = plant.is_native
        self._plant, self._threads = plant, threading.local()
        self._q, self._v, self._u = (len(plant.coordinates),), (len(plant.velocities),), (len(plant.actuators),)
        self._t, self._n = plant.layout.t, len(plant.velocities)

    def __call__(
        self, q: ArrayLike, v: ArrayLike, force: ArrayLike | None, t: float, actuation: ArrayLike | None
    ) -> Motion | None:
        """Evaluate, or give None."""
        if not (self.is_used and isinstance(q, np.ndarray) and isinstance(v, np.ndarray)):
            return None
        if q.shape != self._q or v.shape != self._v:
            return None
        if (force is not None and np.shape(force) != self._v) or (
            actuation is not None and np.shape(actuation) != self._u
        ):
            return None
        at = self._arrays()
        at.q[:], at.v[:], at.inputs[self._t] = q, v, t
        if force is not None or at.is_pushed:
            at.f[:] = 0.0 if force is None else force
            at.is_pushed = force is not None
        if actuation is not None or at.is_driven:
            at.u[:] = 0.0 if actuation is None else actuation
            at.is_driven = actuation is not None
        if not at.run():
            return None
        result = at.result.copy()
        return Motion(result[: self._n], result[self._n :])

    def _arrays(self) -> _Arrays:
        try:
            return self._threads.arrays  # type: ignore[no-any-return]
        except AttributeError:
            self._threads.arrays = _Arrays(self._plant)
            return self._threads.arrays  # type: ignore[no-any-return]


class _Arrays:
    """The arrays of one thread: views into a kernel's inputs and outputs, made once."""

    def __init__(self, plant: Plant) -> None:
        layout, choice, function = plant.layout, plant.choice, machine_code(plant.standard(motion_name(plant)))
        outputs, bound = function.outputs, function.bind()
        keep_rows(plant, bound.inputs, choice.mask)
        self.inputs, self.is_pushed, self.is_driven = bound.inputs, False, False
        self.q, self.v, self.f = bound.inputs[layout.q], bound.inputs[layout.v], bound.inputs[layout.f]
        self.u = bound.inputs[layout.u][: len(plant.actuators)]
        results = slice(outputs["acceleration"].start, outputs["constraint_force"].stop)
        self.result, first = bound.outputs[results], outputs["pivots"].start
        low, high = health_bounds(choice, len(bound.outputs) - first)  # of pivots, gaps, and slack if rows are left out
        units = tuple(layout.q.start + quaternion for quaternion, _ in plant.machine.quaternions)
        watch = Watch(units, QUATERNION_UNIT, first, low, high, results.stop)
        self.run, self._alive = watched(function.kernel, (bound.inputs, bound.outputs, bound.store), watch)


class Acting(NamedTuple):
    """What acts on a batch, each for all states or one per state."""

    force: ArrayLike | None = None
    t: ArrayLike = 0.0
    actuation: ArrayLike | None = None
    wrenches: Mapping[str, ArrayLike] | None = None


def batch_motion(plant: Plant, q: ArrayLike, v: ArrayLike, acting: Acting) -> Motion:
    """Motions of many states; those whose rows are not as chosen at the start are looked at one by one."""
    fields = _fields(plant, q, v, acting)
    if not plant.is_native:
        results = [motion(plant, _packed(plant, fields, index)) for index in range(len(fields["q"]))]
        return Motion(np.array([r.acceleration for r in results]), np.array([r.constraint_force for r in results]))
    acceleration, constraint_force, health = _run(plant, fields)
    for index in _unhealthy(plant.choice, acceleration, health):
        acceleration[index], constraint_force[index] = motion(plant, _packed(plant, fields, index))
    return Motion(acceleration, constraint_force)


def _unhealthy(choice: Choice, acceleration: Array, health: Array) -> NDArray[np.intp]:
    """States that need a choice of their own, or a close look at the rows that are left out."""
    low, high = health_bounds(choice, health.shape[1])
    fine = (health >= low) & (health <= high)
    if fine.all() and np.isfinite(acceleration.sum()):
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(~(fine.all(axis=1) & np.isfinite(acceleration).all(axis=1)))


def _run(plant: Plant, fields: dict[str, Array]) -> tuple[Array, Array, Array]:
    """Accelerations, constraint forces, and what tells whether the rows are as chosen, of every state."""
    from kalaba.native.batch import Code, Piece, Slots, batch

    kernel, store = plant.lanes(motion_name(plant), LANES)
    layout, outputs, count = plant.layout, slices(dict(kernel.outputs)), len(fields["q"])
    firsts = {"q": layout.q.start, "v": layout.v.start, "force": layout.f.start, "actuation": layout.u.start}
    firsts |= {"t": layout.t, "mask": layout.mask.start, "w": layout.w}
    values = {**fields, "mask": plant.choice.mask, "w": np.full(1, plant.weight if plant.is_singular else 1.0)}
    parts = [outputs["acceleration"], outputs["constraint_force"], slice(outputs["pivots"].start, kernel.n_outputs)]
    results = [np.empty((count, part.stop - part.start)) for part in parts]
    batch(
        Code(kernel.address, store, kernel),
        Slots(kernel.n_inputs, kernel.n_outputs, kernel.lanes),
        [Piece(firsts[name], array) for name, array in values.items()],
        [Piece(part.start, array) for part, array in zip(parts, results, strict=True)],
        plant.backend.threads,
    )
    return results[0], results[1], results[2]


def _fields(plant: Plant, q: ArrayLike, v: ArrayLike, acting: Acting) -> dict[str, Array]:
    """Check what a batch is given: arrays (count, width), or (width,) for all states; q is always the former."""
    count, n = len(np.asarray(q)), len(plant.velocities)
    widths = {"q": len(plant.coordinates), "v": n, "force": n, "actuation": len(plant.actuators)}
    fields: dict[str, Array] = {}
    for name, values in {"q": q, "v": v, "force": acting.force, "actuation": acting.actuation}.items():
        if values is not None:
            fields[name] = _checked(name, values, count, widths[name])
    check_unit(fields["q"], plant.machine)
    times = np.asarray(acting.t, dtype=float)
    fields["t"] = _checked("t", times.reshape((-1, 1) if times.ndim else (1,)), count, 1)
    for frame, wrench in (acting.wrenches or {}).items():
        each = np.broadcast_to(_checked(f"wrench on {frame}", wrench, count, 6), (count, 6))
        pushed = np.array([plant.jacobian(frame, row).T @ w for row, w in zip(fields["q"], each, strict=True)])
        fields["force"] = pushed + fields.get("force", 0.0)
    return fields


def _checked(name: str, batch: ArrayLike, count: int, width: int) -> Array:
    values = np.ascontiguousarray(batch, dtype=float)
    if values.shape not in {(count, width), (width,)} or (name == "q" and values.ndim == 1):
        raise ModelError(f"{name}: expected a batch of shape ({count}, {width}), got {values.shape}.")
    if not np.isfinite(values.sum()):
        raise ModelError(f"{name}: expected finite numbers in the batch, got NaN or infinity.")
    return values


def _packed(plant: Plant, fields: dict[str, Array], index: int) -> Array:
    """Pack one state of a batch."""
    row = {name: values[index] if values.ndim == 2 else values for name, values in fields.items()}
    return plant.packed(row["q"], row["v"], row.get("force"), float(row["t"][0]), row.get("actuation"))
