"""What takes a moment and is done once per computer is told: to whoever listens, a terminal or a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

COMPILING = "compiling the loop for this computer, once; this takes a few seconds ..."

_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def told(listener: Callable[[str], None]) -> Iterator[None]:
    """Within this block, and this thread, a function is told what takes a moment."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(line: str) -> None:
    """Tell whoever listens."""
    listener = _listener.get()
    if listener is not None:
        listener(line)
