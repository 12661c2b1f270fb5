"""`kalaba compare`: run a machine once per value of what is varied, and say and draw what differs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import JsonFlag, NameArgument, QuietFlag, SetFlag, choose_stepper, read_settings
from kalaba.cli.run import DurationFlag, StepFlag, StepperFlag, goals_of, simulate_scenario
from kalaba.cli.terminal import Colour, console, print_json, print_table, say
from kalaba.errors import CommandError
from kalaba.results.places import check_place

if TYPE_CHECKING:
    from kalaba.run.scenario import Scenario

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


def compare(  # noqa: PLR0913  (one argument per flag)
    name: NameArgument,
    *,
    varied: VaryFlag = None,
    changes: SetFlag = None,
    duration: DurationFlag = None,
    step: StepFlag = None,
    stepper: StepperFlag = None,
    output: OutputFlag = Path("compare.png"),
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Run a machine once per value, print peaks and differences, and draw the runs over each other.

    Shown are how far a run is from its goals, outputs, tips of beams (or coordinates, where there is neither) and
    motors. Numbers that are rounding beside others of their unit are printed as 0.

    Example: kalaba compare floating-flexible-arm --vary modes=1,2,5 -o modes.png
    """
    from kalaba.cli.variants import as_data, as_tables, draw, variant_of, write
    from kalaba.view.sheet import PICTURES

    scenarios = _scenarios(name, varied, changes)
    check_place(output, (*PICTURES, TABLE))
    is_table = output.suffix.lower() == TABLE
    variants = []
    for values, scenario in scenarios:
        seconds = scenario.duration if duration is None else duration
        save_every = min(SAVE_EVERY, seconds / SAMPLES) if seconds > 0 else SAVE_EVERY
        chosen = choose_stepper(stepper, step, scenario.stepper)
        run = simulate_scenario(scenario, seconds, chosen, hidden=quiet or as_json, save_every=save_every)
        variants.append(variant_of(values, run, goals_of(scenario)))
    if is_table:
        write(variants, output)
    else:
        draw(variants, output)
    if as_json and not quiet:
        print_json(as_data(variants) | {"file": str(output)})
    elif not quiet:
        out = console()
        for table in as_tables(variants):
            print_table(out, table)
        out.print(f"{'table' if is_table else 'picture'}: {output}", markup=False)
    failed = [variant for variant in variants if variant.failed]
    for variant in failed:
        say(f"{variant.label}: {variant.summary.message}", Colour.PROBLEM)
    return 2 if failed else 0


def _scenarios(
    name: str, varied: Sequence[str] | None, changes: Sequence[str] | None
) -> list[tuple[dict[str, str], Scenario]]:
    """Every combination of the values as typed, in order, with its scenario; each is judged before the first is run."""
    from kalaba.robots.catalogue import scenario

    fixed = read_settings(name, changes)
    if not varied:
        raise CommandError(
            f"compare {name}: nothing to compare. Say what differs: --vary key=v1,v2; kalaba show {name} has keys."
        )
    axes: dict[str, list[str]] = {}
    for text in varied:
        key, _, values = (piece.strip() for piece in text.partition("="))
        if key in axes or key in fixed.options or key in fixed.parameters:
            raise CommandError(f"--vary {text}: {key} is given twice. Name it once, in --vary or in --set.")
        axes[key] = [value.strip() for value in values.split(",")]
    scenarios = []
    for combination in product(*axes.values()):
        typed = dict(zip(axes, combination, strict=True))
        settings = read_settings(name, [f"{key}={value}" for key, value in typed.items()], "--vary")
        options = fixed.options | settings.options
        scenarios.append((typed, scenario(name, fixed.parameters | settings.parameters, **options)))
    return scenarios
