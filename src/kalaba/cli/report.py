"""`kalaba report`: a machine and a run of it as one page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import JsonFlag, MachineOrRun, QuietFlag, SetFlag, choose_stepper, read_settings
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
    changes: SetFlag = None,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Write a report that opens without a network: picture, source, errata, parameters, mobility, plots, provenance.

    Of a machine that is from a paper it has the paper's figures with ours over them.
    Of a machine of the catalogue its own scenario is run first. A run that broke off is reported too, with exit code 2.

    Example: kalaba report three-arm-screw -o report.html
    """
    from kalaba.view.report import PAGES
    from kalaba.view.report import report as write

    place = check_place(output or Path(f"{Path(name).stem}.html"), PAGES)
    run = _run(name, changes, hidden=quiet or as_json)
    write(run, place, progress=None if quiet or as_json else say_simulated)
    if as_json:
        print_json({"machine": run.plant.system.name, "file": str(place), "bytes": place.stat().st_size})
    elif not quiet:
        console().print(f"report: {place}", markup=False)
    return 2 if run.status.failed else 0


def _run(name: str, changes: list[str] | None, *, hidden: bool) -> Run:
    from kalaba.results.saving import open_run
    from kalaba.robots.catalogue import scenario

    if Path(name).suffix.lower() in RUN_SUFFIXES:
        if changes:
            raise CommandError(
                f"--set {changes[0]}: {name} is a run that was made. Name its machine instead, or leave --set out."
            )
        return open_run(name)
    settings = read_settings(name, changes)
    chosen = scenario(name, settings.parameters, **settings.options)
    return simulate_scenario(chosen, None, choose_stepper(None, None, chosen.stepper), hidden=hidden)
