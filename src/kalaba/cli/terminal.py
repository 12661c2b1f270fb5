"""What the commands print with: colours and bars on a terminal only, tables that do not cut names, JSON on request."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

from kalaba.model.formats import LeftOutWarning

if TYPE_CHECKING:
    from rich.console import Console

    from kalaba.model.listing import Table
    from kalaba.results.run import Worst
    from kalaba.run.progress import Progress, Watcher
    from kalaba.studies.progress import StudyProgress

INTERRUPTED = 130  # exit code after Ctrl-C
WIDE = 200  # columns of a table that goes to a file or a pipe
WIDE_BAR = 110  # columns that hold the machine's name and a long bar beside the numbers


class Colour(StrEnum):
    """Colours of lines on stderr, as the numbers that terminals know them by."""

    PROBLEM = "31"  # red
    WARNING = "33"  # yellow


def open_streams() -> None:
    """Have somewhere to write to, in any encoding: what a terminal cannot show is written as its number.

    A closed stream has no object in Python, and its number would be given to the next file that is opened.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123  (open until the end)
        elif isinstance(stream := getattr(sys, name), TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def drop_stdout() -> None:
    """Let what is still to be written to a stdout that takes no more go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def console(*, to_stderr: bool = False) -> Console:
    """A console that writes as wide as the terminal is, or wide where there is none."""
    from rich.console import Console

    stream = sys.stderr if to_stderr else sys.stdout
    width = None if stream.isatty() else WIDE
    return Console(file=stream, highlight=False, width=width, soft_wrap=not stream.isatty())


def say(text: str, colour: Colour) -> None:
    """Write one line to stderr, in colour on a terminal whose user has nothing against it."""
    line = " ".join(text.split())
    sys.stderr.write(f"\x1b[{colour}m{line}\x1b[0m\n" if has_colours(sys.stderr) else f"{line}\n")


def say_simulated(words: str) -> None:
    """Tell of a run that is simulated for a panel; on stderr, since it takes a moment."""
    sys.stderr.write(f"simulating with {words}\n")


def has_colours(stream: TextIO) -> bool:
    """Whether a stream shows colours: a terminal, unless NO_COLOR is set or the terminal is a dumb one."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") not in {"dumb", "unknown"}


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Write each warning as one line `warning: ...` on stderr, without the line of source that it came from.

    One that lists what a file holds beside has a line per thing.
    """

    def show(message: Warning | str, *_: object, **__: object) -> None:
        is_list = isinstance(message, LeftOutWarning) and message.notes
        for line in f"warning: {message}".splitlines() if is_list else (f"warning: {message}",):
            say(line, Colour.WARNING)

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def print_table(out: Console, table: Table) -> None:
    """Print a titled table; nothing where there are no rows."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    if not table.rows:
        return
    grid = Grid(title=Text(table.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in table.columns:
        grid.add_column(Text(heading), overflow="fold")  # a unit in brackets is not markup
    for row in table.rows:
        grid.add_row(*map(Text, row))
    out.print(grid, soft_wrap=False)


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    """Print one JSON object; numbers that JSON does not know become null."""
    sys.stdout.write(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:  # noqa: ANN401  (whatever JSON holds)
    if isinstance(value, Mapping):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def bar(name: str, duration: float, *, hidden: bool) -> Iterator[Watcher | None]:
    """A bar while a run goes on: steps, simulated time, time left, worst residual so far.

    Gives a function that takes a Progress; None where no terminal would show it.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    from kalaba.native.notices import told

    out = console(to_stderr=True)
    is_wide = out.width > WIDE_BAR
    label = f" {name}" if is_wide else ""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24 if is_wide else 5),
        TextColumn("{task.completed:.2f} of {task.total:g} s"),
        TextColumn("{task.fields[steps]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[worst]}", markup=False),
    )
    with Bars(*columns, console=out, transient=True) as bars:
        task = bars.add_task(f"building{label}", total=duration, steps="", worst="")

        def show(progress: Progress) -> None:
            bars.update(
                task,
                description=f"running{label}",
                completed=min(progress.time, duration),
                steps=f"{progress.steps} steps",
                worst=residual_words(progress.worst),
            )

        with told(lambda line: out.print(line, markup=False)):
            yield show


@contextmanager
def study_board(name: str, *, hidden: bool) -> Iterator[Callable[[StudyProgress], None] | None]:
    """A bar and a table while a study goes on: samples, time left, each measure so far.

    Gives a function that takes a StudyProgress; None where no terminal would show it.
    """
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
    )
    bars = Bars(*columns)
    task = bars.add_task(f"building {name}", total=None, left="")
    with Live(bars, console=console(to_stderr=True), transient=True, refresh_per_second=4) as live:

        def show(progress: StudyProgress) -> None:
            left = "" if progress.left is None else f"{duration_words(progress.left)} left"
            failed = f", {progress.failed} failed" if progress.failed else ""
            bars.update(task, description=f"{name}{failed}", total=progress.count, completed=progress.done, left=left)
            live.update(Group(bars, _spreads(progress)))

        yield show


def _spreads(progress: StudyProgress) -> Any:  # noqa: ANN401  (a table of rich)
    """Each measure so far."""
    from rich import box
    from rich.table import Table as Shown

    shown = Shown("measure", "mean", "deviation", "smallest", "largest", box=box.SIMPLE_HEAD)
    for name, spread in progress.measures.items():
        shown.add_row(name, *(f"{value:.6g}" for value in spread[1:]))
    return shown


def duration_words(seconds: float) -> str:
    """A time that a person waits: 42 s, 3 min 5 s, 2 h 10 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def residual_words(worst: Worst | None) -> str:
    """The worst residual so far in a few words; nothing for a machine without rows."""
    return "" if worst is None else f"residual {worst.value:.1e} in {worst.row}"


@contextmanager
def picture_bar(name: str) -> Iterator[Callable[[int, int], None] | None]:
    """A bar while a film is drawn.

    Gives a function that takes the number of a picture and how many there are; None without a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(to_stderr=True), transient=True) as progress:
        task = progress.add_task(f"drawing {name}", total=None)
        yield lambda number, count: progress.update(task, completed=number, total=count)
