"""Scopes: how a name written inside a System becomes a full path, and what is said when it does not exist."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kalaba.errors import ExpressionError, ModelError, near
from kalaba.model.text.expressions import Expression, parse
from kalaba.space.number import XYZ

if TYPE_CHECKING:
    from kalaba.model.machine import MachineFrame

WORLD = "world"


@dataclass(frozen=True, slots=True)
class Scope:
    """The inside of one placed System: the prefix of its names and the frame it stands on."""

    prefix: str
    base: str

    def full(self, name: str) -> str:
        """Full path of a name written in this scope."""
        return f"{self.prefix}.{name}" if self.prefix else name

    def frame(self, name: str) -> str:
        """Full path of a frame or of its x, y, z; `world` is what the System stands on."""
        head, dot, component = name.partition(".")
        return f"{self.base}{dot}{component}" if head == WORLD else self.full(name)

    def known_frame(self, name: str, path: str, frames: Mapping[str, MachineFrame]) -> str:
        """Full path of a frame that must exist."""
        full = self.frame(name)
        if full not in frames:
            raise ModelError(f"{path}: no frame {full!r}; {near(full, frames)}")
        return full

    def expression(
        self,
        text: Any,
        path: str,
        known: Collection[str],
        frames: Mapping[str, MachineFrame],
    ) -> Expression:
        """Read an expression written in this scope; every word must be a known scalar or a frame's x, y or z.

        Arguments:
            text: as it is written
            path: where, for messages
            known: full names of scalars; looked up, not copied: a machine has thousands
            frames: by full name
        """
        written = _parse(text, path)
        full = written.renamed(self.frame)
        for name in sorted(written.names):
            if not is_known(self.frame(name), known, frames):
                raise unknown_word(written, name, path, self._candidates(known, frames))
            if name.startswith(f"{WORLD}.") and self.frame(name) in known:
                problem = f"{path}: {name!r} is where {self.base!r} stands, but {self.frame(name)!r} is a coordinate"
                remedy = "put a Frame on world and use its name"
                raise ExpressionError(problem, written.text, written.position_of(name), remedy)
        for name in sorted(written.frames):
            if self.frame(name) not in frames:
                raise unknown_word(written, name, path, frames)
        return full

    def parameter_expression(self, text: str, path: str) -> Expression:
        """Read a number that is given as an expression of parameters; existence is checked when all are known."""
        written = _parse(text, path)
        if written.has_rate or written.uses_time or written.frames:
            raise ModelError(f"{path}: expected a number or an expression of parameters, got {text!r}.")
        return written.renamed(self.full)

    def _candidates(self, scalars: Iterable[str], frames: Mapping[str, MachineFrame]) -> list[str]:
        """Names that could be written in this scope."""
        full = [*scalars, *(f"{frame}.{c}" for frame in frames for c in XYZ)]
        cut = len(self.prefix) + 1 if self.prefix else 0
        return [name[cut:] for name in full if not cut or name.startswith(f"{self.prefix}.")]


def is_known(name: str, scalars: Container[str], frames: Container[str]) -> bool:
    """Tell whether a full name is a scalar or a coordinate of a frame."""
    frame, _, component = name.rpartition(".")
    return name in scalars or (component in XYZ and frame in frames)


def unknown_word(expression: Expression, name: str, path: str, known: Iterable[str]) -> ExpressionError:
    """Word the error for a name that does not exist, with its position marked."""
    position = expression.position_of(name)
    return ExpressionError(f"{path}: unknown word {name!r}", expression.text, position, near(name, known))


def _parse(text: Any, path: str) -> Expression:
    try:
        return parse(text)
    except ExpressionError as error:
        raise ExpressionError(f"{path}: {error.problem}", error.text, error.position, error.remedy) from None
