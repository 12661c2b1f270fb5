"""The way from one configuration to another: displacements that go straight with minimum jerk, the others in step.

With τ = t/T and s = 10 τ³ − 15 τ⁴ + 6 τ⁵ the displacements are y = y₀ + (y₁ − y₀) s. What the motors do along it::

    Nᵀ B u = Nᵀ (M v̇ − Q)        A N = 0        the least |u|
    Aᵀ λ = M v̇ − Q − B u
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.constrain.rows import Sizes
from kalaba.control.course import Course, course, demand, tangent
from kalaba.control.goals import Goal, Motion, ScalarMotion, follow, posture
from kalaba.errors import ControlError
from kalaba.model.text.expressions import parse
from kalaba.paths.checks import finite
from kalaba.plant.arguments import checked_configuration
from kalaba.plant.choice import independent_rows_of, rows_at
from kalaba.plant.laws import read
from kalaba.plant.state import State
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant

Place = Mapping[str, float] | State | ArrayLike | None
POWERS = range(-10, 11)  # of 2: durations that are tried, of the machine's own time
JERK = "(10*t^3 - 15*t^4 + 6*t^5)"


class Guess(NamedTuple):
    """A motion at knots: where a search begins."""

    q: Array  # (knots, n)
    v: Array
    acceleration: Array
    actuation: Array  # (knots, motors)
    multipliers: Array  # λ of the independent rows


@dataclass(frozen=True)
class Way:
    """States at equal parts of a straight motion that takes one second; `stretched` gives any other duration."""

    plant: Plant
    leading: tuple[str, ...]  # displacements that say where the machine is
    independent: tuple[int, ...]  # rows of the structure, at the start
    q: Array  # (knots, n)
    v: Array
    acceleration: Array

    def stretched(self, duration: float) -> Guess:
        """The motion in another duration, with its efforts: v/T and v̇/T²."""
        v, a = self.v / duration, self.acceleration / duration**2
        efforts = [self._efforts(*state) for state in zip(self.q, v, a, strict=True)]
        u, multipliers = (np.array([pair[k] for pair in efforts]) for k in (0, 1))
        return Guess(self.q, v, a, u, multipliers)

    def _efforts(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        problem, B = self.plant.problem(self.plant.inputs(q, v)), self.plant.actuation_map(q)
        basis, _ = tangent(self.plant, q)
        force = problem.mass @ a - problem.force
        u = np.linalg.lstsq(basis.T @ B, basis.T @ force, rcond=None)[0]
        rows, S = list(self.independent), self.plant.scales.velocities
        sizes = Sizes(self.plant.scales.strengths[rows], S)
        A = sizes.of_rows(problem.matrix[rows])
        left = (force - B @ u) * S
        multipliers = np.linalg.lstsq(A.T, left, rcond=None)[0] / sizes.rows if len(A) else np.zeros(0)
        return np.asarray(u), np.asarray(multipliers)

    @property
    def slowest(self) -> float:
        """The longest duration that is tried, s."""
        return 2.0 ** POWERS[-1] / self.plant.scales.rate

    def shortest(self, limits: Array) -> float | None:
        """The least duration, to 1 %, in which this motion keeps within the motors' limits; None if there is none."""

        def fits(duration: float) -> bool:
            return bool((np.abs(self.stretched(duration).actuation) <= limits).all())

        tried = [2.0**power / self.plant.scales.rate for power in POWERS]
        high = next((duration for duration in tried if fits(duration)), None)
        if high is None:
            return None
        low = high / 2
        while high > 1.01 * low:
            middle = float(np.sqrt(low * high))
            low, high = (low, middle) if fits(middle) else (middle, high)
        return high


def way(plant: Plant, start: Place, end: Place, knots: int) -> Way:
    """Find the way between two configurations: closed at every knot, on the assembly of the start."""
    q_start = place(plant, start, "start")
    led = course(plant, _led(plant, end))
    targets = [motion.target for motion in led.motions if isinstance(motion, ScalarMotion)]
    at_zero = tuple(ScalarMotion(target, parse(0.0)) for target in targets)
    y_start = _readings(plant, at_zero, q_start)
    q_end: Array | None = None
    if isinstance(end, Mapping):
        y_end = _numbers(end)
    else:
        q_end = place(plant, end, "end")
        y_end = _readings(plant, at_zero, q_end)
    wanted = [f"{y0!r} + ({y1 - y0!r})*{JERK}" for y0, y1 in zip(y_start.tolist(), y_end.tolist(), strict=True)]
    motions = tuple(ScalarMotion(target, parse(text)) for target, text in zip(targets, wanted, strict=True))
    still = State(q_start, np.zeros(len(plant.velocities)))
    made = _marched(replace(led, motions=motions, start=still), knots)
    gaps = np.zeros(1) if q_end is None else np.abs(made.q[-1] - q_end)
    parts = gaps / plant.scales.coordinates
    if parts.max() > tolerances.SAME_SOLUTION:
        worst = int(np.argmax(parts))
        raise ControlError(
            f"{plant.system.name}: end is on another assembly than start: on the straight way "
            f"{plant.coordinates[worst]} arrives {gaps[worst]:.3g} off. Give an end that the start leads to."
        )
    return made


def place(plant: Plant, where: Place, what: str) -> Array:
    """A configuration that closes: the machine's start, a State, q, or displacements by name."""
    if where is None:
        return plant.start.q
    if isinstance(where, Mapping):
        return course(plant, tuple(follow(name, value) for name, value in where.items())).start.q
    q = checked_configuration(where, plant.machine)
    gaps = np.abs(plant.residual(q))
    parts = gaps / plant.scales.rows
    if parts.max(initial=0.0) > tolerances.GOAL_MET:
        worst = int(parts.argmax())
        name = plant.constraints[worst]
        raise ControlError(f"{what}: expected a configuration that closes, got {name} open by {gaps[worst]:.3g}.")
    return q


def _led(plant: Plant, end: Place) -> tuple[Goal, ...]:
    """Goals for the displacements that lead: those given, held where they are, or the motors' own."""
    if not isinstance(end, Mapping):
        return (posture(),)
    targets = [read(plant, name, "end") for name in end]
    y = _readings(plant, tuple(ScalarMotion(target, parse(0.0)) for target in targets), plant.start.q)
    return tuple(follow(name, value) for name, value in zip(end, y.tolist(), strict=True))


def _numbers(end: Mapping[str, float]) -> Array:
    return np.array([finite(value, f"end.{name}") for name, value in end.items()])


def _readings(plant: Plant, motions: tuple[Motion, ...], q: Array) -> Array:
    """Values of the targets of motions that are to be zero."""
    return -demand(plant, motions, State(q, np.zeros(len(plant.velocities))), 0.0).error


def _marched(course: Course, knots: int) -> Way:
    """States at equal times from 0 to 1; v̇ is that of the structure and the goals, A v̇ = b and A_s v̇ = b_s."""
    plant, states, rates, q = course.plant, [], [], course.start.q
    for t in np.linspace(0.0, 1.0, knots):
        state = course.at(float(t), q)
        problem, goals = plant.problem(plant.inputs(*state)), course.demand(state, float(t))
        chosen = independent_rows_of(plant, problem).kept
        sizes = Sizes(np.append(plant.scales.strengths[chosen], course.strengths), plant.scales.velocities)
        rows = sizes.of_rows(np.vstack([problem.matrix[chosen], goals.matrix]))
        rhs = np.concatenate([problem.rhs[chosen], goals.acceleration - goals.drift]) / sizes.rows
        rates.append(np.linalg.lstsq(rows, rhs, rcond=None)[0] * sizes.velocities)
        states.append(state)
        q = state.q
    independent = tuple(np.flatnonzero(rows_at(plant, plant.inputs(course.start.q)).kept).tolist())
    q_all, v_all = (np.array([state[k] for state in states]) for k in (0, 1))
    names = tuple(course.names[i] for i in course.independent)
    return Way(plant, names, independent, q_all, v_all, np.array(rates))
