r"""Equations in print: one field of a machine's equations as LaTeX, entry by entry.

Entries are written out as a person would, in the letters of a notation; what is too long for that is written in
common parts s_k, which are listed first. Put into numbers line by line, the print gives what the expression gives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.printing.notation import Notation, symbol
from kalaba.printing.page import LETTERS, Page
from kalaba.printing.sheet import Sheet

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations

__all__ = ["latex", "symbol"]


def latex(equations: Equations, name: str, notation: Notation | None = None) -> str:
    """One align* environment with a field: its common parts, then every entry that is not zero."""
    sheet = Sheet(equations, notation or Notation())
    return Page(sheet).environment(sheet.field(name), LETTERS.get(name, symbol(name)))
