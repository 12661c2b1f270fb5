"""One step at a time, for people who write their own loop: a Runge-Kutta step and its projection, as in a run."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import shown
from kalaba.errors import ConstraintError, ModelError, NotFiniteError
from kalaba.native.backend import machine_code
from kalaba.plant import failures
from kalaba.plant.arguments import as_state, checked
from kalaba.plant.choice import rows_at
from kalaba.plant.inertia import is_unheld
from kalaba.plant.projection import instant, is_open
from kalaba.plant.reference import Span, project_state, step_state
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.number import is_number
from kalaba.steppers.runge_kutta4 import RungeKutta4
from kalaba.tolerances import ROW_PIVOT_FALLEN

FLOAT = np.dtype(np.float64)
new_tuple = tuple.__new__  # a third of the time of what a NamedTuple makes itself with

if TYPE_CHECKING:
    from kalaba.compiled.single_step import DirectStep, SingleStep
    from kalaba.compiled.trajectory import Status
    from kalaba.native.batch import Code
    from kalaba.plant.plant import Plant


def one_step(plant: Plant, state: State, actuation: ArrayLike | None, dt: float, t: float) -> State:
    """Advance a state by one step with held actuation."""
    state = as_state(state, f"{plant.system.name}.step")
    held = np.zeros(plant.layout.n_u)
    if actuation is not None:
        held[: len(plant.actuators)] = checked(actuation, len(plant.actuators), "actuation", plant.actuators)
    if not is_number(dt) or not dt > 0:
        raise ModelError(f"{plant.system.name}.step: expected dt above 0 s, got {shown(dt)}. One step forward in time.")
    if plant.is_native:
        return plant.stepping(state, held, Span(t, dt))
    packed = plant.inputs(*state, t)
    return step_state(plant, State(packed[plant.layout.q], packed[plant.layout.v]), held, Span(t, dt))


class Stepping:
    """The compiled step of a native Plant; every thread works on arrays of its own.

    Each step starts with the rows chosen at the machine's start, if they still hold, so that steps know no history. A
    state off the manifold at which rows had to be chosen is projected before the step: there they look independent.
    """

    def __init__(self, plant: Plant) -> None:
        self._plant, self._threads = plant, threading.local()

    def quick(self, state: Any, actuation: Any, dt: float, t: float) -> State | None:  # noqa: ANN401  (checked here)
        """One step in one call; None where `one_step` must look closer, and before its first step in a thread.

        That is for values that are no arrays of floats or no floats, of other sizes or NaN, for quaternions that are
        not unit, where rows have to be chosen, and for a step that fails.
        """
        if not isinstance(state, tuple):
            return None
        try:
            q, v = state
            direct, of_q, of_v, of_u = self._threads.direct
            is_usual = q.dtype is FLOAT and v.dtype is FLOAT and q.shape == of_q and v.shape == of_v
            is_usual &= actuation is None or (actuation.dtype is FLOAT and actuation.shape == of_u)
            if not is_usual or type(dt) is not float or type(t) is not float:
                return None
            direct.q[:], direct.v[:], direct.u[:] = q, v, 0.0 if actuation is None else actuation
        except Exception:  # noqa: BLE001  (no pair, no arrays; or whatever a class that somebody wrote does)
            return None
        direct.run(t, dt)
        if not direct.is_taken[0]:
            return None
        following = direct.following.copy()
        return new_tuple(State, (following[: of_q[0]], following[of_q[0] :]))

    def __call__(self, state: State, held: Array, span: Span) -> State:
        """One step with held inputs."""
        plant, layout, mine = self._plant, self._plant.layout, self._mine()
        single = mine.single
        packed, chosen_before = plant.inputs(*state, span.start), single.n_choices
        if is_unheld(plant):
            rows_at(plant, packed.copy())
        single.keep_rows(*mine.rows)
        status = single.take(packed[: layout.n_y], held, span.start, span.length)
        if single.n_choices > chosen_before and is_open(plant, instant(plant, packed).value):
            near = project_state(plant, State(packed[layout.q], packed[layout.v]), span.start)
            single.keep_rows(*mine.rows)
            status = single.take(plant.pack(*near)[: layout.n_y], held, span.start, span.length)
        if status.failed:
            if plant.is_singular:
                rows_at(plant, packed)  # names a motion that nothing holds
            raise _failure(plant, status, single.row, span.start, held)
        moved = single.state.copy()
        return State(moved[layout.q], moved[layout.v])

    def _mine(self) -> _OfThread:
        """What this thread steps with."""
        try:
            return self._threads.mine  # type: ignore[no-any-return]
        except AttributeError:
            mine = self._threads.mine = _OfThread(self._plant)
            if not is_unheld(self._plant):
                self._threads.direct = mine.direct()
            return mine


class _OfThread:
    """A step on arrays of its own, and the rows that it starts with: a mask, pivots, and a rank."""

    def __init__(self, plant: Plant) -> None:
        choice = plant.choice
        rank = -1 if np.isposinf(choice.threshold).any() else choice.rank  # -1 = the choice holds nowhere
        self.rows = choice.mask, choice.threshold / ROW_PIVOT_FALLEN, rank
        self.single, self._plant = _single_step(plant), plant

    def direct(self) -> tuple[DirectStep, tuple[int], tuple[int], tuple[int]]:
        """The same step in one call, and the shapes of q, v and the actuation."""
        from kalaba.compiled.single_step import DirectStep

        layout, n_driven = self._plant.layout, len(self._plant.actuators)
        quaternions = tuple(first for first, _ in self._plant.machine.quaternions)
        return DirectStep(self.single, self.rows, n_driven, quaternions), (layout.n_q,), (layout.n_v,), (n_driven,)


def _single_step(plant: Plant) -> SingleStep:
    from kalaba.compiled import Kernels  # which loads the loops, as the next two do
    from kalaba.compiled.single_step import SingleStep

    kernels = Kernels(
        plant.layout,
        motion=_code(plant, "motion"),
        rows=_code(plant, "rows") if plant.constraints else None,
        project=_code(plant, "project") if plant.constraints or plant.machine.quaternions else None,
        limbs=plant.solved_by_limbs.limbs if plant.solved_by_limbs is not None else None,
        units=plant.scales.units,
    )
    return SingleStep(kernels, RungeKutta4(), plant.row_weights)


def _code(plant: Plant, name: str) -> Code:
    from kalaba.native.batch import Code

    function = machine_code(plant.standard(name))
    return Code(function.kernel.address, function.store.copy(), function.kernel)


def _failure(plant: Plant, status: Status, row: int, t: float, held: Array) -> ConstraintError | NotFiniteError:
    """Word the error of a step that failed."""
    from kalaba.compiled.trajectory import Status

    failure = {
        Status.NAN: failures.NOT_FINITE,
        Status.RESIDUAL: failures.RESIDUAL_GROWTH,
        Status.INCONSISTENT: failures.INCONSISTENT,
        Status.SINGULAR: failures.SINGULAR,
    }[status]
    kind = NotFiniteError if status is Status.NAN else ConstraintError
    drive = "actuation" if held.any() else ""
    words = failure.words(f" after t = {t:g} s", plant.constraints[row] if row >= 0 else "", "dt", drive)
    return kind(f"{plant.system.name}: {words}")
