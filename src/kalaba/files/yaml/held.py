"""Control laws as text in the files of runs: the section `run` of kalaba's format, on one line of JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kalaba.errors import KalabaError
from kalaba.files.yaml.running import RUN, run_data, scenario
from kalaba.files.yaml.tree import parse_text
from kalaba.run.scenario import Scenario

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.plant.laws import Control, Controller


def to_text(system: System, control: Controller) -> str:
    """A control law of a machine as text; "" for one that no file holds, such as a Python function."""
    try:
        return json.dumps({RUN: run_data(Scenario(system, 1.0, control=control))}, allow_nan=False)
    except (KalabaError, ValueError):
        return ""


def from_text(text: str, system: System) -> Control | None:
    """The control law that a text describes."""
    return scenario(parse_text(text, f"{system.name}: control"), system).control
