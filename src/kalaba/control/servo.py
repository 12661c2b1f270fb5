"""Servo control: goals become constraints, and real motors supply what they take."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.kernels.functions import law_values
from kalaba.control import traced
from kalaba.control.allocation import Allocation, LeastSquares, Share, checked_rule
from kalaba.control.bound_goals import SHOWN, Course, apart, course, tangent
from kalaba.control.goals import Follow, Posture
from kalaba.control.robust import Adaptive, Correction, Model, Robust, believed, checked_model, combined_error
from kalaba.errors import ControlError, near
from kalaba.model.parts import Sampled
from kalaba.native.backend import Native
from kalaba.paths.checks import positive
from kalaba.plant.laws import Law
from kalaba.plant.plant import Plant, build

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.model.system import System
    from kalaba.plant.state import State

Array = NDArray[np.float64]
ALL = "all"
NO_NUMBERS: Mapping[str, float] = MappingProxyType({})
CHECKED = 25  # states along the goals at which `servo` looks
REACHABLE = 1e-8  # of the largest singular value of S with rows of length 1


class StartWarning(UserWarning):
    """A run under servo control was told to start off its goals."""


@dataclass(frozen=True)
class Servo:
    """A control law that meets goals with the motors that are there; made by `kb.servo`.

    ::

        S u = r,   S = A_s Y,   r = b_s − A_s v̇₀,   b_s = a_d − Ȧ_s v + 2 ζ ω (v_d − A_s v) + ω² e

    on the closed machine. Among the u that do, `allocation` chooses. Evaluated at every stage, in compiled code, where
    the allocation has a closed form; otherwise sampled at `rate`, as is a law with an `Adaptive` correction.
    """

    goals: tuple[Follow | Posture, ...]
    actuators: tuple[str, ...] | str = ALL
    allocation: Allocation = LeastSquares()
    frequency: float = 20.0  # ω, rad/s
    damping: float = 1.0  # ζ
    run_in: float | None = None  # s, from where the machine is; None: it starts on the path
    rate: float = 1000.0  # Hz
    model: Model = ()  # numbers that the law believes where they are not the machine's
    correction: Correction | None = None  # what is done about a model that is wrong

    @property
    def duration(self) -> float | None:
        """How long the goals take; None if they do not end."""
        times = [goal.duration for goal in self.goals if isinstance(goal, Follow)]
        known = [time for time in times if time is not None]
        return max(known) if known else None

    def course(self, plant: Plant) -> Course:
        """The goals with the numbers of a machine's start."""
        return course(plant, self.goals, run_in=self.run_in)

    def start(self, plant: Plant) -> State:
        """Where a run begins: on the path, or where the machine is if it runs in."""
        return self.course(plant).start

    def motors(self, plant: Plant) -> tuple[int, ...]:
        """The motors that may act."""
        names = plant.actuators if self.actuators == ALL else self.actuators
        return tuple(plant.actuators.index(name) for name in names)

    def law(self, plant: Plant, start: State) -> Law | Sampled:
        """The law, or a sampled function where a solver is needed. The goals count from the machine's own start."""
        found, motors = self.course(plant), self.motors(plant)
        if off := apart(found, start):
            message = f"{plant.system.name}: {off}. The feedback pulls it there; run_in= is gentler."
            warnings.warn(message, StartWarning, stacklevel=5)
        spare = len(motors) - len(found.kept)
        if isinstance(self.correction, Adaptive):
            return self._adapted(plant, found, motors, self.correction)
        if spare > self.allocation.closed_form_spare:
            return self._sampled(plant, found, motors)

        def efforts(equations: Equations, kept: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            S, r = self._demand(plant, found, motors, equations, kept, numbers)
            values = dict(zip(motors, ca.vertsplit(self._allocated(plant, motors, S, r)), strict=True))
            return [values.get(i, ca.SX(0)) for i in range(len(plant.actuators))]

        bounds = self._bounds(plant, motors)
        rule = self.allocation.label((len(found.kept), len(motors)), plant.limits[list(motors)])
        shape = f"{found.label} {rule}"
        return Law(repr(self), efforts, is_feedback=True, shape=shape, numbers=found.numbers, bounds=bounds)

    def _bounds(self, plant: Plant, motors: tuple[int, ...]) -> tuple[Array, Array]:
        """What each motor may give: its limit, or the bounds of the allocation."""
        limits = plant.limits
        low, high = -limits, limits.copy()
        least, most = self.allocation.bounds(limits[list(motors)])
        low[list(motors)] = np.maximum(low[list(motors)], least)
        high[list(motors)] = np.minimum(high[list(motors)], most)
        return low, high

    def _demand(
        self,
        plant: Plant,
        found: Course,
        motors: tuple[int, ...],
        equations: Equations,
        kept: ca.SX,
        numbers: ca.SX,
    ) -> tuple[ca.SX, ca.SX]:
        if not isinstance(plant.backend, Native):  # without a choice at hand, that of the start
            kept = ca.SX(ca.DM((plant.choice.mask > 0).astype(float)))
        gains, rows = (self.frequency, self.damping), found.rows(equations, numbers)
        S, r = traced.demand(equations, kept, rows, gains, list(motors))
        if isinstance(self.correction, Robust):
            r = r + self.correction.term(combined_error(equations, rows, *gains))
        S, r = believed(equations, self.model, [S, r])
        return S, r

    def _allocated(self, plant: Plant, motors: tuple[int, ...], S: ca.SX, r: ca.SX) -> ca.SX:  # noqa: N803
        """The motors' efforts, in closed form."""
        return self.allocation.expression(S, r, plant.limits[list(motors)])

    def _sampled(self, plant: Plant, found: Course, motors: tuple[int, ...]) -> Sampled:
        """The law as a function that calls a solver."""
        share = self._sharing(plant, found, motors)

        def efforts(t: float, q: Array, v: Array) -> Array:
            return share(*self.numbers(plant, found, motors, (q, v, t)))

        return Sampled(efforts, self.rate)

    def _adapted(self, plant: Plant, found: Course, motors: tuple[int, ...], how: Adaptive) -> Sampled:
        """The law with an estimate of what is missing, d̂_k = d̂_{k−1} + Γ z_k / rate; used at once, it does not lag."""

        def errors(equations: Equations, _: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            z = combined_error(equations, found.rows(equations, numbers), self.frequency, self.damping)
            return believed(equations, self.model, [z])

        label = f"{found.label} {self.frequency} {self.damping} {self.model}"
        count = len(found.numbers)
        error = plant.function("servo error", lambda e: law_values(e, errors, count), label, numbers=found.numbers)
        share = self._sharing(plant, found, motors)

        def efforts(t: float, q: Array, v: Array, estimate: Array) -> tuple[Array, Array]:
            S, r = self.numbers(plant, found, motors, (q, v, t))
            grown = estimate + (how.gain / self.rate) * error(plant.inputs(q, v, t))
            return share(S, r + grown), grown

        return Sampled(efforts, self.rate, state=np.zeros(len(found.kept)))

    def _sharing(self, plant: Plant, found: Course, motors: tuple[int, ...]) -> Share:
        """A function of S and r: the efforts of all motors with S u = r, those that may not act idle."""
        limits = plant.limits[list(motors)]
        share = self.allocation.solver(limits, tuple(found.names[i] for i in found.kept))

        def efforts(S: Array, r: Array) -> Array:  # noqa: N803
            u = np.zeros(len(plant.actuators))
            u[list(motors)] = share(S, r)
            return u

        return efforts

    def numbers(
        self, plant: Plant, found: Course, motors: tuple[int, ...], at: tuple[Array, Array, float]
    ) -> tuple[Array, Array]:
        """S and r at a state and time."""

        def values(equations: Equations, kept: ca.SX, given: ca.SX) -> list[ca.SX]:
            return [ca.vec(part) for part in self._demand(plant, found, motors, equations, kept, given)]

        label = f"{found.label} {motors} {self.frequency} {self.damping} {self.model} {self.correction}"
        count = len(found.numbers)
        function = plant.function("servo", lambda e: law_values(e, values, count), label, numbers=found.numbers)
        result, size = function(plant.inputs(*at, rows="start")), len(found.kept) * len(motors)
        return result[:size].reshape((len(found.kept), len(motors)), order="F"), result[size:]


def servo(  # noqa: PLR0913
    system: System | Plant,
    goals: Follow | Posture | Sequence[Follow | Posture],
    actuators: str | Sequence[str] = ALL,
    allocation: Allocation = LeastSquares(),
    *,
    frequency: float = 20.0,
    damping: float = 1.0,
    run_in: float | None = None,
    rate: float = 1000.0,
    model: Mapping[str, float] = NO_NUMBERS,
    correction: Correction | None = None,
) -> Servo:
    """Make a control law that meets goals with the motors named; refuses goals that cannot be met, and says why.

    The machine is taken along its goals in a few steps: a path that leaves the workspace is found here. `model` has
    the numbers that the law believes where they are not the machine's, {"platform.mass": 26.1}; `correction` what it
    does about that, `kb.Robust(...)` or `kb.Adaptive(...)`. `rate` is that of laws which must be sampled, in Hz.
    """
    plant = build(system)
    asked = (goals,) if isinstance(goals, Follow | Posture) else tuple(goals)
    for goal in asked:
        if not isinstance(goal, Follow | Posture):
            raise ControlError(f"servo: expected goals such as kb.follow(...) or kb.posture(), got {goal!r}.")
    if not isinstance(correction, Correction | None):
        raise ControlError(f"servo.correction: expected kb.Robust(...) or kb.Adaptive(...), got {correction!r}.")
    if plant.is_singular:
        raise ControlError(f"{plant.system.name}: servo control needs a mass matrix of full rank. Give bodies mass.")
    names = ALL if isinstance(actuators, str) and actuators == ALL else _known(plant, actuators)
    made = Servo(
        *(
            asked,
            names,
            checked_rule(allocation, "servo.allocation"),
            positive(frequency, "servo.frequency"),
            positive(damping, "servo.damping"),
        ),
        run_in=None if run_in is None else positive(run_in, "servo.run_in"),
        rate=positive(rate, "servo.rate"),
        model=checked_model(plant, model),
        correction=correction,
    )
    _check(plant, made)
    return made


def _known(plant: Plant, actuators: str | Sequence[str]) -> tuple[str, ...]:
    names = (actuators,) if isinstance(actuators, str) else tuple(actuators)
    for name in names:
        if name not in plant.actuators:
            raise ControlError(f"servo: {plant.system.name} has no actuator {name!r}; {near(name, plant.actuators)}")
    return names


def _check(plant: Plant, made: Servo) -> None:
    """Refuse limits that are no limits, goals out of reach of the motors, and paths out of reach of the machine."""
    motors = made.motors(plant)
    for i in motors:
        if not plant.machine.actuators[i].limit > 0:
            limit = plant.machine.actuators[i].limit
            raise ControlError(f"{plant.actuators[i]}.limit: expected more than zero, got {limit!r}.")
    made.allocation.check(plant.limits[list(motors)])
    found = made.course(plant)
    if made.run_in is not None and (off := apart(found, found.start)):
        raise ControlError(f"{plant.system.name}: {off}. Let the goals begin at rest, or leave run_in out.")
    _check_motors(plant, found, motors)
    duration = made.duration
    if duration is not None:
        q = found.start.q
        for t in np.linspace(0.0, duration, CHECKED):
            q = found.at(float(t), q).q


def _check_motors(plant: Plant, found: Course, motors: tuple[int, ...]) -> None:
    """S must have full rank: name the direction in which no motor pushes."""
    basis, _ = tangent(plant, found.start.q)
    rows = found.demand(found.start, 0.0).matrix[list(found.kept)] @ basis
    rows = rows / np.linalg.norm(rows, axis=1)[:, None]
    pushed = rows @ basis.T @ plant.actuation_map(found.start.q)[:, list(motors)]
    sides, sizes, _ = np.linalg.svd(pushed)
    rank = int(np.sum(sizes > REACHABLE * sizes.max(initial=1e-300)))
    if rank < len(rows):
        names = [found.names[i] for i in found.kept]
        missing = sides[:, rank]
        parts = [f"{c:+.2g} {n}" for c, n in zip(missing, names, strict=True) if abs(c) > SHOWN]
        used = ", ".join(plant.actuators[i] for i in motors) or "no motor"
        raise ControlError(
            f"{plant.system.name}: {used} cannot push along {' '.join(parts)}: {len(rows)} goals, "
            f"{rank} directions that the motors move. Add a motor, or drop a goal."
        )
