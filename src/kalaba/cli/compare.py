"""`kalaba compare`: run a machine once per value of what is varied, and say and draw what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import (
    MACHINE_HELP,
    Chosen,
    DurationFlag,
    JsonFlag,
    MachineFlags,
    Numerics,
    QuietFlag,
    names_and_files,
)
from kalaba.cli.run import goals_of, simulate_scenario
from kalaba.cli.terminal import Colour, console, print_json, print_table, say
from kalaba.errors import CommandError
from kalaba.results.places import check_place

if TYPE_CHECKING:
    from kalaba.run.scenario import Scenario

NamesArgument = Annotated[
    list[str],
    typer.Argument(metavar="MACHINE...", help=f"{MACHINE_HELP} Several: each is run.", autocompletion=names_and_files),
]
VaryFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=V1,V2,...",
        help="Values to run with, of anything that --set takes. Several flags: all combinations.",
    ),
]
OutputFlag = Annotated[
    Path, typer.Option("-o", "--output", help="Where to draw: .png, .svg or .pdf; or the readings over time: .csv.")
]
SAMPLES = 1000  # of a run at least, so that peaks are not missed
SAVE_EVERY = 0.01  # s, at most
TABLE = ".csv"
MACHINE = "machine"  # heading of the machines where several are compared


def compare(  # noqa: PLR0913  (one argument per flag)
    names: NamesArgument,
    *,
    varied: VaryFlag = None,
    flags: MachineFlags,
    duration: DurationFlag = None,
    numerics: Numerics,
    output: OutputFlag = Path("compare.png"),
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Run a machine once per value, or several machines, print peaks and differences, and draw the runs together.

    Shown are how far a run is from its goals, outputs, tips of beams (or coordinates, where there is neither) and
    motors. Numbers that are rounding beside others of their unit are printed as 0.

    Examples:
    kalaba compare floating-flexible-arm --vary modes=1,2,5 -o modes.png
    kalaba compare four-bar my.py
    """
    from kalaba.cli.variants import as_data, as_tables, draw, variant_of, write
    from kalaba.view.sheet import PICTURES

    scenarios = _scenarios([flags.choose(name) for name in names], varied)
    check_place(output, (*PICTURES, TABLE))
    is_table = output.suffix.lower() == TABLE
    variants = []
    for values, scenario in scenarios:
        seconds = scenario.duration if duration is None else duration
        fine = min(SAVE_EVERY, seconds / SAMPLES) if seconds > 0 else SAVE_EVERY
        sampled = numerics if numerics.save_every is not None else replace(numerics, save_every=fine)
        run = simulate_scenario(scenario, seconds, sampled, hidden=quiet or as_json)
        variants.append(variant_of(values, run, goals_of(scenario)))
    if is_table:
        write(variants, output)
    else:
        draw(variants, output)
    if as_json and not quiet:
        print_json(as_data(variants) | {"file": str(output)})
    elif not quiet:
        out = console()
        peaks, differences = as_tables(variants)
        print_table(out, peaks)
        print_table(out, differences)
        if not differences.rows:
            out.print(f"{differences.title}: none, since the others have no quantity of the same name", markup=False)
        out.print(f"{'table' if is_table else 'picture'}: {output}", markup=False)
    failed = [variant for variant in variants if variant.failed]
    for variant in failed:
        say(f"{variant.label}: {variant.summary.message}", Colour.PROBLEM)
    return 2 if failed else 0


def _scenarios(machines: Sequence[Chosen], varied: Sequence[str] | None) -> list[tuple[dict[str, str], Scenario]]:
    """Every combination of machines and values as typed, in order, with its scenario; all are judged before a run."""
    names = [chosen.named.name for chosen in machines]
    if not varied and len(machines) == 1:
        raise CommandError(
            f"compare {names[0]}: nothing to compare. Say what differs: --vary key=v1,v2; kalaba show {names[0]} has "
            "keys. Or name a second machine."
        )
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise CommandError(f"compare {' '.join(names)}: {repeated[0]} is named twice. Name each machine once.")
    axes: dict[str, list[str]] = {}
    for text in varied or ():
        key, _, values = (piece.strip() for piece in text.partition("="))
        if key in axes or any(key in chosen.options or key in chosen.parameters for chosen in machines):
            raise CommandError(f"--vary {text}: {key} is given twice. Name it once, in --vary or in --set.")
        axes[key] = [value.strip() for value in values.split(",")]
    scenarios = []
    for chosen, combination in product(machines, list(product(*axes.values()))):
        typed = dict(zip(axes, combination, strict=True))
        scenario = chosen.also([f"{key}={value}" for key, value in typed.items()], "--vary").scenario
        machine = {MACHINE: chosen.named.name} if len(machines) > 1 else {}
        scenarios.append((machine | typed, scenario))
    return scenarios
