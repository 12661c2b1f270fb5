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

from kalaba.control.allocation import Allocation, LeastSquares
from kalaba.control.drive import Drive
from kalaba.control.goals import Follow, Posture
from kalaba.control.inverse_dynamics import Efforts, inverse_dynamics
from kalaba.control.robust import Model
from kalaba.control.servo import Servo
from kalaba.control.transmission import Sides, encoders
from kalaba.errors import ControlError, near
from kalaba.model.parts import Sampled
from kalaba.paths.checks import finite

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State

Array = NDArray[np.float64]
PLANNED = 0.01  # s between two states of the plan


@dataclass(frozen=True, slots=True)
class PID:
    """Gains of an error, of its integral and of its rate."""

    proportional: float  # K_p
    integral: float = 0.0  # K_i, K_p's unit over s
    derivative: float = 0.0  # K_d, K_p's unit times s

    def __post_init__(self) -> None:
        for name in ("proportional", "integral", "derivative"):
            if finite(getattr(self, name), f"PID.{name}") < 0:
                raise ControlError(f"PID.{name}: expected zero or more, got {getattr(self, name)!r}.")


@dataclass(frozen=True)
class Hybrid:
    """A control for redundant motors: those `forced` follow planned forces, all others planned displacements."""

    goals: tuple[Follow | Posture, ...]
    position: PID  # N/m or N·m/rad
    force: PID  # of an effort: 1, 1/s; its derivative has no part
    forced: tuple[str, ...] = ()
    allocation: Allocation = LeastSquares()  # of the plan
    drive: Drive = Drive()
    model: Model | Mapping[str, float] = ()  # numbers that the plan believes where they are not the machine's

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", tuple(dict(self.model).items()))

    @property
    def duration(self) -> float | None:
        """How long the goals take."""
        return Servo(self.goals).duration

    def start(self, plant: Plant) -> State:
        """Where a run begins: on the path."""
        return Servo(self.goals).start(plant)

    def law(self, plant: Plant, start: State) -> Sampled:  # noqa: ARG002  (the plan counts from the machine's own)
        """The drives' law, sampled."""
        from scipy.interpolate import CubicHermiteSpline

        by_force = self._by_force(plant)
        plan, sensed = self._plan(plant), encoders(plant, "hybrid")
        readings = np.array([sensed(plant.inputs(*at)) for at in zip(plan.q, plan.v, plan.time, strict=True)])
        planned = CubicHermiteSpline(plan.time, *np.split(readings, 2, axis=1))
        rates, end = planned.derivative(), float(plan.time[-1])
        limits = plant.limits
        between = self.drive.transmission(plant)

        def efforts(t: float, q: Array, v: Array, state: _State) -> tuple[Array, _State]:
            sample, integral, effort, sides = state
            now = min(t, end)
            found, moving = np.split(sensed(plant.layout.pack(*self.drive.read(plant, sample, q, v), t)), 2)
            if between is not None:
                sides = between.read(sides, (t, q, v))
                found, moving = found + sides.offset, moving + sides.slip
            apart, slower = planned(now) - found, rates(now) - moving
            wanted = np.array([np.interp(now, plan.time, column) for column in plan.actuation.T])
            lacking = wanted - effort
            command = np.where(
                by_force,
                wanted + integral + self.force.proportional * lacking,
                integral + self.position.proportional * apart + self.position.derivative * slower,
            )
            grown = np.where(by_force, self.force.integral * lacking, self.position.integral * apart)
            effort = arrives = self.drive.give(effort, np.clip(command, -limits, limits))
            if between is not None and sides is not None:
                arrives, sides = between.give(sides, effort)
            return arrives, (sample + 1, integral + grown / self.drive.rate, effort, sides)

        first = np.where(by_force, 0.0, plan.actuation[0])
        return Sampled(efforts, self.drive.rate, state=(0, first, plan.actuation[0], None))

    def _plan(self, plant: Plant) -> Efforts:
        if self.duration is None:
            raise ControlError(f"{plant.system.name}: hybrid control plans ahead, and these goals have no end.")
        count = int(np.ceil(self.duration / PLANNED)) + 1
        times = np.linspace(0.0, self.duration, count)
        return inverse_dynamics(plant, self.goals, self.allocation, times=times, model=dict(self.model))

    def _by_force(self, plant: Plant) -> NDArray[np.bool_]:
        """Which motors follow forces; the others must be as many as the freedoms."""
        for name in self.forced:
            if name not in plant.actuators:
                known = near(name, plant.actuators)
                raise ControlError(f"hybrid: {plant.system.name} has no actuator {name!r}; {known}")
        found = np.array([name in self.forced for name in plant.actuators], dtype=bool)
        freedoms, held = len(Servo(self.goals).course(plant).kept), int((~found).sum())
        if held != freedoms:
            raise ControlError(
                f"hybrid: {held} motors of {plant.system.name} follow displacements, but it has {freedoms} freedoms. "
                f"Name {max(len(found) - freedoms, 0)} motors in forced=."
            )
        return found


_State = tuple[int, Array, Array, Sides | None]  # samples so far, integrals, efforts, the gaps
