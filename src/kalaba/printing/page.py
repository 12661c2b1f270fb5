r"""Fields of a machine's equations as LaTeX environments: common parts first, then the entries, equal ones together.

Entries are written out as a person would, in the letters of a notation; what is too long for that is written in
common parts s_k, which are listed first. Put into numbers line by line, the print gives what the expression gives.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from kalaba.printing.latex_text import WIDE, LatexWriter, Piece, lines
from kalaba.printing.notation import Notation, symbol
from kalaba.printing.sheet import COMMON, Field, Sheet
from kalaba.printing.tree import Node

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations

LETTERS = {
    "mass_matrix": "M",
    "bias": "h",
    "coriolis": "C",
    "gravity": "G",
    "elastic": "k",
    "actuation_map": "B",
    "applied_force": "f",
    "constraint_matrix": "A",
    "constraint_rhs": "b",
    "kinetic_energy": "T",
    "potential_energy": "V",
    "force_map": "G",
    "platform_inertia": "H",
    "platform_bias": "h",
}
BLOCK = 24  # lines of one environment; TeX sets each twice, and long ones slowly
LAST = " \\\\\n"


def latex(equations: Equations, name: str, notation: Notation | None = None) -> str:
    """One align* environment with a field: its common parts, then every entry that is not zero."""
    sheet = Sheet(equations, notation or Notation())
    return Page(sheet).environment(sheet.field(name), LETTERS.get(name, symbol(name)))


class Page:
    """Writes the fields of a sheet."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet

    @cached_property
    def common(self) -> str:
        """The letter of common parts: one that no symbol of the machine has with a number."""
        used = [x.latex for x in self.sheet.letters]
        free = (
            c for c in ("s", "w", r"\sigma", r"\kappa") if not any(re.match(rf"{re.escape(c)}_\{{\d", x) for x in used)
        )
        return next(free, r"\mathcal{S}")

    def writer(self, fields: tuple[Field, ...]) -> LatexWriter:
        """What writes trees in the letters of the sheet and the common parts of some fields."""
        names = {x.name: x.latex for x in self.sheet.letters} | {x[0]: x[0] for x in self.sheet.abbreviations}
        parts = (name for field in fields for name, _ in field.common)
        return LatexWriter(names | {name: f"{self.common}_{{{name.removeprefix(COMMON)}}}" for name in parts})

    def rows(self, field: Field, letter: str, wide: float = WIDE) -> list[list[str]]:
        """The lines of every equation of a field."""
        writer = self.writer((field,))
        equations = [lines(writer.names[name], writer.pieces(node, 0), wide) for name, node in field.common]
        for labels, node in _alike(field, letter):
            others = [Piece(f"{label} = ", 0) for label in labels[1:]]
            equations.append(lines(labels[0], [*others, *writer.pieces(node, 0)], wide))
        return equations

    def environment(self, field: Field, letter: str) -> str:
        """The whole field in one align* environment."""
        return _align([line for row in self.rows(field, letter) for line in row])

    def environments(self, field: Field, letter: str) -> str:
        """The field in environments that TeX can set one by one."""
        blocks: list[list[str]] = [[]]
        for row in self.rows(field, letter):
            if blocks[-1] and len(blocks[-1]) + len(row) > BLOCK:
                blocks.append([])
            blocks[-1] += row
        return "\n".join(_align(block) for block in blocks if block)


def _align(rows: list[str]) -> str:
    return f"\\begin{{align*}}\n{LAST.join(rows)}\n\\end{{align*}}"


def _alike(field: Field, letter: str) -> list[tuple[list[str], Node]]:
    """Entries that are written alike, by their labels."""
    alike: dict[Node, list[str]] = {}
    for (i, j), node in field.entries:
        alike.setdefault(node, []).append(label(field, letter, i, j))
    return [(labels, node) for node, labels in alike.items()]


def label(field: Field, letter: str, i: int, j: int) -> str:
    """An entry with its numbers, counted from 1."""
    if field.shape == (1, 1):
        return letter
    return f"{letter}_{{{i + 1}}}" if field.shape[1] == 1 else f"{letter}_{{{i + 1},{j + 1}}}"
