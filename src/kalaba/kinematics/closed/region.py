"""How near a machine with loops is to singular over a region of poses: the measures of `singular` on a grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import called, check_arguments
from kalaba.errors import KinematicsError, ModelError
from kalaba.kinematics.closed.motors import motors_at, with_frame
from kalaba.kinematics.closed.singular import singularity
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant
    from kalaba.space.pose import Pose


@dataclass(frozen=True, slots=True, eq=False)
class SingularityMap:
    """How near to singular a machine is over a grid of poses; nan where it cannot have the pose.

    Arguments:
        frame: name of the frame
        first: (n,) values across
        second: (m,) values upwards
        serial: (m, n) measure of `kb.kinematics.singularity`: 0 where motors move and the frame rests
        parallel: (m, n) the other: 0 where the frame moves and all motors are locked
    """

    frame: str
    first: Array
    second: Array
    serial: Array
    parallel: Array


def singularity_map(
    system: System | Plant, frame: str, pose: Callable[[float, float], Pose], first: ArrayLike, second: ArrayLike
) -> SingularityMap:
    """The two measures of `singularity` over a grid of poses of a frame.

    Each pose is looked for from the neighbour that was found before it, so that the machine stays in one working mode;
    the grid should be fine enough for that.

    Arguments:
        system: the machine
        frame: name of the frame
        pose: the pose in the world at a value of `first` and one of `second`
        first: values across, such as x in m or an angle in rad
        second: values upwards
    """
    check_arguments(singularity_map, locals())
    plant = with_frame(system, frame)
    across, up = (np.atleast_1d(np.asarray(values, dtype=float)) for values in (first, second))
    if across.ndim != 1 or up.ndim != 1 or not (across.size and up.size):
        raise ModelError(f"{plant.system.name}: expected a row of numbers for first and for second. Give one or more.")
    serial, parallel = np.full((2, len(up), len(across)), np.nan)
    guesses: dict[tuple[int, int], Array] = {}
    for i, j in _outwards(len(up), len(across)):
        near = (guesses[n] for n in ((i, j - 1), (i, j + 1), (i - 1, j), (i + 1, j)) if n in guesses)
        try:
            wanted = called(pose, "singularity_map: pose", float(across[j]), float(up[i]))
            q = motors_at(plant, frame, wanted, guess=next(near, plant.start.q)).q
        except KinematicsError:
            continue
        guesses[i, j] = q
        measured = singularity(plant, frame, q)
        serial[i, j], parallel[i, j] = measured.serial[0], measured.parallel[0]
    return SingularityMap(frame, across, up, serial, parallel)


def _outwards(rows: int, columns: int) -> list[tuple[int, int]]:
    """Places of a grid from its middle outwards."""
    middle = (rows - 1) / 2, (columns - 1) / 2
    places = [(i, j) for i in range(rows) for j in range(columns)]
    return sorted(places, key=lambda place: abs(place[0] - middle[0]) + abs(place[1] - middle[1]))
