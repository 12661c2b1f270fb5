"""What a report says of the paper that a machine is from: its figures with ours over them, its numbers, its items."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.errors import KalabaError
from kalaba.model.listing import table
from kalaba.robots.papers.shelf import paper_of
from kalaba.units import printed
from kalaba.view.figures.sources import Progress, paper_sheet
from kalaba.view.report.page import Section, drawing, folded, paragraph, rows_html, wide

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.robots.entry import Entry
    from kalaba.robots.papers.paper import Paper


def paper_sections(run: Run, entry: Entry | None, progress: Progress | None) -> tuple[Section, ...]:
    """The paper of a machine of the catalogue; nothing where it has none.

    Arguments:
        run: a run of the machine
        entry: of the catalogue; None: a machine of one's own
        progress: called with the options of each run that is simulated for a panel
    """
    paper = None if entry is None else paper_of(entry.name)
    if entry is None or paper is None:
        return ()
    body = paragraph(f"{paper.citation.text}.") + paragraph(paper.answer)
    if entry.figures is not None:
        body += _figures(run, progress)
    return (Section("paper", "The paper", body + _items(paper)),)


def _figures(run: Run, progress: Progress | None) -> str:
    """The figures, and below them every number that the paper names, beside ours."""
    name = run.plant.system.name
    try:
        figure, numbers = paper_sheet(run, progress, columns=2)
    except KalabaError as error:
        return paragraph(f"The paper's figures could not be drawn: {error}", "bad")
    rows = [(n.panel, n.text, f"{n.ours:.4g}", f"{n.published:.4g}", printed(n.unit)) for n in numbers]
    columns = ("panel", "number of", "ours", "published", "unit")
    listed = rows_html(columns, rows, columns[2:4])
    return drawing(figure, f"{name}: figures of its paper, ours over its claims") + listed


def _items(paper: Paper) -> str:
    """Everything in the paper with its verdict, folded."""
    columns = ("where", "the paper", "published", "kalaba", "verdict")
    rows = [(i.where, i.says, i.published, i.gives_and_why, i.verdict.value) for i in paper.items]
    listed = wide(table("items", columns, rows))
    return folded(paper.counts_in_words, listed) + paragraph(
        f"Commands that show each item: kalaba papers {paper.key}", "soft"
    )
