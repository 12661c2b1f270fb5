"""`kalaba plot`: draw a saved run, several over each other, or the results of a study."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kalaba.cli.choices import JsonFlag, QuietFlag, run_files
from kalaba.cli.terminal import console, print_json, say_simulated
from kalaba.errors import CommandError
from kalaba.results.places import RUN_SUFFIXES_IN_WORDS, check_place
from kalaba.view.figures.kinds import SUFFIX, FigureKind, Request, check, find, known, read_figure


def read_kind(text: str) -> FigureKind:
    """The figure of a name, or of a file that holds one."""
    if text.endswith(SUFFIX):
        return read_figure(text)
    names = figure_names("")
    if text not in names:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, names))}, nor a file {SUFFIX}.")
    return find(text)


def figure_names(incomplete: str) -> list[str]:
    """Names of figures that begin so."""
    return [kind.name for kind in known() if kind.name.startswith(incomplete)]


RunsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help=f"Saved runs: {RUN_SUFFIXES_IN_WORDS}; several are compared. Or the folder of a study.",
        autocompletion=run_files,
    ),
]
FigureFlag = Annotated[
    FigureKind | None,
    typer.Option(
        "--figure",
        metavar="NAME",
        parser=read_kind,
        autocompletion=figure_names,
        help=f"What to draw: {', '.join(figure_names(''))}; or a {SUFFIX} file that holds a figure of your own. "
        "Overview if not given, compare for several runs.",
        show_default=False,
    ),
]
PictureFlag = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Where to draw: .png, .svg or .pdf; beside the run if not given."),
]
FrameFlag = Annotated[
    list[str] | None,
    typer.Option("--frame", help="For paths: a frame to follow, instead of the end points. May be repeated."),
]


OverFlag = Annotated[
    Path | None,
    typer.Option(
        "--over",
        metavar="FILE",
        help="Measured data, or another program's, to draw under ours: a table of text with a column time.",
    ),
]
MapFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="COLUMN=QUANTITY",
        help="With --over: what a column is in the run, a name or an expression; others by equal names. Repeatable.",
    ),
]
ScaleFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--scale",
        metavar="COLUMN=FACTOR",
        help="With --over: takes a column to SI, in place of the unit in its heading. Repeatable.",
    ),
]
TimeScaleFlag = Annotated[float | None, typer.Option("--time-scale", help="With --over: stretches the data's times.")]
TimeShiftFlag = Annotated[
    float | None, typer.Option("--time-shift", help="With --over: seconds added to the data's times.")
]


def plot(  # noqa: PLR0913  (one argument per flag)
    paths: RunsArgument,
    *,
    figure: FigureFlag = None,
    output: PictureFlag = None,
    frames: FrameFlag = None,
    over: OverFlag = None,
    maps: MapFlag = None,
    scales: ScaleFlag = None,
    time_scale: TimeScaleFlag = None,
    time_shift: TimeShiftFlag = None,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Draw a saved run: an overview, one quantity, the figures of the machine's paper, or measured data under ours.

    Of the folder of a study it draws distributions of measures, sensitivities and worst cases.

    Examples:
    kalaba plot run.nc --figure papers -o papers.pdf
    kalaba plot results/ -o study.png
    kalaba plot run.nc --over measured.csv --map "x=coupler.tip.x" --time-shift 0.2
    """
    from kalaba.cli.overlay import Data, draw_over
    from kalaba.results.saving import open_run
    from kalaba.view.sheet import PICTURES, save

    data = Data(over, tuple(maps or ()), tuple(scales or ()), time_scale, time_shift)
    if any(path.is_dir() for path in paths):
        with_flags = figure is not None or bool(frames) or data != Data(None, (), (), None, None)
        _check_study(paths, with_flags=with_flags)
        _plot_study(paths[0], output, as_json=as_json, quiet=quiet)
        return
    data.check(figure is not None or bool(frames), len(paths))
    chosen = figure or find("overview" if len(paths) == 1 else "compare")
    check(chosen, paths, frames or ())
    name = chosen.name if over is None else "over"
    place = check_place(output or paths[0].parent / f"{paths[0].stem}-{name}.png", PICTURES)
    runs = {_label(path, paths): open_run(path) for path in paths}
    request = Request(runs, tuple(frames or ()), progress=None if quiet or as_json else say_simulated)
    if over is not None:
        draw_over(request.run, data, place, as_json=as_json, quiet=quiet)
        return
    save(chosen.draw(request), place)
    if as_json:
        print_json({"figure": chosen.name, "runs": [str(path) for path in paths], "file": str(place)})
    elif not quiet:
        console().print(f"picture: {place}", markup=False)


def _check_study(paths: list[Path], *, with_flags: bool) -> None:
    """Refuse flags that say how runs are drawn."""
    if len(paths) > 1:
        raise CommandError(f"{paths[0]}: expected one folder of a study, or files of runs. Draw them one by one.")
    if with_flags:
        raise CommandError(f"{paths[0]}: a study is drawn in one way. Leave all flags but --output out.")


def _plot_study(folder: Path, output: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Draw the results of a study."""
    from kalaba.studies.results import open_study
    from kalaba.view.figures.studies import study
    from kalaba.view.sheet import PICTURES, save

    results = open_study(folder)
    place = check_place(output or folder / "study.png", PICTURES)
    save(study(results), place)
    if as_json:
        print_json({"study": str(folder), "samples": len(results.table), "file": str(place)})
    elif not quiet:
        console().print(f"picture: {place}", markup=False)


def _label(path: Path, paths: list[Path]) -> str:
    """The name of a file, with as much of its path as sets it apart."""
    return path.stem if sum(other.stem == path.stem for other in paths) == 1 else str(path)
