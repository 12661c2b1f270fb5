"""A package's door: its public names, each imported when it is first used.

The stub beside a package's `__init__.py` is the one list of what the package shows. Type checkers and editors read it
as Python; `names` reads the same lines at run time, so that `import kalaba` takes milliseconds::

    from kalaba.model.system import System as System
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

_LINE = re.compile(r"^from ([\w.]+) import (\w+) as (\w+)$", re.MULTILINE)
_RENAMED = re.compile(r"^(\w+) = (\w+)$", re.MULTILINE)  # stubs show a name under another one so


def names(file: str) -> dict[str, tuple[str, str]]:
    """Public names of the package whose `__init__.py` is given: the module that each comes from, and its name there."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    table = {public: (home, name) for home, name, public in _LINE.findall(stub)}
    renamed = {public: table.pop(hidden) for public, hidden in _RENAMED.findall(stub)}
    return table | renamed


def opener(package: str, table: dict[str, tuple[str, str]]) -> Callable[[str], object]:
    """The `__getattr__` of a package: imports a public name; a submodule is found as well.

    The package keeps a public function, such as `kalaba.derive`, when a module of the same name is imported.
    """

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if not (isinstance(value, ModuleType) and name in table and ".".join(table[name]) != value.__name__):
                super().__setattr__(name, value)

    if package in sys.modules:
        sys.modules[package].__class__ = Package

    def __getattr__(name: str) -> object:  # noqa: N807  (that is what it becomes)
        if name not in table:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{_elsewhere(package, table, name)}")
        home, inner = table[name]
        if home == package:  # a module of the package itself, such as kalaba.paths
            return import_module(f"{home}.{inner}")
        module = import_module(home)
        # As `from home import inner` does: what the module has, else a module below it that nobody imported yet.
        return getattr(module, inner) if hasattr(module, inner) else import_module(f"{home}.{inner}")

    return __getattr__


def _elsewhere(package: str, table: dict[str, tuple[str, str]], name: str) -> str:
    """Where a name is to be had if one of the package's rooms shows it.

    Rooms are read and not imported: Python asks here for every module of a package before it looks for its file.
    """
    folder = Path(sys.modules[package].__file__ or "").parent
    for home, room in table.values():
        door = folder / room / "__init__.pyi"
        if home == package and door.exists() and name in names(str(door)):
            return f"; it is {package}.{room}.{name}"
    return ""
