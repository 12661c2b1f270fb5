"""`kalaba show`: what a machine is made of, with its numbers and where they come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kalaba.cli.choices import JsonFlag, NameArgument, SetFlag, read_settings

if TYPE_CHECKING:
    from kalaba.joints.kinds import Joint
    from kalaba.model.machine import Machine
    from kalaba.model.parts import Parameter
    from kalaba.robots.entry import Entry

Rows = list[tuple[object, ...]]


def show(
    name: NameArgument,
    *,
    given: SetFlag = None,
    everything: Annotated[bool, typer.Option("--all", help="List numbers that are zero too.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show a machine: parts, joints, connections, parameters, options, source and errata.

    Example: kalaba show dual-mobile-arm --set closure=weld
    """
    from kalaba.cli.terminal import console, print_json, print_table
    from kalaba.robots.catalogue import find, load

    entry, settings = find(name), read_settings(name, given)
    machine = load(name, settings.parameters, **settings.options).machine
    tables = _tables(entry, machine, everything=everything)
    if as_json:
        listed = {title: [dict(zip(headings, row, strict=True)) for row in rows] for title, headings, rows in tables}
        print_json({"name": entry.name, "summary": entry.summary, "source": entry.source, **listed})
        return
    out = console()
    out.print(f"[bold]{entry.name}[/bold]: {entry.summary}")
    for title, headings, rows in tables:
        print_table(out, title, headings, rows)
    hidden = sum(parameter.value == 0 for parameter in machine.parameters)
    if hidden and not everything:
        out.print(f"{hidden} more numbers are zero; --all lists them")
    out.print(f"[bold]source[/bold]: {entry.source}")


def _tables(entry: Entry, machine: Machine, *, everything: bool) -> list[tuple[str, tuple[str, ...], Rows]]:
    shown = [parameter for parameter in machine.parameters if everything or parameter.value != 0]
    bodies: Rows = [(b.name, b.parent, joint_words(b.joint), _moves(b.displacements)) for b in machine.bodies]
    motors: Rows = [(a.name, a.displacement.text, f"{a.limit:g}") for a in machine.actuators]
    springs: Rows = [(s.name, s.displacement.text) for s in machine.springs]
    outputs: Rows = [(o.name, o.value.text, o.unit) for o in machine.outputs]
    options: Rows = [(key, o.default, _allowed(o.allowed), o.description) for key, o in entry.options.items()]
    return [
        ("bodies", ("name", "on", "joint", "displacements"), bodies),
        ("connections and constraints", ("name", "joins", "joint", "rows"), _closures(machine)),
        ("actuators", ("name", "drives", "limit"), motors),
        ("springs", ("name", "along"), springs),
        ("outputs", ("name", "value", "unit"), outputs),
        ("parameters", ("path", "value", "unit", "meaning"), [_parameter(parameter) for parameter in shown]),
        ("options", ("name", "default", "allowed", "meaning"), options),
        ("errata of the source", ("where", "printed", "correct"), [tuple(erratum) for erratum in entry.errata]),
    ]


def _parameter(parameter: Parameter) -> tuple[object, ...]:
    return (parameter.name, f"{parameter.value:.10g}", parameter.unit, parameter.description)


def _closures(machine: Machine) -> Rows:
    rows: Rows = []
    for closure in machine.closures:
        names = ", ".join(row.removeprefix(f"{closure.name}.") for row in closure.rows)
        joint = getattr(closure, "joint", None)
        if joint is not None:
            rows.append((closure.name, f"{closure.child} to {closure.parent}", joint_words(joint), names))  # type: ignore[union-attr]
        else:
            rows.append((closure.name, "expressions", "", names))
    return rows


def joint_words(joint: Joint) -> str:
    """A joint with its axes: Revolute(-y)."""
    axes = [value for entry in fields(joint) if hasattr(value := getattr(joint, entry.name), "components")]
    return f"{type(joint).__name__}({', '.join(_direction(axis) for axis in axes)})" if axes else type(joint).__name__


def _direction(axis: Any) -> str:  # noqa: ANN401
    if axis.letter:
        return axis.letter if sum(axis.components) > 0 else f"-{axis.letter}"
    return "[" + " ".join(f"{component:.4g}" for component in axis.components) + "]"


def _moves(displacements: Iterable[Any]) -> str:
    found = []
    for displacement in displacements:
        own, label = displacement.expression.text, displacement.name.rpartition(".")[2]
        found.append(label if own == displacement.name else f"{label} = {own}")
    return ", ".join(found)


def _allowed(allowed: Any) -> str:  # noqa: ANN401
    if isinstance(allowed, range):
        return f"{allowed[0]} to {allowed[-1]}"
    return ", ".join(map(str, allowed)) if isinstance(allowed, tuple) else str(allowed)
