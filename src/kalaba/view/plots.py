"""Plots of a Run: one figure that shows at a glance what moved, what held, and whether the books balance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.files.places import check_place
from kalaba.view.sheet import PICTURES, Line, Panel, draw_sheet

if TYPE_CHECKING:
    import xarray as xr

    from kalaba.run import Run

Array = NDArray[np.float64]
MOST_LINES = 8  # in one panel; the largest
RESTING = 1e-12  # in SI units: a panel whose lines all stay within it is not drawn
STEADY = 1e-9  # of the largest: lines that stay within it are left out
SAME = 1e-3  # of the height of a panel: lines that stay this close cannot be told apart
FLOOR = 1e-18  # residuals below it are zero to the eye
QUANTITIES = {"m": "position", "rad": "angle", "m/s": "speed", "rad/s": "rate", "N": "force", "N*m": "torque"}
UNITS = {"N*m": "N·m", "rad/s^2": "rad/s²", "m/s^2": "m/s²"}  # as they are printed


def overview(run: Run, path: str | Path) -> Path:
    """Draw coordinates, speeds or outputs, forces, residuals and the energy balance into one picture."""
    place = check_place(path, PICTURES)
    return draw_sheet(_heading(run), run.time, panels(run), place)


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
