"""The course of a machine that has goals: where it is, how fast, and what its motors could do about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.constrain.kernels.functions import law_values
from kalaba.constrain.rows import Sizes
from kalaba.control.goals import Follow, Goal, Motion, Rows, ScalarMotion, chosen, motion_of, numbers_of, stacked
from kalaba.errors import ControlError
from kalaba.model.text.expressions import parse
from kalaba.plant.assembly import close, weighted_step
from kalaba.plant.choice import rows_at
from kalaba.plant.start import closing
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.configuration import q_dot, unit

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant

SPEED_STEPS = 20  # of Newton's method at the most


@dataclass(frozen=True)
class Demand:
    """Numbers of the goals at a state: A_s, Ȧ_s v, e, v_d, a_d."""

    matrix: Array
    drift: Array
    error: Array
    velocity: Array
    acceleration: Array


@dataclass(frozen=True)
class Course:
    """The goals of a machine, with the numbers of its start in them."""

    plant: Plant
    motions: tuple[Motion, ...]
    names: tuple[str, ...]
    independent: tuple[int, ...]  # rows that say something new
    start: State  # on the course at t = 0

    @property
    def independent_names(self) -> tuple[str, ...]:
        """Names of the independent rows."""
        return tuple(self.names[i] for i in self.independent)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """What the goals have from the start."""
        return numbers_of(self.motions)

    def rows(self, equations: Equations, numbers: ca.SX | None = None) -> Rows:
        """The independent servo rows."""
        return chosen(stacked(self.motions, equations.kinematics, numbers), self.independent)

    @cached_property
    def sizes(self) -> Array:
        """What errors of each row are parts of: the machine's reach, or 1 for angles."""
        return goal_sizes(self.plant, self.motions)

    @cached_property
    def strengths(self) -> Array:
        """The same with the machine's length: for what rows say, which does not depend on where it stands."""
        return goal_sizes(self.plant, self.motions, self.plant.scales.length)

    @cached_property
    def label(self) -> str:
        """What tells its code apart."""
        return f"{[motion.shape for motion in self.motions]} {self.independent}"

    def demand(self, state: State, t: float) -> Demand:
        """All rows at a state."""
        return demand(self.plant, self.motions, state, t)

    def at(self, t: float, guess: Array) -> State:
        """The state on the course at a time, near a guess.

        Rows at velocity level leave part of q to the way that was gone: where a wheel rolls, the guess given is not
        used but what rolling leads to from the start, which takes an integration.
        """
        if any(self.plant.machine.is_velocity_level):
            guess = self._rolled(t)
        q = _closed(self.plant, self.motions, self.names, guess, t)
        return State(q, _speed(self.plant, self.motions, q, t))

    @cached_property
    def _end(self) -> float:
        """When the last path ends; 0 without one."""
        return max((motion.path.duration for motion in self.motions if motion.path is not None), default=0.0)

    @cached_property
    def _way(self) -> Callable[[float], Array]:
        """Configuration q on the course from 0 to its end, where rows at velocity level take part."""
        return _roll(self.plant, self.motions, self.start.q, (0.0, self._end))

    def _rolled(self, t: float) -> Array:
        near = min(max(t, 0.0), self._end)
        q = self._way(near) if self._end else self.start.q
        q = unit(self.plant.machine, q if t == near else _roll(self.plant, self.motions, q, (near, t))(t))
        error = np.abs(self.demand(State(q, np.zeros(len(self.plant.velocities))), t).error)
        parts = error / self.sizes
        if parts.max(initial=0.0) > tolerances.SLIPPED:
            worst = int(parts.argmax())
            raise _would_slip(self.plant, self.motions, t, f"{self.names[worst]} misses by {error[worst]:.3g}.")
        return q


def apart(course: Course, start: State) -> str:
    """Say which goal a start is farthest from, in place or speed; nothing where it is on the course."""
    if start.q.shape != course.start.q.shape or start.v.shape != course.start.v.shape:
        return ""
    demand = course.demand(start, 0.0)
    slower = demand.velocity - demand.matrix @ start.v
    scales = course.plant.scales
    fastest = float(scales.fastest(start.v))
    for gaps, rate, what in (
        (demand.error, 1.0, "m or rad off its path"),
        (slower, fastest, "m/s or rad/s too slow or fast"),
    ):
        parts = np.abs(gaps) / (course.sizes * rate)
        worst = int(parts.argmax()) if gaps.size else 0
        if gaps.size and parts[worst] > tolerances.OFF_COURSE:
            return f"{course.names[worst]} starts {abs(gaps[worst]):.3g} {what}"
    return ""


def _roll(plant: Plant, motions: tuple[Motion, ...], q: Array, span: tuple[float, float]) -> Callable[[float], Array]:
    """Integrate q̇ = N(q) v(q, t), with the v that rows and goals, which speak for every freedom, leave no choice of."""
    from scipy.integrate import solve_ivp

    def rate(t: float, q: Array) -> Array:
        q = unit(plant.machine, q)
        return q_dot(plant.machine, q, _speed(plant, motions, q, t))

    atol = tolerances.ROLLED * plant.scales.coordinates
    result = solve_ivp(rate, span, q, method="DOP853", rtol=tolerances.ROLLED, atol=atol, dense_output=True)
    if not result.success:
        raise _would_slip(plant, motions, float(result.t[-1]), "the speeds have no bound.")
    return result.sol  # type: ignore[no-any-return]


def _would_slip(plant: Plant, motions: tuple[Motion, ...], t: float, what: str) -> ControlError:
    return ControlError(
        f"{plant.system.name}: the goals cannot be met at t = {t:.4g} s{_way(motions, t)}; {what} "
        "Do they ask for a slip where nothing may slip?"
    )


def demand(plant: Plant, motions: tuple[Motion, ...], state: State, t: float) -> Demand:
    """Evaluate the rows of some goals."""
    numbers = numbers_of(motions)

    def values(equations: Equations, _: ca.SX, symbols: ca.SX) -> list[ca.SX]:
        rows = stacked(motions, equations.kinematics, symbols)
        parts = (rows.matrix, rows.drift, rows.aim.error, rows.aim.velocity, rows.aim.acceleration)
        return [ca.vec(ca.densify(part)) for part in parts]

    label = repr([motion.shape for motion in motions])
    function = plant.function("goals", lambda e: law_values(e, values, len(numbers)), label, numbers=numbers)
    result, n = function(plant.inputs(*state, t)), len(plant.velocities)
    g = len(result) // (n + 4)
    matrix, rest = result[: g * n].reshape((g, n), order="F"), result[g * n :].reshape((4, g))
    return Demand(matrix, *rest)


def goal_sizes(plant: Plant, motions: tuple[Motion, ...], length: float | None = None) -> Array:
    """The size of each goal row: the machine's reach, or another length, for metres, 1 for angles.

    One whose unit is not known has the size that the machine's velocities move it by at its start.
    """
    length = plant.scales.reach if length is None else length
    units = [unit for motion in motions for unit in motion.units(plant.machine)]
    sizes = np.array([{"m": length, "rad": 1.0, "1": 1.0}.get(unit, 0.0) for unit in units])
    if not sizes.all():
        matrix = demand(plant, motions, State(plant.start.q, np.zeros(len(plant.velocities))), 0.0).matrix
        moved = np.max(np.abs(matrix) * plant.scales.velocities, axis=1, initial=0.0)
        sizes = np.where(sizes > 0, sizes, np.where(moved > 0, moved, 1.0))
    return sizes


@dataclass(frozen=True)
class _Closing:
    """The assembly problem of a machine that is to meet its goals at a time."""

    plant: Plant
    motions: tuple[Motion, ...]
    t: float

    @property
    def sizes(self) -> Sizes:
        """Of the rows at position level, then of the goals."""
        scales = self.plant.scales
        position = ~np.array(self.plant.machine.is_velocity_level, dtype=bool)
        return Sizes(np.concatenate([scales.rows[position], goal_sizes(self.plant, self.motions)]), scales.ways)

    def size(self, q: Array) -> float:
        """How large a configuration is in the machine's sizes, at least 1."""
        return closing(self.plant).size(q)

    def evaluate(self, q: Array) -> tuple[Array, Array, Array]:
        """Residual, matrix and metric of the structure and of the goals."""
        n = len(self.plant.velocities)
        structure = self.plant.evaluate("system_matrices", self.plant.inputs(q, None, self.t))
        goals = demand(self.plant, self.motions, State(q, np.zeros(n)), self.t)
        position = ~np.array(self.plant.machine.is_velocity_level, dtype=bool)
        A = structure["matrix"].reshape((len(position), n), order="F")[position]
        residual = np.concatenate([structure["value"][position], -goals.error])
        return residual, np.vstack([A, goals.matrix]), structure["mass"].reshape((n, n), order="F")

    def retract(self, q: Array, step: Array) -> Array:
        """Move along a step."""
        return closing(self.plant).retract(q, step)

    def difference(self, q: Array, origin: Array) -> Array:
        """The step from one configuration to another."""
        return closing(self.plant).difference(q, origin)

    def flipped(self, q: Array) -> bool:
        """Tell whether a connection sits at its false root."""
        return closing(self.plant).flipped(q)


def _closed(plant: Plant, motions: tuple[Motion, ...], names: tuple[str, ...], guess: Array, t: float) -> Array:
    problem = _Closing(plant, motions, t)
    closed = close(problem, guess)
    gaps = np.abs(closed.residual)
    parts = gaps / problem.sizes.rows
    if parts.max(initial=0.0) > tolerances.GOAL_MET:
        levels = zip(plant.constraints, plant.machine.is_velocity_level, strict=True)
        structure = [name for name, is_velocity in levels if not is_velocity]
        worst = int(np.argmax(parts))
        raise ControlError(
            f"{plant.system.name}: the goals cannot be met at t = {t:.4g} s{_way(motions, t)}; "
            f"{[*structure, *names][worst]} misses by {gaps[worst]:.3g}. Is the path inside the workspace?"
        )
    return closed.q


def _way(motions: tuple[Motion, ...], t: float) -> str:
    """How far along its path the first frame is, for messages."""
    for motion in motions:
        if motion.path is not None:
            done, length = motion.path.progress(t)[0], motion.path.length
            return f", {float(done) * length:.4g} m along the path of {motion.name}"
    return ""


def _speed(plant: Plant, motions: tuple[Motion, ...], q: Array, t: float) -> Array:
    """The velocity of least energy that obeys the structure and moves as the goals do."""
    n, scales = len(plant.velocities), plant.scales
    v = np.zeros(n)
    sizes = Sizes(np.concatenate([scales.strengths, goal_sizes(plant, motions, scales.length)]), scales.velocities)
    for _ in range(SPEED_STEPS):
        problem = plant.problem(plant.inputs(q, v, t))
        goals = demand(plant, motions, State(q, v), t)
        residual = np.concatenate([plant.velocity_residual(q, v, t), goals.matrix @ v - goals.velocity])
        if np.max(np.abs(residual) / sizes.rows, initial=0.0) < tolerances.SPEED_MET * scales.fastest(v):
            break
        v = v + weighted_step(np.vstack([problem.matrix, goals.matrix]), problem.mass, -residual, sizes)
    return v


def course(
    plant: Plant, goals: tuple[Goal, ...], *, run_in: float | None = None, origin: State | None = None
) -> Course:
    """The goals of a machine put together: where it starts, which rows count. It is found once per machine.

    Arguments:
        plant: the machine
        goals: what it is to do; freedoms that none of them speaks for are an error
        run_in: time from where the machine is to its path, s; None lets it start on the path
        origin: the state that relative paths, kept attitudes and postures are counted from; None: the machine's start
    """
    if origin is not None:
        return _put_together(plant, goals, run_in, origin)
    return plant.once(("course", goals, run_in), lambda: _put_together(plant, goals, run_in, plant.start))


def course_from(plant: Plant, goals: tuple[Goal, ...], start: State, *, run_in: float | None = None) -> Course:
    """The course of a run that begins at a state: from the machine's start if it begins there, else from the state.

    Arguments:
        plant: the machine
        goals: what it is to do
        start: where the run begins
        run_in: time from where the machine is to its path, s; None lets it start on the path
    """
    usual = course(plant, goals, run_in=run_in)
    return usual if begins_on(usual, start) else course(plant, goals, run_in=run_in, origin=start)


def begins_on(usual: Course, start: State) -> bool:
    """Whether a state is the one that a course starts from."""
    return np.array_equal(usual.start.q, start.q) and np.array_equal(usual.start.v, start.v)


def _put_together(plant: Plant, goals: tuple[Goal, ...], run_in: float | None, origin: State) -> Course:
    followed = [goal for goal in goals if isinstance(goal, Follow)]
    motions = tuple(motion_of(plant, goal, origin.q, run_in) for goal in followed)
    names = _names(plant, motions)
    q = origin.q if run_in is not None or not motions else _closed(plant, motions, names, origin.q, 0.0)
    if len(followed) < len(goals):
        motions = (*motions, *_postures(plant, motions, q))
        names = _names(plant, motions)
    independent, freedoms = _independent(plant, motions, q)
    if len(independent) < freedoms:
        raise _unspoken(plant, motions, independent, q, freedoms)
    v = origin.v if run_in is not None else _speed(plant, motions, q, 0.0)
    return Course(plant, motions, names, independent, State(q, v))


def _names(plant: Plant, motions: tuple[Motion, ...]) -> tuple[str, ...]:
    k = plant.equations.kinematics
    return stacked(motions, k).names if motions else ()


def tangent(plant: Plant, q: Array) -> tuple[Array, Array]:
    """L⁻ᵀ N: velocities that obey the structure, orthonormal in the mass metric; and L⁻ᵀ alone."""
    rows = rows_at(plant, plant.inputs(q))
    sizes = rows.sizes.velocities[:, np.newaxis]
    inverse = sizes * np.linalg.inv(np.linalg.cholesky(rows.sizes.of_metric(rows.metric))).T
    return rows.free_directions(mass_orthonormal=True) if len(rows.matrix) else inverse, inverse


def _independent(plant: Plant, motions: tuple[Motion, ...], q: Array) -> tuple[tuple[int, ...], int]:
    """The goal rows that say something new, in declared order, and the freedoms of the machine."""
    basis, inverse = tangent(plant, q)
    if not motions:
        return (), basis.shape[1]
    matrix = demand(plant, motions, State(q, np.zeros(len(plant.velocities))), 0.0).matrix
    lengths = np.linalg.norm(matrix @ inverse, axis=1)
    rows = (matrix @ basis) / np.where(lengths > 0, lengths, 1.0)[:, None]
    taken: list[Array] = []
    chosen: list[int] = []
    for index, row in enumerate(rows):
        left = row.copy()
        for _ in range(2):  # Gram and Schmidt: done twice, nothing is left of what was taken but rounding
            for direction in taken:
                left = left - (left @ direction) * direction
        size = np.linalg.norm(left)
        if size > tolerances.INDEPENDENT_GOAL:
            taken.append(left / size)
            chosen.append(index)
    return tuple(chosen), basis.shape[1]


def _postures(plant: Plant, motions: tuple[Motion, ...], q: Array) -> list[ScalarMotion]:
    """Goals that hold what the others leave free: the motors' displacements first, then coordinates."""
    columns = dict(plant.machine.scalar_pairs)
    plain = [plant.coordinates[i] for i in columns]
    driven = [displacement.canonical for displacement in plant.machine.motor_displacements.values()]
    order = [*(name for name in driven if name in plain), *(name for name in plain if name not in driven)]
    postures: list[ScalarMotion] = []
    independent, freedoms = _independent(plant, motions, q)
    for name in order:
        if len(independent) == freedoms:
            break
        value = float(q[plant.coordinates.index(name)])
        trial = [*postures, ScalarMotion(parse(name), None, value)]
        more, _ = _independent(plant, (*motions, *trial), q)
        if len(more) > len(independent):
            postures, independent = trial, more
    return postures


def _unspoken(
    plant: Plant, motions: tuple[Motion, ...], independent: tuple[int, ...], q: Array, freedoms: int
) -> ControlError:
    basis, _ = tangent(plant, q)
    if motions:
        matrix = (
            demand(plant, motions, State(q, np.zeros(len(plant.velocities))), 0.0).matrix[list(independent)] @ basis
        )
        _, _, directions = np.linalg.svd(matrix)
        basis = basis @ directions[len(independent) :].T
    weight = np.abs(basis).max(axis=1) / plant.scales.velocities
    names = [n for n, w in zip(plant.velocities, weight, strict=True) if w > tolerances.PART_SHOWN * weight.max()]
    count = freedoms - len(independent)
    shown = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
    return ControlError(
        f"{plant.system.name}: no goal speaks for {count} of its {freedoms} freedoms, which move {shown}. "
        "Add kb.posture() to hold them, or a goal for each."
    )
