"""What people hand in, checked where it enters: types, choices, sizes. Inside, values are trusted.

Each function refuses in one line that says what was expected and what to write instead.
"""

from __future__ import annotations

import os
from numbers import Integral, Real
from pathlib import Path

from kalaba.errors import FileError, KalabaError, ModelError

LONGEST_SHOWN = 60  # letters of a wrong value in a message


def shown(value: object) -> str:
    """A wrong value in a message: one line, not too long."""
    text = " ".join(repr(value).split())
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def check_choice(value: object, kind: type, what: str, example: str, error: type[KalabaError] = ModelError) -> None:
    """Refuse what is no value of a kind, such as its class or its name in a text.

    Arguments:
        value: what was handed in
        kind: a class, or a protocol that can be asked at run time
        what: the argument, for the message: "build: method"
        example: what to write: "kb.Lagrange()"
        error: what is raised
    """
    if isinstance(value, type):
        name = value.__name__
        raise error(f"{what}: expected a value such as {example}, got the class {name}. Write {name}().")
    if not isinstance(value, kind):
        raise error(f"{what}: expected a value such as {example}, got {shown(value)}.")


def check_whole(value: object, what: str, least: int, most: int, error: type[KalabaError] = ModelError) -> None:
    """Refuse what is no whole number within bounds; True is none."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= most:
        raise error(f"{what}: expected a whole number from {least} to {most}, got {shown(value)}.")


def is_real(value: object) -> bool:
    """Whether a value is one real number, finite or not; True is none, and neither is a number that no float holds."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True


def as_path(value: object, what: str) -> Path:
    """A path of a file; anything that cannot be one is refused."""
    if not isinstance(value, str | os.PathLike) or "\0" in str(value):
        raise FileError(f"{what}: expected the path of a file, got {shown(value)}.")
    return Path(value)
