"""Arms and objects in the velocities of the objects as a LaTeX document, a module for SymPy, or C."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.cooperate.object_form import ObjectForm, object_form, pieces_at
from kalaba.export.c.contents import listed
from kalaba.export.c.reduced_form import ReducedForm, reduced_export
from kalaba.export.c.writing import identifier, write_export
from kalaba.export.sympy_module import Called, module_of
from kalaba.export.tex import PREAMBLE, Words, letters_section, table
from kalaba.export.tex_text import tex_text
from kalaba.printing.page import Page
from kalaba.printing.sheet import Field, Sheet
from kalaba.results.places import check_place, write_text

if TYPE_CHECKING:
    from kalaba.cooperate.object_space import ObjectSpace
    from kalaba.plant.state import State
    from kalaba.space.arrays import Array

SUFFIXES = (".tex", ".py", ".c")
LAW = r"""\[ H\,\ddot{s} + \tau_{b} = F = W\,\tau ,\qquad \dot{s}_{C_i} = J_{C_i}\,\dot{s} ,\qquad
\dot{q}_i = T_i\,\dot{s} ,\qquad \ddot{q}_i = T_i\,\ddot{s} + \gamma_i \]
\[ H = \sum_i J_{C_i}^{\mathsf{T}} H_{0i} J_{C_i} + \sum_i T_i^{\mathsf{T}} H_i T_i ,\qquad
\tau_{b} = \sum_i J_{C_i}^{\mathsf{T}} \bigl(\tau_{b0i} + H_{0i} \dot{J}_{C_i} \dot{s}\bigr)
+ \sum_i T_i^{\mathsf{T}} \bigl(\tau_{bi} + H_i \gamma_i\bigr) ,\qquad W = \sum_i T_i^{\mathsf{T}} B_i \]

The first sums are over the bodies of the objects, the others over the arms. Where a weld holds and $J_i$ is square,
$T_i = J_i^{-1} J_{C_i}$ and $T_i^{\mathsf{T}} H_i T_i = J_{C_i}^{\mathsf{T}} H_i^{*} J_{C_i}$. Springs, dampers, forces
and drives within the objects are in $\tau_{b}$ and $W$."""
HEAD = """    H s'' + tau_b = F = W tau        s_Ci' = J_Ci s'        q_i' = T_i s'

H = sum J_Ci^T H_0i J_Ci + sum T_i^T H_i T_i, over bodies of the objects and over arms; Hs_i is the paper's H_i*.
"""


def export_objects(space: ObjectSpace, path: str | Path, words: Words | None = None) -> tuple[Path, ...]:
    """Write H s̈ + τ_b = F of arms and objects, with its pieces, by the suffix of a file; gives the files written.

    Arguments:
        space: the machine in the velocities of its objects, made by `kb.object_space`
        path: the file to write: .tex (LaTeX), .py (SymPy) or .c, which has a header and a test program beside it
        words: title, source and letters; by default the machine's name and its own names
    """
    place = check_place(path, SUFFIXES)
    form, said = object_form(space), words or Words(space.plant.system.name)
    if place.suffix.lower() == ".c":
        return write_export(reduced_export(_c_form(space, form), identifier(place.stem)), place)
    sheet = Sheet(form, said.notation)
    fields = _fields(form, sheet)
    if place.suffix.lower() == ".py":
        called = {name: Called(name, form.pieces[name].title) for name in fields}
        text = module_of(sheet, fields, _head(space, said, fields), space.plant.start.q.tolist(), "H", called)
        return (write_text(place, text),)
    return (write_text(place, _document(space, said, sheet, fields)),)


def _fields(form: ObjectForm, sheet: Sheet) -> dict[str, Field]:
    """All pieces in print; those with an arm's inverse stay in common parts."""
    listed_only, fields, first = Sheet(form, sheet.notation, 0), dict[str, Field](), 1
    for name, piece in form.pieces.items():
        one = (listed_only if piece.has_inverse else sheet).printed(name, piece.value, first)
        first += len(one.common)
        fields[name] = one
    return fields


def _document(space: ObjectSpace, words: Words, sheet: Sheet, fields: dict[str, Field]) -> str:
    """The LaTeX document as text."""
    form = object_form(space)
    title = rf"\title{{Equations of motion in the velocities of the objects: {tex_text(words.title)}}}"
    parts = [PREAMBLE + title, r"\author{}\date{}", r"\begin{document}", r"\maketitle"]
    parts += [f"Source: {tex_text(words.source)}."] if words.source else []
    velocities = ", ".join(f"{i} {tex_text(name)}" for i, name in enumerate(space.coordinates, 1))
    parts += [LAW, rf"Velocities $\dot{{s}}$: {velocities}."]
    rows = [
        (
            f"${form.pieces[name].letter}$",
            tex_text(form.pieces[name].title),
            rf"${one.shape[0]} \times {one.shape[1]}$",
            one.operations,
        )
        for name, one in fields.items()
    ]
    parts.append(table(("", "", "size", "operations"), rows, "llrr"))
    parts.append(letters_section(sheet, fields))
    page = Page(sheet)
    for name, one in fields.items():
        piece = form.pieces[name]
        parts.append(rf"\section*{{{tex_text(piece.title)} ${piece.letter}$}}")
        parts.append(page.environments(one, piece.letter))
    return "\n\n".join([*parts, r"\end{document}"]) + "\n"


def _head(space: ObjectSpace, words: Words, fields: dict[str, Field]) -> str:
    """What the SymPy module says of itself."""
    pieces = object_form(space).pieces
    said = [f"Equations of motion of {words.title} in the velocities s' of its objects, for SymPy.", "", HEAD]
    said += [*textwrap.wrap(f"s': {', '.join(space.coordinates)}", 110), ""]
    said += [
        f"{name}: {pieces[name].title}, {one.shape[0]} x {one.shape[1]}, {one.operations} operations"
        for name, one in fields.items()
    ]
    said += ["", "numbers(H, q, v) puts the values of VALUES and a state in. Matrices are written in the named PARTS;"]
    return '"""' + "\n".join([*said, "whole(H) puts these in."]) + '\n"""'


def _c_form(space: ObjectSpace, form: ObjectForm) -> ReducedForm:
    """All pieces for C."""
    names, motors = space.coordinates, space.plant.actuators
    return ReducedForm(
        plant=space.plant,
        equations=form,
        word="objects",
        title="the motion in the velocities of the objects",
        law="H s'' + tau_b = F = W tau; s_Ci' = J_Ci s', q_i' = T_i s'; H = sum J_Ci^T H_0i J_Ci + sum T_i^T H_i T_i.",
        results={name: piece.value for name, piece in form.pieces.items()},
        lists=(listed("s', the velocities of the objects", names, [""] * len(names)),),
        counts={"VELOCITIES_OF_OBJECTS": (len(names), "rows of H"), "MOTORS_OF_W": (len(motors), "columns of W")},
        expected=lambda state, t: _numbers(space, state, t),
    )


def _numbers(space: ObjectSpace, state: State, t: float) -> dict[str, Array]:
    """All pieces at a state, those of the whole from the model that runs."""
    model = space.model(state, t)
    return pieces_at(space, state, t) | {"H": model.inertia, "tau_b": model.bias, "W": model.force_map}
