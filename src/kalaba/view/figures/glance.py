"""Overview: one figure that shows at a glance what moved, what pushed, and whether the books balance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.view.figures.books import energy_panels, residual_panels
from kalaba.view.figures.histories import (
    coordinate_panels,
    force_panels,
    heading,
    motor_panels,
    output_panels,
    velocity_panels,
)
from kalaba.view.sheet import Panel, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run


def overview(run: Run) -> Figure:
    """Draw coordinates, outputs or speeds, motors, constraint forces, residuals and the energy balance."""
    worst = "" if run.worst is None else f"; worst residual {run.worst.value:.1e} in {run.worst.row}"
    return sheet(heading(run) + worst, overview_panels(run))


def overview_panels(run: Run) -> list[Panel]:
    """What is worth showing of a run, in the order in which it is read."""
    found = coordinate_panels(run)[:2]
    found += output_panels(run)[:2] or velocity_panels(run)[:1]
    found += motor_panels(run)[:2]
    found += force_panels(run)[:2]
    return [*found, *residual_panels(run), *energy_panels(run)]
