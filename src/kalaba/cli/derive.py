"""`kalaba derive`: the equations of a machine by three methods, their sizes, and what each method goes through."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kalaba.cli.choices import JsonFlag, MachineFlags, NameArgument
from kalaba.cli.terminal import console, print_json, print_table
from kalaba.errors import CommandError
from kalaba.units import counted

if TYPE_CHECKING:
    from rich.console import Console

    from kalaba.derive.dynamics import Method
    from kalaba.derive.equations import Equations
    from kalaba.model.system import System

MOST = 16  # entries of a step that are printed
FIELDS = {"M": "mass_matrix", "h": "bias", "A": "constraint_matrix", "b": "constraint_rhs"}


class MethodName(StrEnum):
    """Derivations by the names of the command line."""

    LAGRANGE = "lagrange"
    KANE = "kane"
    NEWTON_EULER = "newton-euler"


MethodFlag = Annotated[
    MethodName | None, typer.Option(help=f"One derivation alone: {', '.join(MethodName)}.", show_default=False)
]


def derive(
    name: NameArgument,
    *,
    method: MethodFlag = None,
    flags: MachineFlags,
    steps: Annotated[bool, typer.Option("--steps", help="Write the steps out, entry by entry.")] = False,
    objects: Annotated[
        bool, typer.Option("--objects", help="In the velocities of the objects that arms hold, piece by piece.")
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Derive a machine's equations by Lagrange, Kane and Newton-Euler: sizes, operations, steps.

    Examples:
    kalaba derive planar-parallel
    kalaba derive four-bar --method lagrange --steps
    kalaba derive three-arm-screw --objects
    """
    from kalaba.derive.equations import equations_of
    from kalaba.model.listing import size_words, table

    system = flags.choose(name).system
    if objects:
        if method is not None or steps:
            raise CommandError("--objects: it has no --method and no --steps. Leave them out.")
        _derive_objects(system, as_json=as_json)
        return
    machine = system.machine
    methods = [method] if method is not None else list(MethodName)
    derived = {one: equations_of(machine, method_of(one)) for one in methods}
    if as_json:
        print_json({"name": system.name, "derivations": {one: _plain(eq, steps=steps) for one, eq in derived.items()}})
        return
    out = console()
    out.print(f"{system.name}: {size_words(machine)}", markup=False)
    print_table(out, table("operations", ("", "size", "entries", *derived), _rows(derived)))
    for one, equations in derived.items():
        _print_steps(out, one, equations, written=steps)


def _derive_objects(system: System, *, as_json: bool) -> None:
    """H s̈ + τ_b = F: its pieces with their sizes and operations."""
    from kalaba.cooperate.object_form import object_form
    from kalaba.cooperate.object_space import object_space
    from kalaba.model.listing import table

    space = object_space(system)
    form = object_form(space)
    counts = form.operation_counts()
    if as_json:
        pieces = {
            key: {"title": piece.title, "size": list(piece.value.shape), "operations": counts[key]}
            for key, piece in form.pieces.items()
        }
        print_json({"name": system.name, "velocities": list(space.coordinates), "pieces": pieces})
        return
    out = console()
    out.print(f"{system.name}: H s'' + tau_b = F = W tau", markup=False)
    out.print(f"s': {', '.join(space.coordinates)}", markup=False)
    rows = [
        (key, f"{piece.value.shape[0]} x {piece.value.shape[1]}", counts[key], piece.title)
        for key, piece in form.pieces.items()
    ]
    print_table(out, table("pieces", ("", "size", "operations", ""), rows))


def method_of(name: MethodName) -> Method:
    """The derivation of a name."""
    from kalaba.derive.methods import METHODS

    return METHODS[name]


def _rows(derived: dict[MethodName, Equations]) -> list[tuple[object, ...]]:
    """One row per matrix, one column per derivation."""
    first = next(iter(derived.values()))
    rows: list[tuple[object, ...]] = []
    for letter, field in FIELDS.items():
        matrix = getattr(first, field)
        counts = [equations.operations(field) for equations in derived.values()]
        rows.append((letter, f"{matrix.shape[0]} x {matrix.shape[1]}", matrix.nnz(), *counts))
    return rows


def _print_steps(out: Console, name: str, equations: Equations, *, written: bool) -> None:
    """The steps of a derivation: names and sizes, or what they are."""
    from kalaba.printing.plain import plain

    out.print(f"\n[bold]{name}[/bold]")
    if written:
        out.print(_outline(equations), markup=False)
    for step, value in equations.steps.items():
        shape = f"{value.shape[0]} x {value.shape[1]}" if value.shape != (1, 1) else "scalar"
        out.print(f"  {step}: {shape}, {counted(value.nnz(), 'entry')}", markup=False)
        if written:
            entries = plain(value)
            for place, text in entries[:MOST] or [((0, 0), "0")]:
                out.print(f"    {_label(value.shape, place)}{text}", markup=False)
            if len(entries) > MOST:
                out.print(f"    and {len(entries) - MOST} more", markup=False)


def _outline(equations: Equations) -> str:
    """What a method does, in formulas: the words at the head of its module."""
    words = sys.modules[type(equations.method).__module__].__doc__ or ""
    return words.partition("Reference:")[0].replace("::", ":").rstrip()


def _label(shape: tuple[int, int], place: tuple[int, int]) -> str:
    if shape == (1, 1):
        return ""
    return f"[{place[0] + 1}] " if shape[1] == 1 else f"[{place[0] + 1},{place[1] + 1}] "


def _plain(equations: Equations, *, steps: bool) -> dict[str, Any]:
    """A derivation as data."""
    from kalaba.printing.plain import plain

    fields = {
        letter: {
            "size": list(getattr(equations, field).shape),
            "entries": getattr(equations, field).nnz(),
            "operations": equations.operations(field),
        }
        for letter, field in FIELDS.items()
    }
    listed = {
        step: {"size": list(value.shape), "entries": value.nnz()}
        | ({"text": {_label(value.shape, place).strip(): text for place, text in plain(value)}} if steps else {})
        for step, value in equations.steps.items()
    }
    return {"matrices": fields, "steps": listed}
