"""Print every bar: python -m benchmarks [--json FILE] [--only GROUP]."""

import argparse
import json
import platform
import traceback
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table

import kalaba
from benchmarks.bars import Bar, Report, as_data

COLUMNS = ("what", "kalaba", "peer", "ratio", "residual", "bar", "met?")


def engines() -> list[Report]:
    """Agreement first, then dynamics and runs beside the peers."""
    from benchmarks.contenders import agreement, contenders
    from benchmarks.dynamics import measure_batches, measure_dynamics
    from benchmarks.peers import mujoco_model, pinocchio_model
    from benchmarks.runs import measure_long_run, measure_runs

    who = contenders()
    remarks = (f"Pinocchio: {pinocchio_model.SETTINGS}", f"MuJoCo: {mujoco_model.SETTINGS}")
    apart = Report(agreement(who), remarks)
    if not all(bar.met for bar in apart.bars):
        return [Report(apart.bars, (*remarks, "NOT COMPARABLE: the engines disagree, so nothing was timed"))]
    measures = (
        lambda: measure_dynamics(who),
        lambda: measure_batches(who),
        lambda: measure_runs(who),
        measure_long_run,
    )
    return [apart, *(report for measure in measures for report in _guarded(measure))]


def starting() -> list[Report]:
    """Waiting times and memory, in fresh processes."""
    from benchmarks.starting import measure_memory, measure_starting

    return [*_guarded(measure_starting), *_guarded(measure_memory)]


def flexible() -> list[Report]:
    """Flexible links: building, evaluating, a run beside Exudyn, and the cost of modes."""
    from benchmarks.flexible import measure_arm, measure_beside_exudyn, measure_modes

    return [report for measure in (measure_arm, measure_beside_exudyn, measure_modes) for report in _guarded(measure)]


def stepping() -> list[Report]:
    """Single steps called from Python."""
    from benchmarks.stepping import measure_steps

    return _guarded(measure_steps)


def catalogue() -> list[Report]:
    """Every machine of the catalogue before and after: operations and building."""
    from benchmarks.catalogue import measure_building, measure_operations

    return [*_guarded(measure_operations), *_guarded(measure_building)]


def answers() -> list[Report]:
    """What a person waits for without asking: pages in a notebook, and a run after a slider has moved."""
    from benchmarks.answers import measure_pages, measure_sliders

    return [*_guarded(measure_pages), *_guarded(measure_sliders)]


def servo() -> list[Report]:
    """Servo laws of a parallel robot: single evaluations."""
    from benchmarks.servo import measure_servo

    return _guarded(measure_servo)


def export() -> list[Report]:
    """Exported C: a motion, and a controller that reads encoders."""
    from benchmarks.export import measure_export

    return _guarded(measure_export)


def cooperation() -> list[Report]:
    """Arms that carry one load: the cost of more arms, building them, and eight beside Pinocchio."""
    from benchmarks.cooperation import measure_beside_pinocchio, measure_building, measure_growth, measure_law

    measures = (measure_growth, measure_building, measure_law, measure_beside_pinocchio)
    return [report for measure in measures for report in _guarded(measure)]


def chains() -> list[Report]:
    """Long machines: building them, the cost of more links, and chains beside Pinocchio."""
    from benchmarks.chains import measure_beside_pinocchio, measure_building, measure_growth

    measures = (measure_building, measure_growth, measure_beside_pinocchio)
    return [report for measure in measures for report in _guarded(measure)]


GROUPS: dict[str, Callable[[], list[Report]]] = {
    group.__name__: group
    for group in (engines, stepping, starting, flexible, cooperation, chains, servo, export, answers, catalogue)
}


def main() -> None:
    """Measure, print the table, and write it as JSON if asked; bars that are missed do not fail the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure kalaba beside its peers.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file too")
    parser.add_argument("--only", choices=GROUPS, help="one group of measurements")
    arguments = parser.parse_args()
    reports = [report for name, run in GROUPS.items() if arguments.only in {None, name} for report in run()]
    bars = [bar for report in reports for bar in report.bars]
    remarks = [remark for report in reports for remark in report.remarks]
    _print_table(bars, remarks)
    if arguments.json:
        arguments.json.write_text(json.dumps(_data(bars, remarks), indent=2) + "\n")


def _guarded(measure: Callable[[], Report]) -> list[Report]:
    """Measure; what fails is told, and does not hide the rest."""
    try:
        return [measure()]
    except Exception:  # noqa: BLE001  (whatever it is, the other figures still count)
        return [Report((), (f"FAILED, its bars are missing below:\n{traceback.format_exc()}",))]


def _print_table(bars: list[Bar], remarks: list[str]) -> None:
    console = Console(width=None if Console().is_terminal else 160)
    table = Table(*COLUMNS)
    for bar in bars:
        table.add_row(*bar.cells, style=None if bar.met else "bold red")
    console.print(table)
    for remark in remarks:
        console.print(f"- {remark}", markup=False, highlight=False)
    console.print(f"{sum(bar.met for bar in bars)} of {len(bars)} bars met", style="bold")


def _data(bars: list[Bar], remarks: list[str]) -> dict[str, object]:
    return {
        "kalaba": kalaba.__version__,
        "python": platform.python_version(),
        "machine": platform.platform(),
        "bars": [as_data(bar) for bar in bars],
        "remarks": remarks,
    }


if __name__ == "__main__":
    main()
