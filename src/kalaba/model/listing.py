"""A machine as tables: bodies, closures, actuators, springs, forces, outputs and parameters, as plain text.

The command line, notebooks, reports, comments in C and the documentation print these tables: the facts and the words
are here, the layout is theirs. Units are as models write them ("N*m"); HTML shows them as people do ("N·m").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from kalaba.model.machine import MachineConnection
from kalaba.model.text.expressions import Expression
from kalaba.model.units import actuator_units, row_units
from kalaba.units import counted, printed

if TYPE_CHECKING:
    from kalaba.model.acting import Sampled
    from kalaba.model.machine import Machine, MachineBody, MachineConstraint, TracedRow
    from kalaba.model.solids import AnySolid
    from kalaba.model.system import System

Row = tuple[str, ...]
UNLIMITED = "none"  # limit of an actuator that has none
UNIT_COLUMNS = {"unit", "units"}
MOST = 40  # rows of a table in a notebook
MOST_OPEN = 8  # rows of a table in a notebook that is not folded


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table of texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    numeric: tuple[str, ...] = ()  # columns that hold numbers

    def column(self, name: str) -> tuple[str, ...]:
        """The entries of one column."""
        index = self.columns.index(name)
        return tuple(row[index] for row in self.rows)

    @property
    def records(self) -> list[dict[str, str]]:
        """One dictionary per row, by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


def table(title: str, columns: Sequence[str], rows: Iterable[Iterable[object]], numeric: Sequence[str] = ()) -> Table:
    """Make a table of whatever has a text."""
    texts = tuple(tuple(str(cell) for cell in row) for row in rows)
    return Table(title, tuple(columns), texts, tuple(numeric))


def parts(machine: Machine) -> tuple[Table, ...]:
    """Everything that a machine is made of, but its parameters."""
    acting = actuators(machine), springs(machine), rotors(machine), forces(machine)
    return bodies(machine), closures(machine), *acting, outputs(machine)


LETTERS = {"x", "y", "z"}


def bodies(machine: Machine) -> Table:
    """Bodies with the frame that each sits on, its joint, its displacements and its solid."""
    rows = ((b.name, b.parent, b.joint.words, _moves(b), solid_words(b.solid)) for b in machine.bodies)
    return table("bodies", ("name", "on", "joint", "displacements", "solid"), rows)


def closures(machine: Machine) -> Table:
    """Connections and constraints with their rows and the rows' units."""
    units, rows, first = row_units(machine), [], 0
    for closure in machine.closures:
        names = ", ".join(row.removeprefix(f"{closure.name}.") for row in closure.rows)
        own_units = units[first : first + len(closure.rows)]
        rows.append((closure.name, *_joins(closure), names, _together(own_units)))
        first += len(closure.rows)
    return table("connections and constraints", ("name", "joins", "joint", "rows", "units"), rows)


def actuators(machine: Machine) -> Table:
    """Motors and thrusters with what they drive and what each gives at most."""
    pairs = zip(machine.actuators, actuator_units(machine), strict=True)
    rows = (
        (a.name, a.displacement.text, f"{a.limit:g}" if isfinite(a.limit) else UNLIMITED, unit) for a, unit in pairs
    )
    return table("actuators", ("name", "drives", "limit", "unit"), rows, ("limit",))


def springs(machine: Machine) -> Table:
    """Springs and dampers with the displacement that they act along."""
    return table("springs", ("name", "along"), ((s.name, s.displacement.text) for s in machine.springs))


def rotors(machine: Machine) -> Table:
    """Rotors with the displacement that their inertia is along."""
    return table("rotors", ("name", "along"), ((r.name, r.displacement.text) for r in machine.rotors))


def forces(machine: Machine) -> Table:
    """Forces and torques on frames, in world axes."""
    rows = ((f.name, f.frame, _half(f.force), _half(f.torque)) for f in machine.forces)
    return table("forces", ("name", "on", "force", "torque"), rows)


def outputs(machine: Machine) -> Table:
    """Named expressions that runs record."""
    return table("outputs", ("name", "value", "unit"), ((o.name, o.value.text, o.unit) for o in machine.outputs))


def parameters(machine: Machine, *, zeros: bool = False) -> Table:
    """Numbers of the machine; those that are zero only on request."""
    shown = [p for p in machine.parameters if zeros or p.value != 0]
    rows = ((p.name, f"{p.value:.10g}", p.unit, p.description) for p in shown)
    return table("parameters", ("path", "value", "unit", "meaning"), rows, ("value",))


def size_words(machine: Machine) -> str:
    """How many coordinates, velocities, rows and motors a machine has."""
    counts = ("coordinate", machine.coordinates), ("velocity", machine.velocities), ("row", machine.rows)
    return ", ".join(counted(len(what), noun) for noun, what in (*counts, ("motor", machine.actuators)))


def solid_words(solid: AnySolid) -> str:
    """The kind of a solid; its numbers are parameters."""
    return type(solid).__name__


def _moves(body: MachineBody) -> str:
    """Displacements by their short names, with the expression of those that are no coordinate of their own.

    Where a travel called x goes along another axis of the seat, that is said.
    """
    words, axes = [], [axis.words for axis in body.joint.travel_axes]
    for index, displacement in enumerate(body.displacements):
        text, label = displacement.expression.text, displacement.name.rpartition(".")[2]
        is_another = label in LETTERS and index < len(axes) and axes[index] != label
        along = f" along {axes[index]}" if is_another else ""
        words.append(f"{label}{along}" if text == displacement.name else f"{label}{along} = {text}")
    return ", ".join(words)


def _joins(closure: MachineConnection | MachineConstraint) -> tuple[str, str]:
    """What a closure joins, and by which joint."""
    if isinstance(closure, MachineConnection):
        return f"{closure.child} to {closure.parent}", closure.joint.words
    return "expressions", ""


def _together(units: Sequence[str]) -> str:
    """One unit where all rows have the same, else one per row."""
    return units[0] if len(set(units)) == 1 else ", ".join(unit or "-" for unit in units)


def _half(components: tuple[Expression | TracedRow, ...] | Sampled) -> str:
    """The force or the torque of a wrench: three expressions, or a function."""
    if not isinstance(components, tuple):
        return f"a function, {components.rate:g} times per second"
    texts = [entry.text if isinstance(entry, Expression) else "a function" for entry in components]
    return "" if all(entry == "0" for entry in texts) else f"({', '.join(texts)})"


def html(listed: Table) -> str:
    """A table in HTML, every word escaped; nothing without rows."""
    if not listed.rows:
        return ""
    for_people = [printed if name in UNIT_COLUMNS else str for name in listed.columns]
    numeric = [name in listed.numeric for name in listed.columns]

    def line(tag: str, texts: Iterable[str]) -> str:
        cells = (
            f'<{tag} class="number" style="text-align:right">{escape(text)}</{tag}>'
            if is_number
            else f'<{tag} style="text-align:left">{escape(text)}</{tag}>'
            for text, is_number in zip(texts, numeric, strict=True)
        )
        return f"<tr>{''.join(cells)}</tr>\n"

    body = "".join(
        line("td", (shown(text) for shown, text in zip(for_people, row, strict=True))) for row in listed.rows
    )
    return f"<table>\n<thead>{line('th', listed.columns)}</thead>\n<tbody>\n{body}</tbody>\n</table>"


def folded_html(listed: Table) -> str:
    """A table under a title that folds, for notebooks; a word on the rows left out where there are many."""
    if not listed.rows:
        return ""
    count = len(listed.rows)
    more = f"<p>and {count - MOST} more</p>" if count > MOST else ""
    head = f"<details{' open' if count <= MOST_OPEN else ''}><summary>{escape(listed.title)} ({count})</summary>"
    return f"{head}{html(Table(listed.title, listed.columns, listed.rows[:MOST], listed.numeric))}{more}</details>"


def system_html(system: System) -> str:
    """A System in a notebook: its sizes and its tables."""
    tables = "".join(folded_html(listed) for listed in (*parts(system.machine), parameters(system.machine)))
    return f"<div><b>System {escape(system.name)}</b>: {size_words(system.machine)}{tables}</div>"
