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
    """A System, how long it runs, and who drives it: what `kalaba run` runs."""

    system: System
    duration: float  # s
    stepper: Stepper | None = None  # None: the default stepper of `simulate`
    control: Mapping[str, str] | Controller | None = None  # {actuator: expression}, or a value; None: no motor acts
    description: str = ""
    published: str = ""  # what its source has to be put beside, said after a run

    def __post_init__(self) -> None:
        if not (self.duration > 0.0 and math.isfinite(self.duration)):
            raise ModelError(f"{self.system.name}: expected a duration above zero, got {self.duration!r} s.")
