"""Forward dynamics of a Plant: one state in the general way, one at the least cost of a call, or many at a time."""

from __future__ import annotations

import threading
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kalaba.constrain.rows import pivots
from kalaba.constrain.solvers import Motion, Problem, in_sizes
from kalaba.errors import ConstraintError
from kalaba.hints import is_real_array
from kalaba.native.backend import machine_code
from kalaba.native.watched import Watch, watched
from kalaba.plant.batch import Batch
from kalaba.plant.choice import (
    Choice,
    Health,
    choose,
    health_bounds,
    holds,
    keep_rows,
    nearest,
    not_finite,
    not_unique,
    rows_at,
    state_of,
)
from kalaba.plant.inertia import is_unheld
from kalaba.plant.lanes import run_lanes
from kalaba.plant.projection import instant, metric_of
from kalaba.space.arrays import Array
from kalaba.tolerances import QUATERNION_NEARLY_UNIT, QUATERNION_UNIT, ROW_CONTRADICTION

FLOAT = np.dtype(np.float64)

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant


def motion_name(choice: Choice) -> str:
    """The motion function whose outputs tell whether a choice holds: with slack where rows are left out."""
    return "motion" if choice.keeps_all else "motion_with_slack"


def health_of(choice: Choice) -> tuple[str, ...]:
    """The outputs of that function that tell it."""
    return Health._fields[:1] if choice.keeps_all else Health._fields


def motion(plant: Plant, inputs: Array) -> Motion:
    """The constrained motion at packed inputs, into which the rows that were kept are written.

    With the rows chosen at the start where they hold, else with those of the nearest state on the manifold.
    """
    if plant.is_native and is_unheld(plant):
        rows_at(plant, inputs)  # refuses a motion without inertia, whose mass matrix rounding may make regular
    choice = plant.choice
    result, health = solved(plant, inputs, choice)
    if not holds(plant, choice, health, result.acceleration, inputs[plant.layout.v]):
        choice = choice_near(plant, inputs)
        result, _ = solved(plant, inputs, choice)
    if not np.isfinite(result.acceleration.sum()):
        raise not_unique(plant, plant.problem(inputs))
    return result


def motion_with(plant: Plant, inputs: Array, choice: Choice) -> Motion:
    """The motion at packed inputs with rows that were chosen before, as in all stages of a step."""
    result, _ = solved(plant, inputs, choice)
    if not np.isfinite(result.acceleration.sum()):
        raise not_unique(plant, plant.problem(inputs))
    return result


def choice_near(plant: Plant, inputs: Array) -> Choice:
    """The rows to be kept at packed inputs: those chosen at the nearest state on the manifold, which must agree there.

    Where there is none near, the rows are chosen, and must agree, at the state itself.
    """
    state, t = state_of(plant, inputs)
    near, at = nearest(plant, state, t), inputs.copy()
    if near is not None:
        at[plant.layout.q], at[plant.layout.v] = near.state
    choice = choose(plant, inputs) if near is None else near.choice
    if not choice.keeps_all:
        result, _ = solved(plant, at, choice)
        check_consistent(plant, plant.problem(at), result.acceleration)
    return choice


def solved(plant: Plant, inputs: Array, choice: Choice) -> tuple[Motion, Health]:
    """The motion with the rows of a choice, by the plant's solver, and what tells whether the choice holds there."""
    if not plant.is_native:
        return _solved_in_python(plant, inputs, choice)
    keep_rows(plant, inputs, choice.mask)
    results = plant.evaluate(motion_name(choice), inputs)
    health = Health(**{name: results[name] for name in health_of(choice)})
    return Motion(results["acceleration"], results["constraint_force"]), health


def _solved_in_python(plant: Plant, inputs: Array, choice: Choice) -> tuple[Motion, Health]:
    """The same with a named solver on plain arrays."""
    problem, value, rate = instant(plant, inputs)
    if not all(np.isfinite(part).all() for part in problem):
        raise not_finite(plant)
    at_state = pivots(metric_of(plant, problem, choice.mask), problem.matrix, choice.mask)
    if at_state is None:  # some direction has neither inertia nor one of these rows
        unknown, none = np.full(len(problem.force), np.nan), np.full(len(value), np.nan)
        return Motion(unknown, unknown.copy()), Health(none, value, rate, none)
    sizes = plant.scales.sizes.even
    solution = plant.solver.solve(in_sizes(problem, sizes).chosen(choice.mask))
    result = Motion(sizes.velocities * solution.acceleration, solution.constraint_force / sizes.velocities)
    slack = problem.rhs - problem.matrix @ result.acceleration
    return result, Health(at_state, value, rate, slack)


def check_consistent(plant: Plant, problem: Problem, acceleration: Array) -> None:
    """Refuse rows that contradict each other, by name."""
    sizes, rate = plant.scales.strengths, plant.scales.rate
    gaps = np.abs(problem.matrix @ acceleration - problem.rhs)
    terms = (np.abs(problem.matrix) @ np.abs(acceleration) + np.abs(problem.rhs)) / sizes
    slack, scale = gaps / sizes, max(rate**2, float(terms.max(initial=0.0)))
    worst = int(np.argmax(slack)) if slack.size else -1
    if worst >= 0 and slack[worst] > ROW_CONTRADICTION * scale:
        names = [name for name, gap in zip(plant.constraints, slack, strict=True) if gap > ROW_CONTRADICTION * scale]
        verb = "contradicts" if len(names) == 1 else "contradict"
        raise ConstraintError(
            f"{plant.system.name}: no motion obeys all rows; {', '.join(names)} {verb} the others "
            f"(by {gaps[worst]:.3g}). Remove one, or check the state and the time dependence."
        )


class Quick:
    """One native call; None where `motion` must look closer: other shapes, NaN, rows that are not as chosen."""

    def __init__(self, plant: Plant) -> None:
        self.is_used = plant.is_native and not is_unheld(plant)
        self._plant, self._threads = plant, threading.local()
        self._q, self._v, self._u = (len(plant.coordinates),), (len(plant.velocities),), (len(plant.actuators),)
        self._t, self._n = plant.layout.t, len(plant.velocities)

    def __call__(  # noqa: PLR0911  (each way out is the cheapest where it stands)
        self,
        q: Any,  # noqa: ANN401  (asked for its shape and type, which an array has)
        v: Any,  # noqa: ANN401
        force: ArrayLike | None,
        t: float,
        actuation: ArrayLike | None,
    ) -> Motion | None:
        """Evaluate, or give None."""
        if not self.is_used:
            return None
        try:
            if q.shape != self._q or v.shape != self._v or q.dtype is not FLOAT or v.dtype is not FLOAT:
                return None
            if not -inf < t < inf or (type(t) is not float and np.ndim(t)):
                return None
        except Exception:  # noqa: BLE001  (no arrays, no number; or whatever a class that somebody wrote does)
            return None
        if (force is not None and not _is_row(force, self._v)) or (
            actuation is not None and not _is_row(actuation, self._u)
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
        if not at.run() and not self._holds_again(at):
            return None
        result = at.result.copy()
        return Motion(result[: self._n], result[self._n :])

    def _holds_again(self, at: _Arrays) -> bool:
        """Look closer at what the watch refused: quaternions are made unit, and states may be off the manifold."""
        if not at.make_unit():
            return False
        if at.run():
            return True
        choice = self._plant.choice
        return not choice.keeps_all and bool(holds(self._plant, choice, at.health, at.result[: self._n], at.v))

    def _arrays(self) -> _Arrays:
        try:
            return self._threads.arrays  # type: ignore[no-any-return]
        except AttributeError:
            self._threads.arrays = _Arrays(self._plant)
            return self._threads.arrays  # type: ignore[no-any-return]


def _is_row(values: ArrayLike, shape: tuple[int, ...]) -> bool:
    """Whether values are real numbers, as many as are needed."""
    if isinstance(values, np.ndarray) and values.dtype is FLOAT:
        return bool(values.shape == shape)
    return is_real_array(values) and np.shape(values) == shape


class _Arrays:
    """The arrays of one thread: views into a kernel's inputs and outputs, made once."""

    def __init__(self, plant: Plant) -> None:
        layout, choice = plant.layout, plant.choice
        function = machine_code(plant.standard(motion_name(choice)))
        outputs, bound = function.outputs, function.bind()
        keep_rows(plant, bound.inputs, choice.mask)
        self.inputs, self.is_pushed, self.is_driven = bound.inputs, False, False
        self.q, self.v, self.f = bound.inputs[layout.q], bound.inputs[layout.v], bound.inputs[layout.f]
        self.u = bound.inputs[layout.u][: len(plant.actuators)]
        results = slice(outputs["acceleration"].start, outputs["constraint_force"].stop)
        self.result, first = bound.outputs[results], outputs["pivots"].start
        # of pivots, gaps, and slack if rows are left out
        low, high = health_bounds(plant, choice, len(bound.outputs) - first)
        self.health = Health(**{name: bound.outputs[outputs[name]] for name in health_of(choice)})
        units = tuple(layout.q.start + quaternion for quaternion, _ in plant.machine.quaternions)
        self._quaternions = [bound.inputs[slot : slot + 4] for slot in units]
        watch = Watch(units, QUATERNION_UNIT, first, low, high, results.stop)
        self.run, self._alive = watched(function.kernel, (bound.inputs, bound.outputs, bound.store), watch)

    def make_unit(self) -> bool:
        """Make quaternions unit that nearly are; False = one is far from it, or not finite."""
        for quaternion in self._quaternions:
            square = float(quaternion @ quaternion)
            if not abs(square - 1.0) <= QUATERNION_NEARLY_UNIT:
                return False
            if abs(square - 1.0) > QUATERNION_UNIT:
                quaternion[:] /= np.sqrt(square)
        return True


def batch_motion(batch: Batch) -> Motion:
    """Motions of many states; those whose rows are not as chosen at the start are looked at one by one."""
    plant = batch.plant
    if not plant.is_native or is_unheld(plant):
        return batch.each(motion)
    choice = plant.choice
    names = ("acceleration", "constraint_force", *health_of(choice))
    fields = {"v": np.zeros(len(plant.velocities)), **batch.fields, "mask": choice.mask}
    acceleration, constraint_force, *told = run_lanes(plant, motion_name(choice), fields, names, batch.parameters)
    for index in np.flatnonzero(~holds(plant, choice, Health(*told), acceleration, fields["v"])):
        acceleration[index], constraint_force[index] = motion(*batch.row(int(index)))
    return batch.shaped(Motion(acceleration, constraint_force))
