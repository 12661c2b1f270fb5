"""Views: pictures of what happened."""

from __future__ import annotations

from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """`kb.plot`: the functions that draw runs, imported when they are first asked for."""
    if name != "plot":
        raise AttributeError(f"module 'kalaba.view' has no attribute {name!r}")
    from kalaba.view import figures

    return figures
