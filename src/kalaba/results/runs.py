"""Many runs of one machine, side by side: what `kb.simulate_batch` gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.boundary import check_whole
from kalaba.plant.state import State
from kalaba.results.dataset import VARIABLES, names, unit_coordinate
from kalaba.results.run import Status
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    import xarray as xr

    from kalaba.plant.plant import Plant


@dataclass(frozen=True, eq=False)
class Runs:
    """Many simulated motions of one machine: arrays have the runs along their first axis, the samples along the next.

    What a run has no value for, since it ended before, is NaN.

    Arguments:
        plant: the machine that moved, with its own numbers
        parameters: the numbers that differ, {parameter: (runs,)}
        time: times of the samples, (N,), s
        q: configurations, (runs, N, n_q)
        v: velocities, (runs, N, n_v)
        acceleration: rates of v, (runs, N, n_v)
        constraint_force: generalised force of the rows, (runs, N, n_v), N or N·m
        actuation: what the motors gave, (runs, N, motors), N or N·m
        status: how and when each run ended
        end: the last state of each run: q (runs, n_q) and v (runs, n_v)
        residual: the largest gap of any row over every step, in parts of the row's size, (runs,)
        steps: steps of all runs together
        wall_time: how long they took together, s
    """

    plant: Plant = field(repr=False)
    parameters: Mapping[str, Array] = field(repr=False)
    time: Array = field(repr=False)
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    acceleration: Array = field(repr=False)
    constraint_force: Array = field(repr=False)
    actuation: Array = field(repr=False)
    status: tuple[Status, ...] = field(repr=False)
    end: State = field(repr=False)
    residual: Array = field(repr=False)
    steps: int
    wall_time: float

    def __len__(self) -> int:
        return len(self.status)

    @property
    def failed(self) -> tuple[int, ...]:
        """Which runs broke off: their numbers."""
        return tuple(number for number, status in enumerate(self.status) if status.failed)

    def numbers(self, run: int) -> dict[str, float]:
        """The numbers that one run had, for `plant.with_parameters`.

        Arguments:
            run: its number
        """
        check_whole(run, "Runs.numbers: run", 0, len(self) - 1)
        return {name: float(values[run]) for name, values in self.parameters.items()}

    @property
    def data(self) -> xr.Dataset:
        """Everything as a labelled data set, with names and units, along `run` and `time`."""
        import xarray as xr

        variables: dict[str, Any] = {}
        for name in _RECORDED:
            dimension, _, words = VARIABLES[name]
            along = ("run", "time", dimension)
            variables[name] = (
                along,
                getattr(self, name),
                {"long_name": words, "units": f"see {unit_coordinate(name)}"},
            )
        variables |= {name: ("run", values) for name, values in self.parameters.items()}
        variables["status"] = ("run", [status.ending.value for status in self.status])
        machine = self.plant.machine
        named = {key: (along, np.array(entries, dtype=str)) for key, (along, entries) in names(machine).items()}
        dimensions = {"run", "time", *(VARIABLES[name][0] for name in _RECORDED)}
        beside = {key: value for key, value in named.items() if value[0] in dimensions}
        time = ("time", self.time, {"units": "s", "long_name": "time"})
        return xr.Dataset(variables, coords={"run": np.arange(len(self)), "time": time, **beside})


_RECORDED = ("q", "v", "acceleration", "constraint_force", "actuation")
