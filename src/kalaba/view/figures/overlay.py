"""Measured data over ours: columns matched with quantities of a run, the differences, and both drawn."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.errors import KalabaError, ViewError, near
from kalaba.model.text.expressions import parse
from kalaba.model.units import actuator_units, row_units, unit_of
from kalaba.results.measured import Measured, read_measured
from kalaba.results.saving import Table, to_table
from kalaba.space.arrays import Array
from kalaba.units import counted, printed
from kalaba.view.figures.histories import heading
from kalaba.view.figures.quantities import label_of
from kalaba.view.figures.reading import values_of
from kalaba.view.sheet import Curve, Panel, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run

LETTERS = 64  # of a remark under a panel
SAME_NAMES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Match:
    """A column of measured data beside ours, at the times of the data that the run covers.

    Arguments:
        column: its name
        quantity: what it is in the run, an expression or a name
        unit: of both, "" if the expression does not say
        time: (n,), s
        measured: (n,)
        ours: (n,)
    """

    column: str
    quantity: str
    unit: str
    time: Array
    measured: Array
    ours: Array

    @property
    def root_mean_square(self) -> float:
        """√ of the mean of the squares of measured minus ours."""
        return float(np.sqrt(np.mean((self.measured - self.ours) ** 2)))

    @property
    def largest(self) -> tuple[float, float]:
        """The largest difference, measured minus ours, and its time in seconds."""
        gap = self.measured - self.ours
        at = int(np.argmax(np.abs(gap)))
        return float(gap[at]), float(self.time[at])

    @property
    def words(self) -> str:
        """Both on one line."""
        (most, at), unit = self.largest, printed(self.unit)
        rms = f"RMS difference {self.root_mean_square:.3g} {unit}".rstrip()
        return f"{rms}, largest {f'{most:.3g} {unit}'.rstrip()} at {at:.4g} s, {counted(len(self.time), 'sample')}"


def matched(run: Run, measured: Measured | str | Path, names: Mapping[str, str] = SAME_NAMES) -> tuple[Match, ...]:
    """Put columns of measured data beside what a run has of them, at the times of the data.

    Between samples of the run a smooth line through them is taken (PCHIP); save the run more often where that matters.

    Arguments:
        run: ours
        measured: the data, or the file that holds them
        names: by column what it is in the run: a name or an expression. Columns that are not in it are taken where
            their name is one of the run's own

    Raises:
        ViewError: no column is known, or the data lie outside the time of the run
    """
    check_arguments(matched, locals(), ViewError)
    data = read_measured(measured) if isinstance(measured, str | PathLike) else measured
    for column in names:
        if column not in data.columns:
            raise ViewError(f"{data.name}: no column {column!r}; {near(column, data.columns)}")
    own = to_table(run.data)
    quantities = {column: names.get(column, column) for column in data.columns}
    chosen = {column: text for column, text in quantities.items() if column in names or _is_known(run, own, text)}
    if not chosen:
        listed = ", ".join(data.columns) or "none"
        raise ViewError(
            f"{data.name}: none of its columns is a quantity of {run.plant.system.name}: {listed}. "
            'Say what one is: --map "column=crank.angle"'
        )
    for column in chosen:
        if column in data.unknown_units:
            unit = data.unknown_units[column]
            raise ViewError(
                f"{data.name}: column {column} is in {unit!r}, which is not known. Say what takes it to SI: "
                f'--scale "{column}=0.001"'
            )
    ours = _ours(run, own, tuple(chosen.values()))
    return tuple(_match(run, data, column, text, *ours[text]) for column, text in chosen.items())


def over(run: Run, measured: Measured | str | Path, names: Mapping[str, str] = SAME_NAMES) -> Figure:
    """Draw measured data, or another program's, under ours, one panel per column, with the differences in numbers.

    Arguments:
        run: ours
        measured: the data, or the file that holds them; `kb.plot.read_measured` shifts and scales them
        names: by column what it is in the run: a name or an expression; others are taken by equal names
    """
    check_arguments(over, locals(), ViewError)
    data = read_measured(measured) if isinstance(measured, str | PathLike) else measured
    return over_matches(run, data, matched(run, data, names))


def over_matches(run: Run, data: Measured, matches: Sequence[Match]) -> Figure:
    """The same of columns that are matched."""
    ours = _ours(run, to_table(run.data), tuple(match.quantity for match in matches))
    left = [column for column in data.columns if column not in {match.column for match in matches}]
    panels = [_panel(run, match, data, ours[match.quantity][0]) for match in matches]
    return sheet(heading(run, f"over {data.name}"), panels, [f"not drawn: {', '.join(left)}"] * bool(left))


def _panel(run: Run, match: Match, data: Measured, ours: Array) -> Panel:
    theirs = Curve(f"{data.name}: {match.column}", data.time, data.columns[match.column], is_published=True)
    curves = (theirs, Curve(match.quantity, run.time, ours))
    return Panel(match.quantity, label_of(match.unit), curves, remarks=tuple(textwrap.wrap(match.words, LETTERS)))


def _match(run: Run, data: Measured, column: str, quantity: str, ours: Array, unit: str) -> Match:
    from scipy.interpolate import PchipInterpolator

    whole = np.isfinite(ours)
    time, first = np.unique(run.time[whole], return_index=True)
    theirs = data.columns[column]
    if len(time) < 2:
        raise ViewError(f"{run.plant.system.name}: the run has fewer than two samples of {quantity}.")
    both = np.isfinite(theirs) & (data.time >= time[0]) & (data.time <= time[-1])
    if not both.any():
        raise ViewError(
            f"{data.name}: column {column} has no sample between {time[0]:g} and {time[-1]:g} s, the time of the run; "
            f"its times go from {data.time[0]:g} to {data.time[-1]:g} s. Shift them: --time-shift"
        )
    at = data.time[both]
    return Match(column, quantity, unit, at, theirs[both], PchipInterpolator(time, ours[whole][first])(at))


def _ours(run: Run, own: Table, texts: Sequence[str]) -> dict[str, tuple[Array, str]]:
    """Values and units of quantities: columns of the run as a table, names, and expressions."""
    read = values_of(run, [text for text in texts if text not in own.columns])
    from_table = {text: (own.columns[text], own.units[text]) for text in texts if text in own.columns}
    return from_table | {text: (values, _unit(run, text)) for text, values in read.items()}


def _is_known(run: Run, own: Table, text: str) -> bool:
    """Whether a name or an expression can be read off a run."""
    try:
        _ours(run, own, (text,))
    except KalabaError:
        return False
    return True


def _unit(run: Run, quantity: str) -> str:
    plant, machine = run.plant, run.plant.machine
    known = dict(zip(plant.actuators, actuator_units(machine), strict=True))
    known |= dict(zip(plant.constraints, row_units(machine), strict=True))
    known |= {output.name: output.unit for output in machine.outputs}
    return known[quantity] if quantity in known else unit_of(machine, parse(quantity))
