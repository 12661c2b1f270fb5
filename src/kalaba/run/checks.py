"""What is doubtful in a run that went through: jolts by projection, beams bent too far, motors asked for too much."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from kalaba.model.beams.beam import Beam
from kalaba.model.beams.shapes import table
from kalaba.model.text.expressions import Values, number
from kalaba.run.lost_hold import HoldWarning, hold_message
from kalaba.run.shortfall import ShortfallWarning, shortfall_message
from kalaba.space.arrays import Array
from kalaba.tolerances import JOLT, LARGE_DEFLECTION

if TYPE_CHECKING:
    from kalaba.model.machine import MachineBody
    from kalaba.results.run import Run
    from kalaba.run.task import Task

CALLER_OF_SIMULATE = 3  # stack levels from here to who is warned


class SingularWarning(UserWarning):
    """A run passed so near a singular position that projection changed its speed."""


class AccuracyWarning(UserWarning):
    """A run is not as accurate as one may expect of it: its states are off, or its energy."""


class DeformationWarning(UserWarning):
    """A beam bent so far that linear modes no longer hold."""


def warn(task: Task, run: Run, *, controller_has_goals: bool) -> None:
    """Warn of what is doubtful; of shortfalls only where a controller promised goals: a law may mean to be cut off."""
    if run.lost_hold is not None:
        warnings.warn(hold_message(run, run.lost_hold), HoldWarning, stacklevel=CALLER_OF_SIMULATE)
    if run.shortfalls and controller_has_goals:
        warnings.warn(shortfall_message(run), ShortfallWarning, stacklevel=CALLER_OF_SIMULATE)
    if run.judgement.cause and not run.status.failed:
        warnings.warn(run.judgement.cause, AccuracyWarning, stacklevel=CALLER_OF_SIMULATE)
    elif run.effort.jolt[0] > JOLT and _may_be_singular(run) and not task.stepper.is_coarse:
        warnings.warn(_jolt_message(run), SingularWarning, stacklevel=CALLER_OF_SIMULATE)
    if bent := large_deformation(run):
        warnings.warn(bent, DeformationWarning, stacklevel=CALLER_OF_SIMULATE)


def _may_be_singular(run: Run) -> bool:
    """Whether a jolt is no mere error of long steps, as far as another run has told."""
    return run.judgement.is_jolted or not run.judgement.checked_by


def _jolt_message(run: Run) -> str:
    size, time = run.effort.jolt
    return (
        f"{run.plant.system.name}: projection changed the speed by {size:.2g} of it at t = {time:.6g} s: "
        f"{run.judgement.jolt_cause}. What follows may be one of several motions. See run.energy_balance, and try "
        "another step."
    )


def large_deformation(run: Run) -> str | None:
    """One line on the beam that bends furthest for its length, if any passes the limit for linear modes."""
    beams = [(body, beam) for body in run.plant.machine.bodies if (beam := body.solid.beam) is not None]
    bent = {body.name: _deflections(run, body, beam) for body, beam in beams}
    name = max(bent, key=lambda beam: bent[beam].max(), default="")
    if not name or not bent[name].max() > LARGE_DEFLECTION:
        return None
    time = run.time[np.argmax(bent[name] > LARGE_DEFLECTION)]
    return (
        f"{run.plant.system.name}: {name} bends by {bent[name].max():.3g} of its length, past {LARGE_DEFLECTION:g} "
        f"from t = {time:.6g} s on; linear modes no longer hold. Weld shorter beams one on another, or check its "
        "stiffness."
    )


def _deflections(run: Run, body: MachineBody, beam: Beam) -> Array:
    """Largest deflection of any point from the root's tangent over the length, at every sample."""
    shapes, count = table(beam.shapes), beam.shapes.count
    along = np.column_stack([shapes.value, shapes.tip])  # (count, points)
    values = Values({parameter.name: parameter.value for parameter in run.plant.machine.parameters})
    modes = run.q[:, body.mode_q : body.mode_q + beam.bending_modes].reshape(len(run.time), len(beam.planes), count)
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.square(modes @ along).sum(axis=1).max(axis=1)
    length = number(beam.length, values)  # type: ignore[arg-type]  # in a machine, an expression
    return np.asarray(np.nan_to_num(np.sqrt(square), nan=np.inf) / length)
