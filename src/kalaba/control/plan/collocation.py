"""Direct collocation of a closed machine: a motion as the unknowns of one problem with constraints.

Unknown at the knots are q, v, v̇, u and λ, on the intervals λ and γ at the middle, and the duration T. Between knots q
and v are cubic, u is linear. Imposed are::

    at knots        M v̇ + h = Q + B u + Aᵀ λ      A v̇ = b      A v = 0      φ(q) = 0      joints within their limits
    at middles      M v̇ + h = Q + B u + Aᵀ λ      q̇ = v + S² Aᵀ γ

with the rows that are independent at the start. The rows hold at three levels, so q cannot follow v alone between
knots: γ takes up what the cubic leaves over, of the order of its error. S are the machine's sizes; all unknowns and
rows are counted in units made of them, of the duration and of the efforts of the first guess.

Reference: Posa, Kuindersma and Tedrake (2016), Optimization and stabilization of trajectories for constrained dynamical
systems, IEEE ICRA.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.model.text.expressions import parse
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.control.plan.way import Guess
    from kalaba.plant.plant import Plant

OPTIONS = {
    "print_time": False,
    "ipopt.print_level": 0,
    "ipopt.sb": "yes",
    "ipopt.tol": tolerances.COLLOCATION,
    "ipopt.constr_viol_tol": tolerances.COLLOCATION,
    "ipopt.acceptable_iter": 0,
    "ipopt.honor_original_bounds": "yes",
    "ipopt.nlp_scaling_max_gradient": 1e3,
}


class Outcome(NamedTuple):
    """What a search comes to."""

    motion: Guess
    duration: float
    cost: float
    status: str  # "Solve_Succeeded" if it did


@dataclass(frozen=True)
class Collocation:
    """The least effort ∫ uᵀ D u dt in a given time, or the least time."""

    plant: Plant
    independent: tuple[int, ...]  # rows of the structure
    knots: int
    limits: Array
    weights: Array  # D
    is_time: bool

    @cached_property
    def joints(self) -> tuple[tuple[str, float, float], ...]:
        """Displacements with limits: name, lowest and highest."""
        return tuple(
            (body.displacements[0].name, *body.joint.limits)
            for body in self.plant.machine.bodies
            if body.joint.limits is not None
        )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Coordinates, motors and rows."""
        return len(self.plant.velocities), len(self.plant.actuators), len(self.independent)

    def solve(self, guess: Guess, duration: float, iterations: int) -> Outcome:
        """Search from a guess, whose ends are those of the motion; in units in which the guess is of size one."""
        n, k, m = self.sizes
        first = np.vstack([part.T for part in guess])
        size = self._scale(first, duration)
        X, Y, T = ca.MX.sym("x", 3 * n + k + m, self.knots), ca.MX.sym("y", 2 * m, self.knots - 1), ca.MX.sym("t")
        slips = 1 / (duration * self._row_sizes)
        at_knots, in_middles = X * ca.DM(size), Y * ca.DM(np.append(size[3 * n + k :], slips))
        energy = float((size[3 * n :] * self._load_sizes).max(initial=0.0))
        zero, within = self._rows(at_knots, in_middles, T * duration, duration, energy), self._joint_rows(at_knots)
        usual = 1.0 if self.is_time else float(self.weights @ size[3 * n : 3 * n + k] ** 2)
        cost = T if self.is_time else self._cost(at_knots[3 * n : 3 * n + k, :], T) / usual
        problem = {"x": ca.vertcat(ca.vec(X), ca.vec(Y), T), "f": cost, "g": ca.vertcat(zero, within)}
        solver = ca.nlpsol("plan", "ipopt", problem, {**OPTIONS, "ipopt.max_iter": iterations})
        middle = (first[3 * n + k :, :-1] + first[3 * n + k :, 1:]) / (2 * size[3 * n + k :, np.newaxis])
        x0 = np.concatenate(
            [_flat(first / size[:, np.newaxis]), _flat(np.vstack([middle, np.zeros_like(middle)])), [1.0]]
        )
        low, high = self._bounds(first, size)
        limits = [np.array([joint[side] for joint in self.joints]) / self.joint_sizes for side in (1, 2)]
        ends = [np.tile(limit, self.knots - 2) for limit in limits]
        lowest, highest = (np.append(np.zeros(zero.numel()), end) for end in ends)
        result = solver(x0=x0, lbx=low, ubx=high, lbg=lowest, ubg=highest)
        x = np.asarray(result["x"]).ravel()
        table = x[: X.numel()].reshape((self.knots, -1)) * size
        motion = type(guess)(*np.split(table, [n, 2 * n, 3 * n, 3 * n + k], axis=1))
        status = str(solver.stats()["return_status"])
        return Outcome(motion, float(x[-1]) * duration, float(result["f"]) * usual * duration, status)

    @cached_property
    def _row_sizes(self) -> Array:
        """Of the independent rows."""
        return np.asarray(self.plant.scales.strengths[list(self.independent)])

    @cached_property
    def _load_sizes(self) -> Array:
        """What efforts and multipliers work along: of the motors' displacements and of the rows."""
        motors = np.max(np.abs(self.plant.actuation_map(self.plant.start.q).T) * self.plant.scales.velocities, axis=1)
        return np.append(np.where(motors > 0, motors, 1.0), self._row_sizes)

    @cached_property
    def joint_sizes(self) -> Array:
        """Of the displacements with limits."""
        displacements, length = self.plant.machine.displacements, self.plant.scales.length
        return np.array([length if displacements[name].unit == "m" else 1.0 for name, _, _ in self.joints])

    def _scale(self, first: Array, duration: float) -> Array:
        """Sizes of the unknowns of a knot: q by the machine's, rates follow from the duration, loads from the guess."""
        n, scales = self.sizes[0], self.plant.scales
        work = np.abs(first[3 * n :]).max(axis=1) * self._load_sizes
        work = np.maximum(work, 1e-3 * work.max(initial=0.0))
        usual = scales.mass * (scales.length / duration) ** 2
        rates = np.concatenate([scales.velocities / duration**power for power in range(3)])
        return np.concatenate([rates, np.where(work > 0, work, usual) / self._load_sizes])

    def _bounds(self, first: Array, size: Array) -> tuple[Array, Array]:
        """At rest at both ends, efforts within the limits, the duration as given or free."""
        n, k, m = self.sizes
        high = np.full(first.shape, np.inf)
        high[3 * n : 3 * n + k] = self.limits[:, np.newaxis]
        low = -high
        for end in (0, -1):
            low[:n, end] = high[:n, end] = first[:n, end]
            low[n : 2 * n, end] = high[n : 2 * n, end] = 0.0
        free = np.full(2 * m * (self.knots - 1), np.inf)
        times = (1e-3, 1e3) if self.is_time else (1.0, 1.0)  # of the guess
        low, high = low / size[:, np.newaxis], high / size[:, np.newaxis]
        return np.concatenate([_flat(low), -free, times[:1]]), np.concatenate([_flat(high), free, times[1:]])

    def _cost(self, u: ca.MX, T: ca.MX) -> ca.MX:
        """∫ uᵀ D u dt of piecewise linear u, by Simpson's rule, exact."""
        middle, D = (u[:, :-1] + u[:, 1:]) / 2, ca.DM(self.weights)
        power = [ca.sum1(D * part**2) for part in (u[:, :-1], middle, u[:, 1:])]
        return T / (6 * (self.knots - 1)) * ca.sum2(power[0] + 4 * power[1] + power[2])

    def _rows(self, X: ca.MX, Y: ca.MX, T: ca.MX, duration: float, energy: float) -> ca.MX:
        dynamics, closure, defect = self._functions()
        last, h = self.knots - 1, T / (self.knots - 1)
        at_knots = dynamics.map(self.knots)(X)
        inside = closure.map(self.knots - 2)(X[:, 1:last])
        at_middles = defect.map(last)(X[:, :-1], X[:, 1:], Y, ca.repmat(h, 1, last))
        S, r = self.plant.scales.velocities, self._row_sizes
        parts = [
            at_knots / ca.DM(np.append(energy / S, r / duration**2)),
            inside / ca.DM(np.append(r, r / duration)),
            at_middles / ca.DM(np.append(energy / S, S / duration)),
        ]
        return ca.vertcat(*(ca.vec(part) for part in parts))

    def _joint_rows(self, X: ca.MX) -> ca.MX:
        """Displacements that have limits, between the ends."""
        k = self.plant.equations.kinematics
        p, q = k.symbols.p, k.symbols.q
        if not self.joints:
            return ca.MX(0, 1)
        values = ca.vertcat(*(k.value(parse(name)) for name, _, _ in self.joints)) / ca.DM(self.joint_sizes)
        function = ca.Function("joints", [q], [ca.substitute(values, p, ca.DM(self.plant.parameters))])
        return ca.vec(function.map(self.knots - 2)(X[: q.numel(), 1:-1]))

    def _functions(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        """Dynamics with A v̇ = b of a knot; φ and A v of a knot; what is imposed at a middle."""
        n, k, m = self.sizes
        e, rows = self.plant.equations, list(self.independent)
        s = e.symbols
        a, load = ca.SX.sym("a", n), ca.SX.sym("l", m)
        u = s.u[:k]
        x = ca.vertcat(s.q, s.v, a, u, load)
        A, b = e.rows.matrix[rows, :], e.rows.rhs[rows]
        balance = ca.mtimes(e.mass_matrix, a) - e.force - ca.mtimes(A.T, load)
        numbers = [ca.vertcat(s.p, s.t), ca.DM([*self.plant.parameters, 0.0])]

        def fixed(expression: ca.SX) -> ca.SX:
            return ca.densify(ca.substitute(expression, *numbers))

        balance, A = fixed(balance), fixed(A)
        dynamics = ca.Function("dynamics", [x], [ca.vertcat(balance, ca.mtimes(A, a) - fixed(b))])
        closure = ca.Function("closure", [x], [fixed(ca.vertcat(e.rows.value[rows], e.rows.rate[rows]))])
        push = ca.Function("push", [x], [balance, A])
        x0, x1, y, h = ca.SX.sym("x0", x.shape[0]), ca.SX.sym("x1", x.shape[0]), ca.SX.sym("y", 2 * m), ca.SX.sym("h")
        (q0, v0, a0, u0), (q1, v1, a1, u1) = (
            ca.vertsplit(z[: 3 * n + k], [0, n, 2 * n, 3 * n, 3 * n + k]) for z in (x0, x1)
        )
        q, q_dot = _middle(q0, v0, q1, v1, h)
        v, v_dot = _middle(v0, a0, v1, a1, h)
        left, A = push(ca.vertcat(q, v, v_dot, (u0 + u1) / 2, y[:m]))
        slip = q_dot - v - ca.DM(self.plant.scales.velocities**2) * ca.mtimes(A.T, y[m:])
        return dynamics, closure, ca.Function("defect", [x0, x1, y, h], [ca.vertcat(left, slip)])


def _middle(x0: ca.SX, d0: ca.SX, x1: ca.SX, d1: ca.SX, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Value and slope of the cubic at the middle of an interval h, from values and slopes at its ends."""
    return (x0 + x1) / 2 + h / 8 * (d0 - d1), 3 / (2 * h) * (x1 - x0) - (d0 + d1) / 4


def _flat(table: Array) -> Array:
    return table.ravel(order="F")
