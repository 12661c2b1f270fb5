"""Quantities of a run that can be plotted: groups of lines in one unit, by the words of the notation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kalaba.model.units import actuator_units
from kalaba.space.arrays import Array
from kalaba.tolerances import DRAWN_FLOOR, STUDIO_RESTING
from kalaba.units import force_unit, printed
from kalaba.view.figures.quantities import unit_size

if TYPE_CHECKING:
    from kalaba.results.run import Run

MOST = 7  # lines in one plot: the largest; as many as there are colours


@dataclass(frozen=True)
class Quantity:
    """Lines over time in one unit."""

    title: str
    unit: str
    names: tuple[str, ...]
    values: Array  # (N, lines)
    is_logarithmic: bool = False

    @property
    def label(self) -> str:
        """The title with its unit."""
        return self.title if self.unit in {"", "1"} else f"{self.title} [{printed(self.unit)}]"


def quantities(run: Run) -> tuple[Quantity, ...]:
    """All that moves in a run, in the order in which it is looked at."""
    return tuple(q for q in _all(run) if q.names and np.isfinite(q.values).any())


def _all(run: Run) -> Iterator[Quantity]:
    machine = run.plant.machine
    plain = [i for i, c in enumerate(machine.coordinates) if c.unit != "1"]  # quaternions say little to the eye
    names, units = [c.name for c in machine.coordinates], [c.unit for c in machine.coordinates]
    yield from _by_unit(run, "coordinates", [names[i] for i in plain], [units[i] for i in plain], run.q[:, plain])
    rates = [c.unit for c in machine.velocities]
    yield from _by_unit(run, "speeds", [c.name for c in machine.velocities], rates, run.v)
    yield from _by_unit(run, "motors", run.plant.actuators, actuator_units(machine), run.actuation)
    forces = [force_unit(unit) for unit in rates]
    yield from _by_unit(run, "constraint force", run.plant.velocities, forces, run.constraint_force)
    outputs = machine.outputs
    if outputs:
        yield from _by_unit(
            run, "outputs", [o.name for o in outputs], [o.unit for o in outputs], run.observed["outputs"]
        )
    yield Quantity("energy", "J", ("gained", "work done"), np.column_stack([run.energy - run.energy[0], run.work]))
    if run.plant.constraints:
        worst = np.maximum(np.abs(run.residual).max(axis=1), DRAWN_FLOOR)
        yield Quantity("largest residual", "", ("residual",), worst[:, None], is_logarithmic=True)


def _by_unit(run: Run, title: str, names: Sequence[str], units: Sequence[str], values: Array) -> Iterator[Quantity]:
    """One group per unit, with its largest lines; nothing for what rests."""
    for unit in dict.fromkeys(units):
        mine = [i for i, other in enumerate(units) if other == unit]
        spans = {
            i: float(np.nanmax(np.abs(values[:, i] - (values[0, i] if title == "coordinates" else 0)))) for i in mine
        }
        largest = sorted(sorted(mine, key=lambda i: -spans[i])[:MOST])
        if largest and max(spans.values()) > STUDIO_RESTING * unit_size(run, unit):
            yield Quantity(title, unit, tuple(names[i] for i in largest), values[:, largest])
