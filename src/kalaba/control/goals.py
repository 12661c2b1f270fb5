"""Goals: what a machine is asked to do, as rows that its motion is to meet.

A goal has a task velocity A v of its own (a frame's velocity, a displacement's rate) and a wanted motion. With the
error e and the gains ω and ζ it becomes a servo constraint::

    A v̇ = a_d − Ȧ v + 2 ζ ω (v_d − A v) + ω² e
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import casadi as ca
import numpy as np

from kalaba.boundary import check_arguments, entries_of, is_a, shown
from kalaba.derive.applied import frame_jacobian
from kalaba.errors import ControlError, near
from kalaba.model.units import unit_of
from kalaba.paths.path import Path, Turn, keep
from kalaba.paths.timing import MinimumJerk
from kalaba.plant.laws import read
from kalaba.space.arrays import Array
from kalaba.space.number import is_number
from kalaba.space.symbolic import about, vee

if TYPE_CHECKING:
    from kalaba.derive.kinematics import Kinematics
    from kalaba.model.machine import Machine
    from kalaba.model.text.expressions import Expression
    from kalaba.plant.plant import Plant

LEAST = 1e-300  # under a root: keeps 0/0 out where there is no error; it is lost beside any other number
FREE = "free"
KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Follow:
    """A frame that follows a path, or an expression that follows an expression of t."""

    target: str
    path: Path | str | float
    orientation: Turn | str = KEEP

    def __post_init__(self) -> None:
        if not isinstance(self.target, str):
            raise ControlError(f"follow: expected the name of a frame or an expression, got {self.target!r}.")
        if not isinstance(self.path, Path | str) and not is_number(self.path):
            raise ControlError(f"follow {self.target}: expected a path of kb.path or a text of t, got {self.path!r}.")
        if not isinstance(self.orientation, Turn) and self.orientation not in {KEEP, FREE}:
            kinds = "'keep', 'free' or kb.path.turn(...)"
            raise ControlError(f"follow {self.target}: expected orientation {kinds}, got {self.orientation!r}.")

    @property
    def duration(self) -> float | None:
        """How long the motion takes, if it ends."""
        return self.path.duration if isinstance(self.path, Path) else None

    @property
    def words(self) -> str:
        """What it asks for."""
        if isinstance(self.path, Path):
            way = f"a path of {self.path.length:.6g} m in {self.path.duration:.6g} s"
            return f"{self.target} follows {way}, orientation {self.orientation}"
        return f"{self.target} follows {self.path}"


@dataclass(frozen=True, slots=True)
class Posture:
    """Hold whatever no other goal speaks for, where it is at the start."""

    @property
    def duration(self) -> None:
        """It does not end."""
        return

    @property
    def words(self) -> str:
        """What it asks for."""
        return "what no other goal speaks for stays"


Goal = Follow | Posture


def follow(target: str, path: Path | str | float, orientation: Turn | str = KEEP) -> Follow:
    """Ask that a frame follows a path, its orientation kept, turned or free; or that an expression follows a text.

    Arguments:
        target: name of a frame, or an expression over coordinates, displacements and frames, without t and rates
        path: of a frame a path of `kb.path`; of an expression a text of t, or a number, m or rad
        orientation: of a frame "keep", "free" or `kb.path.turn(axis, angle)`
    """
    check_arguments(follow, locals(), ControlError)
    return Follow(target, path, orientation)


def posture() -> Posture:
    """Ask that the freedoms which no other goal speaks for are held as they are at the start."""
    return Posture()


def checked_goals(goals: object, what: str) -> tuple[Goal, ...]:
    """One goal or several as a tuple; `what` asks for them."""
    several = entries_of(goals) if isinstance(goals, Iterable) and not isinstance(goals, str) else (goals,)
    for goal in several:
        if not is_a(goal, Goal):
            raise ControlError(f"{what}: expected goals such as kb.follow(...) or kb.posture(), got {shown(goal)}.")
    return several


def duration_of(goals: Sequence[Goal]) -> float | None:
    """How long goals take, s; None if none of them ends."""
    return max((goal.duration for goal in goals if goal.duration is not None), default=None)


@dataclass(frozen=True)
class Aim:
    """Where something is to be at a time, and how it is to move."""

    error: ca.SX  # e, wanted minus found
    velocity: ca.SX  # v_d
    acceleration: ca.SX  # a_d

    def fed_back(self, rates: ca.SX, frequency: float, damping: float) -> ca.SX:
        """The acceleration that feedback wants, a_d + 2 ζ ω (v_d − rates) + ω² e."""
        return self.acceleration + 2 * damping * frequency * (self.velocity - rates) + frequency**2 * self.error


def stacked_aims(aims: Sequence[Aim]) -> Aim:
    """Several aims one under the other."""
    return Aim(
        ca.vertcat(*(aim.error for aim in aims)),
        ca.vertcat(*(aim.velocity for aim in aims)),
        ca.vertcat(*(aim.acceleration for aim in aims)),
    )


def scalar_aim(value: ca.SX, wanted: ca.SX, t: ca.SX) -> Aim:
    """The aim of a number that is to be an expression of time."""
    return Aim(wanted - value, *time_rates(wanted, t))


@dataclass(frozen=True)
class Rows:
    """Servo rows: what moves, and how it is to move."""

    names: tuple[str, ...]
    matrix: ca.SX  # A, (g, n_v)
    drift: ca.SX  # Ȧ v
    aim: Aim

    def wanted(self, rates: ca.SX, frequency: float, damping: float) -> ca.SX:
        """A v̇ as the feedback wants it, for the task velocities A v."""
        return self.aim.fed_back(rates, frequency, damping) - self.drift


class Motion(Protocol):
    """A goal with the numbers of the start in it, as rows."""

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it has from the start."""

    @property
    def shape(self) -> str:
        """All but its numbers: with other numbers it is the same code."""

    @property
    def name(self) -> str:
        """What moves."""

    @property
    def path(self) -> Path | None:
        """The path that it goes along, if there is one."""

    def units(self, machine: Machine) -> tuple[str, ...]:
        """The unit of each of its rows: m, rad; empty where its expression does not say."""

    def rows(self, k: Kinematics, numbers: ca.SX) -> Rows:
        """Its rows, with symbols for its numbers."""


@dataclass(frozen=True)
class PoseMotion:
    """A pose on a path, counted from where it was at the start: x_d(t) and R_d(t) = exp(θ(t) ×) R₀."""

    name: str  # what has the pose
    path: Path | None  # None: it stays where it is
    turn: Turn | None  # in step with the path; None: orientation is free
    position: tuple[float, ...]  # at the start, m
    rotation: tuple[float, ...]  # at the start, column by column
    run_in: tuple[float, tuple[float, ...]] | None = None  # s; the way from the path's start to the pose's

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it has from the start."""
        return (*self.position, *self.rotation, *(self.run_in[1] if self.run_in is not None else ()))

    @property
    def shape(self) -> str:
        """All but its numbers."""
        return repr((self.name, self.path, self.turn, self.run_in and self.run_in[0]))

    def units(self, machine: Machine) -> tuple[str, ...]:
        """Metres, then radians."""
        return ("m",) * 3 if self.turn is None else ("m",) * 3 + ("rad",) * 3

    def pose_aim(self, position: ca.SX, rotation: ca.SX, t: ca.SX, numbers: ca.SX) -> Aim:
        """In world axes: e = (x_d − x, rotation vector of R_d Rᵀ), and twist and its rate; three rows without turn."""
        x_d, R_d, theta = numbers[:3], ca.reshape(numbers[3:12], 3, 3), ca.SX(3, 1)
        if self.path is not None:
            x_d = self.path.expressions(t, ca.vertsplit(numbers[:3]))
            if self.turn is not None:
                R_d = ca.mtimes(about(self.turn.axis, self.turn.angle * self.path.progress_expression(t)), R_d)
                theta = self.turn.expressions(t, self.path)
        if self.run_in is not None:
            x_d = x_d + numbers[12:15] * (1 - MinimumJerk(self.run_in[0]).fit(1.0).expression(t))
        if self.turn is None:
            return Aim(x_d - position, *time_rates(x_d, t))
        error = ca.vertcat(x_d - position, rotation_vector(ca.mtimes(R_d, rotation.T)))
        return Aim(error, *time_rates(ca.vertcat(x_d, theta), t))  # the axis stands still, so the rate of θ is ω


@dataclass(frozen=True)
class FrameMotion(PoseMotion):
    """A frame on a path."""

    def rows(self, k: Kinematics, numbers: ca.SX) -> Rows:
        """Rows x, y, z and rx, ry, rz, world axes."""
        s, pose, count = k.symbols, k.frame(self.name), 3 if self.turn is None else 6
        A = frame_jacobian(k, self.name)[:count, :]
        names = tuple(f"{self.name}.{label}" for label in ("x", "y", "z", "rx", "ry", "rz")[:count])
        drift = ca.jtimes(ca.mtimes(A, s.v), s.q, s.q_dot)
        return Rows(names, A, drift, self.pose_aim(pose.position, pose.rotation, s.t, numbers))


@dataclass(frozen=True)
class ScalarMotion:
    """An expression that follows an expression of t, or stays as it is."""

    target: Expression
    wanted: Expression | None  # None: it is held
    held: float = 0.0  # where it is held

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it has from the start."""
        return (self.held,) if self.wanted is None else ()

    @property
    def shape(self) -> str:
        """All but its numbers."""
        return repr((self.target, self.wanted))

    @property
    def name(self) -> str:
        """The expression."""
        return self.target.canonical

    @property
    def path(self) -> None:
        """It goes along none."""
        return

    def units(self, machine: Machine) -> tuple[str, ...]:
        """That of the expression."""
        return (unit_of(machine, self.target),)

    def rows(self, k: Kinematics, numbers: ca.SX) -> Rows:
        """One row."""
        s, y = k.symbols, k.value(self.target)
        y_d = numbers[0] if self.wanted is None else k.value(self.wanted)
        A = s.gradient(y)
        return Rows((self.name,), A, ca.jtimes(ca.mtimes(A, s.v), s.q, s.q_dot), scalar_aim(y, y_d, s.t))


def motion_of(plant: Plant, goal: Follow, q: Array, run_in: float | None) -> Motion:
    """A goal with the numbers of the configuration that it starts from."""
    if isinstance(goal.path, Path):
        if goal.target not in plant.machine.frames:
            names = near(goal.target, plant.machine.frames)
            raise ControlError(f"follow: {plant.system.name} has no frame {goal.target!r}; {names}")
        pose = plant.pose(goal.target, q)
        turn = goal.orientation if isinstance(goal.orientation, Turn) else keep()
        x, R = tuple(map(float, pose.position)), tuple(map(float, pose.rotation.ravel(order="F")))
        way = np.array(x) - goal.path.at(0.0, x).position
        entry = None if run_in is None else (run_in, tuple(map(float, way)))
        return FrameMotion(goal.target, goal.path, None if goal.orientation == FREE else turn, x, R, entry)
    target = read(plant, goal.target, "follow")
    speeds = set(plant.velocities) - set(plant.coordinates)
    if target.uses_time or target.has_rate or target.names & speeds:
        raise ControlError(
            f"follow: expected an expression of coordinates and frames, without t and rates, got {goal.target!r}. "
            "Write t in what it is to follow."
        )
    wanted = read(plant, goal.path, f"follow {goal.target}")
    parameters = {parameter.name for parameter in plant.machine.parameters}
    if wanted.frames or wanted.has_rate or wanted.names - parameters:
        raise ControlError(f"follow {goal.target}: expected an expression of t and parameters, got {goal.path!r}.")
    return ScalarMotion(target, wanted)


def rotation_vector(rotation: ca.SX) -> ca.SX:
    """Axis times angle of a rotation matrix, below half a turn: a θ/sin θ, with a = ½ vee(R − Rᵀ)."""
    a = vee(rotation)
    sine, cosine = ca.sqrt(ca.sumsqr(a) + LEAST), (ca.trace(rotation) - 1) / 2
    return a * (ca.atan2(sine, cosine) / sine)


def time_rates(wanted: ca.SX, t: ca.SX) -> tuple[ca.SX, ca.SX]:
    """First and second derivative by time."""
    v = ca.densify(ca.jacobian(wanted, t))
    return v, ca.densify(ca.jacobian(v, t))


class Numbered(Protocol):
    """Something that has numbers from the start."""

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it has from the start."""


def numbers_of(motions: Sequence[Numbered]) -> tuple[float, ...]:
    """The numbers of all motions one after the other."""
    return tuple(number for motion in motions for number in motion.numbers)


def parts_of(numbers: ca.SX, motions: Sequence[Numbered]) -> list[ca.SX]:
    """The part of the numbers that belongs to each motion."""
    ends = np.cumsum([0, *(len(motion.numbers) for motion in motions)]).tolist()
    return [numbers[a:b] for a, b in pairwise(ends)]


def stacked(motions: Sequence[Motion], k: Kinematics, numbers: ca.SX | None = None) -> Rows:
    """The rows of some motions one under the other; without symbols for their numbers these are constants."""
    symbols = ca.SX(ca.DM(numbers_of(motions))) if numbers is None else numbers
    rows = [motion.rows(k, part) for motion, part in zip(motions, parts_of(symbols, motions), strict=True)]
    names = tuple(name for row in rows for name in row.names)
    matrix, drift = ca.vertcat(*(row.matrix for row in rows)), ca.vertcat(*(row.drift for row in rows))
    aim = stacked_aims([row.aim for row in rows])
    dense = Aim(ca.densify(aim.error), ca.densify(aim.velocity), ca.densify(aim.acceleration))
    return Rows(names, ca.densify(matrix), ca.densify(drift), dense)


def chosen(rows: Rows, indices: tuple[int, ...]) -> Rows:
    """Some of the rows."""
    i, aim = list(indices), rows.aim
    part = Aim(aim.error[i, :], aim.velocity[i, :], aim.acceleration[i, :])
    return Rows(tuple(rows.names[k] for k in indices), rows.matrix[i, :], rows.drift[i, :], part)
