"""What the catalogue knows of a machine: where its numbers come from, what can be chosen, how it is built and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from kalaba.errors import ModelError, near
from kalaba.model.listing import Table, table
from kalaba.model.system import System
from kalaba.printing.notation import Notation
from kalaba.robots.published import PaperFigures
from kalaba.run.scenario import Scenario
from kalaba.space.number import is_number

Choice = bool | int | float | str


class Erratum(NamedTuple):
    """A misprint of the source that a reader would stumble on; the entry follows what is correct."""

    where: str
    printed: str
    correct: str


class Allowed(Protocol):
    """What an option allows: values that it contains, some or all of them one after the other, and words for it."""

    def __contains__(self, value: object) -> bool:
        """Whether a value is allowed; True is not 1 here."""

    def __iter__(self) -> Iterator[Choice]:
        """All of them, or some of those without end, for those who try all."""

    def __str__(self) -> str:
        """What is allowed, for a table."""

    @property
    def expected(self) -> str:
        """What is allowed, for a message."""


@dataclass(frozen=True, slots=True)
class OneOf:
    """What an option allows: one of some values."""

    choices: tuple[Choice, ...]

    def __contains__(self, value: object) -> bool:
        return any(type(value) is type(choice) and value == choice for choice in self.choices)

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.choices)

    def __str__(self) -> str:
        return ", ".join(map(str, self.choices))

    @property
    def expected(self) -> str:
        """For a message."""
        return " or ".join(map(repr, self.choices))


@dataclass(frozen=True, slots=True)
class Whole:
    """What an option allows: any whole number from a first to a last."""

    first: int
    last: int

    def __contains__(self, value: object) -> bool:
        return type(value) is int and self.first <= value <= self.last

    def __iter__(self) -> Iterator[Choice]:
        return iter(range(self.first, self.last + 1))

    def __str__(self) -> str:
        return f"{self.first} to {self.last}"

    @property
    def expected(self) -> str:
        """For a message."""
        return f"a whole number from {self}"


@dataclass(frozen=True, slots=True)
class Positive:
    """What an option allows: any number above zero, or one of some words."""

    words: tuple[str, ...] = ()

    def __contains__(self, value: object) -> bool:
        return value in self.words if isinstance(value, str) else is_number(value) and value > 0  # type: ignore[operator]

    def __iter__(self) -> Iterator[Choice]:
        return iter((0.1, 1.0, 10.0, *self.words))

    def __str__(self) -> str:
        return ", ".join(("any number above 0", *self.words))

    @property
    def expected(self) -> str:
        """For a message."""
        return " or ".join(("a number above 0", *map(repr, self.words)))


@dataclass(frozen=True, slots=True)
class Amount:
    """What an option allows: any number from zero on, or one of some words."""

    words: tuple[str, ...] = ()

    def __contains__(self, value: object) -> bool:
        return value in self.words if isinstance(value, str) else is_number(value) and value >= 0  # type: ignore[operator]

    def __iter__(self) -> Iterator[Choice]:
        return iter((0.0, 1e-4, *self.words))

    def __str__(self) -> str:
        return ", ".join(("any number from 0", *self.words))

    @property
    def expected(self) -> str:
        """For a message."""
        return " or ".join(("a number from 0", *map(repr, self.words)))


@dataclass(frozen=True, slots=True)
class Option:
    """A choice that changes what a machine is made of."""

    default: Choice
    allowed: Allowed
    description: str

    def check(self, path: str, value: object) -> None:
        """Refuse a value that is not allowed."""
        if value not in self.allowed:
            raise ModelError(f"{path}: expected {self.allowed.expected}, got {value!r}; {self.description}.")


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
    def options_table(self) -> Table:
        """What can be chosen."""
        rows = ((name, o.default, str(o.allowed), o.description) for name, o in self.options.items())
        return table("options", ("name", "default", "allowed", "meaning"), rows)

    @property
    def errata_table(self) -> Table:
        """Misprints of the source."""
        return table("errata of the source", Erratum._fields, self.errata)

    def settings(self, chosen: Mapping[str, object]) -> dict[str, object]:
        """Check the options given and fill in the others."""
        for name, value in chosen.items():
            if name not in self.options:
                raise ModelError(f"{self.name}: no option {name!r}; {near(name, self.options)}")
            self.options[name].check(f"{self.name}.{name}", value)
        return {name: chosen.get(name, option.default) for name, option in self.options.items()}
