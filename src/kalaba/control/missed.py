"""How far a run is from its goals: what is left of a wish when motors, models and drives have had their say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.control.bound_goals import course
from kalaba.control.goals import Follow, Posture
from kalaba.plant.state import State

if TYPE_CHECKING:
    from kalaba.results.run import Run

Array = NDArray[np.float64]


def goal_errors(run: Run, goals: Follow | Posture | Sequence[Follow | Posture]) -> dict[str, Array]:
    """The length of wanted minus found at every sample, over goals in metres ("m") and over those in radians ("rad").

    Rows that say nothing new on the closed machine are left out, as the servo leaves them out.
    """
    asked = (goals,) if isinstance(goals, Follow | Posture) else tuple(goals)
    found = course(run.plant, asked)
    states = zip(run.q, run.v, run.time, strict=True)
    rows = np.array([found.demand(State(q, v), float(t)).error for q, v, t in states])
    units = [_unit(run, name) for name in found.names]
    return {
        unit: np.linalg.norm(rows[:, [i for i in found.kept if units[i] == unit]], axis=1)
        for unit in ("m", "rad")
        if any(units[i] == unit for i in found.kept)
    }


def _unit(run: Run, name: str) -> str:
    """Unit of a goal's row: turns of a frame and angles in radians, all else in metres."""
    machine, last = run.plant.machine, name.rpartition(".")[2]
    if last in {"rx", "ry", "rz"}:
        return "rad"
    known = {c.name: c.unit for c in machine.coordinates} | {d.name: d.unit for d in machine.displacements.values()}
    return "rad" if known.get(name) == "rad" else "m"
