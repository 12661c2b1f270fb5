"""Rows in use, one step, one projection in plain Python, any backend and solver: the reference for compiled code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kalaba.errors import ConstraintError
from kalaba.plant.assembly import weighted_step
from kalaba.plant.batch import Asked, batch_of
from kalaba.plant.choice import Choice, choose, not_finite, pivots_at, settled, worst_row
from kalaba.plant.evaluate import motion_with
from kalaba.plant.lanes import run_lanes
from kalaba.plant.projection import (
    Projected,
    instant,
    is_open,
    metric_of,
    position_rows,
    project_each,
    project_on,
)
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.configuration import difference, q_dot, unit
from kalaba.steppers.runge_kutta4 import RungeKutta4
from kalaba.tolerances import (
    PROJECTION_LOST,
    PROJECTION_SPEED_CHANGE,
    REFERENCE_LOST,
    ROW_FADED,
    ROW_OPEN,
    ROW_PIVOT_FALLEN,
    ROW_PIVOT_GONE,
    ROW_SPEED_CLOSED,
    SLOWEST,
)

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.steppers.stepper import Stepper

Drive = Callable[[float, Array, Array], Array]
Rate = Callable[[float, Array], Array]
RUNGE_KUTTA = RungeKutta4()  # whose coefficients plant.step uses
PROBE = 2.0**-26  # m, rad: the root of rounding


class RowError(ConstraintError):
    """A row that cannot be closed: one that is kept, or one left out, which then contradicts those that are kept."""

    def __init__(self, message: str, row: str, *, is_left_out: bool) -> None:
        super().__init__(message)
        self.row, self.is_left_out = row, is_left_out


def hold(plant: Plant, packed: Array, inputs: Array) -> None:
    """Put held inputs in their place: u, and after it the generalised force where that is pushed."""
    first = plant.layout.u.start
    packed[first : first + len(inputs)] = inputs


def packed_state(plant: Plant, state: State, t: float, drive: Drive | Array) -> Array:
    """Pack a state with what drives it there."""
    packed = plant.layout.pack(state.q, state.v, t)
    hold(plant, packed, drive(t, state.q, state.v) if callable(drive) else drive)
    return packed


class Span(NamedTuple):
    """The time that a step covers."""

    start: float  # s
    length: float  # h, s


class RowsInUse:
    """The rows that a run keeps: chosen on the manifold, frozen through the stages of a step, watched between steps.

    It does what `kalaba/compiled/choice.py` does in a run, with the same thresholds.
    """

    def __init__(self, plant: Plant, choice: Choice | None = None, *, projects: bool = True) -> None:
        m = len(plant.constraints)
        self.choice = Choice(np.zeros(m), np.full(m, np.inf), 0) if choice is None else choice
        self.choices: list[tuple[float, int]] = []  # time, s, and rank of each choice
        self.jolt = (0.0, 0.0)  # largest part of the speed that a projection changed, and its time, s
        self._plant, self._projects = plant, projects
        self._is_due = choice is None and m > 0
        self._fastest = SLOWEST * plant.scales.rate  # 1/s: the largest speed so far, in the machine's sizes
        self._largest = np.zeros(m)  # entry that each row ever had where rows were chosen, in the machine's sizes

    def watch(self, state: State, t: float, *, is_start: bool = False) -> State:
        """Choose again where a pivot has fallen or a row left out has opened; the state, projected if so.

        A row left out that stays open then contradicts the others.
        """
        plant, at = self._plant, self._plant.pack(*state, t)
        if not plant.constraints or not (self._is_due or self.has_turned(at)):
            return state
        self._choose(at, t)
        self._is_due = False
        if not self._projects:
            return state
        projected = self._projected(state, t)
        if not is_start:  # a start need not obey its rows
            self._note_jolt(state, projected.state, t)
        self._judge(projected, t)
        return projected.state

    def project(self, state: State, t: float) -> State:
        """Project a state onto the rows in use; without projection its quaternions are made unit."""
        if not self._projects or not self._plant.constraints:
            return State(unit(self._plant.machine, state.q), state.v)
        return self._projected(state, t).state

    def settle(self, state: State, t: float) -> State:
        """Project the end of a step; where that changes the speed much, with rows that are chosen there."""
        settled = self.project(state, t)
        if not self._projects or not self._plant.constraints:
            return settled
        if self.is_noise(state, settled, t):
            self._choose(self._plant.pack(unit(self._plant.machine, state.q), state.v, t), t)
            self._is_due = True  # to be chosen again, and judged, when the next step begins
            settled = self._projected(state, t).state
        self._note_jolt(state, settled, t)
        return settled

    def is_noise(self, raw: State, settled: State, t: float) -> bool:
        """Whether a projection is noise: it changes the speed much, and a kept row has all but vanished there."""
        if (
            not self._projects
            or not self._plant.constraints
            or self.speed_change(raw, settled) <= PROJECTION_SPEED_CHANGE
        ):
            return False
        at = self._plant.pack(unit(self._plant.machine, raw.q), raw.v, t)
        least = self.choice.threshold * (ROW_PIVOT_GONE / ROW_PIVOT_FALLEN)
        return not bool((pivots_at(self._plant, at, self.choice) >= least).all())

    def speed_change(self, raw: State, settled: State) -> float:
        """The part of the speed, of the largest so far, that a projection changed."""
        sizes = self._plant.scales.velocities
        self._fastest = float(np.max(np.abs(raw.v) / sizes, initial=self._fastest))
        return float(np.max(np.abs(settled.v - raw.v) / sizes, initial=0.0)) / self._fastest

    def tangent_part(self, state: State, t: float, error: State) -> State:
        """Of a small error of a state what its projection leaves: P e with P = 1 - M⁻¹ Aᵀ G⁻¹ A; q in tangent space."""
        plant, mask = self._plant, self.choice.mask
        problem = plant.problem(plant.pack(*state, t))
        metric, A = metric_of(plant, problem, mask), problem.matrix
        sizes = plant.scales.sizes
        largest = float(np.max(np.abs(error.q) / plant.scales.coordinates, initial=0.0))
        probe = PROBE / largest if largest > 0.0 else 1.0  # a change that rounding does not swallow
        step = difference(plant.machine, state.q + probe * error.q, state.q, len(state.v)) / probe
        position, kept = position_rows(plant, mask), mask > 0.0
        step -= weighted_step(A[position], metric, A[position] @ step, sizes.some(position))
        v = error.v - weighted_step(A[kept], metric, A[kept] @ error.v, sizes.some(kept))
        return State(q_dot(plant.machine, state.q, step), v)

    def pivots_at(self, state: State, t: float) -> Array:
        """The pivots of the rows in use at a state; infinite for those left out."""
        if not self._plant.constraints:
            return np.zeros(0)
        pivots = pivots_at(self._plant, self._plant.pack(*state, t), self.choice)
        return np.where(self.choice.left_out, np.inf, pivots)

    @property
    def projects(self) -> bool:
        """Whether states are projected onto rows."""
        return self._projects and bool(self._plant.constraints)

    def has_turned(self, at: Array) -> bool:
        """Whether, at packed inputs, a pivot has fallen or a row left out has opened."""
        choice, plant = self.choice, self._plant
        if not (pivots_at(plant, at, choice) >= choice.threshold).all():
            return True
        gaps = np.abs(instant(plant, at).value[choice.left_out])
        return self._projects and bool((gaps > ROW_OPEN * plant.scales.rows[choice.left_out]).any())

    def _choose(self, at: Array, t: float) -> None:
        """Choose rows at packed inputs; those that have all but vanished count as nothing."""
        scales = self._plant.scales
        matrix = scales.sizes.of_rows(self._plant.problem(at).matrix)
        self._largest = np.maximum(self._largest, np.abs(matrix).max(axis=1, initial=0.0))
        self.choice = choose(self._plant, at, vanished=np.maximum(scales.nothing, ROW_FADED * self._largest))
        self.choices.append((t, self.choice.rank))

    def _projected(self, state: State, t: float) -> Projected:
        """Project with the rows in use; refuse if a row of them stays open."""
        projected = project_on(self._plant, state, t, self.choice.mask)
        if not all(np.isfinite(part).all() for part in projected.state):
            raise not_finite(self._plant)
        opened = np.abs(projected.value) / (PROJECTION_LOST * self._plant.scales.rows)
        worst = int(np.argmax(np.where(self.choice.left_out, 0.0, opened)))
        if not self.choice.left_out[worst] and opened[worst] > 1.0:
            name, row = self._plant.system.name, self._plant.constraints[worst]
            raise RowError(
                f"{name}: the state cannot be projected onto the constraints at t = {t:g} s; {row} stays open.",
                row,
                is_left_out=False,
            )
        return projected

    def _judge(self, projected: Projected, t: float) -> None:
        """Refuse rows left out that are open, in value or in speed, at a state that the kept rows hold."""
        plant, left_out = self._plant, self.choice.left_out
        fastest = float(plant.scales.fastest(projected.state.v))
        value, speed = np.abs(projected.value) / PROJECTION_LOST, np.abs(projected.rate) / (ROW_SPEED_CLOSED * fastest)
        opened = np.where(left_out, np.maximum(value, speed) / plant.scales.rows, 0.0)
        worst = int(np.argmax(opened))
        if opened[worst] > 1.0:
            name, row = plant.system.name, plant.constraints[worst]
            raise RowError(
                f"{name}: no motion obeys all rows at t = {t:g} s; {row} contradicts the others. Remove one.",
                row,
                is_left_out=True,
            )

    def _note_jolt(self, raw: State, settled: State, t: float) -> None:
        self.jolt = max(self.jolt, (self.speed_change(raw, settled), t), key=lambda jolt: jolt[0])


class Stages(NamedTuple):
    """A step of an explicit method before its end is projected; y = (work, q, v)."""

    start: Array  # y
    span: Span
    rates: list[Array]  # k_i
    end: Array  # y⁺


def step_state(
    plant: Plant,
    state: State,
    drive: Drive | Array,
    span: Span,
) -> State:
    """One step of Kutta's method, then projection, with the rows chosen at the machine's start if they hold."""
    rows, at = RowsInUse(plant, plant.choice), plant.pack(*state, span.start)
    if rows.has_turned(at) and is_open(plant, instant(plant, at).value):
        state = project_state(plant, state, span.start)  # where rows can be chosen
    state = rows.watch(state, span.start)
    y = np.concatenate([[0.0], *state])
    _, end = parts(plant, take_stages(plant, RUNGE_KUTTA, rate_of(plant, drive, rows.choice), y, span).end)
    return rows.settle(end, span.start + span.length)


def parts(plant: Plant, y: Array) -> tuple[float, State]:
    """The work and the state in y = (work, q, v)."""
    n_q = len(plant.coordinates)
    return float(y[0]), State(y[1 : 1 + n_q], y[1 + n_q :])


def rate_of(plant: Plant, drive: Drive | Array, choice: Choice) -> Rate:
    """ẏ of y = (work, q, v) as a function of time and y, with rows that were chosen before."""

    def rate(t: float, y: Array) -> Array:
        _, state = parts(plant, y)
        packed = packed_state(plant, state, t, drive)
        motion = motion_with(plant, packed.copy(), choice)
        power = power_at(plant, packed, motion.constraint_force)
        return np.concatenate([[power], q_dot(plant.machine, *state), motion.acceleration])

    return rate


def power_at(plant: Plant, packed: Array, constraint_force: Array) -> float:
    """Power of motors, forces and moving constraints, less what dampers take, W."""
    terms = plant.evaluate("system_matrices", packed)
    force = terms["force"] + terms["bias"] + constraint_force
    return float(force @ packed[plant.layout.v] - terms["damping_power"][0])


def take_stages(plant: Plant, stepper: Stepper, rate: Rate, y: Array, span: Span) -> Stages:
    """The stages of an explicit method: k_i = f(t + c_i h, y + h Σ a_ij k_j), y⁺ = y + h Σ b_i k_i."""
    (t, h), tableau = span, stepper.tableau
    rates: list[Array] = []
    for node, row in zip(tableau.nodes, tableau.matrix, strict=True):
        rates.append(rate(t + node * h, y + h * weighted(row, rates)))
    # Sums of whole multiples of the smallest weight, (1, 2, 2, 1)/6 in Kutta's method, round least.
    whole = 1 / min(abs(weight) for weight in tableau.weights if weight)
    end = y + h / whole * weighted([whole * weight for weight in tableau.weights], rates)
    if stepper.velocity_first:
        first_v = 1 + len(plant.coordinates)
        end[:first_v] = (y + h * rate(t, np.concatenate([y[:first_v], end[first_v:]])))[:first_v]
    return Stages(y, span, rates, end)


def weighted(weights: Sequence[float], stages: Sequence[Array]) -> Array | float:
    """Σ w_j k_j, without the terms that are nothing."""
    return sum((weight * stage for weight, stage in zip(weights, stages, strict=True) if weight), start=0.0)


def project_state(plant: Plant, state: State, t: float) -> State:
    """The nearest state (in the mass metric) that obeys every row and its rate.

    Where the rows that are independent there do not close all of them, all are tried together, for states that lie far
    off.
    """
    if not plant.constraints:
        return State(unit(plant.machine, state.q), state.v)
    near = settled(plant, State(unit(plant.machine, state.q), state.v), t)
    if near is not None:
        return near.state
    projected = project_on(plant, state, t, np.ones(len(plant.constraints)))
    worst = worst_row(plant, projected)
    gap = abs(projected.value[worst])
    if not gap <= REFERENCE_LOST * plant.scales.rows[worst]:
        raise ConstraintError(
            f"{plant.system.name}: the state cannot be projected onto the constraints at t = {t:g} s; "
            f"{plant.constraints[worst]} stays open by {gap:.3g}. Begin nearer to a closed configuration."
        )
    return projected.state


def projected(plant: Plant, state: State, t: ArrayLike) -> State:
    """`plant.project`: one state, or a batch of them.

    In machine code with the rows chosen at the start; one by one where these do not hold, or close not all rows.
    """
    batch = batch_of(plant, Asked(*state, t))
    fields, count, n = batch.fields, batch.count, len(plant.velocities)
    times = np.ascontiguousarray(np.broadcast_to(fields.get("t", np.zeros(1)), (count, 1)))
    states = State(fields["q"].copy(), np.array(np.broadcast_to(fields.get("v", np.zeros(n)), (count, n))))
    if not plant.constraints:
        return batch.shaped(states)
    fine, choice, raw = np.zeros(count, dtype=bool), plant.choice, states
    if plant.is_native:
        (pivots,) = run_lanes(plant, "motion", {**fields, "mask": choice.mask}, ("pivots",))
        with np.errstate(all="ignore"):  # where the rows do not hold, anything may come out
            states, fine = project_each(plant, raw, times, choice.mask)
        fine &= (pivots >= choice.threshold).all(axis=1)
    for k in np.flatnonzero(~fine):
        states.q[k], states.v[k] = project_state(plant, State(raw.q[k], raw.v[k]), float(times[k, 0]))
    return batch.shaped(states)
