"""YAML 1.2 as plain data that know their lines: maps, lists, texts, numbers, truth values and null, nothing else.

Scalars are those of YAML 1.2's core schema: `on` is a text, `1e-3` a number. Tags, which could ask for other things,
keys that are no texts and keys that stand twice are refused. An alias stands for the value that it names; all that a
file says with its aliases written out is bounded, and so is how deep it is. JSON is YAML 1.2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kalaba.errors import FileError

if TYPE_CHECKING:
    from kalaba.files.source import Source

Path = tuple[str | int, ...]  # keys and indices that lead to an entry

MOST_CHARACTERS = 4_000_000  # of text; machines' files have some thousand
MOST_ENTRIES = 250_000  # with aliases written out
DEEPEST = 60  # entries within each other
LONGEST_NUMBER = 400  # digits: more than any float has
SHOWN = 60  # characters of a value in a message

_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}


@dataclass(frozen=True)
class Document:
    """What a file says, and where.

    Arguments:
        file: its name, which messages begin with
        data: all of it, as plain data
        lines: line of each entry, by its path; those that an alias repeats have none of their own
    """

    file: str
    data: Any
    lines: dict[Path, int] = field(default_factory=dict)

    def where(self, path: Path) -> str:
        """File, line and path of an entry, to begin a message with: "four-bar.yaml:7: bodies.crank"."""
        known = next((path[:n] for n in range(len(path), 0, -1) if path[:n] in self.lines), ())
        line = self.lines.get(known, 1)
        words = "".join(f"[{word}]" if isinstance(word, int) else f".{word}" for word in path).lstrip(".")
        return f"{self.file}:{line}: {words}" if words else f"{self.file}:{line}"

    def error(self, path: Path, problem: str) -> FileError:
        """An error at an entry; the caller raises it."""
        return FileError(f"{self.where(path)}: {problem}")


def shown(value: object) -> str:
    """A value as a message shows it."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def scalar(text: str) -> Any:
    """The value of a plain scalar, by YAML 1.2's core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text.startswith(("0o", "0x")) else int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return -math.inf if text.startswith("-") else math.inf
    return text


def parse(source: Source) -> Document:
    """Read a file as YAML 1.2."""
    return parse_text(source.text(), source.path.name)


def parse_text(text: str, file: str) -> Document:
    """Read a text as YAML 1.2; `file` is its name in messages."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if len(text) > MOST_CHARACTERS:
        raise FileError(
            f"{file}: expected a text of at most {MOST_CHARACTERS / 1e6:.0f} million characters, got "
            f"{len(text) / 1e6:.1f} million. Is it a model?"
        )
    builder = _Builder(file)
    try:
        for event in _events(text):
            builder.take(event)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else mark.line + 1
        problem = " ".join(str(error.problem or error.context or "something else").split())
        raise FileError(f"{file}:{line}: expected YAML, got this: {problem}. Mend that line.") from None
    except (YAMLError, ValueError, ArithmeticError, LookupError, AssertionError) as error:
        # characters that no text has, escapes beyond Unicode: the scanner is not always clear about them
        problem = " ".join(str(error).split())[:120]
        raise FileError(f"{file}: expected YAML, got this: {problem}.") from None
    return Document(file, builder.root, builder.lines)


def _events(text: str) -> Iterator[Any]:
    from ruamel.yaml import YAML

    events: Iterator[Any] = YAML(typ="safe", pure=True).parse(text)
    return events


@dataclass
class _Open:
    """A map or a list whose end has not come."""

    value: dict[str, Any] | list[Any]
    path: Path
    anchor: str | None
    count: int  # entries of the file before it
    key: str | None = None  # of a map: the key whose value comes next


@dataclass
class _Builder:
    """Makes plain data of the events of the parser, without recursion."""

    file: str
    root: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    open: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)  # value, entries in it
    count: int = 0
    documents: int = 0

    def take(self, event: Any) -> None:
        """Take the next event."""
        from ruamel.yaml import events as kinds

        line = event.start_mark.line + 1
        match event:
            case kinds.DocumentStartEvent():
                self._begin_document(event, line)
            case kinds.MappingStartEvent() | kinds.SequenceStartEvent():
                self._begin(event, {} if isinstance(event, kinds.MappingStartEvent) else [], line)
            case kinds.MappingEndEvent() | kinds.SequenceEndEvent():
                self._end()
            case kinds.AliasEvent():
                self._alias(event.anchor, line)
            case kinds.ScalarEvent():
                self._scalar(event, line)

    def _error(self, line: int, problem: str) -> FileError:
        words = ".".join(str(word) for word in self.open[-1].path) if self.open else ""
        return FileError(f"{self.file}:{line}: {f'{words}: ' if words else ''}{problem}")

    def _begin_document(self, event: Any, line: int) -> None:
        self.documents += 1
        if self.documents > 1:
            raise self._error(line, "expected one document, got a second. Leave --- out, or make it a file of its own.")
        if event.tags or event.version not in {None, (1, 2)}:
            raise self._error(line, "expected YAML 1.2 without tags. Leave the lines that begin with % out.")

    def _begin(self, event: Any, value: dict[str, Any] | list[Any], line: int) -> None:
        self._check_tag(event, line)
        if self._wants_key():
            raise self._error(line, "expected a text as key, got a map or a list. Quote a text with brackets.")
        path = self._place(line)
        if len(self.open) >= DEEPEST:
            raise self._error(line, f"expected entries at most {DEEPEST} deep. Is it a model?")
        self.open.append(_Open(value, path, event.anchor, self.count))

    def _end(self) -> None:
        closed = self.open.pop()
        if closed.anchor is not None:
            self.anchors[closed.anchor] = (closed.value, self.count - closed.count)
        self._put(closed.value)

    def _alias(self, anchor: str, line: int) -> None:
        if any(entry.anchor == anchor for entry in self.open):
            raise self._error(line, f"expected a value that does not contain itself, got *{anchor}.")
        if anchor not in self.anchors:
            raise self._error(line, f"expected &{anchor} before *{anchor}. Quote a text that begins with *.")
        value, count = self.anchors[anchor]
        if self._wants_key():
            self._key(value, line)
            return
        self._place(line, count)
        self._put(value)

    def _scalar(self, event: Any, line: int) -> None:
        self._check_tag(event, line)
        text = _joined(event.value)
        value = scalar(text) if event.style is None else text
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, 1)
        if self._wants_key():
            self._key(value, line)
            return
        self._place(line)
        self._put(value)

    def _check_tag(self, event: Any, line: int) -> None:
        if event.tag is not None:
            raise self._error(line, f"expected no tag, got {event.tag}. Quote a text that begins with !.")

    def _wants_key(self) -> bool:
        return bool(self.open) and isinstance(self.open[-1].value, dict) and self.open[-1].key is None

    def _key(self, value: object, line: int) -> None:
        last = self.open[-1]
        if not isinstance(value, str):
            raise self._error(line, f'expected a text as key, got {shown(value)}. Write it in quotes: "{value}".')
        if value in last.value:
            first = self.lines[*last.path, value]
            raise self._error(
                line, f"{value}: expected each key once, got it again after line {first}. Rename or remove one."
            )
        if value == "<<":
            raise self._error(line, "expected no merge key <<, which YAML 1.2 does not have. Write the entries out.")
        last.key = value
        self.lines[*last.path, value] = line

    def _place(self, line: int, entries: int = 1) -> Path:
        """Count the entry that comes next and give its path."""
        self.count += entries
        if self.count > MOST_ENTRIES:
            raise self._error(line, f"expected at most {MOST_ENTRIES} entries, aliases written out. Is it a model?")
        if not self.open:
            return ()
        last = self.open[-1]
        word: str | int = len(last.value) if last.key is None else last.key
        path = (*last.path, word)
        self.lines.setdefault(path, line)
        return path

    def _put(self, value: Any) -> None:
        if not self.open:
            self.root = value
            return
        last = self.open[-1]
        if isinstance(last.value, dict):
            last.value[str(last.key)] = value
            last.key = None
        else:
            last.value.append(value)


def _joined(text: str) -> str:
    """A text with pairs of surrogates, as JSON writes characters beyond the first plane, as one character each."""
    if not any("\ud800" <= character <= "\udfff" for character in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
