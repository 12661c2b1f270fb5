"""Plots of a Run: one figure that shows at a glance what moved, what held, and whether the books balance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.files.places import check_place, replacing

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

    from kalaba.run import Run

Array = NDArray[np.float64]
Line = tuple[str, Array]  # a name and its values
PICTURES = (".png", ".svg", ".pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito, without yellow
DASHES = ("-", "--")
MOST_LINES = 8  # in one panel; the largest
RESTING = 1e-12  # in SI units: a panel whose lines all stay within it is not drawn
STEADY = 1e-9  # of the largest: lines that stay within it are left out
SAME = 1e-3  # of the height of a panel: lines that stay this close cannot be told apart
FLOOR = 1e-18  # residuals below it are zero to the eye
HEADROOM = 0.08  # of the height of a panel, for each line of its legend
LEGEND_LETTERS = 72  # that fit beside each other in a panel
PANEL_SIZE = (4.6, 2.9)  # inches
QUANTITIES = {"m": "position", "rad": "angle", "m/s": "speed", "rad/s": "rate", "N": "force", "N*m": "torque"}
UNITS = {"N*m": "N·m", "rad/s^2": "rad/s²", "m/s^2": "m/s²"}  # as they are printed


@dataclass(frozen=True, slots=True)
class Panel:
    """What one set of axes shows."""

    title: str
    label: str  # of the vertical axis, with its unit
    lines: tuple[Line, ...]
    is_logarithmic: bool = False
    note: str = ""


def overview(run: Run, path: str | Path) -> Path:
    """Draw coordinates, speeds or outputs, forces, residuals and the energy balance into one picture."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    place = check_place(path, PICTURES)
    shown = panels(run)
    columns = 2 if len(shown) in {1, 2, 3, 4, 7, 8} else 3  # so that little of the sheet stays empty
    rows = math.ceil(len(shown) / columns)
    with rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"}):
        figure = Figure(figsize=(PANEL_SIZE[0] * columns, PANEL_SIZE[1] * rows + 0.5), layout="constrained")
        figure.suptitle(_heading(run), fontsize=11, x=0.01, ha="left")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
        for axes, panel in zip(grid, shown, strict=False):
            _draw(axes, run.time, panel)
        for index, axes in enumerate(grid):
            axes.set_visible(index < len(shown))
            if index >= len(shown) - columns:
                axes.set_xlabel("time [s]")
                axes.tick_params(labelbottom=True)
        with replacing(place) as beside:
            figure.savefig(beside, dpi=130)
    return place


def _heading(run: Run) -> str:
    worst = "" if run.worst is None else f"; worst residual {run.worst.value:.1e} in {run.worst.row}"
    ended = "" if run.status.ending.value == "done" else f", {run.status.ending.value}"
    return f"{run.plant.system.name}: {run.status.time:g} s{ended}{worst}"


def panels(run: Run) -> list[Panel]:
    """What is worth showing of a run, in the order in which it is read."""
    data = run.data
    found = _by_unit(data, "q", "coordinate_unit", "coordinates", 2)
    of_outputs = _by_unit(data, "outputs", "output_unit", "outputs", 2)
    found += of_outputs or _by_unit(data, "v", "velocity_unit", "velocities", 1)
    found += _by_unit(data, "actuation", "actuator_unit", "motors", 2)
    found += _by_unit(data, "constraint_force", "force_unit", "constraint force", 2)
    return [*found, *_residuals(run), *_energies(run)]


def _by_unit(data: xr.Dataset, variable: str, unit_coordinate: str, title: str, most: int) -> list[Panel]:
    """One panel a unit, those with most lines first; nothing for a variable that stays zero."""
    values = data[variable]
    units = [str(unit) for unit in data[unit_coordinate].values]
    if not values.size or not np.any(values.values):
        return []
    groups = {unit: [i for i, own in enumerate(units) if own == unit] for unit in dict.fromkeys(units)}
    names = [str(name) for name in data[values.dims[1]].values]
    found = []
    for unit, members in sorted(groups.items(), key=lambda group: -len(group[1])):
        if unit == "1" and variable == "q":  # quaternions say little to the eye
            continue
        size = _span if variable == "q" else _reach
        if all(size(values.values[:, i]) < RESTING for i in members):
            continue
        lines, note = _largest([(names[i], values.values[:, i]) for i in members], size)
        label = f"{QUANTITIES.get(unit, 'value')} [{UNITS.get(unit, unit)}]" if unit else "value"
        found.append(Panel(title, label, _merged(lines), note=note))
    return found[:most]


def _merged(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Draw lines that lie on each other as one that bears all their names."""
    height = max(float(np.nanmax(values)) for _, values in lines) - min(float(np.nanmin(values)) for _, values in lines)
    groups: list[tuple[list[str], Array]] = []
    for name, values in lines:
        same = (names for names, other in groups if np.nanmax(np.abs(values - other)) <= SAME * height)
        together = next(same, None)
        if together is None:
            groups.append(([name], values))
        else:
            together.append(name)
    return tuple((", ".join(names), values) for names, values in groups)


def _largest(lines: Sequence[Line], size: Callable[[Array], float]) -> tuple[tuple[Line, ...], str]:
    """The largest lines, in their own order, and a note if some were left out."""
    sizes = [size(values) for _, values in lines]
    order = sorted(range(len(lines)), key=lambda index: -sizes[index])
    kept = sorted([index for index in order if sizes[index] > STEADY * max(sizes)][:MOST_LINES])
    left_out = len(lines) - len(kept)
    return tuple(lines[index] for index in kept), f"{left_out} more are smaller" if left_out else ""


def _span(values: Array) -> float:
    """How far a line goes from its lowest to its highest point."""
    finite = values[np.isfinite(values)]
    return float(np.max(finite) - np.min(finite)) if finite.size else 0.0


def _reach(values: Array) -> float:
    """How far a line goes from zero."""
    return float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))


def _residuals(run: Run) -> list[Panel]:
    if not run.plant.constraints:
        return []
    sizes = np.abs(run.residual)
    worst = np.argsort(-np.nanmax(sizes, axis=0), kind="stable")[:MOST_LINES]
    seen = [i for i in sorted(worst) if np.nanmax(sizes[:, i]) > FLOOR]
    lines = tuple((run.plant.constraints[i], np.where(sizes[:, i] > FLOOR, sizes[:, i], np.nan)) for i in seen)
    left_out = len(run.plant.constraints) - len(lines)
    note = f"{left_out} more are smaller or zero" if left_out else ""
    return [Panel("constraint residuals", "|residual| [m, rad]", lines, is_logarithmic=True, note=note)]


def _energies(run: Run) -> list[Panel]:
    kinetic, potential = (run.observed[name][:, 0] for name in ("kinetic", "potential"))
    off = np.abs(run.energy_balance)
    lines = (
        ("kinetic", kinetic),
        ("potential (change)", potential - potential[0]),
        ("work done", run.work),
    )
    balance = (("|energy gained − work done|", np.where(off > 0, off, np.nan)),)
    return [
        Panel("energy", "energy [J]", _merged(lines)),
        Panel("energy balance", "error [J]", balance, is_logarithmic=True, note=f"{np.nanmax(off):.1e} J at most"),
    ]


def _draw(axes: Axes, time: Array, panel: Panel) -> None:
    for index, (name, values) in enumerate(panel.lines):
        colour, dash = COLOURS[index % len(COLOURS)], DASHES[(index // len(COLOURS)) % len(DASHES)]
        axes.plot(time, values, dash, color=colour, linewidth=0.8 if panel.is_logarithmic else 1.3, label=name)
    if panel.is_logarithmic and any(np.isfinite(values).any() for _, values in panel.lines):
        axes.set_yscale("log")
    axes.set_title(panel.title, loc="left", fontsize=10, fontweight="bold")
    if panel.note:
        axes.set_title(panel.note, loc="right", fontsize=8, color="0.35")
    axes.set_ylabel(panel.label)
    axes.margins(x=0.01, y=0.06)
    axes.grid(visible=True, color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    if panel.lines:
        _add_legend(axes, [name for name, _ in panel.lines])


def _add_legend(axes: Axes, names: list[str]) -> None:
    """Put the legend above the lines, with room made for it."""
    columns = max(1, min(4, LEGEND_LETTERS // (max(map(len, names)) + 5)))
    room = HEADROOM * math.ceil(len(names) / columns)
    to_axis = axes.yaxis.get_transform()
    bottom, top = to_axis.transform(np.array(axes.get_ylim()))
    axes.set_ylim(top=float(to_axis.inverted().transform([top + (top - bottom) * room / (1 - room)])[0]))
    style = {"fontsize": 7, "frameon": False, "handlelength": 1.4, "columnspacing": 1.0, "labelspacing": 0.25}
    axes.legend(loc="upper left", ncols=columns, borderaxespad=0.2, **style)
