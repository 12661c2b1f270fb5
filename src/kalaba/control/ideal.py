"""Ideal servo control: the papers' law, which pushes every coordinate. No robot does; it is here to be compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.boundary import check_arguments, check_fields
from kalaba.control import servo_expressions
from kalaba.control.course import course, course_from
from kalaba.control.goals import Goal, checked_goals, duration_of
from kalaba.errors import ControlError
from kalaba.paths.checks import zero_or_more
from kalaba.plant.arguments import own_state
from kalaba.plant.laws import Expressions, Law
from kalaba.space.number import measured

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State


@dataclass(frozen=True)
class IdealServo:
    """The force of Udwadia and Kalaba for the goals' rows, put on every coordinate as if each had a motor.

    ::

        F = A_sᵀ (A_s M⁻¹ A_sᵀ)⁻¹ (b_s − A_s M⁻¹ Q)         as published: the goals' rows alone
        F = A_sᵀ (A_s Y A_sᵀ)⁻¹ (b_s − A_s v̇₀)               stacked=True: on the closed machine

    The published force does not know that the machine is closed. The structure answers it, and the goals are missed;
    stacked, they are met. Both push coordinates that have no motor: the motors of a robot cannot give this force, for
    that take `kb.servo`. The run has it as `run.push`; its motors are idle. With motors_only=True the motors give their
    entries of the force, as published too, and nothing is pushed: the goals are missed either way.

    Arguments:
        goals: what is to be met, one goal or several
        stacked: whether the rows of the closed machine count
        frequency: ω of a feedback, rad/s; 0: none, as in the papers
        damping: ζ of the feedback
        motors_only: whether motors give their entries of the force, and no other coordinate is pushed
    """

    goals: tuple[Goal, ...]
    stacked: bool = False
    frequency: float = measured("rad/s", default=0.0)
    damping: float = 1.0
    motors_only: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            goals: Goal | Iterable[Goal],
            stacked: bool = False,  # noqa: FBT001, FBT002  (as the field)
            frequency: float = 0.0,
            damping: float = 1.0,
            motors_only: bool = False,  # noqa: FBT001, FBT002  (as the field)
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "goals", checked_goals(self.goals, "IdealServo"))
        check_fields(self, ControlError)
        for name in ("frequency", "damping"):
            zero_or_more(getattr(self, name), f"IdealServo.{name}")

    @property
    def duration(self) -> float | None:
        """How long the goals take, s; None if they do not end."""
        return duration_of(self.goals)

    def start(self, plant: Plant) -> State:
        """Where a run begins: on the path."""
        check_arguments(IdealServo.start, locals(), ControlError)
        return course(plant, self.goals).start

    def law(self, plant: Plant, start: State) -> Law:
        """The law, which pushes every velocity, or drives the motors. The goals count from the start of the run."""
        check_arguments(IdealServo.law, locals(), ControlError)
        start = own_state(plant.machine, start)
        if plant.is_singular:
            raise ControlError(f"{plant.system.name}: IdealServo needs a mass matrix of full rank. Give bodies mass.")
        on_course = course_from(plant, self.goals, start)

        def force(equations: Equations, mask: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            gains, rows = (self.frequency, self.damping), on_course.rows(equations, numbers)
            return servo_expressions.ideal_force(equations, mask, rows, gains, stacked=self.stacked)

        def entries(equations: Equations, mask: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            return servo_expressions.motor_entries(equations, force(equations, mask, numbers))

        text, shape, numbers = repr(self), on_course.label, on_course.numbers
        if self.motors_only:
            return Law(text, entries, is_feedback=True, shape=shape, numbers=numbers)
        return Law(text, idle_motors(plant), is_feedback=True, shape=shape, numbers=numbers, pushes=force)


def idle_motors(plant: Plant) -> Expressions:
    """Motors that give nothing, beside a law that pushes."""

    def idle(_: Equations, __: ca.SX, ___: ca.SX) -> list[ca.SX]:
        return [ca.SX(0)] * len(plant.actuators)

    return idle
