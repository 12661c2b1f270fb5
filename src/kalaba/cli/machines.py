"""`kalaba list`, `kalaba show` and `kalaba check`: which machines there are, what one is made of, how it can move."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import JsonFlag, MachineFlags, NameArgument, QuietFlag
from kalaba.cli.terminal import console, print_json, print_table

if TYPE_CHECKING:
    from kalaba.analyse.mobility import Mobility
    from kalaba.model.system import System


def list_machines(*, as_json: JsonFlag = False) -> None:
    """List the machines that can be shown and run, one line each; in brackets the paper that one is from.

    Example: kalaba list
    """
    from rich.text import Text

    from kalaba.robots.catalogue import catalog

    machines = catalog()
    if as_json:
        print_json(dict(machines))
        return
    out, width = console(), max(len(name) for name, _ in machines)
    for machine in machines:
        paper = f"  [{machine.paper}]" if machine.paper else ""
        out.print(Text.assemble((f"{machine.name:<{width}}", "bold"), f"  {machine.summary}", (paper, "dim")))


def show(
    name: NameArgument,
    *,
    flags: MachineFlags,
    everything: Annotated[bool, typer.Option("--all", help="List numbers that are zero too.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show a machine: parts, joints, connections, parameters, options, source and errata.

    Examples:
    kalaba show dual-mobile-arm --set closure=weld
    kalaba show my.yaml
    """
    from rich.text import Text

    from kalaba.model import listing
    from kalaba.model.options import options_table

    chosen = flags.choose(name)
    system, entry = chosen.system, chosen.named.entry
    machine = system.machine
    parameters = listing.parameters(machine, zeros=everything)
    tables = [*listing.parts(machine), parameters, options_table(chosen.named.options)]
    title, summary, source = system.name, listing.size_words(machine), name
    if entry is not None:
        title, summary, source = entry.name, entry.summary, entry.source
        tables.append(entry.errata_table)
    if as_json:
        records = {table.title: table.records for table in tables}
        print_json({"name": title, "summary": summary, "source": source, **records})
        return
    out = console()
    out.print(Text.assemble((title, "bold"), f": {summary}"))
    for table in tables:
        print_table(out, table)
    hidden = len(machine.parameters) - len(parameters.rows)
    if hidden:
        out.print(f"{hidden} more numbers are zero; --all lists them")
    out.print(Text.assemble(("source", "bold"), f": {source}"))
    if entry is not None:
        from kalaba.robots.papers.shelf import paper_of

        if (paper := paper_of(entry.name)) is not None:
            out.print(f"[bold]all of the paper[/bold]: kalaba papers {paper.key}")


SuggestFlag = Annotated[
    bool, typer.Option("--suggest-loops", help="List frames that coincide: loops it may have, as YAML for --loops.")
]
CutsFlag = Annotated[bool, typer.Option("--cuts", help="List where its loops can be cut, and what each cut costs.")]


def check(
    name: NameArgument,
    *,
    flags: MachineFlags,
    with_cuts: CutsFlag = False,
    with_suggestions: SuggestFlag = False,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Examine a machine at its start: freedoms, rank, rows that depend on others, conditioning; where it can be cut.

    Examples:
    kalaba check four-bar --cuts
    kalaba check my.py:robot
    kalaba check gripper.urdf --suggest-loops
    """
    from kalaba.analyse.mobility import check as examine
    from kalaba.analyse.suggest_loops import may_have_loops

    chosen = flags.choose(name)
    machine = chosen.system
    if with_cuts:
        _show_cuts(machine, as_json=as_json, quiet=quiet)
        return
    if with_suggestions:
        _suggest_loops(machine, as_json=as_json, quiet=quiet)
        return
    mobility = examine(machine)
    if quiet:  # a machine that cannot be assembled has raised by now
        return
    if as_json:
        print_json(asdict(mobility))
        return
    out = console()
    for line in lines(mobility):
        out.print(line, markup=False)
    if chosen.named.entry is None and not mobility.rows and may_have_loops(machine):
        out.print(f"frames coincide, so it may have loops: kalaba check {name} --suggest-loops", markup=False)


def _suggest_loops(machine: System, *, as_json: bool, quiet: bool) -> None:
    from kalaba.analyse.suggest_loops import suggest_loops
    from kalaba.files.suggested import loops_yaml

    suggestions = suggest_loops(machine)
    if quiet:
        return
    text = loops_yaml(machine, suggestions)
    if as_json:
        print_json({"name": machine.name, "loops": [s.connection.name for s in suggestions], "yaml": text})
        return
    typer.echo(text, nl=False)


def _show_cuts(machine: System, *, as_json: bool, quiet: bool) -> None:
    from kalaba.analyse.cuts import cuts

    listed = cuts(machine)
    if quiet:
        return
    if as_json:
        entries = [{e.name: getattr(cut, e.name) for e in fields(cut) if e.name != "system"} for cut in listed]
        print_json({"name": listed.name, "cuts": entries, "impossible": listed.impossible})
        return
    out = console()
    print_table(out, listed.table)
    for loop, body, reason in listed.impossible:
        out.print(f"not at {body} instead of {loop}: {reason}", markup=False)


def lines(mobility: Mobility) -> list[str]:
    """What `kalaba check` prints, line by line."""
    from kalaba.results.notebook import combination

    nearby = f" ({mobility.freedoms_nearby} nearby)" if mobility.freedoms_nearby != mobility.freedoms else ""
    sizes = f"coordinates: {mobility.coordinates}, velocities: {mobility.velocities}, rows: {len(mobility.rows)}"
    printed = [f"machine: {mobility.name}", f"{sizes}, rank: {mobility.rank}, freedoms: {mobility.freedoms}{nearby}"]
    for row, terms in mobility.dependencies:
        closed = ", only while the loop is closed" if row in mobility.on_manifold_only else ""
        printed.append(f"dependent: {row} = {combination(terms)}{closed}")
    if mobility.rows:
        printed.append(
            f"conditioning: smallest singular value {mobility.smallest_singular_value:.3g}, from {mobility.weakest_row}"
        )
    if mobility.non_unique_reactions:
        printed.append(f"reactions that are not unique: {', '.join(mobility.non_unique_reactions)}")
    if mobility.unique_reactions:
        printed.append(f"reactions that are unique: {', '.join(mobility.unique_reactions)}")
    if mobility.is_mass_singular:
        printed.append("mass: some motion has no inertia of its own; the rows determine it")
    return printed
