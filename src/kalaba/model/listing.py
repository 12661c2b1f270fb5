"""Models in a notebook: a System as tables of its parts, every word escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kalaba.model.machine import Machine
    from kalaba.model.system import System

MOST = 40  # rows of a table


def system_html(system: System) -> str:
    """Bodies, connections, motors, springs and parameters."""
    machine, head = system.machine, f"<b>System {escape(system.name)}</b>"
    count = f"{len(machine.coordinates)} coordinates, {len(machine.velocities)} velocities, {len(machine.rows)} rows"
    tables = "".join(html_table(title, heads, rows) for title, heads, rows in _tables(machine))
    return f"<div>{head}: {count}{tables}</div>"


def _tables(machine: Machine) -> list[tuple[str, tuple[str, ...], list[tuple[object, ...]]]]:
    bodies: list[tuple[object, ...]] = [
        (b.name, b.parent, type(b.joint).__name__, ", ".join(d.name.rpartition(".")[2] for d in b.displacements))
        for b in machine.bodies
    ]
    closures: list[tuple[object, ...]] = [
        (c.name, _joins(c), ", ".join(row.removeprefix(f"{c.name}.") for row in c.rows)) for c in machine.closures
    ]
    motors: list[tuple[object, ...]] = [(a.name, a.displacement.text, f"{a.limit:g}") for a in machine.actuators]
    springs: list[tuple[object, ...]] = [(s.name, s.displacement.text) for s in machine.springs]
    numbers: list[tuple[object, ...]] = [
        (p.name, f"{p.value:.6g}", p.unit, p.description) for p in machine.parameters if p.value != 0
    ]
    return [
        ("bodies", ("name", "on", "joint", "displacements"), bodies),
        ("connections and constraints", ("name", "joins", "rows"), closures),
        ("motors", ("name", "drives", "limit"), motors),
        ("springs", ("name", "along"), springs),
        ("parameters", ("path", "value", "unit", "meaning"), numbers),
    ]


def _joins(closure: object) -> str:
    joint = getattr(closure, "joint", None)
    if joint is None:
        return "expressions"
    return f"{closure.child} to {closure.parent}, {type(joint).__name__}"  # type: ignore[attr-defined]


def html_table(title: str, heads: Sequence[str], rows: Sequence[Iterable[object]]) -> str:
    """A table under a title that folds; nothing without rows, and a word on those left out where there are many."""
    if not rows:
        return ""
    head = "".join(f"<th style='text-align:left'>{escape(word)}</th>" for word in heads)
    shown = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows[:MOST]
    )
    more = f"<tr><td>and {len(rows) - MOST} more</td></tr>" if len(rows) > MOST else ""
    folded = f"<summary>{escape(title)} ({len(rows)})</summary>"
    return f"<details{' open' if len(rows) <= 8 else ''}>{folded}<table><tr>{head}</tr>{shown}{more}</table></details>"
