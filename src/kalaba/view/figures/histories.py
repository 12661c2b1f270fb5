"""What moves and what pushes, over time: coordinates, speeds, outputs, motors, forces of the constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kalaba.errors import ViewError
from kalaba.view.figures.quantities import Named, by_unit, named, reach, span
from kalaba.view.sheet import Panel, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run


def heading(run: Run, what: str = "") -> str:
    """Name of the machine, how long it ran and how that ended."""
    ended = "" if run.status.ending.value == "done" else f", {run.status.ending.value}"
    return f"{run.plant.system.name}{what and f', {what}'}: {run.status.time:.4g} s{ended}"


def coordinates(run: Run) -> Figure:
    """Draw the coordinates that move, one panel a unit; quaternions, which say little to the eye, are left out."""
    return _drawn(run, "coordinates", coordinate_panels(run, whole=True), "no coordinate moves")


def speeds(run: Run) -> Figure:
    """Draw the velocities, one panel a unit."""
    return _drawn(run, "velocities", velocity_panels(run, whole=True), "nothing moves")


def outputs(run: Run) -> Figure:
    """Draw the outputs that the machine names, one panel a unit."""
    return _drawn(run, "outputs", output_panels(run, whole=True), "the machine has no outputs that change")


def motors(run: Run) -> Figure:
    """Draw what the motors give, one panel a unit."""
    lacking = "no motor acts" if run.plant.actuators else "the machine has no motors"
    return _drawn(run, "motors", motor_panels(run, whole=True), lacking)


def forces(run: Run) -> Figure:
    """Draw the generalised forces by which the constraints act on the velocities, one panel a unit."""
    lacking = "the constraints carry no force" if run.plant.constraints else "the machine has no constraints"
    return _drawn(run, "forces of the constraints", force_panels(run, whole=True), lacking)


def coordinate_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the coordinates."""
    found = named(run, "q")
    kept = [i for i, unit in enumerate(found.units) if unit != "1"]
    plain = Named(tuple(found.names[i] for i in kept), tuple(found.units[i] for i in kept), found.values[:, kept])
    return by_unit(run, plain, "coordinates", span, whole=whole)


def velocity_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the velocities."""
    return by_unit(run, named(run, "v"), "velocities", reach, whole=whole)


def output_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the outputs; one that stays where it is, such as a height that is held, rests."""
    return by_unit(run, named(run, "outputs"), "outputs", span, whole=whole)


def motor_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the motors."""
    return by_unit(run, named(run, "actuation"), "motors", reach, whole=whole)


def force_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the constraints' forces; beside motors that push, what is rounding is no force."""
    found = named(run, "constraint_force")
    felt = 1e-9 * reach(run.actuation) if run.actuation.size else 0.0
    values = np.where(np.abs(found.values) > felt, found.values, 0.0)
    return by_unit(run, Named(found.names, found.units, values), "constraint force", reach, whole=whole)


def _drawn(run: Run, what: str, panels: list[Panel], lacking: str) -> Figure:
    if not panels:
        raise ViewError(f"{run.plant.system.name}: {lacking}, so there are no {what} to draw. Try --figure overview.")
    return sheet(heading(run, what), panels)
