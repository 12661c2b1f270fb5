"""Whether a run can be trusted: residuals of the constraints, and the balance of energy and work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ViewError
from kalaba.view.figures.histories import heading
from kalaba.view.figures.quantities import MOST_LINES, merged
from kalaba.view.sheet import Panel, over_time, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run

Array = NDArray[np.float64]
FLOOR = 1e-18  # residuals below it are zero to the eye


def residuals(run: Run) -> Figure:
    """Draw the rows' residuals in position and in speed on logarithmic scales, the worst of them."""
    panels = residual_panels(run, with_rates=True)
    if not panels:
        raise ViewError(
            f"{run.plant.system.name}: the machine has no constraints, so there are no residuals. Try energy."
        )
    worst = "" if run.worst is None else f"; worst {run.worst.value:.1e} in {run.worst.row} at {run.worst.time:.3g} s"
    return sheet(heading(run, "residuals") + worst, panels)


def energy(run: Run) -> Figure:
    """Draw kinetic and potential energy, the work done, and the error of their balance on a logarithmic scale."""
    return sheet(heading(run, "energy"), energy_panels(run))


def residual_panels(run: Run, *, with_rates: bool = False) -> list[Panel]:
    """A panel of the rows' values, and one of their rates if asked for, or if all rows are kept at velocity level."""
    levels = run.plant.machine.is_velocity_level
    found = []
    if not all(levels):
        found.append(_sizes(run, run.residual, "constraint residuals", "|residual| [m, rad]"))
    if levels and (with_rates or all(levels)):
        rates = run.observed["speed_residual"]
        found.append(_sizes(run, rates, "rates of the residuals", "|rate| [m/s, rad/s]"))
    return found


def _sizes(run: Run, values: Array, title: str, label: str) -> Panel:
    sizes = np.abs(values)
    largest = np.max(np.where(np.isfinite(sizes), sizes, 0.0), axis=0)
    order = np.argsort(-largest, kind="stable")[:MOST_LINES]
    seen = [i for i in sorted(order) if largest[i] > FLOOR]
    lines = [(run.plant.constraints[i], np.where(sizes[:, i] > FLOOR, sizes[:, i], np.nan)) for i in seen]
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
