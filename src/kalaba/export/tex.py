r"""A machine's equations as a LaTeX document: letters with their numbers, then every matrix entry by entry.

The document stands alone and needs amsmath, geometry and longtable only. Fields are printed in the letters of a
notation; where Christoffel's C does not exist (quaternions) or is too long to read, h is printed whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.boundary import check_arguments
from kalaba.derive.dynamics import Method
from kalaba.derive.equations import equations_of
from kalaba.derive.methods import METHODS
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.export.tex_text import tex_text, tex_unit
from kalaba.printing.notation import Letter, Notation
from kalaba.printing.page import LETTERS, Page
from kalaba.printing.polynomial import Kind
from kalaba.printing.sheet import Field, Sheet
from kalaba.printing.tree import names_in
from kalaba.results.places import check_place, write_text

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.model.machine import Machine
    from kalaba.model.system import System

COMPARED = ("mass_matrix", "bias", "constraint_matrix", "constraint_rhs")
READ = 6000  # operations of C; a longer one is not printed, h is
TITLES = {
    "mass_matrix": "Mass matrix",
    "coriolis": "Coriolis and centrifugal matrix",
    "gravity": "Gravity",
    "elastic": "Springs, dampers and bending",
    "bias": "Coriolis, centrifugal, gravity, elastic and damping forces",
    "actuation_map": "Map of the motors",
    "applied_force": "Applied forces",
    "constraint_matrix": "Rows of the constraints",
    "constraint_rhs": "Right-hand side of the rows",
    "force_map": "Map of motors and loads",
    "platform_inertia": "Inertia in the speeds of the platform",
    "platform_bias": "Coriolis, centrifugal, gravity, elastic and damping forces along the speeds",
}
PREAMBLE = r"""\documentclass[10pt,a4paper,fleqn]{article}
\usepackage{amsmath}
\usepackage[margin=18mm]{geometry}
\usepackage{longtable}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\LTleft}{0pt}
\setlength{\mathindent}{4mm}
\sloppy
"""
QUATERNIONS = r"""

A unit quaternion $e = (e_w, e_x, e_y, e_z)$ turns by the angular velocity $\omega$ in the axes of its body:
\[ \dot{e} = \tfrac{1}{2} \begin{pmatrix} -e_x & -e_y & -e_z \\ e_w & -e_z & e_y \\ e_z & e_w & -e_x \\
-e_y & e_x & e_w \end{pmatrix} \omega . \]
Entries are written for $e$ of length one. All other
velocities are the rates of their coordinates. With quaternions there is no matrix $C$ of Christoffel symbols;
$h$ is given whole, and $G$ is the part of it that gravity has."""


@dataclass(frozen=True)
class Words:
    """What is said of a machine beside its equations.

    Arguments:
        title: of the document
        summary: one line
        source: where the machine is from
        errata: misprints of the source: where, as printed, correct
        notation: letters for coordinates and parameters
    """

    title: str
    summary: str = ""
    source: str = ""
    errata: tuple[tuple[str, str, str], ...] = ()  # where, printed, correct
    notation: Notation = field(default_factory=Notation)


def export_tex(system: System, path: str | Path, words: Words | None = None, method: Method | None = None) -> Path:
    """Write the equations of any machine as a LaTeX document; gives the path.

    Arguments:
        system: the machine
        path: where, .tex
        words: what is said of it beside the equations: title, summary, source; None: its name
        method: how the equations are derived: kb.NewtonEuler(), kb.Lagrange() or kb.Kane(); None: by Newton and Euler
    """
    check_arguments(export_tex, locals())
    place = check_place(path, (".tex",))
    return write_text(place, document(system, words or Words(system.name), method or NewtonEuler()))


def document(system: System, words: Words, method: Method) -> str:
    """The whole document as text."""
    sheet = Sheet(equations_of(system.machine, method), words.notation)
    fields = printed_fields(sheet)
    page = Page(sheet)
    parts = [PREAMBLE + rf"\title{{Equations of motion: {tex_text(words.title)}}}", r"\author{}\date{}"]
    parts += [r"\begin{document}", r"\maketitle", _introduction(words), _form(sheet, fields)]
    parts += [_sizes(system.machine, fields), letters_section(sheet, fields)]
    for name, one in fields.items():
        parts.append(rf"\section*{{{TITLES[name]} ${LETTERS[name]}$}}")
        parts.append(_before(sheet, name, one) + page.environments(one, LETTERS[name]))
    parts += [_constraint_force(sheet, fields), _errata(words.errata), r"\end{document}"]
    return "\n\n".join(part for part in parts if part) + "\n"


def printed_fields(sheet: Sheet) -> dict[str, Field]:
    """The fields that are worth printing, common parts numbered through."""
    return numbered_fields(sheet, chosen_fields(sheet))


def numbered_fields(sheet: Sheet, chosen: dict[str, ca.SX]) -> dict[str, Field]:
    """Fields in print, without those that are zero, common parts numbered through."""
    fields: dict[str, Field] = {}
    first = 1
    for name, expression in chosen.items():
        one = sheet.printed(name, expression, first)
        first += len(one.common)
        if one.entries or name == "mass_matrix":
            fields[name] = one
    return fields


def chosen_fields(sheet: Sheet) -> dict[str, ca.SX]:
    """M; then C, G and the elastic forces, or h whole; then motors, forces and rows."""
    equations = sheet.equations
    split = not equations.machine.quaternions and equations.operations("coriolis") <= READ
    names = ["mass_matrix", *(("coriolis", "gravity", "elastic") if split else ("bias", "gravity"))]
    names += ["actuation_map", "applied_force"]
    names += ["constraint_matrix", "constraint_rhs"] if equations.machine.rows else []
    return {name: getattr(equations, name) for name in names}


def _introduction(words: Words) -> str:
    summary = words.summary[:1].upper() + words.summary[1:]
    said = [tex_text(summary).rstrip(".") + "." if summary else ""]
    said += [f"Source: {tex_text(words.source)}." if words.source else ""]
    return "\n\n".join(line for line in said if line)


def _form(sheet: Sheet, fields: dict[str, Field]) -> str:
    """The equations of motion in matrices."""
    machine = sheet.equations.machine
    load = "".join(f" + {letter}" for name, letter in (("gravity", "G"), ("elastic", "k")) if name in fields)
    left = rf"M\,\dot{{v}} + C\,v{load}" if "bias" not in fields else r"M\,\dot{v} + h"
    left = left if "coriolis" in fields or "bias" in fields else rf"M\,\dot{{v}}{load}"
    right = [r"B\,u" if "actuation_map" in fields else "", "f" if "applied_force" in fields else ""]
    right += ["Q^{c}" if machine.rows else ""]
    law = f"{left} = {' + '.join(term for term in right if term) or '0'}"
    rows = r" ,\qquad A\,\dot{v} = b" if machine.rows else ""
    rate = r"\dot{q} = N\,v" if machine.quaternions else r"v = \dot{q}"
    said = rf"\[ {law}{rows} ,\qquad {rate} \]"
    if machine.quaternions:
        said += QUATERNIONS
    elif "bias" in fields:
        count = sheet.equations.operations("coriolis")
        said += f"\n\nThe matrix $C$ takes {count} operations and is not printed; $h = C\\,v + G + k$ is given whole."
    elif "coriolis" in fields:
        said += "\n\n$C$ is made of Christoffel symbols, so that $\\dot{M} - 2C$ is skew."
    return said


def _sizes(machine: Machine, fields: dict[str, Field]) -> str:
    """Sizes and operation counts, of the print and of every derivation."""
    rows = [
        (
            f"${LETTERS[name]}$",
            rf"${one.shape[0]} \times {one.shape[1]}$",
            len(one.entries),
            len(one.common),
            one.operations,
        )
        for name, one in fields.items()
    ]
    text = r"\section*{Sizes}" + "\n" + table(("", "size", "entries", "common parts", "operations"), rows, "llrrr")
    counts = operation_counts(machine)
    compared = [(method, *(operations[name] for name in COMPARED)) for method, operations in counts.items()]
    heads = ("derivation", *(f"${LETTERS[name]}$" for name in COMPARED))
    return f"{text}\n\nOperations by derivation, common parts worked out once:\n\n{table(heads, compared, 'lrrrr')}"


def operation_counts(machine: Machine) -> dict[str, dict[str, int]]:
    """Operations of M, h, A and b by each method."""
    counts = {}
    for name, method in METHODS.items():
        equations = equations_of(machine, method)
        counts[name] = {field: equations.operations(field) for field in COMPARED}
    return counts


def letters_section(sheet: Sheet, fields: dict[str, Field]) -> str:
    """Tables of coordinates, inputs and parameters, then relations and abbreviations."""
    text = r"\section*{Letters}" + "\n" + _moving(sheet)
    inputs = [x for x in sheet.letters if x.kind == Kind.INPUT]
    rows: list[tuple[object, ...]] = [(i, f"${x.latex}$", tex_text(x.name)) for i, x in enumerate(inputs, 1)]
    text += "\n\n" + table(("", "$u$", "motor or force"), rows, "rll") if rows else ""
    read = _read(sheet, fields)
    parameters = [x for x in sheet.letters if x.value is not None and x.name not in sheet.relations]
    rows = [_parameter(x) for x in parameters if x.name in read]
    text += "\n\n" + table(("letter", "value", "unit", "parameter", "meaning"), rows, "lrll" + WORDS) if rows else ""
    writer = Page(sheet).writer(())
    rows = [
        (tex_text(path), f"${writer.text(sheet.printed(path, expression).entries[0][1])}$")
        for path, expression in sheet.relations.items()
    ]
    text += "\n\n" + table(("parameter", "by others"), rows, "ll") if rows else ""
    short = [f"${latex} = {writer.text(node)}$" for latex, node, _ in sheet.abbreviations]
    text += "\n\nAbbreviations: " + ", ".join(short) + "." if short else ""
    zero = sum(p.value == 0 for p in sheet.equations.machine.parameters)
    text += f"\n\n{zero} parameters are zero and left out." if zero else ""
    unread = [tex_text(x.name) for x in parameters if x.name not in read]
    return text + ("\n\nThese act on nothing here: " + ", ".join(unread) + "." if unread else "")


def _moving(sheet: Sheet) -> str:
    """Coordinates and velocities, beside each other where these are their rates."""
    machine = sheet.equations.machine
    n_q, n_v = len(machine.coordinates), len(machine.velocities)
    q, v = sheet.letters[:n_q], sheet.letters[n_q : n_q + n_v]
    rows: list[tuple[object, ...]]
    if not machine.quaternions:
        rows = [
            (i, f"${a.latex}$", f"${b.latex}$", tex_text(a.name), tex_unit(a.unit))
            for i, (a, b) in enumerate(zip(q, v, strict=True), 1)
        ]
        return table(("", "$q$", "$v$", "coordinate", "unit"), rows, "rllll")
    tables = []
    for letter, word, some in (("q", "coordinate", q), ("v", "velocity", v)):
        rows = [(i, f"${x.latex}$", tex_text(x.name), tex_unit(x.unit)) for i, x in enumerate(some, 1)]
        tables.append(table(("", f"${letter}$", word, "unit"), rows, "rlll"))
    return "\n\n".join(tables)


def _parameter(x: Letter) -> tuple[str, ...]:
    path = ("minus " if x.sign < 0 else "") + x.name
    return f"${x.latex}$", repr(x.value), tex_unit(x.unit), tex_text(path), tex_text(x.description)


def _read(sheet: Sheet, fields: dict[str, Field]) -> set[str]:
    """Names of all symbols that the print reads."""
    trees = [node for one in fields.values() for _, node in (*one.common, *one.entries)]
    trees += [node for _, node, _ in sheet.abbreviations]
    return {name for tree in trees for name in names_in(tree)}


WORDS = r"p{0.3\textwidth}"


def _before(sheet: Sheet, name: str, one: Field) -> str:
    """What is said before a field: how many entries, and the names of rows."""
    whole = one.shape[0] * one.shape[1]
    said = f"{len(one.entries)} of {whole} entries are not zero."
    if one.common:
        said += f" Entries too long to read at once are written in {len(one.common)} common parts, listed first."
    if name == "constraint_matrix":
        rows = sheet.equations.machine.rows
        said += " Rows: " + ", ".join(f"{i} {tex_text(row)}" for i, row in enumerate(rows, 1)) + "."
    return said + "\n"


def _constraint_force(sheet: Sheet, fields: dict[str, Field]) -> str:
    """The force of the constraints by Udwadia and Kalaba."""
    if not sheet.equations.machine.rows:
        return ""
    free = [r"B\,u" if "actuation_map" in fields else "", "f" if "applied_force" in fields else ""]
    against = ["h"] if "bias" in fields else [r"C\,v" if "coriolis" in fields else ""]
    against += [] if "bias" in fields else ["G" if "gravity" in fields else "", "k" if "elastic" in fields else ""]
    Q = " + ".join(term for term in free if term) + "".join(f" - {term}" for term in against if term) or "0"
    return (
        r"\section*{Force of the constraints $Q^{c}$}" + "\n"
        r"By Udwadia and Kalaba (1992), with $Q$ what acts on the free machine and ${}^{+}$ the Moore--Penrose inverse:"
        "\n" + rf"\[ Q = {Q} , \qquad Q^{{c}} = M^{{1/2}} \bigl(A M^{{-1/2}}\bigr)^{{+}} \bigl(b - A M^{{-1}} Q\bigr)"
        r" = A^{\mathsf{T}} \bigl(A M^{-1} A^{\mathsf{T}}\bigr)^{+} \bigl(b - A M^{-1} Q\bigr) . \]"
        "\n" + r"$Q^{c}$ is unique where $M$ is regular, however many rows depend on others."
    )


def _errata(errata: Sequence[tuple[str, str, str]]) -> str:
    if not errata:
        return ""
    rows = [tuple(tex_text(cell) for cell in erratum) for erratum in errata]
    wide = r"p{0.18\textwidth}p{0.36\textwidth}p{0.36\textwidth}"
    return r"\section*{Errata of the source}" + "\n" + table(("where", "printed", "correct"), rows, wide)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]], columns: str) -> str:
    """A table that may run over pages."""
    lines = [" & ".join(str(cell) for cell in row) + r" \\" for row in rows]
    head = " & ".join(heads) + r" \\ \hline \endhead"
    return "\n".join([rf"\begin{{longtable}}{{{columns}}}", head, *lines, r"\end{longtable}"])
