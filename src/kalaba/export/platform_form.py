"""A parallel robot in the speeds of its platform as a LaTeX document, a module for SymPy, or C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.export.c.contents import listed
from kalaba.export.c.reduced_form import ReducedForm, reduced_export
from kalaba.export.c.writing import identifier, write_export
from kalaba.export.sympy_module import module_of
from kalaba.export.tex import PREAMBLE, TITLES, Words, letters_section, numbered_fields
from kalaba.export.tex_text import tex_text
from kalaba.printing.page import LETTERS, Page
from kalaba.printing.sheet import Field, Sheet
from kalaba.results.places import check_place, write_text

if TYPE_CHECKING:
    from kalaba.control.platform_space import PlatformSpace

SUFFIXES = (".tex", ".py", ".c")
FIELDS = ("force_map", "platform_inertia", "platform_bias")
LAW = r"\[ G \begin{pmatrix} u \\ \lambda \end{pmatrix} = H\,\dot{s} + h ,\qquad v = T\,s \]"


def export_platform(space: PlatformSpace, path: str | Path, words: Words | None = None) -> tuple[Path, ...]:
    """Write G, H and h of a parallel robot by the suffix of a file; gives the files written.

    Arguments:
        space: the robot in the speeds of its platform, made by `kb.control.platform_space`
        path: the file to write: .tex (LaTeX), .py (SymPy) or .c, which has a header and a test program beside it
        words: title, source and letters; by default the machine's name and its own names
    """
    place = check_place(path, SUFFIXES)
    said = words or Words(space.plant.system.name)
    if place.suffix.lower() == ".c":
        return write_export(reduced_export(_c_form(space), identifier(place.stem)), place)
    sheet = Sheet(space.equations, said.notation)
    fields = numbered_fields(sheet, {name: getattr(space.equations, name) for name in FIELDS})
    if place.suffix.lower() == ".py":
        head = _head(space, said, fields)
        return (write_text(place, module_of(sheet, fields, head, space.plant.start.q.tolist(), "G")),)
    return (write_text(place, _document(space, said, sheet, fields)),)


def _document(space: PlatformSpace, words: Words, sheet: Sheet, fields: dict[str, Field]) -> str:
    """The LaTeX document as text."""
    title = rf"\title{{Equations of motion in the speeds of a platform: {tex_text(words.title)}}}"
    parts = [PREAMBLE + title, r"\author{}\date{}", r"\begin{document}", r"\maketitle"]
    parts += [f"Source: {tex_text(words.source)}."] if words.source else []
    parts += [LAW, _listed("Speeds $s$", space.speeds), _listed("Forces $u, \\lambda$", space.forces)]
    parts.append(letters_section(sheet, fields))
    page = Page(sheet)
    for name, one in fields.items():
        parts.append(rf"\section*{{{TITLES[name]} ${LETTERS[name]}$}}")
        parts.append(page.environments(one, LETTERS[name]))
    return "\n\n".join([*parts, r"\end{document}"]) + "\n"


def _c_form(space: PlatformSpace) -> ReducedForm:
    """G, H and h for C, by the names of PlatformModel."""
    e = space.equations
    return ReducedForm(
        plant=space.plant,
        equations=e,
        word="platform",
        title=f"the motion in the speeds of {space.split.frame}",
        law="G [u; lambda] = H s' + h with v = T s, where the legs follow the platform.",
        results={"force_map": e.force_map, "inertia": e.platform_inertia, "bias": e.platform_bias},
        lists=(
            listed("s, the speeds of the platform", space.speeds, [""] * len(space.speeds)),
            listed("forces: motors, then loads lambda of rows", space.forces, [""] * len(space.forces)),
        ),
        counts={"SPEEDS": (len(space.speeds), "rows of G"), "FORCES": (len(space.forces), "columns of G")},
        expected=lambda state, t: space.model(state, t)._asdict(),
    )


def _listed(heading: str, names: tuple[str, ...]) -> str:
    return f"{heading}: " + ", ".join(f"{i} {tex_text(name)}" for i, name in enumerate(names, 1)) + "."


def _head(space: PlatformSpace, words: Words, fields: dict[str, Field]) -> str:
    """What the SymPy module says of itself."""
    said = [f"Equations of motion of {words.title} in the speeds s of {space.split.frame}, for SymPy.", ""]
    said += ["    G [u; lambda] = H s_dot + h        v = T s", ""]
    said += [f"s: {', '.join(space.speeds)}", f"u, lambda: {', '.join(space.forces)}", ""]
    said += [
        f"{LETTERS[name]}: {TITLES[name].lower()}, {one.shape[0]} x {one.shape[1]}, {one.operations} operations"
        for name, one in fields.items()
    ]
    said += ["", "numbers(G, q, v) puts the values of VALUES and a state in. Matrices are written in the named PARTS;"]
    return '"""' + "\n".join([*said, "whole(G) puts these in."]) + '\n"""'
