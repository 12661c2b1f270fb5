"""Equations in a notebook: their form and sizes; of small machines M itself."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from kalaba.errors import KalabaError
from kalaba.printing.latex_text import width
from kalaba.printing.page import Page
from kalaba.printing.sheet import Sheet
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations

FEW = 3  # velocities; up to so many M is written out
WIDEST = 110.0  # letters in a row of M
SHOWN = 400  # operations of an M that is written out


def form(equations: Equations) -> str:
    """The equations of motion in matrices."""
    rows, motors = len(equations.machine.rows), len(equations.machine.actuators)
    left = r"M(q)\,\dot{v} + h(q, v)"
    drive = r"B(q)\,u + f" if motors else "f"
    return rf"{left} = {drive} + A^{{\mathsf{{T}}}}\lambda,\qquad A\,\dot{{v}} = b" if rows else f"{left} = {drive}"


def sizes(equations: Equations) -> dict[str, tuple[int, int]]:
    """Rows and columns of the matrices, without deriving them."""
    machine = equations.machine
    n, m = len(machine.velocities), len(machine.rows)
    shapes = {"M": (n, n), "h": (n, 1), "B": (n, len(machine.actuators)), "A": (m, n), "b": (m, 1)}
    return {name: size for name, size in shapes.items() if all(size)}


def equations_latex(equations: Equations) -> str:
    """The form with sizes, and M where it is small."""
    listed = r",\quad ".join(rf"{name}: {rows}\times {columns}" for name, (rows, columns) in sizes(equations).items())
    text = rf"$$\begin{{gathered}} {form(equations)} \\ {listed} \end{{gathered}}$$"
    return text + _small(equations)


def _small(equations: Equations) -> str:
    """M as a matrix, if it is small and can be derived."""
    n = len(equations.machine.velocities)
    if not 0 < n <= FEW:
        return ""
    try:
        if equations.operations("mass_matrix") > SHOWN:
            return ""
        sheet = Sheet(equations)
        field = sheet.field("mass_matrix")
    except KalabaError:
        return ""
    if field.common:
        return ""
    writer = Page(sheet).writer((field,))
    entries = {place: writer.text(node) for place, node in field.entries}
    if max(sum(width(entries.get((i, j), "0")) for j in range(n)) for i in range(n)) > WIDEST:
        return ""
    rows = r" \\ ".join(" & ".join(entries.get((i, j), "0") for j in range(n)) for i in range(n))
    return rf"$$M = \begin{{pmatrix}} {rows} \end{{pmatrix}}$$"


def equations_html(equations: Equations) -> str:
    """The same as a table, for notebooks that cannot set mathematics."""
    machine = equations.machine
    cells = "".join(
        f"<tr><td>{name}</td><td>{rows} × {columns}</td><td>{MEANING[name]}</td></tr>"
        for name, (rows, columns) in sizes(equations).items()
    )
    rows = "A v̇ = b, " if machine.rows else ""
    head = f"<b>Equations of {escape(machine.name)}</b> by {escape(type(equations.method).__name__)}"
    law = f"M v̇ + h = {'B u + ' if machine.actuators else ''}f{' + Aᵀλ' if machine.rows else ''}, {rows}"
    counts = ("coordinate", machine.coordinates), ("velocity", machine.velocities), ("row", machine.rows)
    count = ", ".join(counted(len(what), noun) for noun, what in counts)
    return f"<div>{head}<br>{law}{count}<table>{cells}</table></div>"


MEANING = {
    "M": "mass matrix",
    "h": "Coriolis, centrifugal, gravity, elastic and damping terms",
    "B": "map of the motors",
    "A": "rows of the constraints",
    "b": "right-hand side of the rows",
}
