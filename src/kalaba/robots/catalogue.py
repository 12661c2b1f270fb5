"""The catalogue: every machine by name, and the functions that open it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from kalaba.errors import ModelError, near
from kalaba.robots.papers.shelf import paper_of, papers_called
from kalaba.robots.summaries import SUMMARIES

if TYPE_CHECKING:
    from kalaba.model.options import Choice
    from kalaba.model.system import System
    from kalaba.robots.entry import Entry
    from kalaba.run.scenario import Scenario

NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})


class Entries(Mapping[str, "Entry"]):
    """Entries by name; the module of a machine is imported when its entry is asked for, those of the others are not."""

    def __getitem__(self, name: str) -> Entry:
        if name not in SUMMARIES:
            raise KeyError(name)
        module = import_module(f"kalaba.robots.{name.replace('-', '_')}")
        return module.ENTRY  # type: ignore[no-any-return]

    def __contains__(self, name: object) -> bool:
        return name in SUMMARIES

    def __iter__(self) -> Iterator[str]:
        return iter(SUMMARIES)

    def __len__(self) -> int:
        return len(SUMMARIES)


ENTRIES: Mapping[str, Entry] = Entries()


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
    return tuple(Listed(name, summary) for name, summary in SUMMARIES.items())


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
