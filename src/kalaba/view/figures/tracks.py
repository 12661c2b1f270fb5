"""Paths of end points: where the tips of a machine and the things it holds go, seen along the axes of the world."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.errors import ViewError, near
from kalaba.space.arrays import Array
from kalaba.tolerances import DRAWN_RESTING, DRAWN_SAME, PATH_FLAT
from kalaba.view.figures.histories import heading
from kalaba.view.figures.quantities import MOST_LINES, shared
from kalaba.view.figures.reading import positions
from kalaba.view.sheet import Curve, Panel, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.model.machine import Machine
    from kalaba.results.run import Run

AXES = "xyz"
VIEWS = {(0, 1): "from above", (0, 2): "from the front", (1, 2): "from the side"}


def paths(run: Run, frames: Sequence[str] = ()) -> Figure:
    """Draw where frames go, with equal scales: one view for a plane motion, three for one in space.

    Without names the end points are drawn: tips of the last bodies of each branch, and bodies that float. Where none of
    them moves, as in a loop that begins and ends on the ground, the tips of all bodies are.

    Arguments:
        run: the run to draw
        frames: names of frames to follow; the end points if there are none
    """
    check_arguments(paths, locals(), ViewError)
    known = run.plant.machine.frames
    for frame in frames:
        if frame not in known:
            raise ViewError(f"{run.plant.system.name}: no frame {frame!r}; {near(frame, known)}")
    machine = run.plant.machine
    panels = path_panels(run, frames or end_points(machine))
    if not panels and not frames:  # a chain that ends on the ground: its links move between its ends
        panels = path_panels(run, [_tip(machine, body.name) for body in machine.bodies])
    if not panels:
        raise ViewError(
            f"{run.plant.system.name}: no end point moves, so there are no paths to draw. Try the figure overview."
        )
    return sheet(heading(run, "paths"), panels)


def end_points(machine: Machine) -> tuple[str, ...]:
    """The tip of each body that carries no other, or its own frame if it has no tip."""
    carriers = {machine.body_of(body.parent) for body in machine.bodies}
    last = [body.name for index, body in enumerate(machine.bodies) if index not in carriers]
    return tuple(_tip(machine, name) for name in last)


def _tip(machine: Machine, body: str) -> str:
    return f"{body}.tip" if f"{body}.tip" in machine.frames else body


def path_panels(run: Run, frames: Sequence[str]) -> list[Panel]:
    """One panel per view; paths that lie on each other are one, points that rest are left out."""
    whole = np.isfinite(run.q).all(axis=1)
    every = {name: place[whole] for name, place in positions(run, frames).items()} if whole.any() else {}
    resting = DRAWN_RESTING * run.plant.scales.length
    places = {name: place for name, place in every.items() if np.ptp(place, axis=0).max() > resting}
    if not places:
        return []
    extent = np.array([np.ptp(place, axis=0) for place in places.values()])
    longest = extent.max()
    order = sorted(places, key=lambda name: -float(np.ptp(places[name], axis=0).max()))
    shown = [name for name in places if name in order[:MOST_LINES]]
    still, more = len(frames) - len(places), len(places) - len(shown)
    said = [f"{more} shorter"] * (more > 0) + [f"{still} at rest"] * (still > 0)
    note = f"not drawn: {', '.join(said)}" if said else ""
    groups = _merged({name: places[name] for name in shown}, DRAWN_SAME * float(longest))
    moving = [axis for axis in range(3) if extent[:, axis].max() > PATH_FLAT * longest]
    views = [view for view in combinations(range(3), 2) if set(moving) <= set(view)][:1] or list(VIEWS)
    return [_view(groups, view, note if i == 0 else "") for i, view in enumerate(views)]


def _merged(places: dict[str, Array], close: float) -> dict[str, Array]:
    groups: list[tuple[list[str], Array]] = []
    for name, place in places.items():
        same = (names for names, other in groups if np.max(np.abs(place - other)) <= close)
        together = next(same, None)
        if together is None:
            groups.append(([name], place))
        else:
            together.append(name)
    return {shared(names): place for names, place in groups}


def _view(groups: dict[str, Array], view: tuple[int, int], note: str) -> Panel:
    across, up = view
    curves = tuple(Curve(name, place[:, across], place[:, up]) for name, place in groups.items())
    starts = tuple((float(place[0, across]), float(place[0, up])) for place in groups.values())
    return Panel(
        f"paths {VIEWS[view]}",
        f"{AXES[up]} [m]",
        curves,
        x_label=f"{AXES[across]} [m]",
        is_equal=True,
        note=note,
        starts=starts,
    )
