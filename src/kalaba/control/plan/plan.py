"""Plan: the best motion between two configurations at rest, found by direct collocation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.boundary import check_arguments, check_whole
from kalaba.control.plan.collocation import Collocation, Outcome
from kalaba.control.plan.track import Track
from kalaba.control.plan.way import Guess, Place, Way, way
from kalaba.errors import ControlError
from kalaba.paths.checks import positive
from kalaba.plant.plant import Plant, build
from kalaba.plant.readings import ScalarReadings
from kalaba.space.arrays import Array
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.model.system import System

EFFORT, TIME = "effort", "time"
FEWEST, MOST = 5, 10_000  # knots
ITERATIONS = 500
SOLVED = "Solve_Succeeded"


@dataclass(frozen=True)
class Plan:
    """A motion from rest to rest and the efforts that it takes, at equal intervals; made by `kb.plan_motion`.

    Arguments:
        plant: the machine
        minimise: "effort" or "time"
        time: (knots,), s
        q: configurations, (knots, n_q)
        v: velocities, (knots, n_v)
        acceleration: rates of v, (knots, n_v)
        actuation: (knots, motors), N or N·m, linear in between
        cost: ∫ uᵀ D u dt, or the duration, s
        first: the same of the straight motion of minimum jerk, from which the search began
        leading: displacements that say where the machine is
    """

    plant: Plant
    minimise: str
    time: Array
    q: Array
    v: Array
    acceleration: Array
    actuation: Array
    cost: float
    first: float
    leading: tuple[str, ...]

    @property
    def duration(self) -> float:
        """How long the motion takes, s."""
        return float(self.time[-1])

    @property
    def control(self) -> Track:
        """A control for `kb.simulate`: the planned efforts and feedback."""
        return Track(self)

    @property
    def open_loop(self) -> Track:
        """A control for `kb.simulate`: the planned efforts alone."""
        return Track(self, feedback=False)


def plan_motion(  # noqa: PLR0913  (every choice of the plan has its own name)
    system: System | Plant,
    start: Place = None,
    end: Place = None,
    *,
    minimise: str = EFFORT,
    duration: float | None = None,
    weights: Sequence[float] | None = None,
    knots: int = 41,
) -> Plan:
    """Find the motion from rest at `start` to rest at `end` of least effort ∫ uᵀ D u dt, or of least time.

    Motors and joints keep within their limits. The plan is the best motion near to the straight one; motions that go
    round another way are not looked for.

    Arguments:
        system: the machine
        start: displacements by name, {"left.crank.angle": 1.9, ...}, one for every freedom; a State; or q. None: the
            machine's own start
        end: the same; it must be given
        minimise: "effort" or "time"
        duration: of a motion of least effort, s
        weights: diagonal of D, one number per motor; None: 1
        knots: how many points in time the motion is written with
    """
    check_arguments(plan_motion, locals(), ControlError)
    plant = build(system)
    _check_machine(plant)
    limits = plant.limits
    D = _checked(plant, minimise, duration, weights, knots, limits)
    if end is None:
        raise ControlError("plan_motion: expected an end, got None. Give displacements by name, a State or q.")
    straight = way(plant, start, end, knots)
    if len(limits) < len(straight.leading):
        raise ControlError(
            f"{plant.system.name}: {counted(len(limits), 'motor')} for {counted(len(straight.leading), 'freedom')}. "
            "Plans need one per freedom."
        )
    problem = Collocation(plant, straight.independent, knots, limits, D, minimise == TIME)
    _check_ends(problem, straight)
    if minimise == TIME:
        return _least_time(problem, straight)
    assert duration is not None  # noqa: S101  (checked)
    return _least_effort(problem, straight, float(duration))


def _least_effort(problem: Collocation, straight: Way, duration: float) -> Plan:
    guess = straight.stretched(duration)
    outcome = problem.solve(guess, duration, ITERATIONS)
    if outcome.status != SOLVED:
        least = straight.shortest(problem.limits)
        hint = f" takes {least:.3g} s" if least is not None else " is out of reach however slow"
        raise ControlError(
            f"{problem.plant.system.name}: no motion in {duration:g} s within the motors' limits was found; the "
            f"straight one{hint}. Give more time or raise limits. ({outcome.status})"
        )
    return _plan(problem, straight, outcome, _effort(guess, duration, problem.weights))


def _least_time(problem: Collocation, straight: Way) -> Plan:
    apart = np.abs(straight.q[-1] - straight.q[0]) / problem.plant.scales.coordinates
    if apart.max() < tolerances.SAME_SOLUTION:
        raise ControlError(f"{problem.plant.system.name}: start and end are one; that takes no time. Give another end.")
    first = straight.shortest(problem.limits)
    if first is None:
        peaks = np.abs(straight.stretched(straight.slowest).actuation).max(axis=0)
        worst = int(np.argmax(peaks / problem.limits))
        raise ControlError(
            f"{problem.plant.system.name}: {problem.plant.actuators[worst]} needs {peaks[worst]:.3g} to go the "
            f"straight way slowly, its limit is {problem.limits[worst]:.3g}. Raise limits or move the ends."
        )
    outcome = problem.solve(straight.stretched(first), first, ITERATIONS)
    if outcome.status != SOLVED:
        raise ControlError(
            f"{problem.plant.system.name}: the search for the least time did not end ({outcome.status}). "
            "Try other knots."
        )
    return _plan(problem, straight, outcome, first)


def _plan(problem: Collocation, straight: Way, outcome: Outcome, first: float) -> Plan:
    q, v, a, u, _ = outcome.motion
    time = np.linspace(0.0, outcome.duration, problem.knots)
    efforts = np.clip(u, -problem.limits, problem.limits)
    kind = TIME if problem.is_time else EFFORT
    return Plan(problem.plant, kind, time, q, v, a, efforts, outcome.cost, first, straight.leading)


def _effort(motion: Guess, duration: float, weights: Array) -> float:
    """∫ uᵀ D u dt by Simpson's rule on lines between knots."""
    u = motion.actuation
    middle = (u[:-1] + u[1:]) / 2
    power = u[:-1] ** 2 + 4 * middle**2 + u[1:] ** 2
    return float((power @ weights).sum() * duration / (6 * (len(u) - 1)))


def _check_machine(plant: Plant) -> None:
    name, machine = plant.system.name, plant.machine
    if machine.quaternions:
        raise ControlError(f"{name}: plans need v = q̇; this machine has quaternions. Use kb.servo along a path.")
    if any(machine.is_velocity_level):
        raise ControlError(f"{name}: plans need rows at position level; wheels that roll are not planned for.")
    if machine.sampled_inputs:
        raise ControlError(f"{name}: plans need forces that are expressions; {machine.sampled_inputs[0]} is sampled.")
    e = plant.equations
    if ca.depends_on(ca.vertcat(e.force, e.rows.value, e.rows.rate), e.symbols.t):
        raise ControlError(f"{name}: plans need forces and rows that do not change with time itself. Leave t out.")
    if plant.is_singular:
        raise ControlError(f"{name}: plans need a mass matrix of full rank. Give bodies mass.")


def _check_ends(problem: Collocation, straight: Way) -> None:
    """Refuse ends beyond the limits of joints."""
    sizes = dict(zip((name for name, _, _ in problem.joints), problem.joint_sizes, strict=True))
    for what, q in (("start", straight.q[0]), ("end", straight.q[-1])):
        for name, low, high in problem.joints:
            reading = problem.plant.watch((name,), problem.plant.inputs(q))
            value = float(ScalarReadings.of(reading, len(problem.plant.velocities)).values[0])
            room = tolerances.SAME_SOLUTION * sizes[name]
            if not low - room <= value <= high + room:
                raise ControlError(f"{what}: {name} is {value:.4g}, its limits are {low:.4g} and {high:.4g}.")


def _checked(
    plant: Plant, minimise: str, duration: float | None, weights: Sequence[float] | None, knots: int, limits: Array
) -> Array:
    """D, after the choices are checked."""
    if minimise not in {EFFORT, TIME}:
        raise ControlError(f"plan_motion.minimise: expected 'effort' or 'time', got {minimise!r}.")
    check_whole(knots, "plan_motion.knots", FEWEST, MOST, ControlError)
    if minimise == EFFORT:
        positive(duration, "plan_motion.duration")
    elif duration is not None:
        raise ControlError(f"plan_motion.duration: expected none for the least time, got {duration!r}.")
    elif not np.isfinite(limits).all():
        name = plant.actuators[int(np.argmax(~np.isfinite(limits)))]
        raise ControlError(f"{plant.system.name}: {name} has no limit, so no time is the least. Give it one.")
    D = np.ones(len(limits)) if weights is None else np.array([positive(w, "plan_motion.weights") for w in weights])
    if D.shape != limits.shape:
        raise ControlError(
            f"plan_motion.weights: expected {counted(len(limits), 'number')}, one per motor, got {len(D)}."
        )
    return D
