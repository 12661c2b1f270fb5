"""How good a run is: what is known of its errors, with a verdict."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.tolerances import ENERGY_LOST, EXCHANGED_NOTHING, MOVES_NOT, STATE_WRONG

if TYPE_CHECKING:
    from kalaba.results.run import Run


class Verdict(Enum):
    """What can be said of a run."""

    GOOD = "good"
    DOUBTFUL = "doubtful"
    UNKNOWN = "not judged"


class StateError(NamedTuple):
    """The estimated error of a run's states, by another run of the same motion.

    Arguments:
        size: the largest, of how far the coordinate moves or of its largest velocity; of a run that is wrong, the
            largest soon after it is; nan: not estimated
        name: the coordinate or velocity whose it is
        time: when, s
    """

    size: float = float("nan")
    name: str = ""
    time: float = 0.0


class Judgement(NamedTuple):
    """What a run found out about itself when it was made.

    Arguments:
        error: estimated error of the states
        cause: what makes the run doubtful, and what to do, in words; "" = nothing does
        checked_by: the stepper of the other run, in words; "" = there was none
        is_jolted: whether projection changed the speed of the other run too: a singular position is near
    """

    error: StateError = StateError()
    cause: str = ""
    checked_by: str = ""
    is_jolted: bool = False

    @property
    def jolt_cause(self) -> str:
        """What makes a projection change the speed, as far as another run has told."""
        if self.is_jolted:
            return "the machine passes near a singular position there"
        if self.checked_by:
            return "steps are too long there"
        return "steps are too long there, or the machine passes near a singular position"


class Accuracy(NamedTuple):
    """How good a run is.

    Arguments:
        verdict: good, doubtful or not judged
        error: estimated error of the states
        energy: largest difference between energy gained and work done, of the energy exchanged; nan: none was
        rows: largest residual of a row in parts of the machine's size, rad
        jolt: largest part of the speed that a projection changed
        cause: what makes the run doubtful, and what to do, in words; "" = nothing does
    """

    verdict: Verdict
    error: StateError
    energy: float
    rows: float
    jolt: float
    cause: str

    @property
    def words(self) -> str:
        """One line for people."""
        said = [
            _words_of_states(self.error),
            "" if np.isnan(self.energy) else f"energy within {self.energy:.1g} of what was exchanged",
            f"rows within {self.rows:.1g}" if self.rows else "",
        ]
        return f"{self.verdict.value}: {', '.join(part for part in said if part) or 'nothing to judge by'}"


def _words_of_states(error: StateError) -> str:
    if np.isnan(error.size):
        return ""
    if is_wrong(error):  # later they may be further off
        part = "all" if error.size >= 1 else f"{error.size:.1g}"
        return f"states off by {part} of their motion at t = {error.time:.3g} s"
    return f"states within {error.size:.1g} of their motion" if error.size > 0 else "states agree to the last digit"


def accuracy_of(run: Run) -> Accuracy:
    """Put together what is known of a run's errors."""
    judged = run.judgement
    energy = energy_error(run)
    rows = 0.0
    if run.worst is not None:
        size = dict(zip(run.plant.constraints, run.plant.scales.rows, strict=True))[run.worst.row]
        rows = run.worst.value / float(size)
    cause = judged.cause
    if not cause and energy > ENERGY_LOST:
        cause = energy_cause(run, energy)
    known = not (np.isnan(judged.error.size) and np.isnan(energy))
    verdict = Verdict.DOUBTFUL if cause or run.status.failed else Verdict.GOOD if known else Verdict.UNKNOWN
    return Accuracy(verdict, judged.error, energy, rows, run.effort.jolt[0], cause or run.status.message)


def energy_error(run: Run) -> float:
    """The largest energy balance of the energy exchanged; nan where none was.

    What was exchanged is the largest of kinetic energy and of work, and of the change of potential energy; less than
    rounding is none.
    """
    kinetic, potential = run.observed["kinetic"][:, 0], run.observed["potential"][:, 0]
    scales, duration = run.plant.scales, float(run.time[-1])
    if not duration > 0:
        return float("nan")
    with np.errstate(all="ignore"):
        exchanged = max(kinetic.max(), np.ptp(potential), np.abs(run.work).max())
        still = scales.mass * (MOVES_NOT * scales.length / duration) ** 2
        rounding = max(still, EXCHANGED_NOTHING * float(np.abs(potential).max()))
        off = np.abs(run.energy_balance).max()
    return float(off / exchanged) if not exchanged <= rounding else float("nan")


def energy_cause(run: Run, energy: float) -> str:
    """Words for energy that comes from nowhere."""
    return (
        f"{run.plant.system.name}: energy gained and work done differ by {energy:.2g} of what was exchanged. "
        "Take shorter steps or a smaller tolerance."
    )


def is_wrong(error: StateError) -> bool:
    """Whether an estimated error is so large that a run is warned of."""
    return error.size > STATE_WRONG
