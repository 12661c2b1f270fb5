"""What the catalogue knows of a machine: where its numbers come from, what can be chosen, how it is built and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kalaba.errors import ModelError
from kalaba.model.listing import Table, table
from kalaba.model.options import Option, settings
from kalaba.model.system import System
from kalaba.printing.notation import Notation
from kalaba.robots.published import PaperFigures
from kalaba.robots.summaries import SUMMARIES
from kalaba.run.scenario import Scenario


class Erratum(NamedTuple):
    """A misprint of the source that a reader would stumble on; the entry follows what is correct."""

    where: str
    printed: str
    correct: str


@dataclass(frozen=True)
class Entry:
    """One machine of the catalogue.

    `build` and `scenario` take the options by name, all of them; `scenario` takes the numbers of its path and law too.
    """

    name: str
    source: str  # citation
    build: Callable[..., System] = field(repr=False)
    scenario: Callable[..., Scenario] = field(repr=False)
    options: Mapping[str, Option] = field(default_factory=dict)  # of the machine
    numbers: Mapping[str, Option] = field(default_factory=dict)  # of the scenario's path and law
    errata: tuple[Erratum, ...] = ()
    figures: PaperFigures | None = None  # of the source, to draw ours over
    notation: Notation = Notation()  # letters of the source, for equations in print

    @property
    def summary(self) -> str:
        """One line."""
        return SUMMARIES[self.name]

    @property
    def errata_table(self) -> Table:
        """Misprints of the source."""
        return table("errata of the source", Erratum._fields, self.errata)

    @property
    def choices(self) -> Mapping[str, Option]:
        """All that can be chosen: options of the machine, and numbers of its path and law."""
        return {**self.options, **self.numbers}

    def settings(self, chosen: Mapping[str, object]) -> dict[str, object]:
        """Check what was chosen and fill in the others, for the scenario."""
        return settings(self.name, self.choices, chosen)

    def machine_settings(self, chosen: Mapping[str, object]) -> dict[str, object]:
        """The same for the machine alone, which has no path and no law: their numbers are refused."""
        settings = self.settings(chosen)
        for name in (name for name in chosen if name in self.numbers):
            raise ModelError(
                f"{self.name}.{name}: the machine alone has no {name}; it belongs to what is run on it "
                f"({self.numbers[name].description}). Give it to kb.scenario or kalaba run, or leave it out."
            )
        return {name: value for name, value in settings.items() if name in self.options}
