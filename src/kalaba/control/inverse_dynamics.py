"""Inverse dynamics along goals: the efforts that they take, without integrating; and what a smaller peak of them costs.

Along goals, S u = r at every instant. For a peak ρ between that of MinMax and that of LeastSquares::

    minimise  Σ u_i²   with   S u = r   and   |u_i| ≤ ρ limit_i

A smaller peak costs squares: no efforts that meet the goals have both smaller than a point of this curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments, check_whole, finite_array, real_array
from kalaba.control.allocation import Allocation, Bounded, LeastSquares, MinMax, OutOfBoundsError, Share
from kalaba.control.goals import Goal
from kalaba.control.motors import ALL, named_motors
from kalaba.control.servo import NO_NUMBERS, BoundServo, servo
from kalaba.errors import ControlError
from kalaba.model.units import actuator_units
from kalaba.plant.plant import Plant, build
from kalaba.plant.state import State
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.model.system import System

SAMPLES = 201
MOST_POINTS = 1000  # of a curve; each takes as long as a whole inverse dynamics


@dataclass(frozen=True)
class Efforts:
    """What the motors do along the goals.

    Arguments:
        plant: the machine
        time: (n,), s
        q: configurations, (n, n_q)
        v: velocities, (n, n_v)
        actuation: (n, motors), N or N·m
        null: (n, motors): a unit preload direction, zero where there is none or more than one
    """

    plant: Plant
    time: Array
    q: Array
    v: Array
    actuation: Array
    null: Array

    @property
    def peaks(self) -> dict[str, float]:
        """The largest effort of each motor."""
        return dict(zip(self.plant.actuators, np.abs(self.actuation).max(axis=0).tolist(), strict=True))

    @property
    def peak(self) -> float:
        """The largest effort of all."""
        return float(np.abs(self.actuation).max(initial=0.0))


@dataclass(frozen=True)
class TradeOff:
    """Peak against root mean square along goals, from the least peak to the least squares.

    Arguments:
        peak: ρ, (points,): the largest |u_i|/limit_i; the largest |u_i| where no motor has a limit
        root_mean_square: (points,): √(∫ Σ u_i² dt / T); of u_i/limit_i where forces and torques share
        efforts: of each point
    """

    peak: Array
    root_mean_square: Array
    efforts: tuple[Efforts, ...]


def inverse_dynamics(  # noqa: PLR0913  (as `servo`)
    system: System | Plant,
    goals: Goal | Sequence[Goal],
    allocation: Allocation = LeastSquares(),
    actuators: str | Sequence[str] = ALL,
    times: ArrayLike | None = None,
    *,
    model: Mapping[str, float] = NO_NUMBERS,
    start: State | tuple[ArrayLike, ArrayLike] | None = None,
) -> Efforts:
    """Work out the motors' efforts while the goals are met exactly; by default at 201 times from start to end.

    Arguments:
        system: the machine
        goals: what it is to do
        allocation: how spare motors share
        actuators: names of the motors that may act; "all"
        times: when to look, s; None: from start to end
        model: numbers that are believed where they are not the machine's, as for `kb.servo`
        start: the state that relative paths, kept attitudes and postures are counted from; None: the machine's start

    Raises: ControlError with its time, motors and what they lack, at an instant at which no efforts do within what the
    allocation allows.
    """
    check_arguments(inverse_dynamics, locals(), ControlError)
    plant = build(system)
    bound = servo(plant, goals, actuators, allocation, model=model, start=start).bind(plant)

    def share(force_map: Array, force: Array) -> Array:
        return bound.allocation.allocate(force_map, force, bound.limits, bound.course.independent_names)

    return efforts_along(bound, share, times)


def efforts_along(bound: BoundServo, share: Share, times: ArrayLike | None) -> Efforts:
    """The efforts of a servo's motors along its goals, shared by a function of S and r."""
    plant, course, motors, names = bound.plant, bound.course, bound.motors, bound.course.independent_names
    if times is None:
        if bound.servo.duration is None:
            raise ControlError(f"{plant.system.name}: these goals have no end. Say at which times=.")
        times = np.linspace(0.0, bound.servo.duration, SAMPLES)
    at = finite_array(np.atleast_1d(real_array(times, "times", ControlError)), "times", (None,), ControlError)
    if not len(at):
        raise ControlError("times: expected one time or more, got none. None looks from start to end.")
    states, efforts, nulls, q = [], [], [], course.start.q
    for t in at:
        state: State = course.at(float(t), q)
        S, r = bound.numbers(state, float(t))
        u, n, q = np.zeros(len(plant.actuators)), np.zeros(len(plant.actuators)), state.q
        try:
            u[list(motors)] = share(S, r)
        except OutOfBoundsError as error:
            short = [f"{plant.actuators[motors[i]]} by {excess:.4g}" for i, excess in error.excess.items()]
            least = f"bounds are too narrow at the least for {', '.join(short)}; " if short else ""
            raise ControlError(f"{plant.system.name} at t = {t:.4g} s: {least}{error}") from None
        except ControlError as error:
            raise ControlError(f"{plant.system.name} at t = {t:.4g} s: {error}") from None
        if len(motors) == len(names) + 1:
            n[list(motors)] = np.linalg.svd(S)[2][-1]
        states.append(state)
        efforts.append(u)
        nulls.append(n)
    q_all, v_all = (np.array([state[k] for state in states]) for k in (0, 1))
    return Efforts(plant, at, q_all, v_all, np.array(efforts), np.array(nulls))


def trade_off(
    system: System | Plant,
    goals: Goal | Sequence[Goal],
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
    check_arguments(trade_off, locals(), ControlError)
    plant = build(system)
    check_whole(points, "trade_off.points", 2, MOST_POINTS, ControlError)
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
    units = actuator_units(plant.machine)
    parts = scale if len({units[i] for i in motors}) > 1 else np.ones(len(motors))
    means = [_root_mean_square(one.time, one.actuation[:, motors] / parts) for one in efforts]
    return TradeOff(np.array(peaks), np.array(means), efforts)


def _root_mean_square(time: Array, actuation: Array) -> float:
    squares = (actuation**2).sum(axis=1)
    mean = np.trapezoid(squares, time) / (time[-1] - time[0]) if len(time) > 1 else squares[0]
    return float(np.sqrt(mean))
