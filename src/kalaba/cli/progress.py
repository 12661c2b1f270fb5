"""A bar on the terminal while a run goes on: steps, simulated time, the time left, the worst residual so far."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kalaba.results.run import Worst
    from kalaba.run.progress import Progress, Watcher

WIDE = 110  # columns that hold the machine's name and a long bar beside the numbers


@contextmanager
def bar(name: str, duration: float, *, hidden: bool) -> Iterator[Watcher | None]:
    """Give a function that takes a Progress; None where no terminal would show it."""
    if hidden or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    from kalaba.cli.terminal import console

    out = console(to_stderr=True)
    is_wide = out.width > WIDE
    own = f" {name}" if is_wide else ""
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
        task = bars.add_task(f"building{own}", total=duration, steps="", worst="")

        def show(progress: Progress) -> None:
            bars.update(
                task,
                description=f"running{own}",
                completed=min(progress.time, duration),
                steps=f"{progress.steps} steps",
                worst=residual_words(progress.worst),
            )

        yield show


def residual_words(worst: Worst | None) -> str:
    """The worst residual so far in a few words; nothing for a machine without rows."""
    return "" if worst is None else f"residual {worst.value:.1e} in {worst.row}"
