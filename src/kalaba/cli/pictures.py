"""A bar on the terminal while a film is drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def picture_bar(name: str) -> Iterator[Callable[[int, int], None] | None]:
    """Give a function that takes the number of a picture and how many there are; None without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    from kalaba.cli.terminal import console

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
