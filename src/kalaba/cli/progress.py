"""A bar on the terminal while a run goes on: simulated time and the time that is left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(name: str, duration: float, *, hidden: bool) -> Iterator[Callable[[float], None] | None]:
    """Give a function that takes the simulated time; None where no terminal would show it."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    from kalaba.cli.terminal import console

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:.2f} of {task.total:g} s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(to_stderr=True), transient=True) as progress:
        task = progress.add_task(f"building {name}", total=duration)
        yield lambda time: progress.update(task, description=f"running {name}", completed=min(time, duration))
