"""`kalaba compare`: run a machine once a value of what is varied, and say and draw what differs."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kalaba.cli.choices import JsonFlag, NameArgument, QuietFlag, SetFlag, choose_stepper, read_settings
from kalaba.cli.run import DurationFlag, StepFlag, StepperFlag, simulate_scenario
from kalaba.cli.terminal import Colour, say
from kalaba.errors import CommandError

if TYPE_CHECKING:
    from kalaba.cli.variants import Values, Variant
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


def compare(  # noqa: PLR0913  (one argument a flag)
    name: NameArgument,
    *,
    varied: VaryFlag = None,
    given: SetFlag = None,
    duration: DurationFlag = None,
    step: StepFlag = None,
    stepper: StepperFlag = None,
    output: OutputFlag = Path("compare.png"),
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Run a machine once a value, print peaks and differences, and draw the runs over each other.

    Shown are outputs, tips of beams (or coordinates, where there is neither) and motors.

    Example: kalaba compare floating-flexible-arm --vary modes=1,2,5 -o modes.png
    """
    from kalaba.cli.variants import variant_of
    from kalaba.results.places import check_place
    from kalaba.view.sheet import PICTURES

    chosen = _scenarios(name, varied, given)
    check_place(output, (*PICTURES, ".csv"))
    found = []
    for values, scenario in chosen:
        seconds = scenario.duration if duration is None else duration
        often = min(SAVE_EVERY, seconds / SAMPLES) if seconds > 0 else SAVE_EVERY
        own = choose_stepper(stepper, step, scenario.stepper)
        run = simulate_scenario(scenario, seconds, own, hidden=quiet or as_json, save_every=often)
        found.append(variant_of(values, run))
    (_write if output.suffix.lower() == ".csv" else _draw)(found, output)
    if not quiet:
        _report(found, output, as_json=as_json)
    failed = [variant for variant in found if variant.failed]
    for variant in failed:
        say(f"{variant.label}: {variant.summary.message}", Colour.PROBLEM)
    return 2 if failed else 0


def _scenarios(name: str, varied: Sequence[str] | None, given: Sequence[str] | None) -> list[tuple[Values, Scenario]]:
    """Every combination of the values, in order; each is judged before the first is run."""
    from kalaba.robots.catalogue import scenario

    fixed = read_settings(name, given)
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
    found = []
    for combination in product(*axes.values()):
        values_of = dict(zip(axes, combination, strict=True))
        own = read_settings(name, [f"{key}={value}" for key, value in values_of.items()], "--vary")
        options = fixed.options | own.options
        found.append((values_of, scenario(name, fixed.parameters | own.parameters, **options)))
    return found


def _report(found: Sequence[Variant], output: Path, *, as_json: bool) -> None:
    from kalaba.cli.terminal import console, print_json, print_table
    from kalaba.cli.variants import differences, peaks, units_of
    from kalaba.model.listing import table

    units, last = units_of(found), found[-1]
    names = list(units)
    if as_json:
        print_json({"units": units, "variants": [_plain(own, last, names) for own in found], "file": str(output)})
        return
    headings = [f"{name} [{unit}]" if unit else name for name, unit in units.items()]
    rows, apart = [], []
    for own in found:
        force = own.summary.constraint_force
        forced = f"{force.value:.5g} {force.unit} in {force.name}" if force else "none"
        ended = (forced, f"{own.energy_error:.2g}", f"{own.summary.wall_time:.3g}")
        rows.append((*own.values.values(), *_cells(peaks(own, names)), *ended))
        apart.append((*own.values.values(), *_cells(differences(own, last, names))))
    out, keys = console(), list(last.values)
    ends = ("constraint force", "energy balance at the end [J]", "wall time [s]")
    print_table(out, table(f"{last.summary.name}: peaks", [*keys, *headings, *ends], rows))
    print_table(out, table(f"largest difference to {last.label}", [*keys, *headings], apart[:-1]))
    out.print(f"{'table' if output.suffix.lower() == '.csv' else 'picture'}: {output}", markup=False)


def _cells(values: Sequence[float]) -> list[str]:
    return ["-" if math.isnan(value) else f"{value:.5g}" for value in values]


def _plain(own: Variant, last: Variant, names: Sequence[str]) -> dict[str, Any]:
    from kalaba.cli.variants import differences, peaks

    return {
        "values": own.values,
        "peaks": dict(zip(names, peaks(own, names), strict=True)),
        "differences": dict(zip(names, differences(own, last, names), strict=True)),
        "energy_balance": own.energy_error,
        "summary": own.summary.plain(),
    }


def _write(found: Sequence[Variant], output: Path) -> None:
    """One line a sample and variant; numbers keep all digits."""
    from kalaba.cli.variants import units_of
    from kalaba.results.places import replacing

    units = units_of(found)
    headings = [f"{name} [{unit}]" if unit else name for name, unit in {"time": "s", **units}.items()]
    with replacing(output) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*found[0].values, *headings])
        for own in found:
            columns = [own.time, *(own.at(own.time, name) for name in units)]
            writer.writerows([*own.values.values(), *map(float, row)] for row in zip(*columns, strict=True))


def _draw(found: Sequence[Variant], output: Path) -> None:
    """One panel a reading, one line a variant; motors too, and nothing that rests."""
    from kalaba.view.figures.comparing import compared
    from kalaba.view.sheet import save

    heading = f"{found[0].summary.name}: {', '.join(found[0].values)}"
    save(compared(heading, [(variant.label, variant.time, variant.readings) for variant in found]), output)
