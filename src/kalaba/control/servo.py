"""Servo control: goals become constraints, and real motors supply what they take."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments, is_a
from kalaba.control import servo_expressions
from kalaba.control.allocation import Allocation, LeastSquares, checked_rule, rule_for_units
from kalaba.control.allocation.solutions import row_lengths
from kalaba.control.course import Course, apart, begins_on, course, tangent
from kalaba.control.goals import Goal, checked_goals, duration_of
from kalaba.control.motors import ALL, listed, named_motors
from kalaba.control.robust import Correction, Model, believed, checked_model, combined_error
from kalaba.errors import ControlError
from kalaba.model.acting import Sampled
from kalaba.model.units import actuator_units
from kalaba.paths.checks import positive
from kalaba.plant.arguments import own_state
from kalaba.plant.laws import Law, Limited, limited, traced_function
from kalaba.plant.plant import Plant, build
from kalaba.plant.start import take_over
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.number import measured
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.model.system import System

NO_NUMBERS: Mapping[str, float] = MappingProxyType({})
CHECKED = 25  # states along the goals at which `servo` looks


class StartWarning(UserWarning):
    """A run under servo control was told to start off its goals."""


@dataclass(frozen=True)
class Servo:
    """A control law that meets goals with the motors that are there; made by `kb.servo`.

    ::

        S u = r,   S = A_s Y,   r = b_s − A_s v̇₀,   b_s = a_d − Ȧ_s v + 2 ζ ω (v_d − A_s v) + ω² e

    on the closed machine. Among the u that do, `allocation` chooses. Evaluated at every stage, in compiled code, where
    the allocation has a closed form; otherwise sampled at `rate`, as is a law with an `Adaptive` correction.

    Arguments:
        goals: what is to be met
        actuators: names of the motors that it drives, or "all"
        allocation: how redundant motors share
        frequency: ω of the feedback, rad/s
        damping: damping ratio ζ of the feedback
        run_in: time to come onto the path from where the machine is, s; None: it starts on the path
        rate: samples per second of a law without a closed form, Hz
        model: (parameter, value) that the law believes where they are not the machine's
        correction: what is done about a model that is wrong; None: nothing
        origin: (q, v) that the goals are counted from; None: where a run starts
    """

    goals: tuple[Goal, ...]
    actuators: tuple[str, ...] | str = ALL
    allocation: Allocation = LeastSquares()
    frequency: float = measured("rad/s", default=20.0)
    damping: float = 1.0
    run_in: float | None = measured("s", default=None)
    rate: float = measured("Hz", default=1000.0)
    model: Model = ()
    correction: Correction | None = None
    origin: tuple[tuple[float, ...], tuple[float, ...]] | None = field(default=None, repr=False)  # numbers, not code

    @property
    def duration(self) -> float | None:
        """How long the goals take, s; None if they do not end."""
        return duration_of(self.goals)

    def bind(self, plant: Plant) -> BoundServo:
        """The same law on a machine: with its course, its motors and their limits."""
        check_arguments(Servo.bind, locals(), ControlError)
        return BoundServo(self, plant, None if self.origin is None else State(*map(np.array, self.origin)))

    def start(self, plant: Plant) -> State:
        """Where a run begins: on the path, or where the machine is if it runs in."""
        return self.bind(plant).course.start

    def law(self, plant: Plant, start: State) -> Law | Sampled:
        """The law, or a sampled function where a solver is needed. The goals count from the start of the run.

        Arguments:
            plant: the machine
            start: where the run begins; relative paths, kept attitudes and postures are counted from it, unless the
                servo has an origin, or the run begins where the servo wants it to
        """
        check_arguments(Servo.law, locals(), ControlError)
        start = own_state(plant.machine, start)
        bound = self.bind(plant)
        if self.origin is None and not begins_on(bound.course, start):
            bound = BoundServo(self, plant, start)
            if any(motion.path is not None and motion.path.is_relative for motion in bound.course.motions):
                _check_way(bound)  # other paths were looked at when the servo was made
        if off := apart(bound.course, start):
            message = f"{plant.system.name}: {off}. The feedback pulls it there; run_in= is gentler."
            warnings.warn(message, StartWarning, stacklevel=4)
        return bound.law()

    def refusal(self, plant: Plant) -> str:
        """Why it has no law in expressions on a machine, and what to do; "" where it has one."""
        check_arguments(Servo.refusal, locals(), ControlError)
        if plant.is_singular:
            return "servo control needs a mass matrix of full rank. Give bodies mass."
        if self.correction is not None and self.correction.learning:
            return "an Adaptive correction learns while it runs and has no C export. Use kb.Robust."
        if self.bind(plant).needs_solver:
            return (
                f"{self.allocation.name} with more than one spare motor needs a solver at every sample and has no C "
                "export. Use LeastSquares, or fewer motors."
            )
        return ""

    def with_allocation(self, plant: Plant, allocation: Allocation) -> Servo:
        """The same with another rule by which motors share, if it is one for their limits."""
        check_arguments(Servo.with_allocation, locals(), ControlError)
        allocation.check(self.bind(plant).limits)
        return replace(self, allocation=allocation)

    def states_at(self, plant: Plant, times: Sequence[float]) -> list[State]:
        """States that meet the goals at ascending times, s."""
        check_arguments(Servo.states_at, locals(), ControlError)
        course = self.bind(plant).course
        states = [course.start]
        for t in times:
            states.append(course.at(t, states[-1].q))
        return states[1:]

    def described(self, law: Law) -> str:  # it knows its law better
        """What its law is, for people."""
        goals = "; ".join(goal.words for goal in self.goals)
        motors = self.actuators if isinstance(self.actuators, str) else ", ".join(self.actuators)
        w, zeta = self.frequency, self.damping
        correction = "" if self.correction is None else f" Corrected by {self.correction!r}."
        if self.model:
            numbers = ", ".join(f"{name} = {value:g}" for name, value in self.model)
            correction += f" It believes {numbers} whatever p says."
        return (
            f"The law: servo constraints with the wanted acceleration a_d + 2 zeta w (v_d - v) + w^2 e of each goal, w "
            f"= {w:g} rad/s, zeta = {zeta:g}. Goals: {goals}. Motors: {motors}, by {self.allocation!r}; they give no "
            f"more than their limits.{correction}"
        )


@dataclass(frozen=True)
class BoundServo:
    """A servo on a machine: S u = r with numbers in it; made by `Servo.bind`."""

    servo: Servo
    plant: Plant
    origin: State | None = None  # what the goals are counted from; None: the machine's start

    @cached_property
    def course(self) -> Course:
        """The goals with the numbers of the start; found once per machine for its own start."""
        return course(self.plant, self.servo.goals, run_in=self.servo.run_in, origin=self.origin)

    @cached_property
    def motors(self) -> tuple[int, ...]:
        """The motors that may act."""
        return named_motors(self.plant, self.servo.actuators, "servo")

    @cached_property
    def limits(self) -> Array:
        """Limits of the motors that may act."""
        return self.plant.limits[list(self.motors)]

    @property
    def needs_solver(self) -> bool:
        """Whether the allocation has no closed form for as many spare motors."""
        return len(self.motors) - len(self.course.independent) > self.allocation.closed_form_spare

    @cached_property
    def allocation(self) -> Allocation:
        """How the motors share: the servo's rule, weighted by limits where it would sum forces and torques."""
        rule, motors = self.servo.allocation, self.motors
        if len(motors) <= len(self.course.independent):
            return rule  # there is nothing to choose
        units = actuator_units(self.plant.machine)
        names = [self.plant.actuators[i] for i in motors]
        return rule_for_units(rule, names, [units[i] for i in motors], self.limits)

    def law(self) -> Law | Sampled:
        """The law in expressions, or as a function to be sampled where it remembers something or calls a solver."""
        servo, rule, rows = self.servo, self.allocation, len(self.course.independent)
        if servo.correction is not None and servo.correction.learning:
            return self._adapted(servo.correction.learning)
        if self.needs_solver:
            return self._sampled()

        def efforts(equations: Equations, mask: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            S, r = self._demand(equations, mask, numbers)
            shared = ca.vertsplit(rule.expression(S, r, self.limits))
            values = dict(zip(self.motors, shared, strict=True))
            return [values.get(i, ca.SX(0)) for i in range(len(self.plant.actuators))]

        shape = f"{self.course.label} {rule.label((rows, len(self.motors)), self.limits)}"
        numbers = self.course.numbers
        return Law(repr(servo), efforts, is_feedback=True, shape=shape, numbers=numbers, bounds=self._bounds())

    def numbers(self, state: State, t: float) -> tuple[Array, Array]:
        """S and r at a state and time."""

        def values(equations: Equations, mask: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            return [ca.vec(part) for part in self._demand(equations, mask, numbers)]

        servo, rows, motors = self.servo, len(self.course.independent), len(self.motors)
        settings = f"{servo.frequency} {servo.damping} {servo.model} {servo.correction}"
        label = f"{self.course.label} {self.motors} {settings}"
        function = traced_function(self.plant, "servo", values, label, self.course.numbers)
        inputs = self.plant.inputs(*state, t)
        inputs[self.plant.layout.mask] = self.plant.choice.mask
        result = function(inputs)
        return result[: rows * motors].reshape((rows, motors), order="F"), result[rows * motors :]

    def _bounds(self) -> tuple[Array, Array]:
        """What each motor may give: its limit, and no more than the allocation promises."""
        motors, low, high = list(self.motors), -self.plant.limits, self.plant.limits.copy()
        least, most = self.allocation.bounds(self.limits)
        low[motors], high[motors] = np.maximum(low[motors], least), np.minimum(high[motors], most)
        return low, high

    def _demand(self, equations: Equations, mask: ca.SX, numbers: ca.SX) -> tuple[ca.SX, ca.SX]:
        servo, rows = self.servo, self.course.rows(equations, numbers)
        gains = servo.frequency, servo.damping
        S, r = servo_expressions.demand(equations, mask, rows, gains, list(self.motors))
        if servo.correction is not None:
            r = r + servo.correction.term(combined_error(equations, rows, *gains))
        S, r = believed(equations, servo.model, [S, r])
        return S, r

    def _sampled(self) -> Sampled:
        """The law as a function that calls a solver."""
        share = self._sharing()

        def efforts(t: float, q: Array, v: Array) -> Limited:
            return share(*self.numbers(State(q, v), t))

        return Sampled(efforts, self.servo.rate)

    def _adapted(self, gain: float) -> Sampled:
        """The law with an estimate of what is missing, d̂_k = d̂_{k−1} + Γ z_k / rate; used at once, it does not lag."""
        servo, course = self.servo, self.course

        def errors(equations: Equations, _: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            z = combined_error(equations, course.rows(equations, numbers), servo.frequency, servo.damping)
            return believed(equations, servo.model, [z])

        label = f"{course.label} {servo.frequency} {servo.damping} {servo.model}"
        error = traced_function(self.plant, "servo error", errors, label, course.numbers)
        share = self._sharing()

        def efforts(t: float, q: Array, v: Array, estimate: Array) -> tuple[Limited, Array]:
            S, r = self.numbers(State(q, v), t)
            grown = estimate + (gain / servo.rate) * error(self.plant.inputs(q, v, t))
            return share(S, r + grown), grown

        return Sampled(efforts, servo.rate, state=np.zeros(len(course.independent)))

    def _sharing(self) -> Callable[[Array, Array], Limited]:
        """A function of S and r: the efforts of all motors with S u = r, as far as they may; others are idle."""
        motors, bounds = list(self.motors), self._bounds()
        share = self.allocation.solver(self.limits, self.course.independent_names)

        def efforts(S: Array, r: Array) -> Limited:
            u = np.zeros(len(self.plant.actuators))
            try:
                u[motors] = share(S, r)
            except ControlError:
                length = row_lengths(S)
                W, F = S / length[:, np.newaxis], r / length
                if np.linalg.matrix_rank(W, rtol=tolerances.DEPENDENT_FORCES) == len(r):
                    raise
                # motors have lost hold, and the run says so: what comes nearest
                u[motors] = np.linalg.lstsq(W, F, rcond=tolerances.DEPENDENT_FORCES)[0]
            return limited(u, *bounds)

        return efforts


def servo(  # noqa: PLR0913  (every choice of the law has its own name)
    system: System | Plant,
    goals: Goal | Sequence[Goal],
    actuators: str | Sequence[str] = ALL,
    allocation: Allocation = LeastSquares(),
    *,
    frequency: float = 20.0,
    damping: float = 1.0,
    run_in: float | None = None,
    rate: float = 1000.0,
    model: Mapping[str, float] = NO_NUMBERS,
    correction: Correction | None = None,
    start: State | tuple[ArrayLike, ArrayLike] | None = None,
) -> Servo:
    """Make a control law that meets goals with the motors named; refuses goals that cannot be met, and says why.

    The machine is taken along its goals in a few steps: a path that leaves the workspace is found here.

    Arguments:
        system: the machine
        goals: what it is to do, `kb.follow(...)` and `kb.posture()`; together they speak for every freedom
        actuators: names of the motors that may act; "all"
        allocation: how spare motors share, `kb.LeastSquares()`, `MinMax()`, `Bounded()` or a rule of your own
        frequency: ω of the feedback, rad/s
        damping: ζ of the feedback, 1
        run_in: time from where the machine is to its path, s; None lets it start on the path
        rate: that of laws which must be sampled, Hz
        model: numbers that the law believes where they are not the machine's, {"platform.mass": 26.1}
        correction: what is done about a model that is wrong, `kb.Robust(...)` or `kb.Adaptive(...)`
        start: a State, (q, v) or `run.end`: relative paths, kept attitudes and postures are counted from it, and a run
            begins there or where its path does; None: from where a run starts
    """
    check_arguments(servo, locals(), ControlError)
    plant = build(system)
    if not is_a(correction, Correction | None) or isinstance(correction, type):
        raise ControlError(f"servo.correction: expected kb.Robust(...) or kb.Adaptive(...), got {correction!r}.")
    if plant.is_singular:
        raise ControlError(f"{plant.system.name}: servo control needs a mass matrix of full rank. Give bodies mass.")
    made = Servo(
        goals=checked_goals(goals, "servo"),
        actuators=actuators if isinstance(actuators, str) and actuators == ALL else listed(actuators),
        allocation=checked_rule(allocation, "servo.allocation"),
        frequency=positive(frequency, "servo.frequency"),
        damping=positive(damping, "servo.damping"),
        run_in=None if run_in is None else positive(run_in, "servo.run_in"),
        rate=positive(rate, "servo.rate"),
        model=checked_model(plant, model),
        correction=correction,
        origin=None if start is None else _numbers(take_over(plant, start)[0]),
    )
    _check(made.bind(plant))
    return made


def _numbers(state: State) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return tuple(state.q.tolist()), tuple(state.v.tolist())


def _check(bound: BoundServo) -> None:
    """Refuse limits that are no limits, goals out of reach of the motors, and paths out of reach of the machine."""
    plant, motors = bound.plant, bound.motors
    for i in motors:
        if not plant.limits[i] > 0:
            raise ControlError(f"{plant.actuators[i]}.limit: expected more than zero, got {float(plant.limits[i])!r}.")
    bound.servo.allocation.check(bound.limits)
    course = bound.course
    if bound.servo.run_in is not None and (off := apart(course, course.start)):
        raise ControlError(f"{plant.system.name}: {off}. Let the goals begin at rest, or leave run_in out.")
    _check_motors(bound)
    bound.allocation.check(bound.limits)  # it needs the goals, and refuses motors of different units
    _check_way(bound)


def _check_way(bound: BoundServo) -> None:
    """Refuse paths out of reach of the machine: it is taken along them in a few steps."""
    course, duration = bound.course, bound.servo.duration
    if duration is not None:
        q = course.start.q
        for t in np.linspace(0.0, duration, CHECKED):
            q = course.at(float(t), q).q


def _check_motors(bound: BoundServo) -> None:
    """S must have full rank: name the direction in which no motor pushes."""
    plant, motors, course = bound.plant, bound.motors, bound.course
    basis, _ = tangent(plant, course.start.q)
    rows = course.demand(course.start, 0.0).matrix[list(course.independent)] @ basis
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    pushed = rows @ basis.T @ plant.actuation_map(course.start.q)[:, list(motors)]
    sides, sizes, _ = np.linalg.svd(pushed)
    rank = int(np.sum(sizes > tolerances.PUSHED * sizes.max(initial=1e-300)))
    if rank < len(rows):
        missing = sides[:, rank]
        named = zip(missing, course.independent_names, strict=True)
        parts = [f"{part:+.2g} {name}" for part, name in named if abs(part) > tolerances.PART_SHOWN]
        used = ", ".join(plant.actuators[i] for i in motors) or "no motor"
        raise ControlError(
            f"{plant.system.name}: {used} cannot push along {' '.join(parts)}: {counted(len(rows), 'goal')}, "
            f"{counted(rank, 'direction')} that the motors move. Add a motor, or drop a goal."
        )
