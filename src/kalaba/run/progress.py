"""Progress: where a run stands while it goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import called
from kalaba.errors import IntegrationError
from kalaba.results.run import Worst

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: what a function given as simulate(progress=...) gets, some ten times per second.

    Arguments:
        time: simulated so far, s
        duration: time to simulate, s
        steps: steps accepted so far
        worst: the largest residual so far; None without rows
    """

    time: float
    duration: float
    steps: int
    worst: Worst | None


Watcher = Callable[[Progress], None]


class Lookout:
    """Watches a run that steps in Python: keeps the largest residual and tells the watcher after each step.

    Costs nothing where nobody watches.
    """

    def __init__(self, watcher: Watcher | None, plant: Plant, duration: float) -> None:
        self._watcher = watcher
        self._plant = plant
        self._duration = duration
        self._worst = Worst(0.0, plant.constraints[0], 0.0) if plant.constraints else None

    def look(self, time: float, steps: int, state: State) -> None:
        """Tell the watcher of the state after a step."""
        if self._watcher is None:
            return
        if self._worst is not None:
            gaps = np.abs(self._plant.residual(state.q, time))
            sizes = self._plant.scales.rows
            row, before = int(np.argmax(gaps / sizes)), self._plant.constraints.index(self._worst.row)
            if gaps[row] / sizes[row] > self._worst.value / sizes[before]:
                self._worst = Worst(float(gaps[row]), self._plant.constraints[row], time)
        called(self._watcher, "progress", Progress(time, self._duration, steps, self._worst), error=IntegrationError)
