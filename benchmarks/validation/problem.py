"""What a problem of the validation page is: a machine, figures of others, and how kalaba's are measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import kalaba as kb

Array = NDArray[np.float64]
G = 9.81  # m/s², of every problem with gravity


class Kind(Enum):
    """Where a figure comes from."""

    PUBLISHED = "published"
    CLOSED_FORM = "closed form"
    BY_HAND = "by hand"
    BOUND = "bound"


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that does not come from kalaba, and how near kalaba's must be.

    For a bound, `value` is the largest magnitude that is allowed, and `tolerance` is not used.
    """

    name: str
    value: float
    unit: str
    kind: Kind
    tolerance: float = 0.0
    reason: str = ""  # of the tolerance
    is_stepped: bool = True  # the difference is the stepper's alone: it vanishes with smaller steps

    def is_met_by(self, measured: float) -> bool:
        """Whether a measured number is as near as it must be."""
        if self.kind is Kind.BOUND:
            return abs(measured) <= self.value
        return self.error_of(measured) <= self.tolerance

    def error_of(self, measured: float) -> float:
        """How far a measured number is from this one, in its unit."""
        return abs(measured - self.value)


@dataclass(frozen=True, slots=True)
class Measured:
    """Kalaba's numbers, one per figure, and the time they took."""

    values: tuple[float, ...]
    seconds: float
    simulated: float  # s of the machine's time; 0 where nothing is simulated


@dataclass(frozen=True, slots=True)
class Problem:
    """A machine that others have computed before. `measure` takes what `kb.simulate` takes, such as a stepper."""

    name: str
    text: str
    sources: tuple[str, ...]
    figures: Callable[[], tuple[Figure, ...]]
    measure: Callable[..., Measured]
    is_long: bool = False  # takes minutes


def simulated(system: kb.System, duration: float, **options: Any) -> tuple[kb.Run, float]:
    """The run of a machine and the seconds it took, without building and compiling."""
    plant = kb.build(system)
    kb.simulate(plant, duration, **options)  # compiles what the run needs, an implicit method too where it is stiff
    began = perf_counter()
    run = kb.simulate(plant, duration, **options)
    return run, perf_counter() - began


def integrated(
    rate: Callable[[float, Array], Sequence[float]], start: Sequence[float], times: Array, method: str = "DOP853"
) -> Array:
    """States at the times, one per row, of equations written by hand; far sharper than what is compared with them."""
    solution = solve_ivp(rate, (0.0, times[-1]), start, method, t_eval=times, rtol=1e-11, atol=1e-13)
    if not solution.success:
        raise ArithmeticError(solution.message)
    return np.asarray(solution.y.T)
