"""Hybrid control: as many motors as there are freedoms follow planned displacements, the others planned forces.

The plan is inverse dynamics along the goals. Motor i with the planned displacement δ_d and effort f_d is told::

    c = I + K_p (δ_d − δ) + K_d (δ̇_d − δ̇),    İ = K_i (δ_d − δ),  I(0) = f_d(0)        by position
    c = f_d + I + K_p (f_d − f),               İ = K_i (f_d − f),  I(0) = 0             by force

f is the effort as measured behind the drive's lag, before friction; δ what the motor's encoder reads, on its own side
of a gap. The law knows no dynamics but the plan's: a redundant motor that followed its displacement too would fight the
others by whatever they disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.boundary import check_arguments, check_fields, checked_pairs
from kalaba.control.allocation import Allocation, LeastSquares
from kalaba.control.course import begins_on, course
from kalaba.control.drive import Drive, Reading
from kalaba.control.goals import Goal, checked_goals, duration_of
from kalaba.control.inverse_dynamics import Efforts, efforts_along
from kalaba.control.robust import Model
from kalaba.control.servo import servo
from kalaba.control.transmission import encoders
from kalaba.errors import ControlError
from kalaba.model.acting import Sampled
from kalaba.paths.checks import finite
from kalaba.plant.arguments import own_state
from kalaba.plant.laws import Limited, limited
from kalaba.space.arrays import Array
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State

PLANNED = 0.01  # s between two states of the plan


@dataclass(frozen=True, slots=True)
class PID:
    """Gains of an error, of its integral and of its rate.

    Arguments:
        proportional: K_p, in units of the output per unit of the error
        integral: K_i, K_p's unit over s
        derivative: K_d, K_p's unit times s
    """

    proportional: float
    integral: float = 0.0
    derivative: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, ControlError)
        for name in ("proportional", "integral", "derivative"):
            if finite(getattr(self, name), f"PID.{name}") < 0:
                raise ControlError(f"PID.{name}: expected zero or more, got {getattr(self, name)!r}.")


@dataclass(frozen=True)
class Hybrid:
    """A control for redundant motors: those `forced` follow planned forces, all others planned displacements.

    Arguments:
        goals: what the plan meets
        position: gains of displacements, N/m or N·m/rad
        force: gains of efforts, 1 and 1/s; its derivative has no part
        forced: names of the motors that follow forces
        allocation: how the plan shares forces among redundant motors
        drive: how the motors are driven
        model: {parameter: value} that the plan believes where they are not the machine's
    """

    goals: tuple[Goal, ...]
    position: PID
    force: PID
    forced: tuple[str, ...] = ()
    allocation: Allocation = LeastSquares()
    drive: Drive = Drive()
    model: Model | Mapping[str, float] = ()

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "model", checked_pairs(self.model, "Hybrid.model", "{parameter: number}", ControlError)
        )
        object.__setattr__(self, "goals", checked_goals(self.goals, "Hybrid"))
        check_fields(self, ControlError, but=("model",))

    @property
    def duration(self) -> float | None:
        """How long the goals take, s."""
        return duration_of(self.goals)

    def start(self, plant: Plant) -> State:
        """Where a run begins: on the path."""
        check_arguments(Hybrid.start, locals(), ControlError)
        return course(plant, self.goals).start

    def law(self, plant: Plant, start: State) -> Sampled:
        """The drives' law, sampled. The plan counts from the start of the run.

        Arguments:
            plant: the machine
            start: where the run begins
        """
        check_arguments(Hybrid.law, locals(), ControlError)
        start = own_state(plant.machine, start)
        from scipy.interpolate import CubicHermiteSpline

        by_force = self._by_force(plant)
        plan, sensed = self._plan(plant, start), encoders(plant, "hybrid")
        bounds = self.allocation.bounds(plant.limits)
        first = limited(plan.actuation[0], *bounds).efforts
        readings = np.array([sensed(plant.inputs(*at)) for at in zip(plan.q, plan.v, plan.time, strict=True)])
        planned = CubicHermiteSpline(plan.time, *np.split(readings, 2, axis=1))
        rates, end = planned.derivative(), float(plan.time[-1])

        def commands(now: Reading, integral: Array) -> tuple[Limited, Array]:
            t, state = min(now.t, end), self.drive.read(plant, now.sample, now.q, now.v)
            place, speed = np.split(sensed(plant.layout.pack(*state, now.t)), 2)
            if now.sides is not None:
                place, speed = place + now.sides.offset, speed + now.sides.slip
            error, slower = planned(t) - place, rates(t) - speed
            planned_efforts = np.array([np.interp(t, plan.time, column) for column in plan.actuation.T])
            wanted = limited(planned_efforts, *bounds)
            lacking = wanted.efforts - now.effort  # type: ignore[operator]  # it begins with an effort
            command = np.where(
                by_force,
                wanted.efforts + integral + self.force.proportional * lacking,
                integral + self.position.proportional * error + self.position.derivative * slower,
            )
            growth = np.where(by_force, self.force.integral * lacking, self.position.integral * error)
            return Limited(command, np.where(by_force, wanted.missing, 0.0)), integral + growth / self.drive.rate

        return self.drive.sampled(plant, commands, np.where(by_force, 0.0, first), first)

    def _plan(self, plant: Plant, start: State) -> Efforts:
        if self.duration is None:
            raise ControlError(f"{plant.system.name}: hybrid control plans ahead, and these goals have no end.")
        count = int(np.ceil(self.duration / PLANNED)) + 1
        times, model = np.linspace(0.0, self.duration, count), dict(self.model)
        origin = None if begins_on(course(plant, self.goals), start) else start
        bound = servo(plant, self.goals, allocation=self.allocation, model=model, start=origin).bind(plant)
        share = bound.allocation.solver(bound.limits, bound.course.independent_names)
        return efforts_along(bound, share, times)

    def _by_force(self, plant: Plant) -> NDArray[np.bool_]:
        """Which motors follow forces; the others must be as many as the freedoms."""
        by_force = np.zeros(len(plant.actuators), dtype=bool)
        by_force[list(plant.motors(self.forced, "hybrid"))] = True
        freedoms, by_position = len(course(plant, self.goals).independent), int((~by_force).sum())
        if by_position != freedoms:
            raise ControlError(
                f"hybrid: {counted(by_position, 'motor')} of {plant.system.name} set to follow displacements, but it "
                f"has {counted(freedoms, 'freedom')}. Name {counted(max(len(by_force) - freedoms, 0), 'motor')} in "
                "forced=."
            )
        return by_force
