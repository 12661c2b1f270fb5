"""`kalaba show`: what a machine is made of, with its numbers and where they come from."""

from __future__ import annotations

from typing import Annotated

import typer

from kalaba.cli.choices import JsonFlag, NameArgument, SetFlag, read_settings


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
    from kalaba.model import listing
    from kalaba.robots.catalogue import find, load

    entry, settings = find(name), read_settings(name, given)
    machine = load(name, settings.parameters, **settings.options).machine
    parameters = listing.parameters(machine, zeros=everything)
    tables = (*listing.parts(machine), parameters, entry.options_table, entry.errata_table)
    if as_json:
        records = {table.title: table.records for table in tables}
        print_json({"name": entry.name, "summary": entry.summary, "source": entry.source, **records})
        return
    out = console()
    out.print(f"[bold]{entry.name}[/bold]: {entry.summary}")
    for table in tables:
        print_table(out, table)
    hidden = len(machine.parameters) - len(parameters.rows)
    if hidden:
        out.print(f"{hidden} more numbers are zero; --all lists them")
    out.print(f"[bold]source[/bold]: {entry.source}")
