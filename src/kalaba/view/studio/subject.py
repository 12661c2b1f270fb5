"""Subject: what the studio shows and how it is simulated again: a machine by name or file, a System or a Run."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalaba.boundary import shown
from kalaba.errors import ModelError, ViewError
from kalaba.files.named import Named, named
from kalaba.model.options import Choice, settings
from kalaba.model.system import System
from kalaba.plant.plant import Plant, build
from kalaba.plant.state import State
from kalaba.results.places import RUN_SUFFIXES
from kalaba.results.run import Run
from kalaba.results.saving import open_run
from kalaba.robots.catalogue import ENTRIES
from kalaba.run.again import made
from kalaba.run.scenario import Scenario
from kalaba.run.simulate import simulate
from kalaba.steppers import Auto

if TYPE_CHECKING:
    from kalaba.model.parts import Parameter

DEFAULT_DURATION = 5.0  # s: how long a machine without a scenario is simulated
TURNED_FIRST = ("length", "mass", "radius")  # what the names of the numbers that people turn first end with


@dataclass(frozen=True)
class Subject:
    """A machine with what is run on it. `named` is what it was opened by, `options` what was chosen for it then."""

    name: str
    plant: Plant = field(repr=False)
    duration: float  # s
    stepper: Any = None
    control: Any = None
    start: State | None = field(default=None, repr=False)  # where runs begin; None: where the control or machine says
    named: Named | None = field(default=None, repr=False)
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
            return simulate(plant, self.duration, self.start, stepper, self.control, check=False)

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


def subject_of(
    machine: Subject | str | Path | System | Plant | Run | Scenario, driven: Scenario | None = None
) -> Subject:
    """What to show of a name, a path, a System, a Plant, a Run or a Scenario; `driven`: what a Run was a run of."""
    if isinstance(machine, Subject):
        return machine
    if isinstance(machine, str | Path):
        return subject_by_name(machine)
    if isinstance(machine, Run):
        return _recorded(machine, driven)
    if isinstance(machine, Scenario):
        return _of_scenario(machine)
    if isinstance(machine, Plant | System):
        plant = build(machine)
        return Subject(plant.system.name, plant, DEFAULT_DURATION)
    raise ViewError(
        f"studio: expected a catalogue's name, a path, a System, a Plant, a Scenario or a Run, got {shown(machine)}."
    )


def _recorded(run: Run, driven: Scenario | None) -> Subject:
    if driven is not None:
        return replace(_of_scenario(driven, run.plant), recorded=run)
    alone = Subject(run.system.name, run.plant, float(run.time[-1]) or DEFAULT_DURATION, recorded=run)
    try:
        how = made(run)
    except ModelError as error:  # why a run alone does not tell how to simulate it again with other numbers
        return replace(alone, fixed=f"Its numbers cannot be changed here: {error}")
    return replace(alone, stepper=how.stepper, control=how.control, start=how.start)


def _of_scenario(chosen: Scenario, plant: Plant | None = None) -> Subject:
    built = build(chosen.system) if plant is None else plant
    return Subject(chosen.system.name, built, chosen.duration, chosen.stepper, chosen.control)


def subject_by_name(name: str | Path) -> Subject:
    """A machine of the catalogue or of a file in its own scenario; of a file that holds a run, the run."""
    if Path(name).suffix.lower() in RUN_SUFFIXES:
        return _recorded(open_run(name), None)
    return subject_of_named(named(name), {})


def subject_of_named(opened: Named, options: Mapping[str, Choice], chosen: Scenario | None = None) -> Subject:
    """A machine with options, in its own scenario; `chosen` is that, where it is made already."""
    subject = _of_scenario(opened.scenario(options=options) if chosen is None else chosen)
    own = {name: value for name, value in options.items() if name in opened.options}
    title = opened.title if opened.entry is not None else subject.name
    return replace(subject, name=title, named=opened, options=settings(opened.name, opened.options, own))


def machine_names() -> tuple[str, ...]:
    """Names of the machines that can be chosen."""
    return tuple(ENTRIES)
