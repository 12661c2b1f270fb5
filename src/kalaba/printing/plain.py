"""Any expression as one line of text for each entry, in the names that its symbols have: for reading in a terminal."""

from __future__ import annotations

import re

import casadi as ca

from kalaba.printing.factoring import ShortWriter
from kalaba.printing.polynomial import Kind, Ring
from kalaba.printing.python_text import PythonWriter
from kalaba.printing.reading import operation_count, read
from kalaba.printing.tree import size
from kalaba.printing.trigonometry import gathered
from kalaba.units import counted

SHORT = 80  # operations of an entry that is written out
WHOLE = 3000  # operations of an expression whose entries are looked at


def plain(expression: ca.SX) -> list[tuple[tuple[int, int], str]]:
    """Every entry that is not zero, by its place; one that is too long says how many operations it takes."""
    expression = ca.sparsify(ca.cse(ca.SX(expression)))
    rows, columns = expression.sparsity().get_triplet()
    inputs = ca.vertcat(ca.SX(0, 1), *ca.symvar(expression))
    whole = operation_count(expression, inputs)
    names = [inputs[i].name() for i in range(inputs.shape[0])]
    ring = Ring(names, [_kind(name) for name in names])
    texts: list[str | None] = [None] * expression.nnz()
    if whole <= WHOLE and expression.nnz():
        function = ca.Function("plain", [inputs], [ca.densify(ca.vertcat(*expression.nonzeros()))])
        writer, words = ShortWriter(ring), PythonWriter({name: name for name in names})
        for k, polynomial in enumerate(read(function, ring)):
            if polynomial is not None and len(polynomial) <= SHORT:
                node = writer.shortest(gathered(ring, polynomial)) if polynomial else None
                if node is None or size(node) <= SHORT:
                    texts[k] = "0" if node is None else _in_words(words.text(node))
    entries = []
    for k, place in enumerate(zip(rows, columns, strict=True)):
        count = operation_count(expression.nonzeros()[k], inputs)
        text = texts[k] if texts[k] is not None else f"({counted(count, 'operation')})"
        if text != "0":
            entries.append(((int(place[0]), int(place[1])), str(text)))
    return sorted(entries)


def _in_words(text: str) -> str:
    """Python as people write formulas."""
    return re.sub(r"Rational\((-?\d+), (\d+)\)", r"\1/\2", text.replace("sp.", "")).replace("**", "^")


def _kind(name: str) -> Kind:
    if name.startswith("rate("):
        return Kind.VELOCITY
    return Kind.MASS if name.endswith("mass") or ".inertia." in name else Kind.PARAMETER
