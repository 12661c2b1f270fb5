"""Inverse dynamics along goals: the efforts that they take, without integrating."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.control.allocation import Allocation, LeastSquares, OutOfBoundsError
from kalaba.control.servo import ALL, NO_NUMBERS, servo
from kalaba.errors import ControlError
from kalaba.plant.plant import Plant, build
from kalaba.plant.state import State

if TYPE_CHECKING:
    from kalaba.control.goals import Follow, Posture
    from kalaba.model.system import System

Array = NDArray[np.float64]
SAMPLES = 201


@dataclass(frozen=True)
class Efforts:
    """What the motors do along the goals."""

    plant: Plant
    time: Array  # (n,), s
    q: Array  # (n, n_q)
    v: Array  # (n, n_v)
    actuation: Array  # (n, motors)
    null: Array  # (n, motors): a unit preload direction, zero where there is none or more than one

    @property
    def peaks(self) -> dict[str, float]:
        """The largest effort of each motor."""
        return dict(zip(self.plant.actuators, np.abs(self.actuation).max(axis=0).tolist(), strict=True))

    @property
    def peak(self) -> float:
        """The largest effort of all."""
        return float(np.abs(self.actuation).max(initial=0.0))


def inverse_dynamics(
    system: System | Plant,
    goals: Follow | Posture | Sequence[Follow | Posture],
    allocation: Allocation = LeastSquares(),
    actuators: str | Sequence[str] = ALL,
    times: ArrayLike | None = None,
    *,
    model: Mapping[str, float] = NO_NUMBERS,
) -> Efforts:
    """Work out the motors' efforts while the goals are met exactly; by default at 201 times from start to end.

    An instant at which no efforts do, within what the allocation allows, is an error with its time, motors and what
    they lack. `model` has numbers that are believed where they are not the machine's, as for `kb.servo`.
    """
    plant = build(system)
    bound = servo(plant, goals, actuators, allocation, model=model).bind(plant)
    course, motors, names = bound.course, bound.motors, bound.course.independent_names
    if times is None:
        if bound.servo.duration is None:
            raise ControlError(f"{plant.system.name}: these goals have no end. Say at which times=.")
        times = np.linspace(0.0, bound.servo.duration, SAMPLES)
    at = np.atleast_1d(np.asarray(times, dtype=float))
    states, efforts, nulls, q = [], [], [], course.start.q
    for t in at:
        state: State = course.at(float(t), q)
        S, r = bound.numbers(state, float(t))
        u, n, q = np.zeros(len(plant.actuators)), np.zeros(len(plant.actuators)), state.q
        try:
            u[list(motors)] = allocation.allocate(S, r, bound.limits, names)
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
