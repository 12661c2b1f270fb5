"""Trade-off between the largest effort and the sum of squares, where motors to spare leave a choice.

Along goals, S u = r at every instant. For a peak ρ between that of MinMax and that of LeastSquares::

    minimise  Σ u_i²   with   S u = r   and   |u_i| ≤ ρ limit_i

A smaller peak costs squares: no efforts that meet the goals have both smaller than a point of this curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba import tolerances
from kalaba.control.allocation import Bounded, LeastSquares, MinMax
from kalaba.control.inverse_dynamics import Efforts, inverse_dynamics
from kalaba.control.servo import ALL, named_motors
from kalaba.errors import ControlError
from kalaba.plant.plant import Plant, build

if TYPE_CHECKING:
    from kalaba.control.goals import Follow, Posture
    from kalaba.model.system import System

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TradeOff:
    """Peak against root mean square along goals, from the least peak to the least squares."""

    peak: Array  # ρ, (points,): the largest |u_i|/limit_i; the largest |u_i| where no motor has a limit
    root_mean_square: Array  # (points,): √(∫ Σ u_i² dt / T)
    efforts: tuple[Efforts, ...]  # of each point


def trade_off(
    system: System | Plant,
    goals: Follow | Posture | Sequence[Follow | Posture],
    actuators: str | Sequence[str] = ALL,
    times: ArrayLike | None = None,
    *,
    points: int = 9,
) -> TradeOff:
    """Work out how much of the peak can be had for how much of the mean, along goals; by default at nine points.

    Arguments:
        system: the machine
        goals: what it is to do
        actuators: names of the motors that may act; "all"
        times: when to look, s; None: from start to end
        points: how many points of the curve
    """
    plant = build(system)
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise ControlError(f"trade_off.points: expected a whole number from 2 on, got {points!r}.")
    flattest = inverse_dynamics(plant, goals, MinMax(), actuators, times)
    least = inverse_dynamics(plant, goals, LeastSquares(), actuators, times)
    motors = list(named_motors(plant, actuators, "trade_off"))
    limits = plant.limits[motors]
    scale = limits if np.isfinite(limits).all() else np.ones(len(limits))
    low, high = (float((np.abs(one.actuation[:, motors]) / scale).max()) for one in (flattest, least))
    if high - low <= tolerances.PEAKS_ALIKE * high:
        raise ControlError(
            f"{plant.system.name}: LeastSquares already has the least peak, {high:.4g}; there is nothing to trade. "
            "Are there motors to spare?"
        )
    inner = []
    for rho in np.linspace(low, high, points)[:-1]:
        bound = tuple((scale * rho * (1 + tolerances.PEAK_ROUNDING)).tolist())
        within = Bounded(lower=tuple(-entry for entry in bound), upper=bound)
        inner.append(inverse_dynamics(plant, goals, within, actuators, times))
    efforts = (*inner, least)
    peaks = [float((np.abs(one.actuation[:, motors]) / scale).max()) for one in efforts]
    return TradeOff(np.array(peaks), np.array([_root_mean_square(one) for one in efforts]), efforts)


def _root_mean_square(efforts: Efforts) -> float:
    squares, time = (efforts.actuation**2).sum(axis=1), efforts.time
    mean = np.trapezoid(squares, time) / (time[-1] - time[0]) if len(time) > 1 else squares[0]
    return float(np.sqrt(mean))
