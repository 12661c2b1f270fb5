"""Runs that differ in what was varied: their readings, peaks and differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.cli.summary import Summary, summarise
from kalaba.view.figures.comparing import Readings, readings

if TYPE_CHECKING:
    from kalaba.results.run import Run

Array = NDArray[np.float64]
Values = dict[str, str]  # what is varied and its value, as typed


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the runs that are compared."""

    values: Values
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


def variant_of(values: Values, run: Run) -> Variant:
    """Read off a run: outputs and tips of beams, or coordinates where there is neither; motors."""
    found = readings(run)
    return Variant(values, run.time, found, summarise(run), float(run.energy_balance[-1]), run.status.failed)


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
