"""A machine's equations as a Python module for SymPy that runs by itself.

It holds one symbol for every coordinate, velocity, input and parameter, the values of the parameters, named common
parts, and the matrices in them; `numbers` puts values in.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kalaba.boundary import check_arguments
from kalaba.derive.dynamics import Method
from kalaba.derive.equations import equations_of
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.export.tex import TITLES, Words, printed_fields
from kalaba.printing.page import LETTERS
from kalaba.printing.python_text import PythonWriter, identifiers
from kalaba.printing.sheet import Field, Sheet
from kalaba.results.places import check_place, write_text

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.printing.notation import Letter


class Called(NamedTuple):
    """What a matrix is called in the module."""

    letter: str
    title: str


TAKEN = ("sp", "q", "v", "t", "u", "p", "whole", "numbers", "function", "matrix", *(LETTERS.values()))
CALLED = {name: Called(letter, TITLES[name].lower()) for name, letter in LETTERS.items() if name in TITLES}
TAKEN_LISTS = ("VALUES", "LATEX", "PARTS", "UNITS")
USE = '''
def whole(matrix):
    """Put the named parts into a matrix, so that it reads the symbols alone. Long."""
    for part, expression in reversed(PARTS):
        matrix = matrix.subs(part, expression)
    return matrix


def function(matrix):
    """A Python function of (q, v, t, u, p), each a list of numbers in the order above, that gives a list of rows."""
    arguments = (list(q), list(v), t, list(u), list(p))
    return sp.lambdify(arguments, matrix.tolist(), modules="math", cse=lambda rows: (PARTS, rows))


def numbers(matrix, q_now, v_now, t_now=0.0, u_now=None, values=None):
    """The rows of a matrix in numbers; `values` changes some of the parameters, {{symbol: number}}."""
    given = {{**VALUES, **(values or {{}})}}
    u_now = [0.0]*len(u) if u_now is None else list(u_now)
    return function(matrix)(list(q_now), list(v_now), t_now, u_now, [float(given[symbol]) for symbol in p])


if __name__ == "__main__":
    at_rest = numbers({shown}, {start!r}, [0.0]*len(v))
    print("{shown} at the start:")
    for row in at_rest:
        print("  ".join(f"{{entry:10.4g}}" for entry in row))
'''


def export_sympy(system: System, path: str | Path, words: Words | None = None, method: Method | None = None) -> Path:
    """Write the equations of any machine as a Python module for SymPy; gives the path.

    Arguments:
        system: the machine
        path: where, .py
        words: what is said of it beside the equations: title, summary, source; None: its name
        method: how the equations are derived: kb.NewtonEuler(), kb.Lagrange() or kb.Kane(); None: by Newton and Euler
    """
    check_arguments(export_sympy, locals())
    place = check_place(path, (".py",))
    return write_text(place, module_text(system, words or Words(system.name), method or NewtonEuler()))


def module_text(system: System, words: Words, method: Method) -> str:
    """The whole module as text."""
    sheet = Sheet(equations_of(system.machine, method), words.notation)
    fields = printed_fields(sheet)
    return module_of(sheet, fields, _head(words, fields), _start(system), "M")


def module_of(
    sheet: Sheet, fields: dict[str, Field], head: str, start: list[float], shown: str, words: dict[str, Called] = CALLED
) -> str:
    """A module with some fields of a sheet; run by itself it prints the one of the letter `shown` at a start."""
    names = _names(sheet, fields, [words[name].letter for name in fields])
    writer = PythonWriter(names)
    parts = [head, "import sympy as sp", _symbols(sheet, names)]
    parts += [_parts(sheet, fields, writer), *(_matrix(words[name], one, writer) for name, one in fields.items())]
    return "\n\n".join(parts) + "\n" + USE.format(start=start, shown=shown)


def _names(sheet: Sheet, fields: dict[str, Field], letters: Sequence[str]) -> dict[str, str]:
    names = identifiers((x.name for x in sheet.letters if x.name != "t"), (*TAKEN, *TAKEN_LISTS, *letters))
    short = [latex for latex, _, _ in sheet.abbreviations]
    names |= {"t": "t"} | dict(zip(short, (f"short_{k}" for k in range(1, len(short) + 1)), strict=True))
    return names | {name: name.replace("common ", "part_") for one in fields.values() for name, _ in one.common}


def _head(words: Words, fields: dict[str, Field]) -> str:
    """What the module says of itself."""
    said = [f"Equations of motion of {words.title}, for SymPy.", ""]
    said += textwrap.wrap(words.summary, 110) + ([""] if words.summary else [])
    said += [*textwrap.wrap(f"Source: {words.source}", 110), ""] if words.source else []
    left = "M v̇ + C v" if "coriolis" in fields else "M v̇ + h" if "bias" in fields else "M v̇"
    load = (
        "" if "bias" in fields else "".join(f" + {LETTERS[name]}" for name in ("gravity", "elastic") if name in fields)
    )
    right = [text for name, text in (("actuation_map", "B u"), ("applied_force", "f")) if name in fields]
    right += ["Aᵀλ"] if "constraint_matrix" in fields else []
    law = f"    {left}{load} = {' + '.join(right) or '0'}"
    said += [law + ("        A v̇ = b" if "constraint_matrix" in fields else ""), ""]
    for name, one in fields.items():
        said.append(
            f"{LETTERS[name]}: {TITLES[name].lower()}, {one.shape[0]} x {one.shape[1]}, {one.operations} operations"
        )
    said += ["", "numbers(M, q, v) puts the values of VALUES and a state in. Matrices are written in the named PARTS;"]
    said += ["whole(M) puts these in."]
    text = "\n".join(said).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'


def _symbols(sheet: Sheet, names: dict[str, str]) -> str:
    machine = sheet.equations.machine
    n_q, n_v, n_u = (
        len(machine.coordinates),
        len(machine.velocities),
        len(machine.actuators) + len(machine.sampled_inputs),
    )
    split = (0, n_q, n_q + n_v, n_q + n_v + 1, n_q + n_v + 1 + n_u, len(sheet.letters))
    q, v, t, u, p = (sheet.letters[a:b] for a, b in pairwise(split))
    p = tuple(x for x in p if x.name not in sheet.relations)
    lines = [f'{names[x.name]} = sp.Symbol("{names[x.name]}", real=True)' for x in (*q, *v, *t, *u, *p)]
    for letter, some in (("q", q), ("v", v), ("u", u), ("p", p)):
        lines.append(f"{letter} = {_list([names[x.name] for x in some])}")
    lines += ["", _table("VALUES", p, names, lambda x: f"{x.value!r},  # {_note(x)}")]
    latex = [x for x in (*q, *v, *u, *p) if not x.latex.startswith(r"\mathrm")]
    lines += [_table("LATEX", latex, names, lambda x: f"{x.latex!r},") + "  # sp.latex(M, symbol_names=LATEX)"]
    return "\n".join(lines)


def _note(x: Letter) -> str:
    path = f"minus {x.name}" if x.sign < 0 else x.name
    return f"{x.unit}, {path}" + (f": {x.description}" if x.description else "")


def _list(entries: Sequence[str]) -> str:
    return (
        "sp.Matrix([\n" + "".join(f"    {entry},\n" for entry in entries) + "])" if entries else "sp.Matrix(0, 1, [])"
    )


def _table(name: str, some: Sequence[Letter], names: dict[str, str], value: Callable[[Letter], str]) -> str:
    return f"{name} = {{\n" + "".join(f"    {names[x.name]}: {value(x)}\n" for x in some) + "}"


def _parts(sheet: Sheet, fields: dict[str, Field], writer: PythonWriter) -> str:
    """Abbreviations and common parts, each a symbol and what it stands for."""
    named = [(latex, node) for latex, node, _ in sheet.abbreviations]
    named += [entry for one in fields.values() for entry in one.common]
    lines = ["PARTS = []  # (symbol, expression), each in the symbols above it"]
    for name, node in named:
        symbol = writer.names[name]
        lines.append(f'{symbol} = sp.Symbol("{symbol}", real=True)')
        lines.append(f"PARTS.append(({symbol}, {writer.text(node)}))")
    return "\n".join(lines)


def _matrix(called: Called, one: Field, writer: PythonWriter) -> str:
    letter = called.letter
    lines = [f"{letter} = sp.zeros({one.shape[0]}, {one.shape[1]})  # {called.title}"]
    lines += [f"{letter}[{i}, {j}] = {writer.text(node)}" for (i, j), node in one.entries]
    return "\n".join(lines)


def _start(system: System) -> list[float]:
    """A configuration to begin with: the guess of the start where there is one, quaternions upright."""
    machine = system.machine
    guesses = dict(machine.start.guess)
    ones = {row for row, _ in machine.quaternions}
    values = []
    for index, c in enumerate(machine.coordinates):
        value = guesses.get(c.name)
        values.append(float(value) if isinstance(value, int | float) else float(index in ones))
    return values
