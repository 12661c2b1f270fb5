"""`kalaba run`: simulate a machine's scenario, say how it went, keep the result."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from kalaba.cli.choices import (
    AllocationFlag,
    Chosen,
    ControlFlag,
    DurationFlag,
    JsonFlag,
    MachineFlags,
    NameArgument,
    Numerics,
    QuietFlag,
    choose_solver,
    choose_stabilisation,
    choose_stepper,
)
from kalaba.cli.terminal import INTERRUPTED, Colour, bar, console, print_json, say
from kalaba.cli.view import serve
from kalaba.errors import Interrupted
from kalaba.results.places import RUN_SUFFIXES, RUN_SUFFIXES_IN_WORDS, check_place

if TYPE_CHECKING:
    from kalaba.control.goals import Goal
    from kalaba.results.run import Run
    from kalaba.run.scenario import Scenario

OutputFlag = Annotated[Path, typer.Option("-o", "--output", help=f"Where to write the run: {RUN_SUFFIXES_IN_WORDS}.")]
StopFlag = Annotated[str | None, typer.Option(help='Stop when this becomes true, for example "crank.angle > 3".')]
PlotFlag = Annotated[Path | None, typer.Option(help="Draw an overview: .png, .svg or .pdf.")]
ViewFlag = Annotated[bool, typer.Option("--view", help="Then watch it move, on a page in the browser.")]


def run(  # noqa: PLR0913  (one argument per flag)
    name: NameArgument,
    *,
    output: OutputFlag = Path("run.nc"),
    flags: MachineFlags,
    allocation: AllocationFlag = None,
    control: ControlFlag = None,
    duration: DurationFlag = None,
    numerics: Numerics,
    stop: StopFlag = None,
    plot: PlotFlag = None,
    view: ViewFlag = False,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Simulate a machine, print a summary, and write the run to a file.

    A run that breaks off writes what it has, says why, and leaves with exit code 2; by Ctrl-C, with 130.

    Examples:
    kalaba run four-bar --set crank.length=0.2 --duration 3 -o four-bar.nc --plot four-bar.png
    kalaba run my.py:robot --stepper rk4 --step 0.001 --stabilisation baumgarte
    """
    if view:
        from kalaba.view.studio.serving import check_viser

        check_viser()
    chosen = flags.choose(name, allocation=allocation, control=control)
    check_place(output, RUN_SUFFIXES)
    if plot is not None:
        from kalaba.view.sheet import PICTURES

        check_place(plot, PICTURES)
    scenario = chosen.scenario
    try:
        made = simulate_scenario(scenario, duration, numerics, stop, hidden=quiet or as_json)
    except Interrupted as interruption:
        return _keep(interruption, output)
    made.save(output)
    if plot is not None:
        from kalaba.view import figures
        from kalaba.view.sheet import save

        save(figures.overview(made), plot)
    if not quiet:
        _report(made, chosen, scenario, output, plot, as_json=as_json)
    if made.status.failed:
        say(made.status.message, Colour.PROBLEM)
    if view:
        _watch(chosen, scenario, made)
    return 2 if made.status.failed else 0


def _keep(interruption: Interrupted, output: Path) -> int:
    """Write what there is of an interrupted run."""
    cast("Run", interruption.run).save(output)
    say(f"{interruption} File: {output}", Colour.PROBLEM)
    return INTERRUPTED


def _watch(chosen: Chosen, scenario: Scenario, made: Run) -> None:
    """Open the page of a run."""
    from kalaba.view.studio.subject import subject_of_named

    subject = subject_of_named(chosen.named, chosen.options, scenario)
    serve(replace(subject, plant=made.plant, duration=float(made.time[-1]) or subject.duration, recorded=made))


def simulate_scenario(
    chosen: Scenario, duration: float | None, numerics: Numerics, stop: str | None = None, *, hidden: bool
) -> Run:
    """Simulate a scenario behind a bar on the terminal; a run that breaks off is returned too."""
    from kalaba.plant.plant import build
    from kalaba.run.checks import AccuracyWarning, SingularWarning
    from kalaba.run.simulate import simulate

    seconds = chosen.duration if duration is None else duration
    with bar(chosen.system.name, seconds, hidden=hidden) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", SingularWarning)  # the summary says it
        warnings.simplefilter("ignore", AccuracyWarning)
        return simulate(
            chosen.system if numerics.solver is None else build(chosen.system, solver=choose_solver(numerics.solver)),
            seconds,
            stepper=choose_stepper(numerics.stepper, numerics.step, chosen.stepper),
            control=chosen.control,
            stabilisation=choose_stabilisation(numerics.stabilisation),
            stop=stop,
            progress=progress,
            check=False,
            save_every=chosen.save_every if numerics.save_every is None else numerics.save_every,
        )


def goals_of(chosen: Scenario) -> tuple[Goal, ...]:
    """What the control of a scenario is to meet; nothing without one."""
    from kalaba.plant.laws import controller

    return () if chosen.control is None else controller(chosen.control, chosen.system.name).goals


def _report(made: Run, chosen: Chosen, scenario: Scenario, output: Path, plot: Path | None, *, as_json: bool) -> None:
    from kalaba.cli.summary import summarise
    from kalaba.robots.papers.shelf import paper_of

    summary, published = summarise(made, goals_of(scenario)), scenario.published
    entry = chosen.named.entry
    paper = None if entry is None else paper_of(entry.name)
    if as_json:
        files = {"file": str(output), "plot": None if plot is None else str(plot)}
        print_json(summary.plain() | files | {"published": published, "paper": None if paper is None else paper.key})
        return
    out = console()
    for line in summary.lines():
        out.print(line, markup=False)
    if published:
        out.print(f"published: {published}", markup=False)
    if paper is not None:
        out.print(f"paper: {paper.citation.authors_in_words}; all of it: kalaba papers {paper.key}", markup=False)
    out.print(f"file: {output}", markup=False)
    if plot is not None:
        out.print(f"plot: {plot}", markup=False)
    out.print(f"look: kalaba view {output}", markup=False)
