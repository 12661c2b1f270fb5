"""The catalogue: every machine by name, and the functions that open it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

from kalaba.errors import ModelError, near
from kalaba.model.options import Choice
from kalaba.model.system import System
from kalaba.robots import (
    bennett,
    delta,
    differential_drive,
    dual_mobile_arm,
    five_bar,
    flexible_arm_3d,
    flexible_four_bar,
    floating_flexible_arm,
    four_bar,
    n_arm_carry,
    planar_parallel,
    puma560,
    pus_upu,
    sarrus,
    spinning_beam,
    stewart,
    three_arm_screw,
    two_arm_carry,
    two_arm_keyed_peg,
    two_arm_peg,
    two_arm_scissors,
    two_arm_screw,
    two_drive_carry,
)
from kalaba.robots.entry import Entry
from kalaba.robots.papers.shelf import paper_of, papers_called
from kalaba.run.scenario import Scenario

NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})

ENTRIES: Mapping[str, Entry] = MappingProxyType(
    {
        entry.name: entry
        for entry in (
            dual_mobile_arm.ENTRY,
            planar_parallel.ENTRY,
            four_bar.ENTRY,
            five_bar.ENTRY,
            bennett.ENTRY,
            sarrus.ENTRY,
            delta.ENTRY,
            stewart.ENTRY,
            pus_upu.ENTRY,
            puma560.ENTRY,
            two_arm_carry.ENTRY,
            two_arm_scissors.ENTRY,
            two_arm_peg.ENTRY,
            two_arm_keyed_peg.ENTRY,
            two_arm_screw.ENTRY,
            three_arm_screw.ENTRY,
            n_arm_carry.ENTRY,
            differential_drive.ENTRY,
            two_drive_carry.ENTRY,
            floating_flexible_arm.ENTRY,
            flexible_arm_3d.ENTRY,
            flexible_four_bar.ENTRY,
            spinning_beam.ENTRY,
        )
    }
)


class Listed(NamedTuple):
    """A machine in the list of them.

    Arguments:
        name: what `kb.load` takes
        summary: one line
    """

    name: str
    summary: str

    @property
    def source(self) -> str:
        """Where the machine and its numbers come from, as a citation."""
        return ENTRIES[self.name].source

    @property
    def paper(self) -> str:
        """Key of the paper that it is from, as in `kalaba papers dong2022`; "" = it is from elsewhere."""
        paper = paper_of(self.name)
        return "" if paper is None else paper.key


def catalog() -> tuple[Listed, ...]:
    """Names of the machines that can be loaded, with one line each; each carries its source too."""
    return tuple(Listed(entry.name, entry.summary) for entry in ENTRIES.values())


def look_for(name: str) -> Entry | None:
    """Give the entry of a name, or of the paper that a DOI, an author or a robot's printed name leads to; None: none.

    A paper that has several machines is refused, with their names.
    """
    if name in ENTRIES:
        return ENTRIES[name]
    papers = papers_called(name)
    machines = [machine for paper in papers for machine in paper.machines]
    if len(machines) > 1:
        raise ModelError(f"{name}: papers about it have the machines {', '.join(machines)}. Name one of them.")
    return ENTRIES[machines[0]] if machines else None


def find(name: str) -> Entry:
    """The same; if there is none, say which names are near."""
    entry = look_for(name)
    if entry is None:
        raise ModelError(f"no machine {name!r} in the catalogue; {near(name, ENTRIES)}")
    return entry


def load(name: str, parameters: Mapping[str, float] = NO_PARAMETERS, **options: Choice) -> System:
    """Give a machine of the catalogue.

    Arguments:
        name: its name, one of kb.catalog()
        parameters: numbers that differ from the catalogue's, by path, in SI units
        options: the machine's own options by name; `kalaba show NAME` lists them. Those of path and law belong to
            its scenario
    """
    entry = find(name)
    return _with(entry.build(**entry.machine_settings(options)), parameters)


def scenario(name: str, parameters: Mapping[str, float] = NO_PARAMETERS, **options: Choice) -> Scenario:
    """Give a machine of the catalogue with what is to be run on it.

    Arguments:
        name: its name, one of kb.catalog()
        parameters: numbers that differ from the catalogue's, by path, in SI units
        options: the machine's own options by name; `kalaba show NAME` lists them
    """
    entry = find(name)
    usual = entry.scenario(**entry.settings(options))
    return replace(usual, system=_with(usual.system, parameters))


def _with(system: System, parameters: Mapping[str, float]) -> System:
    return system.with_parameters(parameters) if parameters else system
