"""Forward dynamics of a Plant: one state or a batch, with the row choice that goes with it.

The rows chosen at the start serve every state whose pivots are still healthy; elsewhere rows are chosen on the spot.
For consistent rows the motion does not depend on the choice.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.backend import Native, NativeFunction
from kalaba.constrain.rows import choose_rows
from kalaba.constrain.solvers import MaskedLDL, Motion, Problem
from kalaba.errors import ConstraintError, ModelError

if TYPE_CHECKING:
    from kalaba.native import Kernel
    from kalaba.plant import Plant

Array = NDArray[np.float64]
OPEN = 1e-11  # a row left out that is open by more than this was not dependent
PIVOT_DROP = 0.1  # a pivot that falls below this part of its value at the choice asks for a new one
LANES = 8  # states that a batch works on at a time
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
    at_choice = inputs.copy()
    at_choice[plant.layout.mask] = mask
    pivots = plant.evaluate("motion", at_choice)["pivots"]
    return Choice(mask, np.where(mask > 0, PIVOT_DROP * pivots, -np.inf), rank)


def motion(plant: Plant, inputs: Array) -> Motion:
    """The constrained motion at packed inputs."""
    if not isinstance(plant.solver, MaskedLDL) or not isinstance(plant.backend, Native):
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


class _Quick:
    """The arrays of one thread for single native calls: views into a kernel's inputs and outputs, made once."""

    def __init__(self, plant: Plant, function: NativeFunction) -> None:
        layout, choice, outputs = plant.layout, plant.choice, function.outputs
        bound = function.bind()
        bound.inputs[layout.mask] = choice.mask
        bound.inputs[layout.w] = plant.weight if plant.is_singular else 1.0
        self.inputs, self.run = bound.inputs, bound.run
        self.q, self.v, self.f = bound.inputs[layout.q], bound.inputs[layout.v], bound.inputs[layout.f]
        self.u = bound.inputs[layout.u][: len(plant.actuators)]
        self.result = bound.outputs[outputs["acceleration"].start : outputs["constraint_force"].stop]
        self.pivots = bound.outputs[outputs["pivots"]]
        self.healthy = np.ones(len(choice.mask), dtype=bool)
        self.ones = np.ones(len(self.result))


class Quick:
    """Forward dynamics of single states at the least cost of a call.

    Gives None where the general way must look: batches, other shapes, NaN, unhealthy pivots, rows left out.
    """

    def __init__(self, plant: Plant) -> None:
        native = isinstance(plant.solver, MaskedLDL) and isinstance(plant.backend, Native)
        self.is_used = native and plant.choice.rank == len(plant.constraints)
        self._plant, self._threads = plant, threading.local()
        self._q, self._v, self._u = (len(plant.coordinates),), (len(plant.velocities),), (len(plant.actuators),)
        self._t, self._n = plant.layout.t, len(plant.velocities)

    def __call__(self, q: Any, v: Any, force: Any, t: float, actuation: Any) -> Motion | None:  # noqa: ANN401
        """Evaluate, or give None."""
        if not self.is_used or getattr(q, "shape", None) != self._q or getattr(v, "shape", None) != self._v:
            return None
        if force is not None and np.shape(force) != self._v:
            return None
        if actuation is not None and np.shape(actuation) != self._u:
            return None
        at = self._arrays()
        at.q[:], at.v[:], at.inputs[self._t] = q, v, t
        at.f[:] = 0.0 if force is None else force
        at.u[:] = 0.0 if actuation is None else actuation
        at.run()
        found = at.result.copy()
        np.greater_equal(at.pivots, self._plant.choice.threshold, out=at.healthy)
        if b"\0" in at.healthy.tobytes() or not isfinite(at.ones @ found):
            return None
        return Motion(found[: self._n], found[self._n :])

    def _arrays(self) -> _Quick:
        try:
            return self._threads.arrays  # type: ignore[no-any-return]
        except AttributeError:
            function = self._plant.standard("motion")
            assert isinstance(function, NativeFunction)  # noqa: S101
            self._threads.arrays = _Quick(self._plant, function)
            return self._threads.arrays  # type: ignore[no-any-return]


def _solve(plant: Plant, inputs: Array) -> Motion:
    """Solve with a named solver on plain arrays."""
    problem = plant.problem(inputs)
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
        message = (
            f"{plant.system.name}: no motion obeys all rows; {', '.join(names)} contradict the others "
            f"(by {slack[worst]:.3g}). Remove one, or check the state and the time dependence."
        )
        raise ConstraintError(message)


def not_unique(plant: Plant, problem: Problem) -> ConstraintError:
    """Word the error for directions that have neither inertia nor constraint."""
    stacked = np.vstack([problem.mass, problem.matrix])
    if not np.isfinite(stacked).all():
        return ConstraintError(f"{plant.system.name}: the equations have no finite value at this state. Check q and v.")
    _, sigma, directions = np.linalg.svd(stacked)
    free = directions[sigma < 1e-10 * sigma[0]]
    weight = np.abs(free).max(axis=0) if len(free) else np.zeros(len(plant.velocities))
    names = [name for name, size in zip(plant.velocities, weight, strict=True) if size > 1e-6] or ["none found"]
    message = (
        f"{plant.system.name}: the motion is not unique; nothing gives {', '.join(names)} inertia or holds it. "
        "Give the body mass, or constrain it."
    )
    return ConstraintError(message)


def batch_motion(
    plant: Plant,
    q: ArrayLike,
    v: ArrayLike,
    force: ArrayLike | None,
    t: ArrayLike,
    actuation: ArrayLike | None,
    wrenches: Mapping[str, ArrayLike] | None = None,
) -> Motion:
    """Motions of many states; native code works on several at a time."""
    packed = _packed_batch(plant, q, v, force, t, actuation)
    for frame, wrench in (wrenches or {}).items():
        _add_wrench(plant, packed, frame, wrench)
    if not isinstance(plant.solver, MaskedLDL) or not isinstance(plant.backend, Native):
        results = [motion(plant, row) for row in packed]
        return Motion(np.array([r.acceleration for r in results]), np.array([r.constraint_force for r in results]))
    function = plant.standard("motion")
    packed[:, plant.layout.w] = plant.weight if plant.is_singular else 1.0
    packed[:, plant.layout.mask] = plant.choice.mask
    values = _run_batch(plant, packed)
    acceleration = values[:, function.outputs["acceleration"]]
    constraint_force = values[:, function.outputs["constraint_force"]]
    for index in _unhealthy(plant, values, function.outputs):
        single = motion(plant, packed[index].copy())
        acceleration[index], constraint_force[index] = single
    return Motion(acceleration, constraint_force)


def _add_wrench(plant: Plant, packed: Array, frame: str, wrench: ArrayLike) -> None:
    """Add one wrench for all states, or one a state, as a generalised force."""
    given = np.asarray(wrench, dtype=float)
    if given.shape not in {(6,), (len(packed), 6)} or not np.isfinite(given).all():
        message = f"wrench on {frame}: expected 6 finite numbers, or {len(packed)} times 6, got shape {given.shape}."
        raise ModelError(message)
    for row, each in zip(packed, np.broadcast_to(given, (len(packed), 6)), strict=True):
        row[plant.layout.f] += plant.jacobian(frame, row[plant.layout.q]).T @ each


def _unhealthy(plant: Plant, values: Array, outputs: dict[str, slice]) -> NDArray[np.intp]:
    """States of a batch that need a choice of their own, or a check of the rows that are left out."""
    choice = plant.choice
    suspicious = ~(values[:, outputs["pivots"]] >= choice.threshold).all(axis=1)
    suspicious |= ~np.isfinite(values[:, outputs["acceleration"]]).all(axis=1)
    if choice.rank < len(choice.mask):
        suspicious |= (values[:, outputs["gap"]][:, choice.left_out] > OPEN).any(axis=1)
    return np.flatnonzero(suspicious)


def _run_batch(plant: Plant, packed: Array) -> Array:
    """Evaluate the motion kernel on every row, eight lanes at a time."""
    kernel, store = plant.lanes("motion", LANES)
    assert isinstance(plant.backend, Native)  # noqa: S101  (callers ask native plants only)
    return run_kernel(kernel, store, packed, plant.backend.threads)


def run_kernel(kernel: Kernel, store: Array, packed: Array, threads: int = 1) -> Array:
    """Evaluate a kernel on every row of packed inputs; threads work without Python's lock."""
    from kalaba.loop import Code, Piece, Slots, batch

    results = np.empty((len(packed), kernel.n_outputs))
    slots = Slots(kernel.n_inputs, kernel.n_outputs, kernel.lanes)
    batch(Code(kernel.address, store, kernel), slots, [Piece(0, packed)], [Piece(0, results)], threads)
    return results


def _packed_batch(
    plant: Plant, q: ArrayLike, v: ArrayLike, force: ArrayLike | None, t: ArrayLike, actuation: ArrayLike | None
) -> Array:
    layout, count = plant.layout, len(np.asarray(q))
    packed = np.zeros((count, layout.size))
    fields = (("q", q, layout.q), ("v", v, layout.v), ("force", force, layout.f), ("actuation", actuation, layout.u))
    for name, given, part in fields:
        if given is None:
            continue
        values = np.asarray(given, dtype=float)
        width = len(plant.actuators) if name == "actuation" else part.stop - part.start
        if values.shape not in {(count, width), (width,)}:
            message = f"{name}: expected a batch of shape ({count}, {width}), got {values.shape}."
            raise ModelError(message)
        if not np.isfinite(values.sum()):
            message = f"{name}: expected finite numbers in the batch, got NaN or infinity."
            raise ModelError(message)
        packed[:, part.start : part.start + width] = values
    packed[:, layout.t] = t
    return packed
