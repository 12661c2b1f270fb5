"""A planned motion as a control: the efforts as planned, and feedback that keeps the machine on its way."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.control import servo_expressions
from kalaba.control.allocation.solutions import least_squares
from kalaba.control.course import demand
from kalaba.control.goals import Aim, Rows, ScalarMotion, stacked
from kalaba.model.text.expressions import parse
from kalaba.plant.laws import Controller, Law
from kalaba.plant.state import State
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.control.plan.plan import Plan
    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant


@dataclass(frozen=True)
class Track(Controller):
    """A control that carries a plan out; made by `plan.control` and `plan.open_loop`.

    With u_p the planned efforts, and S u = r what keeps the leading displacements on their way (as in `kb.servo`)::

        u = u_p + S⁺ (r − S u_p)        the efforts nearest to those planned; in the open loop u = u_p

    Between knots u_p is linear and the displacements are of degree five, from their values, rates and accelerations at
    the knots. After the end the machine is held there; in the open loop the last efforts stay.
    """

    plan: Plan
    feedback: bool = True
    frequency: float = 20.0  # ω, rad/s
    damping: float = 1.0  # ζ

    @property
    def duration(self) -> float:
        """How long the motion takes."""
        return self.plan.duration

    def start(self, plant: Plant) -> State:  # a plan has its own
        """Where the plan begins, at rest."""
        return State(self.plan.q[0], self.plan.v[0])

    def law(self, plant: Plant, start: State) -> Law:  # a plan has its own
        """The law as expressions of state and time."""

        def efforts(equations: Equations, mask: ca.SX, _: ca.SX) -> list[ca.SX]:
            planned = _curve(self.plan.time, _linear(self.plan.actuation), equations.symbols.t)
            if not self.feedback:
                return list(ca.vertsplit(planned))
            gains, motors = (self.frequency, self.damping), list(range(len(plant.actuators)))
            S, r = servo_expressions.demand(equations, mask, self._rows(equations), gains, motors)
            return list(ca.vertsplit(planned + least_squares(S, r - ca.mtimes(S, planned))))

        text = f"Track(feedback={self.feedback}, frequency={self.frequency!r}, damping={self.damping!r})"
        return Law(text=text, motors=efforts, is_feedback=self.feedback, shape=self._label)

    @cached_property
    def _label(self) -> str:
        plan = self.plan
        parts = (plan.time, plan.q, plan.v, plan.acceleration, plan.actuation)
        numbers = b"".join(np.ascontiguousarray(part).tobytes() for part in parts)
        return f"{plan.leading} {hashlib.sha256(numbers).hexdigest()}"

    @cached_property
    def _zero(self) -> tuple[ScalarMotion, ...]:
        return tuple(ScalarMotion(parse(name), parse(0.0)) for name in self.plan.leading)

    def _rows(self, equations: Equations) -> Rows:
        """The leading displacements as servo rows."""
        rows, t = stacked(self._zero, equations.kinematics), equations.symbols.t
        pieces, time = self._pieces, self.plan.time
        rates = _derived(pieces, np.diff(time))
        moves = ca.logic_and(ca.ge(t, float(time[0])), ca.le(t, float(time[-1])))  # the knot at the end still moves
        wanted = _curve(time, pieces, t)
        v, a = (moves * _curve(time, part, t) for part in (rates, _derived(rates, np.diff(time))))
        return replace(rows, aim=Aim(wanted + rows.aim.error, v, a))

    @cached_property
    def _pieces(self) -> Array:
        """Coefficients of the displacements: y = −e of rows that are to be zero, ẏ = A v, ÿ = A v̇ + Ȧ v."""
        y, rates, seconds = [], [], []
        plan = self.plan
        for q, v, a in zip(plan.q, plan.v, plan.acceleration, strict=True):
            rows = demand(plan.plant, self._zero, State(q, v), 0.0)
            y.append(-rows.error)
            rates.append(rows.matrix @ v)
            seconds.append(rows.matrix @ a + rows.drift)
        h = np.diff(plan.time)[:, np.newaxis]
        return _quintic(np.array(y), np.array(rates), np.array(seconds), h)


def _linear(values: Array) -> Array:
    """Coefficients (2, pieces, columns) of lines through the knots, of x from 0 to 1."""
    return np.stack([values[:-1], np.diff(values, axis=0)])


def _quintic(y: Array, v: Array, a: Array, h: Array) -> Array:
    """Coefficients (6, pieces, columns) of polynomials of degree five with these values, rates and accelerations."""
    y0, v0, v1, a0, a1 = y[:-1], v[:-1] * h, v[1:] * h, a[:-1] * h**2, a[1:] * h**2
    d = np.diff(y, axis=0)
    return np.stack(
        [
            *(y0, v0, a0 / 2),
            10 * d - 6 * v0 - 4 * v1 - (3 * a0 - a1) / 2,
            -15 * d + 8 * v0 + 7 * v1 + (3 * a0 - 2 * a1) / 2,
            6 * d - 3 * (v0 + v1) - (a0 - a1) / 2,
        ]
    )


def _derived(pieces: Array, h: Array) -> Array:
    """Coefficients of the derivative by time, x = (t − t_k)/h."""
    powers = np.arange(1, len(pieces))[:, np.newaxis, np.newaxis]
    return pieces[1:] * powers / h[:, np.newaxis]


def _curve(time: Array, pieces: Array, t: ca.SX) -> ca.SX:
    """Σ c_j x^j with the piece that t is in; before the first and after the last knot the curve rests."""
    at = ca.fmin(ca.fmax(t, float(time[0])), float(time[-1]))
    count = len(time) - 1
    passed = ca.vertcat(*(ca.ge(at, float(knot)) for knot in time[1:-1])) if count > 1 else ca.SX(0, 1)

    def chosen(table: Array) -> ca.SX:
        return ca.SX(ca.DM(table[0])) + ca.mtimes(ca.DM(np.diff(table, axis=0).T), passed)

    begin, length = chosen(time[:-1, np.newaxis]), chosen(np.diff(time)[:, np.newaxis])
    x, value = (at - begin) / length, ca.SX(pieces.shape[2], 1)
    for coefficients in pieces[::-1]:
        value = value * x + chosen(coefficients)
    return value
