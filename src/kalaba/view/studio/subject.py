"""Subject: what the studio shows and how it is simulated again: a machine of the catalogue, a System or a Run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kalaba.errors import ViewError
from kalaba.model.system import System
from kalaba.plant.plant import Plant, build
from kalaba.results.run import Run
from kalaba.robots.catalogue import ENTRIES, find, scenario
from kalaba.run.scenario import Scenario
from kalaba.run.simulate import simulate
from kalaba.steppers import Auto
from kalaba.tolerances import SAME_START

if TYPE_CHECKING:
    from kalaba.model.parts import Parameter

NO_NUMBERS: Mapping[str, float] = MappingProxyType({})
DEFAULT_DURATION = 5.0  # s: how long a machine without a scenario is simulated
TURNED_FIRST = ("length", "mass", "radius")  # what the names of the numbers that people turn first end with


class Entry(Protocol):
    """What the studio reads of a catalogue's entry."""

    @property
    def summary(self) -> str:
        """One line."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Options by name, each with `allowed` and `description`."""


@dataclass(frozen=True)
class Subject:
    """A machine with what is run on it. `entry` and `options` are those of the catalogue, if it comes from there."""

    name: str
    plant: Plant = field(repr=False)
    duration: float  # s
    stepper: Any = None
    control: Any = None
    entry: Entry | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    recorded: Run | None = field(default=None, repr=False)  # what was given instead of a machine
    fixed: str = ""  # why it cannot be simulated again, if so

    def first_run(self) -> Run:
        """What to show first: the run that was given, or a new one."""
        return self.simulated(self.plant) if self.recorded is None else self.recorded

    def simulated(self, plant: Plant) -> Run:
        """A run of the machine, perhaps with other numbers; one that breaks off is returned too."""
        stepper = Auto() if self.stepper is None else self.stepper
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page says how the run ended; nobody reads the terminal meanwhile
            return simulate(plant, self.duration, stepper=stepper, control=self.control, check=False)

    def run_with(self, values: Mapping[str, float]) -> Run:
        """A run with other numbers, without a new build."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            plant = self.plant.with_parameters(values) if values else self.plant
        return self.simulated(plant)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The numbers that can be varied without a new build, those that people turn first in front."""
        free = [p for p in self.plant.machine.free_parameters if p.value]
        main = [p for p in free if p.name.rpartition(".")[2] in TURNED_FIRST]
        return (*main, *(p for p in free if p not in main))


def subject_of(machine: Subject | str | System | Plant | Run | Scenario, driven: Scenario | None = None) -> Subject:
    """What to show of a name, a System, a Plant, a Run or a Scenario; `driven` says what a Run was a run of."""
    if isinstance(machine, Subject):
        return machine
    if isinstance(machine, str):
        return subject_by_name(machine, {})
    if isinstance(machine, Run):
        return _recorded(machine, driven)
    if isinstance(machine, Scenario):
        return _of_scenario(machine)
    if isinstance(machine, Plant | System):
        plant = build(machine)
        return Subject(plant.system.name, plant, DEFAULT_DURATION)
    raise ViewError(
        f"studio: expected a name of the catalogue, a System, a Plant, a Scenario or a Run, got {machine!r}."
    )


def _recorded(run: Run, driven: Scenario | None) -> Subject:
    if driven is not None:
        return replace(_of_scenario(driven, run.plant), recorded=run)
    return Subject(
        run.plant.system.name, run.plant, float(run.time[-1]) or DEFAULT_DURATION, recorded=run, fixed=_why_fixed(run)
    )


def _why_fixed(run: Run) -> str:
    """Why a run alone does not tell how to simulate it again with other numbers, if so."""
    if run.effort.settings.get("control"):
        return "The run does not hold the control that drove it. Open the machine by its name to change its numbers."
    if not np.allclose(run.q[0], run.plant.start.q, rtol=0, atol=SAME_START):
        return "The run began elsewhere than its machine does. Open the machine by its name to change its numbers."
    return ""


def _of_scenario(chosen: Scenario, plant: Plant | None = None) -> Subject:
    made = build(chosen.system) if plant is None else plant
    return Subject(chosen.system.name, made, chosen.duration, chosen.stepper, chosen.control)


def subject_by_name(name: str, options: Mapping[str, Any], parameters: Mapping[str, float] = NO_NUMBERS) -> Subject:
    """A machine of the catalogue in its own scenario, perhaps with other numbers."""
    entry = find(name)
    subject = _of_scenario(scenario(name, parameters, **options))
    return replace(subject, name=name, entry=entry, options=entry.settings(options))


def machine_names() -> tuple[str, ...]:
    """Names of the machines that can be chosen."""
    return tuple(ENTRIES)
