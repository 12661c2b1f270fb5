"""Several runs over each other: what differs between them, and how far each is from its goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.control.goals import Goal, checked_goals
from kalaba.control.tracking_errors import goal_errors
from kalaba.errors import ViewError
from kalaba.space.arrays import Array
from kalaba.tolerances import DRAWN_RESTING, DRAWN_ROUNDING, GOAL_ROUNDING
from kalaba.units import counted
from kalaba.view.figures.beams import deflections
from kalaba.view.figures.quantities import label_of, merged, named, reach, span, unit_size
from kalaba.view.sheet import Curve, Panel, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run

MOST_PANELS = 9
MOST_ALIKE = 2  # panels of quantities in which the runs do not differ, where motors could be shown


class Reading(NamedTuple):
    """A quantity over time."""

    unit: str
    values: Array
    is_motor: bool = False
    size: float = 1.0  # of a quantity of this unit, by the machine and the run's duration


Readings = dict[str, Reading]


def readings(run: Run) -> Readings:
    """What runs are compared by: outputs and tips of beams, or coordinates where there is neither; motors."""
    quantities = _along(run, "outputs")
    quantities |= {
        name: Reading("mm", values, size=1e3 * unit_size(run, "m")) for name, values in deflections(run).items()
    }
    if not quantities:
        quantities = {name: reading for name, reading in _along(run, "q").items() if reading.unit != "1"}
    return quantities | {name: reading._replace(is_motor=True) for name, reading in _along(run, "actuation").items()}


MISSED = {"missed goal": "m", "missed angle": "rad"}  # readings of a run that had goals, with their units


def missed(run: Run, goals: Sequence[Goal]) -> Readings:
    """How far a run is from its goals, as a distance and as an angle; nothing where it had none."""
    if not goals:
        return {}
    errors = goal_errors(run, goals)
    return {
        name: Reading(unit, errors[unit], size=unit_size(run, unit)) for name, unit in MISSED.items() if unit in errors
    }


def _along(run: Run, variable: str) -> Readings:
    record = named(run, variable)
    columns = zip(record.names, record.units, record.values.T, strict=True)
    return {name: Reading(unit, values, size=unit_size(run, unit)) for name, unit, values in columns}


def compare(runs: Mapping[str, Run]) -> Figure:
    """Draw runs over each other, one panel per quantity: outputs and tips of beams, or coordinates; then motors.

    Arguments:
        runs: runs by the names that tell them apart
    """
    check_arguments(compare, locals(), ViewError)
    if not runs:
        raise ViewError("compare: expected runs by name, got none. Give {'plain': run, 'robust': other}.")
    names = list(dict.fromkeys(run.plant.system.name for run in runs.values()))
    compared_runs = [(name, run.time, readings(run)) for name, run in runs.items()]
    return compared(f"{', '.join(names)}: {counted(len(runs), 'run')}", compared_runs)


def compared(heading: str, runs: Sequence[tuple[str, Array, Readings]]) -> Figure:
    """Draw readings of runs over each other; what rests in all of them is not drawn, and said."""
    every = list(dict.fromkeys(name for _, _, quantities in runs for name in quantities))
    driven = [
        name for name in every if any(name in quantities and quantities[name].is_motor for _, _, quantities in runs)
    ]
    others = [name for name in every if name not in driven]
    moving = [name for name in others if _share(runs, name, span) > DRAWN_RESTING]
    most = max((_share(runs, name, reach) for name in driven), default=0.0)
    acting = [name for name in driven if _share(runs, name, reach) > max(DRAWN_RESTING, DRAWN_ROUNDING * most)]
    unlike = sum(_apart(runs, name) > 0 for name in moving)
    wanted = min(len(moving), max(unlike, MOST_ALIKE))
    room = min(len(acting), max(MOST_PANELS - wanted, MOST_PANELS // 2))
    ranked = [sorted(names, key=lambda name: -_apart(runs, name)) for names in (moving, acting)]
    chosen = ranked[0][: MOST_PANELS - room] + ranked[1][:room]
    drawn = [name for name in [*moving, *acting] if name in chosen]
    more = [name for name in [*moving, *acting] if name not in chosen]
    still = [name for name in every if name not in moving and name not in acting]
    notes = [f"not drawn: {_listed(more)}"] * bool(more) + [f"at rest in all runs: {_listed(still)}"] * bool(still)
    return sheet(heading, [_panel(runs, name) for name in drawn], notes)


def _apart(runs: Sequence[tuple[str, Array, Readings]], name: str) -> float:
    """How far runs are apart in a quantity, for its size; what the eye cannot tell apart is 0."""
    having = [(time, quantities[name].values) for _, time, quantities in runs if name in quantities]
    first, size = having[0], _size(runs, name, reach)
    gaps = [reach(np.interp(first[0], time, values, right=np.nan) - first[1]) for time, values in having[1:]]
    return round(max(gaps, default=0.0) / size, 3)


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _size(runs: Sequence[tuple[str, Array, Readings]], name: str, size: Callable[[Array], float]) -> float:
    return max(size(quantities[name].values) for _, _, quantities in runs if name in quantities)


def _share(runs: Sequence[tuple[str, Array, Readings]], name: str, size: Callable[[Array], float]) -> float:
    """The same in parts of what a quantity of its unit is measured by."""
    having = [quantities[name] for _, _, quantities in runs if name in quantities]
    return max(size(reading.values) / reading.size for reading in having)


def _panel(runs: Sequence[tuple[str, Array, Readings]], name: str) -> Panel:
    having = [(label, time, quantities[name]) for label, time, quantities in runs if name in quantities]
    longest = max((time for _, time, _ in having), key=lambda time: float(time[-1]))
    lines = [(label, np.interp(longest, time, quantities.values, right=np.nan)) for label, time, quantities in having]
    order = [label for label, _, _ in runs]  # a run looks the same in every panel
    curves = tuple(Curve(label, longest, values, style=_place(order, label)) for label, values in merged(lines))
    return Panel(name, label_of(having[0][2].unit), curves)


def _place(order: Sequence[str], label: str) -> int:
    """Which run a curve is of; of several that lie on each other the first."""
    return next(
        (i for i, name in enumerate(order) if label == name or label.startswith((f"{name}, ", f"{name} and "))), 0
    )


def tracking_error(runs: Mapping[str, Run], goals: Goal | Sequence[Goal]) -> Figure:
    """Draw on a logarithmic scale how far each run is from goals that all of them had.

    The error is the length of wanted minus found over the rows of the goals, those in metres and those in radians
    apart. Rows that say nothing new on the closed machine are left out, as the servo leaves them out.

    Arguments:
        runs: runs by the names that tell them apart
        goals: the goal, or goals, that all of them had
    """
    check_arguments(tracking_error, locals(), ViewError)
    if not runs:
        raise ViewError("tracking_error: expected runs by name, got none. Give {'plain': run, 'robust': other}.")
    wanted = checked_goals(goals, "tracking_error")
    curves: dict[str, list[Curve]] = {"m": [], "rad": []}
    peaks = []
    for name, run in runs.items():
        for unit, values in goal_errors(run, wanted).items():
            drawn = np.where(values > GOAL_ROUNDING, values, np.nan)
            curves[unit].append(Curve(name, run.time, drawn))
            if unit == "m" or not curves["m"]:
                peaks.append(f"{name} {reach(values):.2g} {unit}")
    kinds = {"m": "distance from the goal", "rad": "angle from the goal"}
    panels = [
        Panel(title, f"|error| [{unit}]", tuple(curves[unit]), is_logarithmic=True)
        for unit, title in kinds.items()
        if any(np.isfinite(curve.y).any() for curve in curves[unit])
    ]
    machine = next(iter(runs.values())).plant.system.name
    return sheet(f"{machine}: errors of the goals", panels, [f"largest: {', '.join(peaks)}"])
