"""Results in a notebook: a Run as a few numbers and a picture, a Mobility as freedoms and dependent rows."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from kalaba.model.listing import Table, folded_html, table
from kalaba.space.arrays import Array
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.analyse.mobility import Mobility
    from kalaba.results.run import Run

POINTS = 240  # of a curve
CURVES = 8  # of a panel
WIDTH, HEIGHT, EDGE = 360, 150, 34  # of a panel, in pixels
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933")


def run_html(run: Run) -> str:
    """Heading, ending, worst residual, peaks, and the coordinates and forces over time."""
    machine = run.plant.machine
    rows = [("status", _status(run))]
    rows.append(("time", f"{run.status.time:g} s simulated in {run.effort.wall_time:.3g} s, {run.effort.steps} steps"))
    if run.worst is not None:
        rows.append(("worst residual", f"{run.worst.value:.3g} in {run.worst.row} at {run.worst.time:.4g} s"))
    for word, values, names in _forces(run):
        peak = _peak(values, names, run.time)
        if peak:
            rows.append((f"peak of the {word}", peak))
    pictures = [panel("coordinates", run.time, run.q, [f"{c.name} ({c.unit})" for c in machine.coordinates])]
    pictures += [panel(word, run.time, values, list(labels)) for word, values, labels in _forces(run)]
    summary = "".join(f"<tr><td>{escape(a)}</td><td style='text-align:left'>{escape(b)}</td></tr>" for a, b in rows)
    head = f"<b>Run of {escape(run.plant.system.name)}</b>: {counted(len(run.time), 'sample')}"
    return f"<div>{head}<table>{summary}</table><div>{''.join(pictures)}</div></div>"


def _status(run: Run) -> str:
    return f"{run.status.ending.value}{': ' if run.status.message else ''}{run.status.message}"


def _forces(run: Run) -> list[tuple[str, Array, tuple[str, ...]]]:
    forces = [("constraint forces", run.constraint_force, run.plant.velocities)] if run.plant.constraints else []
    return [*forces, ("motors", run.actuation, run.plant.actuators)] if run.plant.actuators else forces


def _peak(values: Array, names: tuple[str, ...], time: Array) -> str:
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    if not sizes.size or not sizes.any():
        return ""
    sample, index = np.unravel_index(int(np.argmax(sizes)), sizes.shape)
    return f"{values[sample, index]:.4g} in {names[index]} at {time[sample]:.4g} s"


def panel(title: str, time: Array, values: Array, names: list[str]) -> str:
    """Curves over time as SVG: the entries that move most, thinned to what can be seen."""
    finite = np.where(np.isfinite(values), values, np.nan)
    if not values.size or len(time) < 2 or not np.nan_to_num(finite).any():
        return ""
    spans = np.nanmax(finite, axis=0, initial=-np.inf) - np.nanmin(finite, axis=0, initial=np.inf)
    chosen = sorted(np.argsort(-np.nan_to_num(spans), kind="stable")[:CURVES])
    picked = np.unique(np.linspace(0, len(time) - 1, POINTS).astype(int))
    low, high = float(np.nanmin(finite[:, chosen])), float(np.nanmax(finite[:, chosen]))
    high = high if high > low else low + 1.0
    x = EDGE + (time[picked] - time[0]) / max(time[-1] - time[0], 1e-300) * (WIDTH - EDGE - 4)
    curves = "".join(_curve(x, finite[picked, k], (low, high), COLOURS[i], names[k]) for i, k in enumerate(chosen))
    left = f"<text x='2' y='12' font-size='9'>{high:.3g}</text>"
    left += f"<text x='2' y='{HEIGHT - 16}' font-size='9'>{low:.3g}</text>"
    base = HEIGHT - 4
    below = f"<text x='{EDGE}' y='{base}' font-size='9'>{time[0]:g} s</text>"
    below += f"<text x='{WIDTH - 4}' y='{base}' font-size='9' text-anchor='end'>{time[-1]:g} s</text>"
    over = f", {CURVES} of {values.shape[1]}" if values.shape[1] > CURVES else ""
    middle = f"<text x='{WIDTH // 2}' y='{base}' font-size='10' text-anchor='middle'>{escape(title + over)}</text>"
    named = [f"<span style='color:{COLOURS[i]}'>{escape(names[k])}</span>" for i, k in enumerate(chosen)]
    legend = f"<div style='font-size:10px;width:{WIDTH}px'>{', '.join(named)}</div>"
    frame = f"<rect x='{EDGE}' y='4' width='{WIDTH - EDGE - 4}' height='{HEIGHT - 22}' fill='none' stroke='#bbb'/>"
    size = f"width='{WIDTH}' height='{HEIGHT}' style='background:white'"
    drawn = f"<svg xmlns='http://www.w3.org/2000/svg' {size}>{frame}{curves}{left}{below}{middle}</svg>"
    return f"<div style='display:inline-block;vertical-align:top'>{drawn}{legend}</div>"


def _curve(x: Array, values: Array, span: tuple[float, float], colour: str, name: str) -> str:
    """One curve; a gap where there is no number."""
    y = 4 + (span[1] - values) / (span[1] - span[0]) * (HEIGHT - 22)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
    return f"<polyline points='{points}' fill='none' stroke='{colour}'><title>{escape(name)}</title></polyline>"


def mobility_html(mobility: Mobility) -> str:
    """Freedoms, rank, dependent rows and how near the start is to a singular position."""
    size = f"{mobility.velocities} velocities, {counted(len(mobility.rows), 'row')} of rank {mobility.rank}"
    free = "freedom" if mobility.freedoms == 1 else "freedoms"
    head = f"<b>{escape(mobility.name)}</b>: {size}, <b>{mobility.freedoms} {free}</b>"
    near = f" ({mobility.freedoms_nearby} nearby)" if mobility.freedoms_nearby != mobility.freedoms else ""
    value = f"{mobility.smallest_singular_value:.3g}"
    weak = f"<br>smallest singular value {value} ({escape(mobility.weakest_row)})" if mobility.rows else ""
    loose = ", ".join(mobility.non_unique_reactions)
    free_forces = f"<br>reactions that are not unique: {escape(loose)}" if loose else ""
    return f"<div>{head}{near}{weak}{free_forces}{folded_html(dependencies(mobility))}</div>"


def dependencies(mobility: Mobility) -> Table:
    """Rows that say nothing new: what each follows from, and when."""
    rows = (
        (row, combination(terms), "while the loop is closed" if row in mobility.on_manifold_only else "always")
        for row, terms in mobility.dependencies
    )
    return table("rows that say nothing new", ("row", "follows from", "holds"), rows)


def combination(terms: Iterable[tuple[str, float]]) -> str:
    """A row in terms of others: +1 a -2 b; 0 where it is empty."""
    return " ".join(f"{factor:+.3g} {other}" for other, factor in terms) or "0"
