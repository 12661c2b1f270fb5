"""A scenario: a machine together with what is to be run on it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from kalaba.boundary import check_arguments, check_fields
from kalaba.errors import ModelError
from kalaba.model.formats import save
from kalaba.model.system import System
from kalaba.plant.laws import Control
from kalaba.run.progress import Watcher

if TYPE_CHECKING:
    from kalaba.plant.state import State
    from kalaba.results.run import Run
    from kalaba.steppers import Stepper


@dataclass(frozen=True, slots=True)
class Scenario:
    """A System, how long it runs, and who drives it: what `kalaba run` runs.

    Arguments:
        system: the machine
        duration: how long it runs, s
        stepper: how time is stepped; None: the default stepper of `simulate`
        control: {motor: expression}, a controller, or Sampled(function, rate); None: no motor acts
        description: what it shows, in words
        published: what its source has to be put beside, said after a run
        save_every: time between samples, s
    """

    system: System
    duration: float
    stepper: Stepper | None = None
    control: Control | None = None
    description: str = ""
    published: str = ""
    save_every: float = 0.01

    def __post_init__(self) -> None:
        check_fields(self)
        if not (self.duration > 0.0 and math.isfinite(self.duration)):
            raise ModelError(f"{self.system.name}: expected a duration above zero, got {self.duration!r} s.")
        if not (self.save_every > 0.0 and math.isfinite(self.save_every)):
            raise ModelError(f"{self.system.name}: expected save_every above zero, got {self.save_every!r} s.")

    def run(
        self,
        duration: float | None = None,
        start: State | tuple[ArrayLike, ArrayLike] | None = None,
        stop: str | None = None,
        *,
        progress: Watcher | None = None,
        check: bool = True,
    ) -> Run:
        """Simulate it, as `kb.simulate(scenario)` does.

        Arguments:
            duration: time to simulate, s; None = its own
            start: a State or (q, v); None = where the control wants to begin, else the machine's start
            stop: a condition that ends the run when it becomes true, such as "nut.travel > 0.06"
            progress: a function that gets a Progress some ten times per second
            check: whether a run that breaks off is an error; if not it is returned, and `run.status` says why
        """
        check_arguments(Scenario.run, locals())
        from kalaba.run.simulate import simulate  # which takes a Scenario

        return simulate(self, duration, start, stop=stop, progress=progress, check=check)

    def save(self, path: str | Path) -> Path:
        """Write the machine and what is to be run on it to a file; .yaml and .json hold all of it.

        Arguments:
            path: where; its suffix says which kind of file

        Returns:
            the path
        """
        check_arguments(Scenario.save, locals())
        return save(self, path)
