"""Ideal servo control: the papers' law, which pushes every coordinate. No robot does; it is here to be compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.control import servo_expressions
from kalaba.control.course import course, course_from
from kalaba.control.goals import Goal, checked_goals, duration_of
from kalaba.errors import ControlError
from kalaba.paths.checks import zero_or_more
from kalaba.plant.laws import Law

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
    that take `kb.servo`. The run has it as `run.push`; its motors are idle.

    Arguments:
        goals: what is to be met, one goal or several
        stacked: whether the rows of the closed machine count
        frequency: ω of a feedback, rad/s; 0: none, as in the papers
        damping: ζ of the feedback
    """

    goals: tuple[Goal, ...]
    stacked: bool = False
    frequency: float = 0.0
    damping: float = 1.0

    if TYPE_CHECKING:

        def __init__(
            self,
            goals: Goal | Iterable[Goal],
            stacked: bool = False,  # noqa: FBT001, FBT002  (as the field)
            frequency: float = 0.0,
            damping: float = 1.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "goals", checked_goals(self.goals, "IdealServo"))
        for name in ("frequency", "damping"):
            zero_or_more(getattr(self, name), f"IdealServo.{name}")

    @property
    def duration(self) -> float | None:
        """How long the goals take, s; None if they do not end."""
        return duration_of(self.goals)

    def start(self, plant: Plant) -> State:
        """Where a run begins: on the path."""
        return course(plant, self.goals).start

    def law(self, plant: Plant, start: State) -> Law:
        """The law, which pushes every velocity; motors are idle. The goals count from the start of the run."""
        if plant.is_singular:
            raise ControlError(f"{plant.system.name}: IdealServo needs a mass matrix of full rank. Give bodies mass.")
        on_course = course_from(plant, self.goals, start)

        def pushes(equations: Equations, mask: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            gains, rows = (self.frequency, self.damping), on_course.rows(equations, numbers)
            return servo_expressions.ideal_force(equations, mask, rows, gains, stacked=self.stacked)

        def idle(_: Equations, __: ca.SX, ___: ca.SX) -> list[ca.SX]:
            return [ca.SX(0)] * len(plant.actuators)

        return Law(repr(self), idle, is_feedback=True, shape=on_course.label, numbers=on_course.numbers, pushes=pushes)
