"""XML as a tree of elements that know their line. No entities are expanded, nothing outside the text is read."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from kalaba.errors import FileError
from kalaba.files.source import Source

MOST_ELEMENTS = 500_000  # robots' files have some thousand
LATE_DECLARATION = re.compile(r"\s+(<\?xml[^>]{0,200}\?>)")  # after blank lines, where XML forbids it
DEEPEST = 200  # elements within each other


@dataclass
class Element:
    """One element of a file.

    Arguments:
        tag: its name
        attributes: as texts
        file: the file it is in, for messages
        line: where it begins
        children: elements in it, in order
        text: the text in it, without white space at its ends
    """

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    @property
    def where(self) -> str:
        """File, line and name, to begin a message with."""
        name = self.attributes.get("name", "")
        return f"{self.file}:{self.line}: <{self.tag}{f' {name}' if name else ''}>"

    def __iter__(self) -> Iterator[Element]:
        return iter(self.children)

    def all(self, tag: str) -> list[Element]:
        """Children of a name."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """The first child of a name; None if there is none."""
        return next((child for child in self.children if child.tag == tag), None)

    def require(self, tag: str) -> Element:
        """The first child of a name, which must be there."""
        child = self.first(tag)
        if child is None:
            raise self.error(f"expected a <{tag}> in it, got none")
        return child

    def get(self, key: str, default: str = "") -> str:
        """An attribute as text."""
        return self.attributes.get(key, default)

    def required(self, key: str) -> str:
        """An attribute that must be there."""
        if not self.attributes.get(key, "").strip():
            raise self.error(f"expected an attribute {key}=, got none")
        return self.attributes[key].strip()

    def number(self, key: str, default: float | None = None) -> float:
        """An attribute that is one number; without a default it must be there."""
        if key not in self.attributes and default is not None:
            return default
        return self.read_numbers(self.required(key), 1, key)[0]

    def numbers(self, key: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """An attribute that is `count` numbers; without a default it must be there."""
        if key not in self.attributes and default is not None:
            return default
        return self.read_numbers(self.required(key), count, key)

    def read_numbers(self, text: str, count: int | None, what: str) -> tuple[float, ...]:
        """Finite numbers in a text, separated by white space; `count` of them, or any number if None."""
        words = text.split()
        try:
            values = tuple(float(word) for word in words)
        except ValueError:
            values = ()
        is_right = len(values) == len(words) and all(map(math.isfinite, values)) and count in {None, len(values)}
        if not is_right or "_" in text:  # Python's float reads 1_000
            expected = "numbers" if count is None else f"{count} finite numbers" if count > 1 else "a finite number"
            raise self.error(f"{what}: expected {expected}, got {text[:60]!r}")
        return values

    def error(self, problem: str) -> FileError:
        """An error at this place; the caller raises it."""
        return FileError(f"{self.where}: {problem}{'' if problem.endswith('?') else '.'}")


def parse(source: Source) -> Element:
    """Read a file as XML.

    A document type is refused: it could define entities that grow without end or read other files.
    """
    return parse_text(source.text(), source.path.name)


def parse_text(text: str, file: str) -> Element:
    """Read a text as XML; `file` is its name in messages. Blank lines before its declaration are passed over."""
    late = LATE_DECLARATION.match(text)
    if late is not None:
        text = text[: late.start(1)] + text[late.end(1) :]
    builder = _Builder(file)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    parser.StartElementHandler = lambda tag, attributes: builder.start(tag, attributes, parser.CurrentLineNumber)
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.StartDoctypeDeclHandler = lambda *_: builder.refuse_doctype(parser.CurrentLineNumber)
    try:
        parser.Parse(text, True)  # noqa: FBT003  (that it is the last piece)
    except expat.ExpatError as error:
        problem = expat.errors.messages[error.code]
        raise FileError(f"{file}:{error.lineno}: expected XML, got {problem}. Mend that line.") from error
    if builder.root is None:
        raise FileError(f"{file}: expected XML, got nothing.")
    return builder.root


@dataclass
class _Builder:
    """Makes elements of what the parser meets."""

    file: str
    root: Element | None = None
    open: list[Element] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    count: int = 0

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS or len(self.open) >= DEEPEST:
            raise FileError(
                f"{self.file}:{line}: expected at most {MOST_ELEMENTS} elements, {DEEPEST} deep. Is it a model?"
            )
        element = Element(tag, dict(attributes), self.file, line)
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.texts.append([])

    def end(self, _: str) -> None:
        element = self.open.pop()
        element.text = "".join(self.texts.pop()).strip()

    def characters(self, text: str) -> None:
        if self.texts:
            self.texts[-1].append(text)

    def refuse_doctype(self, line: int) -> None:
        raise FileError(f"{self.file}:{line}: expected no document type (<!DOCTYPE …>), which models do not need.")
