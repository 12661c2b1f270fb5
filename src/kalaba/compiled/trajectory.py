"""What an integration leaves behind, one value per lane."""

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kalaba.native.machine_code import Floats


class Status(IntEnum):
    """How far a lane has come and why it went no further; all but the first three are failures."""

    RUNNING = 0
    DONE = 1  # the end was reached
    STOPPED = 2  # the event came
    NAN = 3  # the state or its rate is no longer finite
    UNDERFLOW = 4  # the error asks for steps below rounding
    RESIDUAL = 5  # projection does not bring the state back to the constraints
    INCONSISTENT = 6  # a row contradicts the others; `row` says which
    SINGULAR = 7  # the mass matrix is not positive definite
    UNSOLVED = 8  # Newton's method found no end of a fixed step

    @property
    def failed(self) -> bool:
        """Whether the integration broke off."""
        return self > Status.STOPPED


class Change(NamedTuple):
    """Where another method took over."""

    time: float  # s
    stepper: str  # its name
    rate: float  # the fastest rate of the motion that limited explicit steps, 1/s; 0 = it is no longer stiff


@dataclass(frozen=True, slots=True)
class RankAtTime:
    """A choice of constraint rows."""

    time: float  # s
    rank: int


@dataclass(frozen=True, slots=True)
class Opening:
    """The largest gap of a constraint row; row -1 = there was none."""

    gap: float
    row: int
    time: float  # s


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """The samples of one lane, how it ended and what it took."""

    time: Floats  # (samples,)
    y: Floats  # (samples, n_y): q, then v
    acceleration: Floats  # (samples, n_v)
    constraint_force: Floats  # (samples, n_v)
    actuation: Floats  # (samples, n_u)
    gap: Floats  # (samples,): the largest of the rows
    gap_row: npt.NDArray[np.int64]  # (samples,): whose it is, -1 = none
    status: Status
    row: int  # the row a failure speaks of, else -1
    end_time: float  # of the last good state, s
    end_y: Floats  # the last good state
    worst: Opening  # over every step
    jolt: tuple[float, float]  # largest change of speed by projection, of the largest speed, and its time
    steps: int
    rejected: int
    choices: tuple[RankAtTime, ...]  # the first so many
    n_choices: int  # of all lanes
    changes: tuple[Change, ...] = ()  # of the method
    stiffest: float = 0.0  # the fastest rate that limits explicit steps since the last change, 1/s
    trials: int = 0  # of an implicit method, in vain
