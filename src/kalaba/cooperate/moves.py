"""What an object is to do: a path for its centre of mass, a turn in step with it, moves of its joints.

As expressions of time, with the numbers of the start in them: places are counted from where the object is found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.control.goals import Aim, PoseMotion, scalar_aim
from kalaba.model.text.expressions import Expression
from kalaba.paths.checks import finite, positive
from kalaba.paths.timing import MinimumJerk
from kalaba.space.number import measured

if TYPE_CHECKING:
    from kalaba.derive.kinematics import Kinematics
    from kalaba.model.machine import Machine


@dataclass(frozen=True, slots=True)
class MoveTo:
    """Lead a joint to a value and stop there, by minimum jerk.

    Arguments:
        value: where the joint ends, m or rad
        duration: how long the move takes, s
    """

    value: float = measured("m", "rad")
    duration: float = measured("s")

    if TYPE_CHECKING:

        def __init__(self, value: float, duration: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite(self.value, "MoveTo.value"))
        object.__setattr__(self, "duration", positive(self.duration, "MoveTo.duration"))


@dataclass(frozen=True)
class BodyMotion(PoseMotion):
    """The motion of a body that floats: of its centre of mass, and of its rotation."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of its six numbers."""
        return tuple(f"{self.name}.{label}" for label in ("x", "y", "z", "rx", "ry", "rz"))

    def aim(self, kinematics: Kinematics, numbers: ca.SX) -> Aim:
        """Six numbers in world axes."""
        return self.pose_aim(*centre_pose(kinematics, self.name), kinematics.symbols.t, numbers)


@dataclass(frozen=True)
class JointMotion:
    """The motion of one coordinate: an expression of t, or moves one after the other."""

    coordinate: str
    start: float  # value at the start
    moves: tuple[MoveTo, ...] | Expression

    @property
    def names(self) -> tuple[str, ...]:
        """Of its one number."""
        return (self.coordinate,)

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it has from the start."""
        return (self.start,)

    @property
    def shape(self) -> str:
        """All but its numbers."""
        return repr((self.coordinate, self.moves))

    def units(self, machine: Machine) -> tuple[str, ...]:
        """That of the coordinate."""
        return (next(c.unit for c in machine.coordinates if c.name == self.coordinate),)

    def aim(self, kinematics: Kinematics, numbers: ca.SX) -> Aim:
        """The error p_d − p, and the rates of p_d."""
        t = kinematics.symbols.t
        return scalar_aim(kinematics.scalar(self.coordinate), self._wanted(kinematics, t, numbers[0]), t)

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
