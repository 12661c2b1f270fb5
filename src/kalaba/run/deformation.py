"""How far the beams of a run bend: linear modes hold while deflections are small against the length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.model.beams.beam import Beam
from kalaba.model.beams.shapes import table
from kalaba.model.text.expressions import Values, number

if TYPE_CHECKING:
    from kalaba.model.machine import MachineBody
    from kalaba.results.run import Run

Array = NDArray[np.float64]
LARGE = 0.2  # of the length


class DeformationWarning(UserWarning):
    """A beam bent so far that linear modes no longer hold."""


def large_deformation(run: Run) -> str | None:
    """One line on the beam that bends furthest for its length, if any passes the limit."""
    bent = {body.name: _deflections(run, body) for body in run.plant.machine.bodies if isinstance(body.solid, Beam)}
    name = max(bent, key=lambda beam: bent[beam].max(), default="")
    if not name or not bent[name].max() > LARGE:
        return None
    time = run.time[np.argmax(bent[name] > LARGE)]
    return (
        f"{run.plant.system.name}: {name} bends by {bent[name].max():.3g} of its length, past {LARGE:g} from "
        f"t = {time:.6g} s on; linear modes no longer hold. Weld shorter beams one on another, or check its stiffness."
    )


def _deflections(run: Run, body: MachineBody) -> Array:
    """Largest deflection of any point from the root's tangent over the length, at every sample."""
    beam: Beam = body.solid
    shapes, count = table(beam.shapes), beam.shapes.count
    along = np.column_stack([shapes.value, shapes.tip])  # (count, points)
    values = Values({parameter.name: parameter.value for parameter in run.plant.machine.parameters})
    modes = run.q[:, body.mode_q : body.mode_q + beam.bending_modes].reshape(len(run.time), len(beam.planes), count)
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.square(modes @ along).sum(axis=1).max(axis=1)
    length: Any = beam.length  # in a machine, an expression
    return np.asarray(np.nan_to_num(np.sqrt(square), nan=np.inf) / number(length, values))
