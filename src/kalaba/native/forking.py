"""A process that forks while another thread builds: the child begins with locks that somebody holds for ever.

So a fork waits until no kernel is being compiled, and the child gets fresh locks for what was being computed: it
computes that itself, if it needs it.
"""

import os
import sys
import threading
from collections.abc import Iterator
from functools import cached_property

PACKAGE = __name__.partition(".")[0]


def hold_while_forking(lock: threading.RLock) -> None:
    """Let forks wait for a lock; parent and child have it free afterwards."""
    if sys.platform != "win32":
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def renew_when_forked(owner: object, name: str) -> None:
    """Give a child a fresh lock in the place of one that belongs to a library and may be held just then."""
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=lambda: setattr(owner, name, threading.RLock()))


def renew_locks() -> None:
    """Give every cached property of the package a lock that nobody holds. Python 3.12 and later have none there."""
    for found in _cached_properties():
        found.lock = threading.RLock()  # type: ignore[attr-defined]  # of Python 3.11


def _cached_properties() -> Iterator[cached_property[object]]:
    modules = [module for name, module in sys.modules.items() if name == PACKAGE or name.startswith(f"{PACKAGE}.")]
    classes = {entry for module in modules for entry in vars(module).values() if isinstance(entry, type)}
    for described in classes:
        yield from (entry for entry in vars(described).values() if isinstance(entry, cached_property))


if sys.version_info < (3, 12) and sys.platform != "win32":
    os.register_at_fork(after_in_child=renew_locks)
