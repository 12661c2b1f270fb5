"""How near a machine with loops is to singular: where motors lose hold of a frame, or a frame of its motors.

Freedoms z move a frame by V = J N z and the motors by u̇ = Bᵀ N z. Let the columns of Z = [Z_V; Z_u] be an orthonormal
basis of all pairs (V, u̇): Z_Vᵀ Z_V + Z_uᵀ Z_u = 1. Then::

    serial     smallest singular value of Z_V    0: motors move while the frame rests (type 1)
    parallel   smallest singular value of Z_u    0: the frame moves while all motors are locked (type 2)

Both lie between 0 and 1 and depend on the frame and the motors alone, not on coordinates; lengths are parts of the
machine's own.

Reference: Gosselin and Angeles (1990), IEEE Trans. Robotics and Automation 6(3), 281-290.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba import tolerances
from kalaba.boundary import check_arguments
from kalaba.errors import ModelError
from kalaba.kinematics.closed.motors import freedoms_seen, with_frame
from kalaba.plant.arguments import checked_configuration, configuration_of
from kalaba.plant.state import State
from kalaba.results.run import Run
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant


@dataclass(frozen=True, slots=True, eq=False)
class Singularity:
    """How near each of some configurations is to singular; 0 is singular.

    Arguments:
        frame: name of the frame
        serial: (s,) smallest singular value of what the frame sees: 0 where motors move and it rests
        parallel: (s,) smallest singular value of what the motors see: 0 where it moves and they are locked
        freedoms: (s,) how many ways the rows leave to move; it rises where rows become dependent
    """

    frame: str
    serial: Array
    parallel: Array
    freedoms: NDArray[np.int_]

    @property
    def worst(self) -> int:
        """The configuration nearest to either kind."""
        return int(np.argmin(np.minimum(self.serial, self.parallel)))


def singularity(
    system: System | Plant,
    frame: str,
    states: Run | State | ArrayLike | Sequence[State],
    *,
    position_only: bool = False,
) -> Singularity:
    """The two measures of a frame along a path.

    Arguments:
        system: the machine
        frame: name of the frame
        states: a Run, an array of configurations (one per row), a State or a sequence of States
        position_only: leave the frame's orientation out
    """
    check_arguments(singularity, locals())
    plant = with_frame(system, frame)
    measures = [_measured(plant, frame, q, 3 if position_only else 6) for q in _configurations(plant, states)]
    serial, parallel, freedoms = zip(*measures, strict=True)
    return Singularity(frame, np.array(serial), np.array(parallel), np.array(freedoms, dtype=int))


def _configurations(plant: Plant, states: Run | State | ArrayLike | Sequence[State]) -> list[Array]:
    content: Any = states.q if isinstance(states, Run) else configuration_of(states)
    listed = list(content) if isinstance(content, Sequence) or np.ndim(content) else []
    if not listed:
        raise ModelError(f"{plant.system.name}: expected one configuration or more, got none.")
    rows = [listed] if np.isscalar(listed[0]) else listed
    return [checked_configuration(q, plant.machine) for q in rows]


def _measured(plant: Plant, frame: str, q: Array, rows: int) -> tuple[float, float, int]:
    """Serial and parallel measure, and the number of freedoms."""
    twists, rates = freedoms_seen(plant, frame, q)
    U, sigma, _ = np.linalg.svd(np.vstack([twists[:rows], rates]), full_matrices=False)
    Z = U[:, sigma > tolerances.DEPENDENT_FREEDOM * sigma.max(initial=0.0)]
    return _smallest(Z[:rows], allow_wide=True), _smallest(Z[rows:]), twists.shape[1]


def _smallest(part: Array, *, allow_wide: bool = False) -> float:
    """The smallest singular value; 0 if a part with fewer rows than columns is to see them all."""
    if not part.size or (part.shape[0] < part.shape[1] and not allow_wide):
        return 0.0
    return float(np.linalg.svd(part, compute_uv=False).min())
