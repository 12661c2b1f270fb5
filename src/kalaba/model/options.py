"""Options: named choices that change what is made, of a machine of the catalogue or of a file that is read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from kalaba.boundary import shown
from kalaba.errors import ModelError, near
from kalaba.model.listing import Table, table
from kalaba.space.number import is_number

Choice = bool | int | float | str


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
    """What an option allows: any number above zero, or one of some words.

    Arguments:
        words: those that are allowed too
        examples: some of the numbers, for those who try all
    """

    words: tuple[str, ...] = ()
    examples: tuple[float, ...] = (0.1, 1.0, 10.0)

    def __contains__(self, value: object) -> bool:
        return value in self.words if isinstance(value, str) else is_number(value) and value > 0  # type: ignore[operator]

    def __iter__(self) -> Iterator[Choice]:
        return iter((*self.examples, *self.words))

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
class AnyText:
    """What an option allows: any text, such as a name or a path.

    Arguments:
        what: what the text is, for messages
    """

    what: str

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str)

    def __iter__(self) -> Iterator[Choice]:
        return iter(())

    def __str__(self) -> str:
        return f"any {self.what}"

    @property
    def expected(self) -> str:
        """For a message."""
        return f"{self.what} as text"


@dataclass(frozen=True, slots=True)
class Option:
    """A choice that changes what is made.

    Arguments:
        default: what holds where nothing is chosen
        allowed: what may be chosen
        description: what it means, in words
    """

    default: Choice
    allowed: Allowed
    description: str

    def check(self, path: str, value: object) -> None:
        """Refuse a value that is not allowed."""
        if value not in self.allowed:
            raise ModelError(f"{path}: expected {self.allowed.expected}, got {shown(value)}; {self.description}.")


def numeric(default: float, description: str) -> Option:
    """Make an option of a number above zero, with half of it and half more to try; the description has its unit."""
    return Option(default, Positive(examples=(default / 2, default, default * 1.5)), description)


def settings(owner: str, options: Mapping[str, Option], chosen: Mapping[str, object]) -> dict[str, object]:
    """Check what was chosen and fill in the others; `owner` has the options, for messages."""
    for name, value in chosen.items():
        if name not in options:
            raise ModelError(f"{owner}: no option {name!r}; {near(name, options)}")
        options[name].check(f"{owner}.{name}", value)
    return {name: chosen.get(name, option.default) for name, option in options.items()}


def options_table(options: Mapping[str, Option]) -> Table:
    """What can be chosen."""
    rows = ((name, option.default, str(option.allowed), option.description) for name, option in options.items())
    return table("options", ("name", "default", "allowed", "meaning"), rows)
