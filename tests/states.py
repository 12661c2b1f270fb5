"""Random states of a machine, and its expressions as plain functions of a state."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from kalaba.derive.symbols import Symbols
from kalaba.model.machine import Machine


@dataclass(frozen=True)
class State:
    """Values for every symbol of a machine's equations."""

    q: np.ndarray
    v: np.ndarray
    t: float
    u: np.ndarray
    p: np.ndarray

    def moved(self, machine: Machine, step: float) -> "State":
        """The state a time later along its velocity, to second order in q; quaternions stay of length one."""
        return replace(self, q=moved(machine, self.q, self.v * step), t=self.t + step)


def random_state(machine: Machine, rng: np.random.Generator) -> State:
    """Any configuration with unit quaternions, any velocity, any time; parameters as the model says."""
    q = rng.uniform(-1.5, 1.5, size=len(machine.coordinates))
    for first, _ in machine.quaternions:
        e = rng.normal(size=4)
        q[first : first + 4] = e / np.linalg.norm(e)
    v = rng.normal(size=len(machine.velocities))
    p = np.array([parameter.value for parameter in machine.free_parameters])
    inputs = len(machine.actuators) + 3 * sum(
        not isinstance(h, tuple) for f in machine.forces for h in (f.force, f.torque)
    )
    return State(q, v, float(rng.uniform(0, 3)), rng.normal(size=inputs), p)


def moved(machine: Machine, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """q moved by v·time = step: exactly on the unit quaternions (turn by the angle |ω| dt about ω, child axes)."""
    result = q.copy()
    for row, column in machine.scalar_pairs:
        result[row] += step[column]
    for row, column in machine.quaternions:
        half = step[column : column + 3] / 2
        angle = np.linalg.norm(half)
        w, x, y, z = np.cos(angle), *(half * np.sinc(angle / np.pi))
        W, X, Y, Z = q[row : row + 4]
        result[row : row + 4] = (
            W * w - X * x - Y * y - Z * z,
            W * x + X * w + Y * z - Z * y,
            W * y - X * z + Y * w + Z * x,
            W * z + X * y - Y * x + Z * w,
        )
    return result


def numeric(symbols: Symbols, *expressions: ca.SX) -> Callable[[State], list[np.ndarray]]:
    """Expressions as a function of a state; every value is a matrix, vectors are columns."""
    s = symbols
    function = ca.Function("numeric", [s.q, s.v, s.t, s.u, s.p], list(expressions))

    def at(state: State) -> list[np.ndarray]:
        found = function.call([ca.DM(value) for value in (state.q, state.v, state.t, state.u, state.p)])
        return [np.array(value) for value in found]

    return at


SMALL = 0.1  # kg, kg*m^2, N, N*m: where terms of size one to a hundred cancel, their rounding stays


def relative_gap(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference over largest entry, or over SMALL where all entries are smaller."""
    return float(np.abs(found - expected).max(initial=0.0) / np.abs(expected).max(initial=SMALL))
