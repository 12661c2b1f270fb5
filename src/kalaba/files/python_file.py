"""Machines in Python files: the file is run, and a System or a Scenario in it is taken.

Only this kind of file runs code, and only where it is named as such: `kalaba run my.py`, `kb.load("my.py:robot")`.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, ModuleType

from kalaba.errors import FileError, KalabaError, near
from kalaba.files.source import Source
from kalaba.model.formats import Described, Format
from kalaba.model.options import AnyText, Option
from kalaba.model.system import Placement, System
from kalaba.run.scenario import Scenario

NAME = Option("", AnyText("name of a value"), "the System or Scenario in the file; none: the only one that it has")
OPTIONS: Mapping[str, Option] = MappingProxyType({"name": NAME})


def read(path: Path, roots: tuple[Path, ...] = (), *, name: str = "") -> Described:
    """Run a file and take the machine in it.

    Arguments:
        path: the file
        roots: folders from which it may import modules, beside its own
        name: of the System or Scenario; "": the only one, where those do not count that are in another
    """
    module = _run(path, roots)
    machines = {key: value for key, value in vars(module).items() if isinstance(value, System | Scenario)}
    if name:
        if name not in vars(module):
            raise FileError(f"{path}: no {name!r} in it; {near(name, machines)}")
        value = vars(module)[name]
        if not isinstance(value, System | Scenario):
            raise FileError(
                f"{path}: expected {name} to be a kb.System or a kb.Scenario, got {type(value).__name__}; "
                f"{near(name, machines)}"
            )
        return _described(value)
    outermost = _outermost(machines)
    if not outermost:
        raise FileError(
            f"{path}: expected a kb.System or a kb.Scenario in it, got none. Give one a name at its top level."
        )
    if len(outermost) > 1:
        raise FileError(
            f"{path}: expected one machine, got {', '.join(outermost)}. Say which: {path}:{next(iter(outermost))}"
        )
    return _described(next(iter(outermost.values())))


def _described(value: System | Scenario) -> Described:
    return Described(value.system, value) if isinstance(value, Scenario) else Described(value)


def _outermost(machines: Mapping[str, System | Scenario]) -> dict[str, System | Scenario]:
    """Machines that are in no other; one value under two names counts once."""
    inner = [part for machine in machines.values() for part in _inside(machine)]
    outer: dict[str, System | Scenario] = {}
    for name, machine in machines.items():
        if not any(machine is other for other in (*inner, *outer.values())):
            outer[name] = machine
    return outer


def _inside(machine: System | Scenario) -> Iterator[System]:
    """Systems that a machine is made of."""
    if isinstance(machine, Scenario):
        yield machine.system
        yield from _inside(machine.system)
        return
    for part in machine.parts:
        if isinstance(part, Placement):
            yield part.system
            yield from _inside(part.system)


def _run(path: Path, roots: tuple[Path, ...]) -> ModuleType:
    """Run a file as a module, with its folder first on the path of imports, as Python itself does."""
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    text = Source(path).text()
    with _importing(path, roots, module):
        try:
            exec(compile(text, str(path), "exec"), vars(module))  # noqa: S102  (what a Python file is for)
        except SyntaxError as error:
            raise FileError(f"{error.filename or path}:{error.lineno}: {error.msg}. Mend that line.") from error
        except (Exception, SystemExit) as error:
            raise FileError(f"{_place(path, error)}: {_said(error)}") from error
    return module


@contextmanager
def _importing(path: Path, roots: tuple[Path, ...], module: ModuleType) -> Iterator[None]:
    """Let a file import what lies beside it; its classes find their module while it runs."""
    before, shadowed = list(sys.path), sys.modules.get(module.__name__)
    sys.path[:0] = [str(folder.resolve()) for folder in (path.parent, *roots)]
    if shadowed is None:
        sys.modules[module.__name__] = module
    try:
        yield
    finally:
        sys.path[:] = before
        if shadowed is None:
            sys.modules.pop(module.__name__, None)


def _place(path: Path, error: BaseException) -> str:
    """File and line, the last of that file that the error passed through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"{path}:{lines[-1]}" if lines else str(path)


def _said(error: BaseException) -> str:
    """What an error says, on one line."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    return text if isinstance(error, KalabaError) else f"{kind}: {text}" if text else kind


FORMAT = Format("Python", (".py",), read, options=OPTIONS)
