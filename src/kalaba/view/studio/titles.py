"""What stands above the page: the machine, its freedoms, its worst residual, and how the run ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.view.studio.subject import Subject


def freedoms(run: Run) -> int:
    """Velocities less the rank of the rows at the start."""
    ranks = [rank for _, rank in run.effort.choices]
    rank = ranks[0] if ranks else run.plant.choice.rank if run.plant.constraints else 0
    return len(run.plant.velocities) - rank


def title_of(subject: Subject, run: Run) -> str:
    """One line, short enough for the page: name, freedoms, worst residual."""
    count = freedoms(run)
    worst = "no rows" if run.worst is None else f"≤ {run.worst.value:.1e}"
    return f"{subject.name} · {counted(count, 'freedom')} · {worst}"


def said_of(subject: Subject, run: Run) -> list[str]:
    """The lines below: what it is, the worst row, how good the run is, and what makes it doubtful."""
    entry = None if subject.named is None else subject.named.entry
    lines = [] if entry is None else [entry.summary]
    if run.worst is not None:
        lines.append(f"worst residual {run.worst.value:.1e} in {run.worst.row} at {run.worst.time:.3g} s")
    lines.append(f"accuracy: {run.accuracy.words}")
    if run.accuracy.cause:  # how a run that broke off ended is one
        lines.append(f"**{run.accuracy.cause}**")
    return lines
