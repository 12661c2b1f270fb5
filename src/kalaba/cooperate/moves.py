"""What an object is to do: a path for its centre of mass, a turn in step with it, moves of its joints.

As expressions of time, with the numbers of the start in them: places are counted from where the object is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.control.goals import rotation_vector, time_rates
from kalaba.model.text.expressions import Expression
from kalaba.paths.checks import finite, positive
from kalaba.paths.timing import MinimumJerk
from kalaba.space.symbolic import about

if TYPE_CHECKING:
    from kalaba.derive.kinematics import Kinematics
    from kalaba.paths.turning import Turn
    from kalaba.paths.value import Path


@dataclass(frozen=True, slots=True)
class MoveTo:
    """Lead a joint to a value and stop there, by minimum jerk."""

    value: float  # m or rad
    duration: float  # s

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite(self.value, "MoveTo.value"))
        object.__setattr__(self, "duration", positive(self.duration, "MoveTo.duration"))


@dataclass(frozen=True)
class Goal:
    """Where something is to be at a time, and how far it is from there."""

    error: ca.SX  # e, to be brought to zero
    velocity: ca.SX
    acceleration: ca.SX


@dataclass(frozen=True)
class PoseMotion:
    """The motion of a body that floats: x_d(t) and R_d(t) = exp(θ(t) ×) R₀."""

    body: str
    path: Path | None
    turn: Turn
    position: tuple[float, ...]  # of the centre of mass at the start, m
    rotation: tuple[float, ...]  # at the start, column by column

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it has from the start."""
        return (*self.position, *self.rotation)

    @property
    def shape(self) -> str:
        """All but its numbers."""
        return repr((self.body, self.path, self.turn))

    def goal(self, kinematics: Kinematics, numbers: ca.SX) -> Goal:
        """In world axes: e = (x_d − x, rotation vector of R_d Rᵀ), and twist and its rate."""
        (x, R), t = centre_pose(kinematics, self.body), kinematics.symbols.t
        x_d, turned, theta = numbers[:3], ca.SX.eye(3), ca.SX(3, 1)
        if self.path is not None:
            x_d = self.path.expressions(t, ca.vertsplit(numbers[:3]))
            turned = about(self.turn.axis, self.turn.angle * self.path.progress_expression(t))
            theta = self.turn.expressions(t, self.path)
        R_d = ca.mtimes(turned, ca.reshape(numbers[3:12], 3, 3))
        v, a = time_rates(ca.vertcat(x_d, theta), t)  # the axis stands still, so the rate of θ is ω
        return Goal(ca.vertcat(x_d - x, rotation_vector(ca.mtimes(R_d, R.T))), v, a)


@dataclass(frozen=True)
class JointMotion:
    """The motion of one coordinate: an expression of t, or moves one after the other."""

    coordinate: str
    start: float  # value at the start
    moves: tuple[MoveTo, ...] | Expression

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it has from the start."""
        return (self.start,)

    @property
    def shape(self) -> str:
        """All but its numbers."""
        return repr((self.coordinate, self.moves))

    def goal(self, kinematics: Kinematics, numbers: ca.SX) -> Goal:
        """The error p_d − p, and the rates of p_d."""
        t = kinematics.symbols.t
        p_d = self._wanted(kinematics, t, numbers[0])
        return Goal(p_d - kinematics.scalar(self.coordinate), *time_rates(p_d, t))

    def _wanted(self, kinematics: Kinematics, t: ca.SX, start: ca.SX) -> ca.SX:
        if isinstance(self.moves, Expression):
            return kinematics.value(self.moves)
        value, since, wanted = start, 0.0, start
        for move in self.moves:
            part = MinimumJerk(move.duration).fit(1.0).expression(t - since)
            wanted += (move.value - value) * part
            value, since = move.value, since + move.duration
        return wanted


def centre_pose(kinematics: Kinematics, name: str) -> tuple[ca.SX, ca.SX]:
    """A body's centre of mass and its rotation, in world axes."""
    names = [body.name for body in kinematics.machine.bodies]
    body = kinematics.body(names.index(name))
    return body.world.position + ca.mtimes(body.world.rotation, body.com), body.world.rotation
