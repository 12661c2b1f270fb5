"""Runs that differ in what was varied: their readings, peaks and differences, as tables, data, files and figures."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.cli.summary import Summary, summarise
from kalaba.model.listing import Table, table
from kalaba.results.places import replacing
from kalaba.space.arrays import Array
from kalaba.tolerances import PRINTED_ROUNDING
from kalaba.view.figures.comparing import MISSED, Readings, compared, missed, readings
from kalaba.view.sheet import save

if TYPE_CHECKING:
    from kalaba.control.goals import Goal
    from kalaba.results.run import Run

MISSING = "-"  # in place of a number that a variant does not have


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the runs that are compared."""

    values: dict[str, str]  # what is varied and its value, as typed
    time: Array
    readings: Readings
    summary: Summary
    energy_error: float  # J, at the end
    failed: bool  # broke off

    @property
    def label(self) -> str:
        """What sets it apart."""
        return ", ".join(f"{key}={value}" for key, value in self.values.items())

    def at(self, time: Array, name: str) -> Array:
        """A reading at other times; NaN where it has none."""
        if name not in self.readings:
            return np.full(len(time), np.nan)
        return np.interp(time, self.time, self.readings[name].values, right=np.nan)


def variant_of(values: dict[str, str], run: Run, goals: Sequence[Goal] = ()) -> Variant:
    """Read off a run: outputs and tips of beams, or coordinates where there is neither; missed goals; motors."""
    shown = missed(run, goals) | readings(run)
    return Variant(values, run.time, shown, summarise(run, goals), float(run.energy_balance[-1]), run.status.failed)


def units_of(variants: Sequence[Variant]) -> dict[str, str]:
    """Every reading of any variant, with its unit."""
    return {name: reading.unit for variant in variants for name, reading in variant.readings.items()}


def peaks(variant: Variant, names: Sequence[str]) -> list[float]:
    """The largest size of each reading; NaN for one that the variant does not have."""
    return [_most(variant.at(variant.time, name)) for name in names]


def differences(variant: Variant, last: Variant, names: Sequence[str]) -> list[float]:
    """The largest difference of each reading to the last variant, while both ran."""
    return [_most(variant.at(last.time, name) - last.at(last.time, name)) for name in names]


def as_tables(variants: Sequence[Variant]) -> tuple[Table, Table]:
    """Peaks of every variant, and the largest differences of all others to the last; what is rounding is 0.

    The second has what a variant shares with the last one, and no rows where that is nothing. Quantities stand below
    each other, with a column per variant; if there are more variants than quantities it is the other way round.
    """
    units, last = units_of(variants), variants[-1]
    headings, zeros = _headings(units), _zeros(variants, units)
    columns = [[*_cells(peaks(one, list(units)), zeros), *_ended(one)] for one in variants]
    ends = ("constraint force", "energy balance at the end [J]", "wall time [s]")
    peak_table = _laid_out(f"{_of_one(variants)}peaks", variants, [*headings, *ends], columns)
    apart = [_cells(differences(one, last, list(units)), zeros) for one in variants[:-1]]
    shared = [index for index in range(len(headings)) if any(cells[index] != MISSING for cells in apart)]
    difference_table = _laid_out(
        f"largest difference to {last.label}",
        variants[:-1],
        [headings[index] for index in shared],
        [[cells[index] for index in shared] for cells in apart],
    )
    return peak_table, difference_table


def _laid_out(title: str, variants: Sequence[Variant], headings: list[str], columns: list[list[str]]) -> Table:
    """A table with the longer side down: quantities, or variants."""
    if not headings:
        return table(title, (), ())
    if len(variants) > len(headings):
        rows = [(*one.values.values(), *cells) for one, cells in zip(variants, columns, strict=True)]
        return table(title, [*variants[0].values, *headings], rows)
    return table(title, ["", *(one.label for one in variants)], zip(headings, *columns, strict=True))


def _ended(variant: Variant) -> tuple[str, str, str]:
    """The largest constraint force, the energy balance at the end and the time that a variant took."""
    force = variant.summary.constraint_force
    energy = rounded(variant.energy_error, PRINTED_ROUNDING * variant.summary.energy_exchanged)
    forced = f"{force.value:.5g} {force.unit} in {force.name}" if force else "none"
    return forced, f"{energy:.2g}", f"{variant.summary.wall_time:.3g}"


def _of_one(variants: Sequence[Variant]) -> str:
    """The name of the machine where all are of one, to begin a title with."""
    names = {variant.summary.name for variant in variants}
    return f"{names.pop()}: " if len(names) == 1 else ""


def as_data(variants: Sequence[Variant]) -> dict[str, Any]:
    """The same and the summary of every run, for JSON."""
    units, last = units_of(variants), variants[-1]
    names = list(units)
    listed = [
        {
            "values": variant.values,
            "peaks": dict(zip(names, peaks(variant, names), strict=True)),
            "differences": dict(zip(names, differences(variant, last, names), strict=True)),
            "energy_balance": variant.energy_error,
            "summary": variant.summary.plain(),
        }
        for variant in variants
    ]
    return {"units": units, "variants": listed}


def write(variants: Sequence[Variant], output: Path) -> None:
    """Write the readings to .csv: one line per sample and variant; numbers keep all digits."""
    units = units_of(variants)
    with replacing(output) as beside, beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*variants[0].values, *_headings({"time": "s", **units})])
        for variant in variants:
            columns = [variant.time, *(variant.at(variant.time, name) for name in units)]
            writer.writerows([*variant.values.values(), *map(float, row)] for row in zip(*columns, strict=True))


def draw(variants: Sequence[Variant], output: Path) -> None:
    """Draw one panel per reading, one line per variant; motors too, and nothing that rests."""
    heading = f"{_of_one(variants)}{', '.join(variants[0].values)}"
    save(compared(heading, [(variant.label, variant.time, variant.readings) for variant in variants]), output)


def _headings(units: dict[str, str]) -> list[str]:
    return [f"{name} [{unit}]" if unit else name for name, unit in units.items()]


def _cells(values: Sequence[float], zeros: Sequence[float]) -> list[str]:
    pairs = zip(values, zeros, strict=True)
    return [MISSING if math.isnan(value) else f"{rounded(value, zero):.5g}" for value, zero in pairs]


def _zeros(variants: Sequence[Variant], units: dict[str, str]) -> list[float]:
    """What is rounding in each reading: a part of the largest of all readings in its unit, of any run."""
    largest: dict[str, float] = {}
    for variant in variants:
        for (name, unit), peak in zip(units.items(), peaks(variant, list(units)), strict=True):
            if name not in MISSED:
                largest[unit] = max(largest.get(unit, 0.0), 0.0 if math.isnan(peak) else peak)
    return [PRINTED_ROUNDING * largest.get(unit, 0.0) for unit in units.values()]


def rounded(value: float, zero: float) -> float:
    """A number to print; 0 where it is rounding."""
    return value if abs(value) > zero else 0.0


def _most(values: Array) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else float("nan")
