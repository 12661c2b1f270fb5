"""Forces of Udwadia and Kalaba in a cascade: one set of rows after another, as published. It is here to be compared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.boundary import check_arguments, check_fields, shown
from kalaba.control import servo_expressions
from kalaba.control.course import Course, course, course_from
from kalaba.control.goals import Follow, Goal, Rows, checked_goals, chosen, duration_of, motion_of, stacked
from kalaba.control.ideal import idle_motors
from kalaba.errors import ControlError
from kalaba.hints import is_ordinary
from kalaba.paths.checks import zero_or_more
from kalaba.plant.arguments import own_state
from kalaba.plant.laws import Law
from kalaba.space.number import measured

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State


@dataclass(frozen=True)
class Cascade:
    """Forces for one set of rows after another, on every coordinate of a machine that is cut open.

    ::

        F₁ = A₁ᵀ (A₁ M⁻¹ A₁ᵀ)⁻¹ (b₁ − A₁ M⁻¹ Q)
        F₂ = A₂ᵀ (A₂ M⁻¹ A₂ᵀ)⁻¹ (b₂ − A₂ M⁻¹ (Q + F₁))         and so on; M v̇ = Q + F₁ + F₂

    Papers that speak of a cascade first close a machine by its rows and then lead it by further ones so. Only the last
    set is met: its force acts on those before it, which have no say any more unless A₁ M⁻¹ A₂ᵀ = 0. All rows in one set
    are right, and so is a closed machine with `kb.servo`. The run has the sum of the forces as `run.push`; its motors
    are idle, and no row holds the machine: joints that are goals here can open.

    Arguments:
        levels: sets of goals of `kb.follow`, the first one first; together they speak for every freedom
        frequency: ω of a feedback, rad/s; 0: none, as in the papers
        damping: ζ of the feedback
    """

    levels: tuple[tuple[Goal, ...], ...]
    frequency: float = measured("rad/s", default=0.0)
    damping: float = 1.0

    if TYPE_CHECKING:

        def __init__(
            self, levels: Iterable[Goal | Iterable[Goal]], frequency: float = 0.0, damping: float = 1.0
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.levels, tuple | list) or not is_ordinary(self.levels):
            raise ControlError(f"Cascade.levels: expected sets of goals, (structure, path), got {shown(self.levels)}.")
        levels = tuple(checked_goals(level, "Cascade") for level in self.levels)
        object.__setattr__(self, "levels", levels)
        check_fields(self, ControlError)
        for goal in self.goals:
            if not isinstance(goal, Follow):
                raise ControlError(f"Cascade: expected goals of kb.follow, got {goal!r}.")
        for name in ("frequency", "damping"):
            zero_or_more(getattr(self, name), f"Cascade.{name}")

    @property
    def goals(self) -> tuple[Goal, ...]:
        """What is to be met, of all levels."""
        return tuple(goal for level in self.levels for goal in level)

    @property
    def duration(self) -> float | None:
        """How long the goals take, s; None if they do not end."""
        return duration_of(self.goals)

    def start(self, plant: Plant) -> State:
        """Where a run begins: with all goals met."""
        check_arguments(Cascade.start, locals(), ControlError)
        return course(plant, self.goals).start

    def law(self, plant: Plant, start: State) -> Law:
        """The law, which pushes every velocity; motors are idle. The goals count from the start of the run."""
        check_arguments(Cascade.law, locals(), ControlError)
        start = own_state(plant.machine, start)
        if plant.is_singular:
            raise ControlError(f"{plant.system.name}: Cascade needs a mass matrix of full rank. Give bodies mass.")
        on_course = course_from(plant, self.goals, start)
        ranges = self._ranges(plant, on_course)

        def pushes(equations: Equations, _: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            every: Rows = stacked(on_course.motions, equations.kinematics, numbers)
            levels = [chosen(every, indices) for indices in ranges]
            return servo_expressions.cascaded_force(equations, levels, (self.frequency, self.damping))

        shape = f"{on_course.label} {ranges}"
        return Law(
            repr(self), idle_motors(plant), is_feedback=True, shape=shape, numbers=on_course.numbers, pushes=pushes
        )

    def _ranges(self, plant: Plant, on_course: Course) -> tuple[tuple[int, ...], ...]:
        """Which rows of all belong to each level."""
        spare = [name for i, name in enumerate(on_course.names) if i not in on_course.independent]
        if spare:
            raise ControlError(
                f"{plant.system.name}: rows of a Cascade say nothing new beside those before them: {', '.join(spare)}. "
                "Leave their goals out."
            )
        k, q = plant.equations.kinematics, on_course.start.q
        counts = [
            len(stacked([motion_of(plant, goal, q, None) for goal in level if isinstance(goal, Follow)], k).names)
            for level in self.levels
        ]
        return tuple(tuple(range(a, b)) for a, b in pairwise(accumulate((0, *counts))))
