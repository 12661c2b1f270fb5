"""Data set ↔ table: one row a sample, one column a quantity.

A column bears the name by which `run[…]` knows it where there is one: `crank.angle`, `rate(crank.angle)`. `time`,
`energy` and the like stand alone; all others say first what they are: `acceleration:crank.angle`,
`constraint_force:crank.angle`, `actuation:motor`, `residual:pin.x`, `outputs:reach`. No name holds a colon, so no two
columns collide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalaba.model.serial import from_json
from kalaba.results.dataset import OPTIONAL, VARIABLES, labelled, names, unit_coordinate

if TYPE_CHECKING:
    import xarray as xr

Array = NDArray[np.float64]
TIME = "time"
ALONE = {TIME, *(variable for variable, (dimension, _, _) in VARIABLES.items() if not dimension)}


class Table(NamedTuple):
    """Columns with their units, and the provenance of all of them."""

    columns: dict[str, Array]
    units: dict[str, str]
    provenance: dict[str, Any]


def to_table(data: xr.Dataset) -> Table:
    """Lay a data set out flat."""
    along = {str(name): [str(entry) for entry in array.values] for name, array in data.coords.items() if name != TIME}
    columns, units = {TIME: data[TIME].values}, {TIME: "s"}
    for variable, (dimension, unit, _) in VARIABLES.items():
        if variable not in data:
            continue
        values = data[variable].values if dimension else data[variable].values[:, None]
        column_units = along[unit_coordinate(variable)] if dimension else [unit]
        for index, name in enumerate(column_names(variable, along)):
            columns[name], units[name] = values[:, index], column_units[index]
    return Table(columns, units, dict(data.attrs))


def from_table(columns: Mapping[str, Array], said: Mapping[str, Any]) -> xr.Dataset:
    """Put the columns of a table back under the names of the machine that the provenance describes."""
    machine = from_json(said["system"]).machine
    along = {name: entries for name, (_, entries) in names(machine).items()}
    size = len(columns[TIME])
    wanted = {variable: column_names(variable, along) for variable in VARIABLES}
    values = {
        variable: _stacked(columns, entries_wanted, size)
        for variable, entries_wanted in wanted.items()
        if variable not in OPTIONAL or all(name in columns for name in entries_wanted)
    }
    return labelled(machine, columns[TIME], values, said)


def column_names(variable: str, along: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of a variable's columns, from those along its dimension."""
    dimension = VARIABLES[variable][0]
    if not dimension:
        return [variable]
    entries = along[dimension]
    if variable == "q":
        return [f"q:{name}" if name in ALONE else name for name in entries]
    if variable == "v":
        plain = set(along["coordinate"])
        return [f"rate({name})" if name in plain else name for name in entries]
    return [f"{variable}:{name}" for name in entries]


def _stacked(columns: Mapping[str, Array], wanted: Sequence[str], size: int) -> Array:
    return np.column_stack([columns[name] for name in wanted]) if wanted else np.zeros((size, 0))
