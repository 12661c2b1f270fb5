"""`kalaba report`: a machine and a run of it as one page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import JsonFlag, MachineFlags, MachineOrRun, Numerics, QuietFlag
from kalaba.cli.run import simulate_scenario
from kalaba.cli.terminal import console, print_json, say_simulated
from kalaba.errors import CommandError
from kalaba.results.places import RUN_SUFFIXES, check_place

if TYPE_CHECKING:
    from kalaba.results.run import Run

OutputFlag = Annotated[
    Path | None, typer.Option("-o", "--output", help="Where to write: .html; NAME.html if not given.")
]


def report(
    name: MachineOrRun,
    *,
    output: OutputFlag = None,
    flags: MachineFlags,
    numerics: Numerics,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Write a report that opens without a network: picture, source, errata, parameters, mobility, plots, provenance.

    Of a machine that is from a paper it has the paper's figures with ours over them.
    Of a machine, its own scenario is run first. A run that broke off is reported too, with exit code 2.

    Examples:
    kalaba report three-arm-screw -o report.html
    kalaba report my.py
    """
    from kalaba.view.report import PAGES
    from kalaba.view.report import report as write

    place = check_place(output or Path(f"{Path(name).stem}.html"), PAGES)
    run = _saved(name, flags.changes, numerics)
    if run is None:
        scenario = flags.choose(name).scenario
        run = simulate_scenario(scenario, None, numerics, hidden=quiet or as_json)
    write(run, place, progress=None if quiet or as_json else say_simulated)
    if as_json:
        print_json({"machine": run.plant.system.name, "file": str(place), "bytes": place.stat().st_size})
    elif not quiet:
        console().print(f"report: {place}", markup=False)
    return 2 if run.status.failed else 0


def _saved(name: str, changes: list[str] | None, numerics: Numerics) -> Run | None:
    """The run of a file that holds one, which nothing can change any more; None: it names a machine."""
    from kalaba.results.saving import open_run

    if Path(name).suffix.lower() not in RUN_SUFFIXES:
        return None
    given = [f"--set {changes[0]}"] if changes else [f"{flag} {value}" for flag, value in numerics.flags.items()]
    if given:
        raise CommandError(f"{given[0]}: {name} is a run that was made. Name its machine instead, or leave it out.")
    return open_run(name)
