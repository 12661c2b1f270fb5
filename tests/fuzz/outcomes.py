"""What may come of a call, and what came: a result, or one line of a KalabaError, in time."""

import faulthandler
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from kalaba.errors import KalabaError

DEADLINE = 30.0  # s: a hundred times what the slowest of these calls takes
LONGEST = 2000  # letters of a message
BINDING = ("missing", "unexpected keyword", "positional argument", "multiple values")  # Python's own words


class Overdue(BaseException):
    """A call that has not come back; no `except Exception` may stop it."""


@contextmanager
def deadline(seconds: float = DEADLINE) -> Iterator[None]:
    """Break off what takes too long; the process ends where even that has no effect."""

    def ring(*_: object) -> None:
        raise Overdue

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(10 * seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


def is_binding(error: TypeError) -> bool:
    """Whether Python refused the names of arguments before the function began: the frame of the call is the last."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    is_ours = trace is not None and "kalaba" in trace.tb_frame.f_globals.get("__name__", "")
    return not is_ours and any(word in str(error) for word in BINDING)


def is_one_line(error: KalabaError) -> bool:
    """Whether people can read it: one line of printable letters that is not endless."""
    text = str(error)
    return text.isprintable() and 0 < len(text) <= LONGEST


@dataclass
class Tally:
    """What came of many calls."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def judge(self, call: Callable[[], object], words: str) -> object:
        """Make a call and count what comes of it; its result, None if it was refused."""
        error: BaseException
        try:
            with deadline():
                result = call()
        except KalabaError as caught:
            kind, error = ("refused" if is_one_line(caught) else "not one line"), caught
        except Overdue as caught:
            kind, error = "hangs", caught
        except TypeError as caught:
            kind, error = ("refused by Python" if is_binding(caught) else "foreign"), caught
        except Exception as caught:  # noqa: BLE001  (what is looked for)
            kind, error = "foreign", caught
        else:
            self.counts["done"] += 1
            return result
        self.counts[kind] += 1
        if not kind.startswith("refused"):
            self.wrong.append(f"{kind}: {words}: {type(error).__name__}: {str(error)[:200]!r}")
        return None

    def report(self, what: str, seed: int) -> str:
        """The counts in one line."""
        kinds = ("done", "refused", "refused by Python", "not one line", "foreign", "hangs", "wrong numbers")
        counted = ", ".join(f"{self.counts[kind]} {kind}" for kind in kinds)
        return f"{what}, seed {seed}: {self.counts.total()} tried: {counted}"
