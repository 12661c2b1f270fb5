"""kalaba: robots that hold on to things. Describe, derive, build, simulate.

    System ──build──▶ Plant ──simulate──▶ Run
       └───derive──▶ Equations, which build derives on the way

What it shows is listed in `__init__.pyi`, in that order; a name is imported when it is first used.
"""

from __future__ import annotations

from kalaba.door import names as _names
from kalaba.door import opener as _opener

__version__ = "0.1.0"

_NAMES = _names(__file__)
_open = _opener(__name__, _NAMES)

__all__ = list(_NAMES)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    value = globals()[name] = _open(name)
    return value


def __dir__() -> list[str]:
    """List the public names."""
    return [*__all__, "__version__"]
