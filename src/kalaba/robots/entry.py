"""What the catalogue knows of a machine: where its numbers come from, what can be chosen, how it is built and run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kalaba.model.listing import Table, table
from kalaba.model.options import Option, settings
from kalaba.model.system import System
from kalaba.printing.notation import Notation
from kalaba.robots.published import PaperFigures
from kalaba.run.scenario import Scenario


class Erratum(NamedTuple):
    """A misprint of the source that a reader would stumble on; the entry follows what is correct."""

    where: str
    printed: str
    correct: str


@dataclass(frozen=True)
class Entry:
    """One machine of the catalogue. `build` and `scenario` take the options by name, all of them."""

    name: str
    summary: str  # one line
    source: str  # citation
    build: Callable[..., System] = field(repr=False)
    scenario: Callable[..., Scenario] = field(repr=False)
    options: Mapping[str, Option] = field(default_factory=dict)
    errata: tuple[Erratum, ...] = ()
    figures: PaperFigures | None = None  # of the source, to draw ours over
    notation: Notation = Notation()  # letters of the source, for equations in print

    @property
    def errata_table(self) -> Table:
        """Misprints of the source."""
        return table("errata of the source", Erratum._fields, self.errata)

    def settings(self, chosen: Mapping[str, object]) -> dict[str, object]:
        """Check the options given and fill in the others."""
        return settings(self.name, self.options, chosen)
