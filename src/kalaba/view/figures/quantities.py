"""What is worth a line: quantities by unit, the largest of them, those that lie on each other as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kalaba.results.dataset import VARIABLES, unit_coordinate
from kalaba.space.arrays import Array
from kalaba.tolerances import DRAWN_RESTING, DRAWN_ROUNDING, DRAWN_SAME
from kalaba.units import printed
from kalaba.view.sheet import LONGEST_NAME, Panel, over_time

if TYPE_CHECKING:
    from kalaba.results.run import Run

Line = tuple[str, Array]  # a name and its values
MOST_LINES = 8  # in one panel; the largest
MOST_PARTS = 6  # of a machine that get a panel each
QUANTITIES = {
    "m": "position",
    "rad": "angle",
    "m/s": "speed",
    "rad/s": "rate",
    "N": "force",
    "N*m": "torque",
    "mm": "deflection",
    "J": "energy",
}


@dataclass(frozen=True, slots=True)
class Named:
    """Columns of a run with their names and units."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array  # (N, columns)


def label_of(unit: str) -> str:
    """What an axis says: the quantity and its unit."""
    return f"{QUANTITIES.get(unit, 'value')} [{printed(unit)}]" if unit else "value"


def named(run: Run, variable: str) -> Named:
    """A variable of a run's data set."""
    data, dimension = run.data, VARIABLES[variable][0]
    names, units = (tuple(map(str, data[key].values)) for key in (dimension, unit_coordinate(variable)))
    return Named(names, units, data[variable].values)


def unit_size(run: Run, unit: str) -> float:
    """How large a quantity of a unit is in a run, by the machine's length and mass and the run's duration."""
    return run.plant.scales.of_unit(unit, float(run.time[-1]) or 1.0)


def by_unit(
    run: Run, columns: Named, title: str, size: Callable[[Array], float], *, whole: bool = False
) -> list[Panel]:
    """One panel per unit, those with most lines first; what rests, and what is rounding beside the rest, is left out.

    Of many lines the largest are drawn; if the `whole` is asked for, all of them, in several panels.
    """
    groups = {
        unit: [i for i, other in enumerate(columns.units) if other == unit] for unit in dict.fromkeys(columns.units)
    }
    sizes = {unit: unit_size(run, unit) for unit in groups}
    pairs = zip(columns.units, columns.values.T, strict=True)
    least = max(
        DRAWN_RESTING, DRAWN_ROUNDING * max((size(column) / sizes[unit] for unit, column in pairs), default=0.0)
    )
    panels = []
    for unit, members in sorted(groups.items(), key=lambda group: -len(group[1])):
        moving = [i for i in members if size(columns.values[:, i]) > least * sizes[unit]]
        still = len(members) - len(moving)
        for words, part in _parts(columns.names, moving) if whole else [("", moving)] * bool(moving):
            lines, more = largest_of([(columns.names[i], columns.values[:, i]) for i in part], size)
            said = [f"{more} smaller"] * (more > 0) + [f"{still} at rest"] * (still > 0)
            note, still = f"not drawn: {', '.join(said)}" if said else "", 0
            panels.append(Panel(title + words, label_of(unit), over_time(run.time, merged(lines)), note=note))
    return panels


def _parts(names: Sequence[str], members: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Members that fit into one panel each: by the part of the machine that they belong to, or one after another."""
    if len(members) <= MOST_LINES:
        return [("", list(members))] * bool(members)
    owners = [names[i].partition(".")[0] if "." in names[i] else "" for i in members]
    groups = {owner: [i for i, other in zip(members, owners, strict=True) if other == owner] for owner in owners}
    if len(groups) <= MOST_PARTS and max(map(len, groups.values())) <= MOST_LINES:
        return [(f", {owner}" if owner else "", part) for owner, part in groups.items()]
    count = -(-len(members) // MOST_LINES)
    size = -(-len(members) // count)
    return [(f", {k + 1} of {count}", list(members[k * size : (k + 1) * size])) for k in range(count)]


def merged(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Draw lines that lie on each other as one with all their names."""
    finite = [values[np.isfinite(values)] for _, values in lines]
    whole = np.concatenate(finite) if finite else np.zeros(0)
    height = float(np.ptp(whole)) if whole.size else 0.0
    groups: list[tuple[list[str], Array]] = []
    for name, values in lines:
        same = (names for names, other in groups if _apart(values, other) <= DRAWN_SAME * height)
        together = next(same, None)
        if together is None:
            groups.append(([name], values))
        else:
            together.append(name)
    return tuple((shared(names), values) for names, values in groups)


def _apart(values: Array, other: Array) -> float:
    gaps = np.abs(values - other)
    gaps = gaps[np.isfinite(gaps)]
    return float(gaps.max()) if gaps.size else np.inf


def shared(names: Sequence[str]) -> str:
    """Several names in one, which a legend has room for."""
    whole = ", ".join(names)
    return whole if len(whole) <= LONGEST_NAME else f"{names[0]} and {len(names) - 1} more"


def largest_of(lines: Sequence[Line], size: Callable[[Array], float], most: int = MOST_LINES) -> tuple[list[Line], int]:
    """The largest lines, in their own order, and how many were left out."""
    sizes = [size(values) for _, values in lines]
    order = sorted(range(len(lines)), key=lambda index: -sizes[index])
    largest = sorted(order[:most])
    return [lines[index] for index in largest], len(lines) - len(largest)


def span(values: Array) -> float:
    """How far a line goes from its lowest to its highest point."""
    finite = values[np.isfinite(values)]
    return float(np.max(finite) - np.min(finite)) if finite.size else 0.0


def reach(values: Array) -> float:
    """How far a line goes from zero."""
    return float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))
