"""`kalaba sweep`: run a study, here or on a cluster; run again it goes on where it was."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kalaba.cli.choices import JsonFlag, QuietFlag
from kalaba.cli.terminal import (
    INTERRUPTED,
    Colour,
    console,
    duration_words,
    print_json,
    print_table,
    say,
    study_board,
)
from kalaba.errors import CommandError, Interrupted
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.studies.progress import StudyProgress
    from kalaba.studies.results import StudyResults

SHARD = re.compile(r"(\d{1,7})/(\d{1,7})")

StudyArgument = Annotated[Path, typer.Argument(metavar="STUDY", help="A study: a .yaml file with kalaba-study: 1.")]
FolderFlag = Annotated[Path, typer.Option("-o", "--output", help="The folder of the results.")]
SchedulerFlag = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="A Dask scheduler whose workers run the samples: tcp://127.0.0.1:8786."),
]
ShardFlag = Annotated[
    str | None,
    typer.Option(metavar="K/N", help="The k-th of n parts, for n jobs that share the folder, such as 3/64."),
]
WorkersFlag = Annotated[int | None, typer.Option(help="Processes on this computer; one per core if not given.")]


def sweep(  # noqa: PLR0913  (one argument per flag)
    path: StudyArgument,
    *,
    output: FolderFlag = Path("results"),
    scheduler: SchedulerFlag = None,
    shard: ShardFlag = None,
    workers: WorkersFlag = None,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Run a study: one machine many times with other numbers.

    Interrupted by Ctrl-C it keeps what is done, and the same command goes on from there. Samples that fail are
    recorded with their numbers and errors, and stop nothing.

    Examples:
    kalaba sweep study.yaml -o results/
    kalaba sweep study.yaml -o results/ --scheduler tcp://127.0.0.1:8786
    kalaba sweep study.yaml -o results/ --shard 3/64
    """
    from kalaba.files.yaml.study import load_study
    from kalaba.run.checks import AccuracyWarning

    study, part = load_study(path), _shard(shard)
    last: list[StudyProgress] = []
    try:
        with study_board(study.scenario.system.name, hidden=quiet or as_json) as show, warnings.catch_warnings():
            if quiet:
                warnings.simplefilter("ignore", AccuracyWarning)

            def watch(progress: StudyProgress) -> None:
                last[:] = [progress]
                if show is not None:
                    show(progress)

            results = study.run(output, workers=workers, scheduler=scheduler, shard=part, progress=watch)
    except Interrupted as interruption:
        say(str(interruption), Colour.PROBLEM)
        return INTERRUPTED
    if not quiet:
        _report(results, last[-1], as_json=as_json)
    return 0


def _shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = SHARD.fullmatch(text.strip())
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise CommandError(f"--shard {text}: expected the k-th of n parts, such as 3/64.")
    return int(match[1]), int(match[2])


def _report(results: StudyResults, last: StudyProgress, *, as_json: bool) -> None:
    table, failed = results.table, results.failed
    summary = results.summary
    if as_json:
        measures: dict[str, Any] = {name: row.to_dict() for name, row in summary.iterrows()}
        print_json(
            {
                "machine": results.name,
                "samples": results.count,
                "done": len(table),
                "failed": len(failed),
                "seconds": last.elapsed,
                "measures": measures,
                "folder": str(results.path),
            }
        )
        return
    from kalaba.model.listing import table as listed

    out = console()
    out.print(f"machine: {results.name}", markup=False)
    out.print(f"samples: {len(table)} of {results.count} done in {duration_words(last.elapsed)}", markup=False)
    columns = ("mean", "std", "min", "50%", "max")
    rows = [(name, *(f"{row[column]:.6g}" for column in columns)) for name, row in summary.iterrows()]
    print_table(out, listed("measures", ["measure", "mean", "deviation", "smallest", "median", "largest"], rows))
    out.print(f"folder: {results.path}", markup=False)
    out.print(f"look: kalaba plot {results.path}", markup=False)
    if len(failed):
        first = failed.iloc[0]
        example = f"sample {failed.index[0]}: {first['status']}, {first['error']}"
        say(f"{len(failed)} of {counted(len(table), 'sample')} failed; {example}", Colour.WARNING)
