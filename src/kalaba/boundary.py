"""What people hand in, checked where it enters: types, choices, numbers, sizes, paths. Inside, values are trusted.

A public function begins with `check_arguments`, a value that people make ends its `__post_init__` with `check_fields`:
both hold what came to the annotations that type checkers read, so that an annotation is written once and means the same
to both. What a type cannot say (above zero, a name that exists, as many numbers as motors) stands in the function, by
the other functions here. Each refuses in one line that says what was expected, what came, and what to write instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cache
from inspect import Parameter, cleandoc, signature, unwrap
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any, cast

from kalaba.errors import FileError, KalabaError, ModelError, one_line

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from kalaba.hints import Kind

PLAIN_NUMBERS = (float, int, bool)
LONGEST_NAME = 255  # bytes of the name of a file or a folder, on every common disk
LARGEST = 1e100  # of numbers in arrays, so that products of three are finite
LONGEST_SHOWN = 60  # letters of a wrong value in a message
LONGEST_DESCRIBED = 160  # letters of what a docstring says of an argument
_ENTRY = re.compile(r"^ {4}\*{0,2}(\w+): (.*(?:\n {6,}.*)*)", re.MULTILINE)


def shown(value: object) -> str:
    """A wrong value in a message: one line, not too long."""
    try:
        text = repr(value)
    except Exception:  # noqa: BLE001  (whatever its class does; the message is about another mistake)
        text = f"a {type(value).__name__}"
    return one_line(text, LONGEST_SHOWN)


def check_arguments(
    function: Callable[..., object], values: Mapping[str, object], error: type[KalabaError] = ModelError
) -> None:
    """Refuse arguments that are not what the annotations of a function say.

    It is the first line of the function: `check_arguments(simulate, locals())`.

    Arguments:
        function: the function that was called
        values: its arguments by name
        error: what is raised
    """
    for name, kind in _arguments(function).items():
        value = values[name]
        if not _is(kind, value):
            _refuse(f"{function.__qualname__}.{name}", kind, value, _described(function).get(name, ""), error)


def check_fields(value: object, error: type[KalabaError] = ModelError, *, but: tuple[str, ...] = ()) -> None:
    """Refuse fields of a dataclass that are not what its annotations say, for its `__post_init__`.

    Arguments:
        value: the value that is being made
        error: what is raised
        but: fields that the class checks by itself
    """
    made: Callable[..., object] = type(value)
    for name, kind in _fields(made).items():
        content = getattr(value, name)
        if name in but:
            continue
        if not _is(kind, content):
            _refuse(f"{made.__name__}.{name}", kind, content, _described(made).get(name, ""), error)
        if isinstance(content, Real) and not isinstance(content, PLAIN_NUMBERS):  # a fraction, or of NumPy
            object.__setattr__(value, name, int(content) if isinstance(content, Integral) else float(content))


def _is(kind: Kind, value: object) -> bool:
    """Whether a value is of a kind; one whose class raises when it is asked is of none."""
    try:
        return kind.accepts(value)
    except Exception:  # noqa: BLE001  (whatever a class that somebody wrote does)
        return False


def _refuse(where: str, kind: Kind, value: object, described: str, error: type[KalabaError]) -> None:
    if isinstance(value, type) and value.__module__.startswith("kalaba"):
        name = value.__name__
        raise error(f"{where}: expected {kind.words}, got the class {name}. Write {name}(...).")
    meaning = f" It is: {described}." if described and not described.startswith("the same") else ""
    raise error(f"{where}: expected {kind.words}, got {shown(value)}.{meaning}")


@cache
def _arguments(function: Callable[..., object]) -> dict[str, Kind]:
    from kalaba.hints import kinds_of  # which loads NumPy; the command line asks this module for paths alone

    kinds, listed = kinds_of(unwrap(function)), signature(function).parameters
    return {name: _gathered(parameter, kinds[name]) for name, parameter in listed.items() if name in kinds}


def _gathered(parameter: Parameter, kind: Kind) -> Kind:
    """What the name of a parameter holds: of *names and **names all that came."""
    from kalaba.hints import Kind

    if parameter.kind is Parameter.VAR_POSITIONAL:
        return Kind(lambda values: all(map(kind.accepts, values)), kind.words)  # type: ignore[call-overload]
    if parameter.kind is Parameter.VAR_KEYWORD:
        return Kind(lambda values: all(map(kind.accepts, values.values())), kind.words)  # type: ignore[attr-defined]
    return kind


@cache
def _fields(kind: Callable[..., object]) -> dict[str, Kind]:
    from kalaba.hints import kinds_of

    kinds = kinds_of(kind)
    return {entry.name: kinds[entry.name] for entry in fields(kind) if entry.init}  # type: ignore[arg-type]


@cache
def _described(thing: Callable[..., object]) -> dict[str, str]:
    """What the `Arguments:` of a docstring say of each."""
    block = cleandoc(thing.__doc__ or "").partition("Arguments:\n")[2]
    return {name: one_line(text, LONGEST_DESCRIBED).rstrip(".") for name, text in _ENTRY.findall(block)}


def called(function: Callable[..., Any], what: str, *arguments: object, error: type[KalabaError] = ModelError) -> Any:  # noqa: ANN401  (whatever it returns)
    """What a function that was handed in returns; what it raises becomes the cause of a refusal that names it.

    Arguments:
        function: the function
        what: what it is, for the message: "Sampled at t = 0.1"
        arguments: what it is called with
        error: what is raised
    """
    try:
        return function(*arguments)
    except KalabaError:
        raise
    except Exception as problem:
        raise error(f"{what}: the function raised {type(problem).__name__}: {problem}.") from problem


def entries_of(value: object) -> tuple[Any, ...]:
    """The entries of a sequence or another iterable; none of a value that has none, or whose class raises."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        return ()
    try:
        return tuple(value)
    except Exception:  # noqa: BLE001  (whatever a class that somebody wrote does)
        return ()


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
    if not is_a(value, kind):
        raise error(f"{what}: expected a value such as {example}, got {shown(value)}.")


def is_a(value: object, kind: type | UnionType) -> bool:
    """Whether a value is of a class or does what a protocol asks; one whose class raises when it is asked does not."""
    try:
        return isinstance(value, kind)  # a protocol asks for attributes
    except Exception:  # noqa: BLE001  (whatever a class that somebody wrote does)
        return False


def check_whole(value: object, what: str, least: int, most: int, error: type[KalabaError] = ModelError) -> None:
    """Refuse what is no whole number within bounds; True is none."""
    from kalaba.hints import is_real

    if not isinstance(value, Integral) or not is_real(value) or not least <= int(value) <= most:
        raise error(f"{what}: expected a whole number from {least} to {most}, got {shown(value)}.")


def checked_pairs(
    value: object, what: str, expected: str, error: type[KalabaError] = ModelError
) -> tuple[tuple[str, Any], ...]:
    """Pairs of a name and a value, of a map or of a sequence of them; anything else is refused."""
    from kalaba.hints import is_text

    try:
        pairs = tuple(dict(cast("Mapping[str, Any]", value)).items())
    except Exception as problem:  # whatever a map of somebody's class does
        raise error(f"{what}: expected {expected}, got {shown(value)}.") from problem
    if not all(is_text(name) for name, _ in pairs):
        raise error(f"{what}: expected {expected}, got {shown(value)}.")
    return pairs


def finite_array(
    value: object, what: str, shape: tuple[int | None, ...], error: type[KalabaError] = ModelError
) -> NDArray[np.float64]:
    """Finite real numbers as an array of a shape; anything else is refused.

    Arguments:
        value: what was handed in
        what: the argument, for the message
        shape: how long each axis is; None: as it comes
        error: what is raised
    """
    import numpy as np

    array = real_array(value, what, error)
    if len(shape) != array.ndim or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("n" if length is None else str(length) for length in shape)
        raise error(f"{what}: expected numbers of shape ({wanted}), got shape {array.shape}.")
    if not (np.abs(array) <= LARGEST).all():
        raise error(f"{what}: expected finite numbers, got {shown(array)}.")
    return array


def real_array(value: object, what: str, error: type[KalabaError] = ModelError) -> NDArray[np.float64]:
    """Real numbers of any shape as an array; anything else is refused."""
    import numpy as np

    from kalaba.hints import is_real_array

    if not is_real_array(value):
        raise error(f"{what}: expected real numbers, got {shown(value)}.")
    return np.asarray(cast("ArrayLike", value), dtype=float)


def as_path(value: object, what: str) -> Path:
    """A path of a file; anything that cannot be one is refused."""
    from kalaba.hints import is_ordinary

    if not isinstance(value, str | os.PathLike) or not is_ordinary(value) or "\0" in str(value):
        raise FileError(f"{what}: expected the path of a file, got {shown(value)}.")
    try:
        path = Path(value)
    except Exception as problem:  # whatever a path of somebody's class does
        raise FileError(f"{what}: expected the path of a file, got {shown(value)}.") from problem
    if any(len(part.encode(errors="replace")) > LONGEST_NAME for part in path.parts):
        raise FileError(f"{what}: expected names of at most {LONGEST_NAME} bytes in a path, got {shown(value)}.")
    return path
