"""What arms do to the objects that they hold: carrying and internal forces apart, and the attitude of the objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.cooperate.arms import split
from kalaba.cooperate.grasp_forces import GraspForces, grasp_forces
from kalaba.errors import ModelError, ViewError
from kalaba.space.rotations import zyx_angles
from kalaba.tolerances import DRAWN_ROUNDING
from kalaba.view.figures.histories import heading
from kalaba.view.figures.quantities import MOST_LINES
from kalaba.view.figures.reading import rotations
from kalaba.view.sheet import Panel, over_time, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run
    from kalaba.space.arrays import Array

ANGLES = ("α about z", "β about y", "γ about x")


def grasps(run: Run) -> Figure:
    """Draw what the grasps of arms carry, what they press with, and the attitude of the bodies that float.

    Arguments:
        run: a run of arms that hold objects
    """
    check_arguments(grasps, locals(), ViewError)
    try:
        forces = grasp_forces(run)
    except ModelError as error:
        raise ViewError(f"figure grasps: {error}") from error
    panels = [
        *_kind(forces, "force", "N", slice(0, 3)),
        *_kind(forces, "moment", "N·m", slice(3, 6)),
        *_squeeze(forces),
        *_attitudes(run),
    ]
    return sheet(heading(run, "grasps"), panels)


def _kind(forces: GraspForces, what: str, unit: str, part: slice) -> list[Panel]:
    """Sizes of forces or moments: those that carry, and those that are internal."""
    largest = float(np.linalg.norm(forces.wrenches[:, :, part], axis=2).max(initial=0.0))
    panels = []
    for word, wrenches in (("carrying", forces.carrying), ("internal", forces.internal)):
        sizes = np.linalg.norm(wrenches[:, :, part], axis=2)
        order = sorted(np.argsort(-sizes.max(axis=0), kind="stable")[:MOST_LINES])
        left_out = len(forces.grasps) - len(order)
        note = f"{left_out} more are smaller" if left_out else ""
        if sizes.max(initial=0.0) <= DRAWN_ROUNDING * largest:
            continue
        lines = [(forces.grasps[i], sizes[:, i]) for i in order]
        panels.append(
            Panel(f"{word} {what}s of the grasps", f"|{what}| [{unit}]", over_time(forces.time, lines), note=note)
        )
    return panels


def _squeeze(forces: GraspForces) -> list[Panel]:
    if not forces.squeeze:
        return []
    lines = [(f"on {body}", values) for body, values in forces.squeeze.items()]
    return [Panel("pressing force, a part of the internal ones", "force [N]", over_time(forces.time, lines))]


def _attitudes(run: Run) -> list[Panel]:
    """Z-Y-X angles of every body that floats, without jumps."""
    bodies = [run.plant.machine.bodies[i].name for i in split(run.plant).free]
    return [
        Panel(f"attitude of {body}", "Z-Y-X angle [rad]", over_time(run.time, _angles(turned)))
        for body, turned in rotations(run, bodies).items()
    ]


def _angles(turned: Array) -> list[tuple[str, Array]]:
    angles = np.unwrap(np.array([zyx_angles(R) for R in turned]), axis=0)
    angles = np.where(np.abs(angles) > DRAWN_ROUNDING, angles, 0.0)  # a level body has none
    return list(zip(ANGLES, angles.T, strict=True))
