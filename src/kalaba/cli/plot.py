"""`kalaba plot`: draw a saved run, or several over each other."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import JsonFlag, QuietFlag
from kalaba.cli.completion import run_files
from kalaba.errors import CommandError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run


class FigureName(StrEnum):
    """What can be drawn of a run; each is a function of `kb.plot`."""

    OVERVIEW = "overview"
    COORDINATES = "coordinates"
    SPEEDS = "speeds"
    OUTPUTS = "outputs"
    PATHS = "paths"
    MOTORS = "motors"
    FORCES = "forces"
    RESIDUALS = "residuals"
    ENERGY = "energy"
    MODES = "modes"
    PAPERS = "papers"
    COMPARE = "compare"


RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Saved runs: .nc, .csv or .parquet; several are compared.",
        autocompletion=run_files,
    ),
]
FigureFlag = Annotated[
    FigureName | None,
    typer.Option("--figure", help="What to draw; overview if not given, compare for several runs.", show_default=False),
]
PictureFlag = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Where to draw: .png, .svg or .pdf; beside the run if not given."),
]
FrameFlag = Annotated[
    list[str] | None,
    typer.Option("--frame", help="For paths: a frame to follow, instead of the end points. May be repeated."),
]


def plot(
    paths: RunsArgument,
    *,
    figure: FigureFlag = None,
    output: PictureFlag = None,
    frames: FrameFlag = None,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Draw a saved run: an overview, one quantity, or the figures of the machine's paper with ours over its claims.

    Example: kalaba plot run.nc --figure papers -o papers.pdf
    """
    from kalaba.cli.terminal import console, print_json
    from kalaba.results.places import check_place
    from kalaba.results.saving import open_run
    from kalaba.view.sheet import PICTURES, save

    chosen = figure or (FigureName.OVERVIEW if len(paths) == 1 else FigureName.COMPARE)
    _check(chosen, paths, frames)
    place = check_place(output or paths[0].with_name(f"{paths[0].stem}-{chosen}.png"), PICTURES)
    runs = {_label(path, paths): open_run(path) for path in paths}
    save(_drawn(chosen, runs, frames or [], hidden=quiet or as_json), place)
    if as_json:
        print_json({"figure": chosen.value, "runs": [str(path) for path in paths], "file": str(place)})
    elif not quiet:
        console().print(f"picture: {place}", markup=False)


def _check(chosen: FigureName, paths: list[Path], frames: list[str] | None) -> None:
    if chosen is FigureName.COMPARE and len(paths) < 2:
        raise CommandError(
            f"--figure compare: expected several runs, got {paths[0]} alone. Name another, or leave --figure out."
        )
    if chosen is not FigureName.COMPARE and len(paths) > 1:
        raise CommandError(
            f"--figure {chosen}: expected one run, got {len(paths)}. Several can be drawn with --figure compare."
        )
    if frames and chosen is not FigureName.PATHS:
        raise CommandError(f"--frame {frames[0]}: frames are for --figure paths, got --figure {chosen}. Leave it out.")


def _label(path: Path, paths: list[Path]) -> str:
    """The name of a file, with as much of its path as sets it apart."""
    return path.stem if sum(other.stem == path.stem for other in paths) == 1 else str(path)


def _drawn(chosen: FigureName, runs: dict[str, Run], frames: list[str], *, hidden: bool) -> Figure:
    from kalaba.view import figures

    run = next(iter(runs.values()))
    if chosen is FigureName.COMPARE:
        return figures.compare(runs)
    if chosen is FigureName.PATHS:
        return figures.paths(run, frames)
    if chosen is FigureName.PAPERS:
        return figures.papers(run, progress=None if hidden else _say)
    found: Figure = getattr(figures, chosen.value)(run)
    return found


def _say(words: str) -> None:
    """Tell of a run that is simulated for a panel; on stderr, since it takes a moment."""
    typer.echo(f"simulating with {words}", err=True)
