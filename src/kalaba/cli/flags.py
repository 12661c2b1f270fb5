"""Groups of flags: a dataclass whose fields are flags, so that commands that share flags share one list of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import wraps
from typing import Any, get_type_hints


class FlagGroup:
    """Base of a dataclass whose fields are flags, each `name: SomeFlag = default`."""


def with_groups(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command as typer reads it: in place of a parameter whose type is a group stand the flags of the group."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and issubclass(kind, FlagGroup)}

    def expanded() -> Iterator[inspect.Parameter]:
        for parameter in inspect.signature(command).parameters.values():
            if parameter.name in groups:
                yield from _flags(groups[parameter.name])
            else:
                yield parameter.replace(annotation=hints[parameter.name])

    @wraps(command)
    def called(**values: object) -> object:
        for name, kind in groups.items():
            values[name] = kind(**{flag.name: values.pop(flag.name) for flag in _flags(kind)})
        return command(**values)

    parameters = list(expanded())
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called


def _flags(kind: type[FlagGroup]) -> list[inspect.Parameter]:
    """The flags of a group, as parameters of a function."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            entry.name, inspect.Parameter.KEYWORD_ONLY, default=entry.default, annotation=hints[entry.name]
        )
        for entry in fields(kind)  # type: ignore[arg-type]
    ]
