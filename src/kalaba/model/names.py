"""Names of parts and frames: which are allowed, and what has one."""

from __future__ import annotations

import re
from typing import Protocol, cast, runtime_checkable

from kalaba.boundary import is_a, shown
from kalaba.errors import ModelError
from kalaba.hints import is_text
from kalaba.model.text.grammar import RESERVED

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
WORLD = "world"


@runtime_checkable
class Named(Protocol):
    """What has a name, such as every part."""

    @property
    def name(self) -> str:
        """Its name."""


@runtime_checkable
class OnFrame(Protocol):
    """A part that sits on a frame, closes onto it, or acts on it."""

    @property
    def parent(self) -> str:
        """Name of that frame."""


def check_name(name: object, what: str) -> None:
    """Refuse names that the expression grammar could not read."""
    if not isinstance(name, str) or not is_text(name) or not NAME.match(name) or name in {WORLD, *RESERVED}:
        raise ModelError(
            f"{what}: expected a name of letters, digits and underscores (not world, t, pi or a function such as sin), "
            f"got {shown(name)}. Rename it."
        )


def check_path(name: object, what: str) -> None:
    """Refuse names whose words, between dots, the grammar could not read: `elbow.motor` is one of two words."""
    for word in name.split(".") if isinstance(name, str) and is_text(name) else (name,):
        check_name(word, what)


def check_line(text: object, path: str) -> None:
    """Refuse what is not one line of printable text: such words stand in files and in code that is exported."""
    if not isinstance(text, str) or not is_text(text) or not text.isprintable():
        raise ModelError(
            f"{path}: expected one line of text, got {shown(text)}. Leave line breaks and control codes out."
        )


def check_frame(name: object, path: str) -> None:
    """Refuse what cannot be the name of a frame, such as the part itself."""
    if not is_text(name):
        hint = f"Write {shown(cast(Named, name).name)}." if is_a(name, Named) else "Write its name."
        raise ModelError(f"{path}: expected the name of a frame, got {type(name).__name__} {shown(name)}. {hint}")
