"""Quantities over time: what moves, what pushes, whether energy and constraints balance; the overview of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.errors import ViewError
from kalaba.space.arrays import Array
from kalaba.tolerances import DRAWN_FLOOR, DRAWN_RESTING, DRAWN_ROUNDING
from kalaba.view.figures.efforts import motor_efforts
from kalaba.view.figures.quantities import MOST_LINES, Named, by_unit, merged, named, reach, span, unit_size
from kalaba.view.sheet import Panel, over_time, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run


def heading(run: Run, what: str = "") -> str:
    """Name of the machine, how long it ran and how that ended."""
    ended = "" if run.status.ending.value == "done" else f", {run.status.ending.value}"
    return f"{run.plant.system.name}{what and f', {what}'}: {run.status.time:.4g} s{ended}"


def overview(run: Run) -> Figure:
    """Draw coordinates, outputs or speeds, motors, constraint forces, residuals and the energy balance.

    Arguments:
        run: the run to draw
    """
    check_arguments(overview, locals(), ViewError)
    worst = "" if run.worst is None else f"; worst residual {run.worst.value:.1e} in {run.worst.row}"
    return sheet(heading(run) + worst, overview_panels(run))


def coordinates(run: Run) -> Figure:
    """Draw the coordinates that move, one panel per unit; quaternions, which say little to the eye, are left out.

    Arguments:
        run: the run to draw
    """
    check_arguments(coordinates, locals(), ViewError)
    return _drawn(run, "coordinates", coordinate_panels(run, whole=True), "no coordinate moves")


def speeds(run: Run) -> Figure:
    """Draw the velocities, one panel per unit.

    Arguments:
        run: the run to draw
    """
    check_arguments(speeds, locals(), ViewError)
    return _drawn(run, "velocities", velocity_panels(run, whole=True), "nothing moves")


def outputs(run: Run) -> Figure:
    """Draw the outputs that the machine names, one panel per unit.

    Arguments:
        run: the run to draw
    """
    check_arguments(outputs, locals(), ViewError)
    return _drawn(run, "outputs", output_panels(run, whole=True), "the machine has no outputs that change")


def motors(run: Run) -> Figure:
    """Draw what the motors give, one panel per unit; where rows lead the machine in time, what motors would need.

    Arguments:
        run: the run to draw
    """
    check_arguments(motors, locals(), ViewError)
    lacking = "no motor acts" if run.plant.actuators else "the machine has no motors"
    return _drawn(run, "motors", motor_panels(run, whole=True), lacking)


def forces(run: Run) -> Figure:
    """Draw the generalised forces by which the constraints act on the velocities, one panel per unit.

    Arguments:
        run: the run to draw
    """
    check_arguments(forces, locals(), ViewError)
    lacking = "the constraints carry no force" if run.plant.constraints else "the machine has no constraints"
    return _drawn(run, "forces of the constraints", force_panels(run, whole=True), lacking)


def residuals(run: Run) -> Figure:
    """Draw the rows' residuals in position and in speed on logarithmic scales, the worst of them.

    Arguments:
        run: the run to draw
    """
    check_arguments(residuals, locals(), ViewError)
    panels = residual_panels(run, with_rates=True)
    if not panels:
        raise ViewError(
            f"{run.plant.system.name}: the machine has no constraints, so there are no residuals. Try energy."
        )
    worst = "" if run.worst is None else f"; worst {run.worst.value:.1e} in {run.worst.row} at {run.worst.time:.3g} s"
    return sheet(heading(run, "residuals") + worst, panels)


def energy(run: Run) -> Figure:
    """Draw kinetic and potential energy, the work done, and the error of their balance on a logarithmic scale.

    Arguments:
        run: the run to draw
    """
    check_arguments(energy, locals(), ViewError)
    return sheet(heading(run, "energy"), energy_panels(run))


def momentum(run: Run) -> Figure:
    """Draw the momentum of the whole machine, and on a logarithmic scale how it changes: a floating machine keeps it.

    Arguments:
        run: the run to draw
    """
    check_arguments(momentum, locals(), ViewError)
    return _drawn(run, "momentum", momentum_panels(run), "nothing moves, so momentum is exactly zero")


def overview_panels(run: Run) -> list[Panel]:
    """What is worth showing of a run, in the order in which it is read."""
    panels = coordinate_panels(run)[:2]
    panels += output_panels(run)[:2] or velocity_panels(run)[:1]
    panels += motor_panels(run)[:2]
    panels += force_panels(run)[:2]
    return [*panels, *residual_panels(run), *energy_panels(run)]


def coordinate_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the coordinates."""
    coordinates_of_run = named(run, "q")
    plain_indices = [i for i, unit in enumerate(coordinates_of_run.units) if unit != "1"]
    plain = Named(
        tuple(coordinates_of_run.names[i] for i in plain_indices),
        tuple(coordinates_of_run.units[i] for i in plain_indices),
        coordinates_of_run.values[:, plain_indices],
    )
    return by_unit(run, plain, "coordinates", span, whole=whole)


def velocity_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the velocities."""
    return by_unit(run, named(run, "v"), "velocities", reach, whole=whole)


def output_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the outputs; one that stays where it is, such as a height that is held, rests."""
    return by_unit(run, named(run, "outputs"), "outputs", span, whole=whole)


def motor_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the motors; where rows lead the machine and no motor acts, of what motors would need."""
    title, efforts = motor_efforts(run)
    return by_unit(run, efforts, title, reach, whole=whole)


def force_panels(run: Run, *, whole: bool = False) -> list[Panel]:
    """Panels of the constraints' forces; beside motors that push, what is rounding is no force."""
    forces_of_run = named(run, "constraint_force")
    felt = DRAWN_ROUNDING * reach(run.actuation) if run.actuation.size else 0.0
    values = np.where(np.abs(forces_of_run.values) > felt, forces_of_run.values, 0.0)
    return by_unit(run, Named(forces_of_run.names, forces_of_run.units, values), "constraint force", reach, whole=whole)


def residual_panels(run: Run, *, with_rates: bool = False) -> list[Panel]:
    """A panel of the rows' values, and one of their rates if asked for, or if all rows are kept at velocity level."""
    levels = run.plant.machine.is_velocity_level
    panels = []
    if not all(levels):
        panels.append(_sizes(run, run.residual, "constraint residuals", "|residual| [m, rad]"))
    if levels and (with_rates or all(levels)):
        rates = run.observed["speed_residual"]
        panels.append(_sizes(run, rates, "rates of the residuals", "|rate| [m/s, rad/s]"))
    return panels


def _sizes(run: Run, values: Array, title: str, label: str) -> Panel:
    sizes = np.abs(values)
    largest = np.max(np.where(np.isfinite(sizes), sizes, 0.0), axis=0)
    order = np.argsort(-largest, kind="stable")[:MOST_LINES]
    seen = [i for i in sorted(order) if largest[i] > DRAWN_FLOOR]
    lines = [(run.plant.constraints[i], np.where(sizes[:, i] > DRAWN_FLOOR, sizes[:, i], np.nan)) for i in seen]
    left_out = len(run.plant.constraints) - len(lines)
    note = f"{left_out} more are smaller or zero" if left_out else ""
    return Panel(title, label, over_time(run.time, lines), is_logarithmic=True, is_dotted=True, note=note)


def energy_panels(run: Run) -> list[Panel]:
    """A panel of the energies and one of what is missing between them."""
    kinetic, potential = (run.observed[name][:, 0] for name in ("kinetic", "potential"))
    lines = (
        ("kinetic", kinetic),
        ("potential (change)", potential - potential[0]),
        ("work done", run.work),
    )
    off = np.abs(run.energy_balance)
    most = float(np.max(off[np.isfinite(off)], initial=0.0))
    gap = over_time(run.time, [("|energy gained − work done|", np.where(off > 0, off, np.nan))])
    return [
        Panel("energy", "energy [J]", over_time(run.time, merged(lines))),
        Panel("energy balance", "error [J]", gap, is_logarithmic=True, note=f"{most:.1e} J at most"),
    ]


def momentum_panels(run: Run) -> list[Panel]:
    """Linear and angular momentum about the world's origin, and the change of each; what stays zero is left out."""
    columns = named(run, "momentum")
    panels = []
    for title, label, unit, components in (
        ("linear momentum", "momentum [kg·m/s]", "kg*m/s", range(3)),
        ("angular momentum", "about the origin [kg·m²/s]", "kg*m^2/s", range(3, 6)),
    ):
        lines = [(columns.names[i], columns.values[:, i]) for i in components if reach(columns.values[:, i]) > 0]
        if not lines:
            continue
        changes = [(name, np.abs(values - values[0])) for name, values in lines]
        most = max(reach(values) for _, values in changes)
        dots = over_time(run.time, [(name, np.where(values > DRAWN_FLOOR, values, np.nan)) for name, values in changes])
        if any(reach(values) > DRAWN_RESTING * unit_size(run, unit) for _, values in lines):
            panels.append(Panel(title, label, over_time(run.time, lines)))
        panels.append(
            Panel(
                f"change of the {title}",
                f"|change| {label[label.index('[') :]}",
                dots,
                is_logarithmic=True,
                is_dotted=True,
                note=f"{most:.1e} at most",
            )
        )
    return panels


def _drawn(run: Run, what: str, panels: list[Panel], lacking: str) -> Figure:
    if not panels:
        raise ViewError(f"{run.plant.system.name}: {lacking}, so there are no {what} to draw. Try the figure overview.")
    return sheet(heading(run, what), panels)
