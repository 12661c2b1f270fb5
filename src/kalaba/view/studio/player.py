"""Player: a run, a cursor on its time, and whether it moves on by itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.results.run import Run

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


@dataclass
class Player:
    """Plays a run. Between two samples q is a line, on which quaternions are kept unit."""

    run: Run
    cursor: float = field(default=0.0)  # s
    is_playing: bool = True
    speed: float = 1.0

    @property
    def duration(self) -> float:
        """The time of the last sample, s."""
        return float(self.run.time[-1])

    def advance(self, seconds: float) -> None:
        """Let time pass: the cursor moves on if it plays, and begins again after the end."""
        if self.is_playing and self.duration > 0:
            self.cursor = (self.cursor + self.speed * seconds) % self.duration

    def seek(self, time: float) -> None:
        """Put the cursor at a time; before the start and after the end are the ends."""
        self.cursor = float(np.clip(time, 0.0, self.duration))

    @property
    def index(self) -> int:
        """The sample next to the cursor."""
        return int(np.argmin(np.abs(self.run.time - self.cursor)))

    @property
    def q(self) -> Array:
        """The configuration at the cursor; at a sample's time that of the sample."""
        time, q = self.run.time, self.run.q
        after = int(np.clip(np.searchsorted(time, self.cursor), 1, max(len(time) - 1, 1)))
        if len(time) == 1:
            return np.array(q[0])
        before = after - 1
        share = (self.cursor - time[before]) / (time[after] - time[before])
        mixed = np.array((1 - share) * q[before] + share * q[after])
        if share in {0.0, 1.0}:
            return mixed
        for first, _ in self.run.plant.machine.quaternions:
            part = slice(first, first + 4)
            other = q[after, part] * np.sign(q[before, part] @ q[after, part] or 1.0)
            mean = (1 - share) * q[before, part] + share * other
            mixed[part] = mean / np.linalg.norm(mean)
        return mixed

    def take(self, run: Run) -> None:
        """Go on with another run, at the same time if it lasts that long."""
        self.run = run
        self.seek(self.cursor)
