"""A page of HTML that stands alone: text escaped, pictures inside, headings that can be linked to."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from kalaba.model.listing import Table, html, table
from kalaba.view.sheet import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_OPEN = 30  # rows of a table that is not folded
CSS = """
:root { color-scheme: light; --ink: #1c1f23; --soft: #5b6470; --line: #d9dde2; --tint: #f5f7f9; --accent: #0072b2; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 2.5rem 1.5rem 4rem; color: var(--ink); background: #fff;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .7rem; padding-top: .6rem; border-top: 2px solid var(--ink); }
h3 { font-size: 1rem; margin: 1.5rem 0 .4rem; }
p { margin: .5rem 0; max-width: 46rem; }
.lead { font-size: 1.1rem; color: var(--soft); }
.soft { color: var(--soft); font-size: .88rem; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: 1.2rem 0 0; font-size: .9rem; }
nav a { color: var(--accent); text-decoration: none; }
figure { margin: 1rem 0 1.4rem; }
figure img { max-width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .85rem; margin-top: .3rem; }
table { border-collapse: collapse; font-size: .86rem; margin: .6rem 0 1.2rem; max-width: 100%; }
th { text-align: left; font-weight: 600; border-bottom: 1.5px solid var(--ink); padding: .3rem .9rem .3rem 0; }
td { border-bottom: 1px solid var(--line); padding: .26rem .9rem .26rem 0; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.wide { overflow-x: auto; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem; margin: 1.3rem 0; }
.facts div { background: var(--tint); border-radius: 6px; padding: .7rem .9rem; }
.facts strong { display: block; font-size: 1.25rem; font-variant-numeric: tabular-nums; }
.facts span { color: var(--soft); font-size: .82rem; }
details { margin: .6rem 0 1.2rem; }
summary { cursor: pointer; color: var(--accent); font-size: .9rem; }
.bad { color: #a33; font-weight: 600; }
@media print { body { max-width: none; padding: 0; font-size: 10.5pt; } nav, summary { display: none; }
  h2 { break-after: avoid; } figure, tr { break-inside: avoid; } }
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page with a heading; `name` is what links to it."""

    name: str
    title: str
    body: str


def page(title: str, opening: str, sections: Sequence[Section]) -> str:
    """A whole document."""
    links = "".join(f'<a href="#{part.name}">{escape(part.title)}</a>' for part in sections)
    parts = "".join(
        f'<section id="{part.name}">\n<h2>{escape(part.title)}</h2>\n{part.body}\n</section>\n' for part in sections
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n"
        f"<header>\n{opening}\n<nav>{links}</nav>\n</header>\n<main>\n{parts}</main>\n</body>\n</html>\n"
    )


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    opened = f'<p class="{kind}">' if kind else "<p>"
    return f"{opened}{escape(text)}</p>"


def rows_html(headings: Sequence[str], rows: Iterable[Iterable[object]], numeric: Sequence[str] = ()) -> str:
    """A table without a title; columns in `numeric` stand to the right. Nothing where there are no rows."""
    return wide(table("", headings, rows, numeric))


def wide(listed: Table) -> str:
    """A table that scrolls sideways where the page is narrow."""
    return f'<div class="wide">{html(listed)}</div>' if listed.rows else ""


def titled(listed: Table) -> str:
    """A table under its title, folded where it is long."""
    if not listed.rows:
        return ""
    body, count = wide(listed), len(listed.rows)
    shown = folded(f"{count} {listed.title}", body) if count > MOST_OPEN else body
    return f"<h3>{escape(listed.title.capitalize())}</h3>{shown}"


def folded(title: str, body: str) -> str:
    """Something long that is opened on request."""
    return f"<details><summary>{escape(title)}</summary>\n{body}\n</details>" if body else ""


def facts(entries: Sequence[tuple[str, str]]) -> str:
    """Numbers with what they are, beside each other."""
    cells = "".join(f"<div><strong>{escape(v)}</strong><span>{escape(what)}</span></div>" for v, what in entries)
    return f'<div class="facts">{cells}</div>'


def drawing(figure: Figure, alt: str) -> str:
    """A plot, as SVG inside the page."""
    from matplotlib import rc_context

    stream = BytesIO()
    outlines: Any = {**STYLE, "svg.fonttype": "path", "svg.hashsalt": "kalaba"}  # letters as shapes: no font is needed
    with rc_context(outlines):
        figure.savefig(stream, format="svg", dpi=110, metadata={"Date": None, "Creator": None})
    return embedded(stream.getvalue(), "image/svg+xml", alt)


def embedded(data: bytes, kind: str, alt: str, caption: str = "") -> str:
    """A picture in the page itself."""
    said = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    source = base64.b64encode(data).decode("ascii")
    return f'<figure><img src="data:{kind};base64,{source}" alt="{escape(alt)}">{said}</figure>'
