"""Runs that differ in what was varied: their readings, peaks and differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalaba.cli.summary import Summary, summarise

if TYPE_CHECKING:
    from kalaba.run import Run

Array = NDArray[np.float64]
Values = dict[str, str]  # what is varied and its value, as typed


class Reading(NamedTuple):
    """A quantity over time."""

    unit: str
    values: Array
    is_drawn: bool


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the runs that are compared."""

    values: Values
    time: Array
    readings: dict[str, Reading]
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


def variant_of(values: Values, run: Run) -> Variant:
    """Read off a run: outputs and tips of beams, or coordinates where there is neither; motors."""
    tips = [name for name in run.plant.machine.displacements if name.rpartition(".")[2].startswith("tip_deflection")]
    found = _along(run, "outputs", "output_unit")
    found |= {name: Reading("mm", 1e3 * run[name], is_drawn=True) for name in tips}
    if not found:
        found = {name: own for name, own in _along(run, "q", "coordinate_unit").items() if own.unit != "1"}
    motors = _along(run, "actuation", "actuator_unit")
    found |= {name: own._replace(is_drawn=False) for name, own in motors.items()}
    return Variant(values, run.time, found, summarise(run), float(run.energy_balance[-1]), run.status.failed)


def _along(run: Run, variable: str, unit_coordinate: str) -> dict[str, Reading]:
    array = run.data[variable]
    names, units = (run.data[key].values for key in (array.dims[1], unit_coordinate))
    return {
        str(name): Reading(str(unit), array.values[:, i], is_drawn=True)
        for i, (name, unit) in enumerate(zip(names, units, strict=True))
    }


def units_of(found: Sequence[Variant]) -> dict[str, str]:
    """Every reading of any variant, with its unit."""
    return {name: own.unit for variant in found for name, own in variant.readings.items()}


def peaks(variant: Variant, names: Sequence[str]) -> list[float]:
    """The largest size of each reading; NaN for one that the variant does not have."""
    return [_most(variant.at(variant.time, name)) for name in names]


def differences(variant: Variant, last: Variant, names: Sequence[str]) -> list[float]:
    """The largest difference of each reading to the last variant, while both ran."""
    return [_most(variant.at(last.time, name) - last.at(last.time, name)) for name in names]


def _most(values: Array) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else float("nan")
