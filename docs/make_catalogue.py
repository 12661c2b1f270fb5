"""Write the pages of the documentation that the catalogue gives: python docs/make_catalogue.py."""  # noqa: INP001

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from kalaba.model.options import options_table
from kalaba.robots.catalogue import ENTRIES
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.papers.paper import Paper, Verdict
from kalaba.robots.papers.shelf import PAPERS

HERE = Path(__file__).parent
MACHINES = """# Machines

The catalogue: `kb.load(name)` gives a machine, `kb.scenario(name)` what `kalaba run name` simulates. `kalaba show name`
lists its parts and numbers. This page is written from the catalogue by `docs/make_catalogue.py`.
"""
PAPERS_HEAD = """# Papers

The papers whose machines and methods kalaba makes work. Each has a page with everything that is in it: systems,
methods, equations, figures, tables, claims and conclusions, what kalaba gives, what was published, the verdict, and the
command that shows it. `kalaba papers Liao` prints the same.
Written by `docs/make_catalogue.py`.
"""
BEYOND = {  # the method of a paper on a robot that is not in it: page and robot
    "dong2022": ("how-to-mobile-arms.md", "three mobile arms on one load"),
    "sun": ("how-to-object-chain.md", "three arms on a hinge and a slide"),
    "liao2010": ("how-to-satellite.md", "a satellite with two flexible arms"),
    "dou2014": ("how-to-platform-speeds.md", "a 3-RPS robot with a driven middle leg"),
    "han2020": ("how-to-four-legs.md", "four legs, four motors, two freedoms"),
}
WHY = """\
Works, corrected: the printed form has a slip, which is among the [errata](errata.md); ours is what was meant. Each
item is a test in `tests/papers`, by its key. What is refuted or cannot be reproduced, and why:"""
CITED = "## Citations"
UNREACHED = (Verdict.REFUTED, Verdict.NOT_REPRODUCIBLE)
ERRATA = """# Errata of the papers

Misprints and slips in the sources that the catalogue follows, found by deriving their equations anew and comparing
numbers. The catalogue has what is correct; `kalaba show <machine>` prints the same list. This page is written from the
catalogue by `docs/make_catalogue.py`.
"""


def machines_page() -> str:
    """The catalogue as a page: name, summary, source, options."""
    return "\n".join((MACHINES, *(line for entry in ENTRIES.values() for line in _machine(entry)))).rstrip() + "\n"


def errata_page() -> str:
    """All errata, source by source; those that several machines share are told once."""
    sources: dict[str, list[Entry]] = {}
    for entry in ENTRIES.values():
        if entry.errata:
            sources.setdefault(entry.source, []).append(entry)
    return "\n".join((ERRATA, *(line for pair in sources.items() for line in _source(*pair)))).rstrip() + "\n"


def papers_page() -> str:
    """All papers, with how many items came to which verdict."""
    verdicts = list(Verdict)
    rows = [
        (
            f"[{paper.key}](paper-{paper.key}.md)",
            paper.topic,
            *(str(paper.counts()[verdict]) for verdict in verdicts),
            f"[{BEYOND[paper.key][1]}]({BEYOND[paper.key][0]})",
        )
        for paper in PAPERS
    ]
    total = [str(sum(paper.counts()[verdict] for paper in PAPERS)) for verdict in verdicts]
    headings = ("paper", "about", *(verdict.value for verdict in verdicts), "the method on another robot")
    unreached = [
        (f"[{paper.key}](paper-{paper.key}.md)", item.where, item.says, item.verdict.value, item.gives_and_why)
        for paper in PAPERS
        for item in paper.items
        if item.verdict in UNREACHED
    ]
    counted = (*_table(headings, [*rows, ("all", "", *total, "")]), "", WHY, "")
    reasons = _table(("paper", "where", "the paper", "verdict", "why"), unreached)
    cited = [line for paper in PAPERS for line in (f"- **{paper.key}**: {paper.citation.text}.",)]
    entries = "\n\n".join(paper.citation.bibtex for paper in PAPERS)
    return "\n".join((PAPERS_HEAD, *counted, *reasons, "", CITED, "", *cited, "", "```bibtex", entries, "```")) + "\n"


def paper_page(paper: Paper) -> str:
    """All items of a paper."""
    machines = ", ".join(f"[`{name}`](machines.md#{name})" for name in paper.machines)
    lines = [
        f"# {paper.citation.title}",
        "",
        f"{paper.citation.text}.",
        "",
        f"Machines: {machines}. The method on another robot: [{BEYOND[paper.key][1]}]({BEYOND[paper.key][0]}).",
        "",
        paper.answer,
        "",
    ]
    headings = ("where", "the paper", "published", "kalaba", "verdict", "command")
    rows = [
        (i.where, f"{i.kind.value}: {i.says}", i.published, i.gives_and_why, i.verdict.value, f"`{i.command}`")
        for i in paper.items
    ]
    lines += [*_table(headings, rows), "", "[Errata of the papers](errata.md). Written by `docs/make_catalogue.py`."]
    return "\n".join(lines) + "\n"


def _machine(entry: Entry) -> Iterable[str]:
    yield from (f"## {entry.name}", "", f"{_sentence(entry.summary)}", "", f"Source: {entry.source}.", "")
    if entry.choices:
        table = options_table(entry.choices)
        options = ((f"`{name}`", f"`{default}`", *words) for name, default, *words in table.rows)
        yield from (*_table(table.columns, options), "")
    if entry.errata:
        yield from (f"[{len(entry.errata)} errata](errata.md) of the source.", "")


def _source(source: str, entries: Sequence[Entry]) -> Iterable[str]:
    errata: dict[Erratum, list[str]] = {}
    for entry in entries:
        for erratum in entry.errata:
            errata.setdefault(erratum, []).append(entry.name)
    names = ", ".join(f"`{entry.name}`" for entry in entries)
    yield from (f"## {names}", "", f"{source}.", "")
    yield from (*_table(Erratum._fields, errata), "")


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(map(_cell, row))} |" for row in (headings, *rows)]
    return [lines[0], "|---" * len(headings) + "|", *lines[1:]]


def _cell(text: str) -> str:
    """Text in which nothing is markup but code."""
    return text if text.startswith(("`", "[")) else re.sub(r"([|*_<\[])", r"\\\1", text)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


if __name__ == "__main__":
    (HERE / "machines.md").write_text(machines_page(), encoding="utf-8")
    (HERE / "errata.md").write_text(errata_page(), encoding="utf-8")
    (HERE / "papers.md").write_text(papers_page(), encoding="utf-8")
    for paper in PAPERS:
        (HERE / f"paper-{paper.key}.md").write_text(paper_page(paper), encoding="utf-8")
