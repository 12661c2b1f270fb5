"""A scenario: a machine together with what is to be run on it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kalaba.errors import ModelError
from kalaba.model.system import System

if TYPE_CHECKING:
    from kalaba.plant.laws import Controller
    from kalaba.steppers import Stepper


@dataclass(frozen=True, slots=True)
class Scenario:
    """A System, how long it runs, and who drives it: what `kalaba run` runs.

    Arguments:
        system: the machine
        duration: how long it runs, s
        stepper: how time is stepped; None: the default stepper of `simulate`
        control: {motor: expression}, or a controller; None: no motor acts
        description: what it shows, in words
        published: what its source has to be put beside, said after a run
        save_every: time between samples of `kalaba run`, s
    """

    system: System
    duration: float
    stepper: Stepper | None = None
    control: Mapping[str, str] | Controller | None = None
    description: str = ""
    published: str = ""
    save_every: float = 0.01

    def __post_init__(self) -> None:
        if not (self.duration > 0.0 and math.isfinite(self.duration)):
            raise ModelError(f"{self.system.name}: expected a duration above zero, got {self.duration!r} s.")
        if not (self.save_every > 0.0 and math.isfinite(self.save_every)):
            raise ModelError(f"{self.system.name}: expected save_every above zero, got {self.save_every!r} s.")
