"""Ctrl-C is heard, and in good order.

Python raises KeyboardInterrupt wherever it happens to be. Within a call of CasADi, which takes it for an argument that
cannot be converted, and within a callback from machine code it is swallowed, and the work goes on. Inside `heard` it
comes again until the work has ended.
"""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.25  # s after which an interruption that was swallowed comes again; who cleans up has as long
TIMES = 40  # that it comes, at most


class _Ear:
    """What is known of interruptions: one for all blocks, since only the main thread is interrupted."""

    def __init__(self) -> None:
        self._is_asked = False  # whether an interruption is under way
        self._is_leaving = False  # whether the block ends and nothing more is heard
        self._lock = threading.Lock()

    def hear(self, _number: int, _frame: FrameType | None) -> None:
        """Handle the signal. No Thread is started: that takes locks, which the interrupted code may hold."""
        if self._is_leaving:
            return
        if not self._is_asked:
            self._is_asked = True
            _thread.start_new_thread(self._insist, ())
        raise KeyboardInterrupt

    def _insist(self) -> None:
        for _ in range(TIMES):
            time.sleep(AGAIN)
            with self._lock:
                if not self._is_asked:
                    return
                _thread.interrupt_main()

    def settle(self) -> bool:
        """Insist no longer; say whether an interruption was under way."""
        with self._lock:
            was_asked, self._is_asked = self._is_asked, False
            return was_asked

    def leave(self) -> bool:
        """Give the signal back to Python; say whether an interruption is under way that nobody has settled."""
        self._is_leaving = True
        was_asked = self.settle()
        signal.signal(signal.SIGINT, signal.default_int_handler)  # handles first what has come until now
        self._is_leaving = False
        return was_asked


_ear = _Ear()


@contextmanager
def heard() -> Iterator[None]:
    """Within this block, or a function decorated by it, no Ctrl-C is lost.

    One that a library swallows comes again, at the latest when the block ends. Threads beside the main one and programs
    with a handler of their own are left as they are.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    try:
        signal.signal(signal.SIGINT, _ear.hear)
        yield
    except KeyboardInterrupt:
        _ear.settle()
        raise
    finally:
        if _ear.leave():
            raise KeyboardInterrupt


def caught() -> None:
    """Say that an interruption has been caught and will be handed on, so that it does not come again meanwhile."""
    _ear.settle()
