"""Data against the schema: the first thing that does not fit, with file, line and path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from kalaba.errors import FileError
from kalaba.files.yaml.tree import Document, Path, shown

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

EXPECTED = {"list_type": "a list", "dict_type": "a map", "string_type": "a text"}


def validated(document: Document, entries: TypeAdapter[Any], data: object, path: Path) -> Any:
    """Data as the schema reads them.

    Arguments:
        document: the file, for the lines of messages
        entries: what is expected
        data: what the file says at the path
        path: where in the file that is
    """
    try:
        return entries.validate_python(data)
    except ValidationError as error:
        problems = [_problem(document, data, path, details) for details in error.errors(include_url=False)]
    raise min(problems, key=lambda problem: problem[0])[1]


def _problem(document: Document, data: object, path: Path, details: ErrorDetails) -> tuple[int, FileError]:
    """Line and error of a thing that does not fit."""
    inner = _walked(data, details["loc"])
    context = details.get("ctx", {})
    place = (*path, *inner)
    if details["type"] == "kalaba":
        problem = str(context["problem"])
        place = (*place, context["key"]) if context["key"] else place
    elif details["type"] == "missing":
        problem = f"expected an entry {details['loc'][-1]}, got none."
    elif details["type"] in EXPECTED:
        problem = f"expected {EXPECTED[details['type']]}, got {shown(details['input'])}."
    else:
        problem = f"{details['msg'][:1].lower()}{details['msg'][1:]}, got {shown(details['input'])}."
    line = next((document.lines[place[:n]] for n in range(len(place), 0, -1) if place[:n] in document.lines), 1)
    return line, document.error(place, problem)


def _walked(data: object, location: tuple[int | str, ...]) -> Path:
    """The words of a location that are keys or indices of the data; others name a choice of the schema."""
    path: list[str | int] = []
    for word in location:
        if isinstance(data, Mapping) and isinstance(word, str):
            spelled = next((key for key in (word, word.replace("-", "_")) if key in data), None)
            if spelled is not None:
                path.append(spelled)
                data = data[spelled]
        elif isinstance(data, list) and isinstance(word, int) and word < len(data):
            path.append(word)
            data = data[word]
    return tuple(path)
