"""How far a run is from its goals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import check_arguments
from kalaba.control.course import course, course_from
from kalaba.control.goals import Goal, checked_goals
from kalaba.errors import ControlError
from kalaba.plant.start import take_over
from kalaba.plant.state import State
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.results.run import Run


def goal_errors(
    run: Run, goals: Goal | Sequence[Goal], start: State | tuple[ArrayLike, ArrayLike] | None = None
) -> dict[str, Array]:
    """The length of wanted minus found at every sample, over goals in metres ("m") and over those in radians ("rad").

    Rows that say nothing new on the closed machine are left out, as the servo leaves them out.

    Arguments:
        run: a run of the machine
        goals: what it was to do
        start: the state that its servo counted the goals from, if it had a `start=`; None: where the run began

    Returns: by unit one number per sample.
    """
    check_arguments(goal_errors, locals(), ControlError)
    wanted, plant = checked_goals(goals, "goal_errors"), run.plant
    if start is None:
        on_course = course_from(plant, wanted, State(run.q[0], run.v[0]))
    else:
        on_course = course(plant, wanted, origin=take_over(plant, start)[0])
    states = zip(run.q, run.v, run.time, strict=True)
    rows = np.array([on_course.demand(State(q, v), float(t)).error for q, v, t in states])
    units = {i: _unit(run, on_course.names[i]) for i in on_course.independent}
    return {
        unit: np.linalg.norm(rows[:, [i for i in units if units[i] == unit]], axis=1)
        for unit in ("m", "rad")
        if unit in units.values()
    }


def _unit(run: Run, name: str) -> str:
    """Unit of a goal's row: turns of a frame and angles in radians, all else in metres."""
    machine, last = run.plant.machine, name.rpartition(".")[2]
    if last in {"rx", "ry", "rz"}:
        return "rad"
    known = {c.name: c.unit for c in machine.coordinates} | {d.name: d.unit for d in machine.displacements.values()}
    return "rad" if known.get(name) == "rad" else "m"
