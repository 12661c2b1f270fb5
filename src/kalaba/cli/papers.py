"""`kalaba papers`: the papers behind the catalogue, and what is true of everything in one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import JsonFlag
from kalaba.cli.terminal import console, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from kalaba.model.listing import Table
    from kalaba.robots.papers.paper import Item, Paper

INDENT = 4  # spaces before what is said of an item


def papers(
    words: Annotated[
        list[str] | None, typer.Argument(help="An author, a word of the title, a DOI or a machine; none: all papers.")
    ] = None,
    *,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print BibTeX entries.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """List the papers behind the catalogue, or all that is in one: items, published numbers, ours, verdicts, commands.

    Examples:
        kalaba papers
        kalaba papers Dong
        kalaba papers 10.21656/1000-0887.420223 --bibtex
    """
    from kalaba.robots.papers.shelf import find_papers

    found = find_papers(" ".join(words or ()))
    if bibtex:
        typer.echo("\n\n".join(paper.citation.bibtex for paper in found))
    elif as_json:
        print_json({paper.key: record(paper) for paper in found})
    elif len(found) == 1:
        _show(found[0])
    else:
        for paper in found:
            _list(paper)


def record(paper: Paper) -> dict[str, object]:
    """A paper for other programs."""
    return {
        "citation": paper.citation.text,
        "machines": list(paper.machines),
        "answer": paper.answer,
        "items": items_table(paper).records,
    }


def items_table(paper: Paper) -> Table:
    """Everything in a paper, a row per item."""
    from kalaba.model.listing import table

    columns = ("where", "what", "published", "kalaba", "verdict", "command")
    rows = (
        (item.where, item.says, item.published, item.gives_and_why, item.verdict.value, item.command)
        for item in paper.items
    )
    return table("items", columns, rows)


def _list(paper: Paper) -> None:
    out = console()
    out.print(f"[bold]{paper.key}[/bold]: {paper.topic}")
    out.print(f"  {paper.citation.text}", markup=False)
    out.print(f"  machines: {', '.join(paper.machines)}; {paper.counts_in_words}", markup=False)


def _show(paper: Paper) -> None:
    out = console()
    out.print(f"[bold]{paper.key}[/bold]: {paper.topic}")
    out.print(paper.citation.text, markup=False)
    out.print(f"machines: {', '.join(paper.machines)}", markup=False)
    out.print(paper.answer, markup=False)
    for item in paper.items:
        _show_item(out, item)
    out.print(f"\n{paper.counts_in_words}", markup=False)


def _show_item(out: Console, item: Item) -> None:
    """A block of lines that fit any terminal; the command is one line, to be copied."""
    from rich.padding import Padding
    from rich.text import Text

    out.print()
    out.print(Text.assemble((item.where, "bold"), f" ({item.kind.value}): {item.verdict.value}"))
    said = {"paper": item.says, "published": item.published, "kalaba": item.gives_and_why}
    for word, text in said.items():
        if text:
            out.print(Padding(Text(f"{word}: {text}"), (0, 0, 0, INDENT), expand=False))
    prompt = "$" if item.command.startswith("kalaba ") else ">>>"
    out.print(f"{' ' * INDENT}{prompt} {item.command}", markup=False, soft_wrap=True)
