"""Carry: arms lead the object that they hold along a path, and share the torques that this takes.

The law is resolved acceleration in object space, evaluated at every stage of a step, in compiled code.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.boundary import check_arguments, checked_pairs, is_a, shown
from kalaba.control.allocation import Allocation, LeastSquares
from kalaba.control.allocation.rule import limit_weights
from kalaba.control.goals import numbers_of, parts_of, stacked_aims
from kalaba.control.servo import StartWarning
from kalaba.cooperate import sharing
from kalaba.cooperate.equations import object_equations
from kalaba.cooperate.limbs import LimbCarry
from kalaba.cooperate.moves import BodyMotion, JointMotion, MoveTo, centre_pose
from kalaba.cooperate.object_space import ObjectSpace, object_space
from kalaba.cooperate.pressing import Squeeze, check_presses, checked_squeeze, pressed, presses
from kalaba.errors import ControlError, near
from kalaba.paths.checks import positive
from kalaba.paths.path import Path, Turn, keep
from kalaba.plant.arguments import own_state
from kalaba.plant.laws import Controller, Law, read
from kalaba.space.number import measured

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.derive.kinematics import Kinematics
    from kalaba.model.text.expressions import Expression
    from kalaba.model.topology.partition import Partition
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State

Moves = str | MoveTo | Sequence[MoveTo]
Goals = tuple[BodyMotion | JointMotion, ...]


@dataclass(frozen=True, slots=True)
class Carry(Controller):
    """Lead the object that arms hold, for example along `kb.Carry(kb.path.line(start, end, duration=3.0))`.

    ::

        s̈ = s̈_d + 2 ζ ω (ṡ_d − ṡ) + ω² e        W τ = H s̈ + τ_b, the least ½ τᵀ D τ

    e holds the error of position, the rotation vector of R_d Rᵀ and the errors of the joints. In a run motors give no
    more than their limits. With `squeeze` the grasps of a body press on it by the force f that is asked for, all along
    the motion: f is a part of the internal forces of `kb.cooperate.grasp_forces`, which move nothing.

    Arguments:
        path: of the carried body's centre of mass, m; None keeps it where it is
        turn: turns the body about an axis of the world, in step with the path, rad
        joints: for joints of the object by name, an expression of t, or moves that follow each other (m, rad); joints
            that are not named stay as they are
        frequency: ω, rad/s
        damping: ζ, 1
        share: the weights D, one per motor of the arms; by default 1/limit², so that weak motors do less, or 1 for all
            if some motor has no limit
        squeeze: f, by which the grasps of a body press on it towards their centre, N or an expression of t; negative:
            they pull; `{body: f}` where several bodies have several grasps; None: as the least torques have it
    """

    path: Path | None = None
    turn: Turn = keep()
    joints: tuple[tuple[str, str | tuple[MoveTo, ...]], ...] | Mapping[str, Moves] = ()
    frequency: float = measured("rad/s", default=20.0)  # ω
    damping: float = 1.0  # ζ
    share: Allocation | None = None  # with a closed form for any number of spare motors
    squeeze: Squeeze = None  # f, N

    def __post_init__(self) -> None:
        for name, value, kind in (("path", self.path, Path | None), ("turn", self.turn, Turn)):
            if not isinstance(value, kind):
                raise ControlError(f"Carry.{name}: expected a {name} of kb.path, got {shown(value)}.")
        if self.path is None and self.turn.angle != 0.0:
            raise ControlError("Carry.turn: a turn goes in step with a path, and there is none. Give path=.")
        if self.share is not None and not (is_a(self.share, Allocation) and self.share.closed_form_spare == math.inf):
            remedy = "Other torques of kb.object_space(...) can be given by kb.Sampled(...)"
            raise ControlError(f"Carry.share: expected kb.LeastSquares(...), got {shown(self.share)}. {remedy}.")
        object.__setattr__(
            self,
            "joints",
            tuple(
                (name, _moves(name, m))
                for name, m in checked_pairs(self.joints, "Carry.joints", "{coordinate: moves}", ControlError)
            ),
        )
        object.__setattr__(self, "frequency", positive(self.frequency, "Carry.frequency"))
        object.__setattr__(self, "damping", positive(self.damping, "Carry.damping"))
        object.__setattr__(self, "squeeze", checked_squeeze(self.squeeze))

    def law(self, plant: Plant, start: State) -> Law:
        """The torques of a machine that starts from a state.

        Arguments:
            plant: the machine
            start: the state from which places, turns and joints are counted
        """
        check_arguments(Carry.law, locals())
        start = own_state(plant.machine, start)
        space = object_space(plant)
        goals: Goals = (*_pose(self, space, start), *_joints(self, space, start))
        if off := _apart(space, goals, start):
            message = f"{plant.system.name}: {off}. The feedback pulls it there; begin the goals where the object is."
            warnings.warn(message, StartWarning, stacklevel=3)
        motors = sharing.motors(space, None, {})
        share, limits = self._share(space, motors), plant.limits[list(motors)]
        pressing = presses(space, checked_squeeze(self.squeeze))
        if pressing:
            check_presses(space, pressing, motors, start)
        aimed = numbers_of(goals)

        def torques(equations: Equations, _: ca.SX, numbers: ca.SX) -> list[ca.SX]:
            model = object_equations(equations, space.split)
            speeds = ca.mtimes(model.speed_map, equations.symbols.v)
            wanted = self.acceleration(equations.kinematics, speeds, numbers[: len(aimed)], goals)
            force, force_map = ca.mtimes(model.inertia, wanted) + model.bias, model.force_map
            if pressing:
                rows, sides = pressed(equations, model, space.split, wanted, pressing, numbers[len(aimed) :])
                force, force_map = ca.vertcat(force, sides), ca.vertcat(force_map, rows)
            shared = share.expression(force_map[:, list(motors)], force, limits)
            values = dict(zip(motors, ca.vertsplit(shared), strict=True))
            return [values.get(i, ca.SX(0)) for i in range(len(plant.actuators))]

        def limbs(partition: Partition) -> LimbCarry | None:
            weights = share.square_weights(len(motors))
            if weights is None or pressing:
                return None
            wanted = partial(self.acceleration, goals=goals)
            form = LimbCarry(space.split, dict(zip(motors, weights, strict=True)), wanted)
            return form if form.fits(partition) else None

        rule = share.label((len(space.coordinates) + len(pressing), len(motors)), limits)
        shape = f"to {[goal.shape for goal in goals]} {rule} {space.split!r} {[press.shape for press in pressing]}"
        numbers = (*aimed, *(number for press in pressing for number in press.numbers))
        return Law(repr(self), torques, is_feedback=True, shape=shape, numbers=numbers, limbs=limbs)

    def acceleration(self, kinematics: Kinematics, speeds: ca.SX, numbers: ca.SX, goals: Goals) -> ca.SX:
        """The acceleration s̈ that leads an object with the velocities ṡ to its goals."""
        aims = [goal.aim(kinematics, part) for goal, part in zip(goals, parts_of(numbers, goals), strict=True)]
        return stacked_aims(aims).fed_back(speeds, self.frequency, self.damping)

    def _share(self, space: ObjectSpace, motors: tuple[int, ...]) -> Allocation:
        """How the motors share; by default with weights of their limits, made such that the largest is 1."""
        limits = space.plant.limits[list(motors)]
        share = LeastSquares(limit_weights(limits)) if self.share is None else self.share
        sharing.check_units(space, motors, share)
        try:
            share.check(limits)
        except ControlError as error:
            raise ControlError(f"Carry.share, of the motors of the arms: {error}") from None
        return share


def _moves(name: str, moves: Moves) -> str | tuple[MoveTo, ...]:
    """An expression of t as it is, moves as a tuple."""
    if isinstance(moves, str):
        return moves
    listed = (moves,) if isinstance(moves, MoveTo) else moves
    if not isinstance(listed, Sequence) or not listed or not all(isinstance(move, MoveTo) for move in listed):
        raise ControlError(f"Carry.joints, {name}: expected an expression of t or kb.MoveTo(...), got {moves!r}.")
    return tuple(listed)


def _pose(carry: Carry, space: ObjectSpace, start: State) -> list[BodyMotion]:
    """The motion of the body that floats, if there is one."""
    plant = space.plant
    free = [plant.machine.bodies[i].name for i in space.split.free]
    if len(free) > 1:
        names = ", ".join(free)
        raise ControlError(f"Carry: expected one body that floats, got {names}. Join them, or write a kb.Sampled(...).")
    if not free:
        if carry.path is not None:
            raise ControlError(f"Carry.path: in {plant.system.name} no object floats. Name its joints in joints=.")
        return []
    k = plant.equations.kinematics
    place = ca.Function("place", [k.symbols.q, k.symbols.p], centre_pose(k, free[0]))
    x, R = (tuple(part.full().ravel(order="F").tolist()) for part in place(start.q, plant.parameters))
    return [BodyMotion(free[0], carry.path, carry.turn, x, R)]


def _apart(space: ObjectSpace, goals: Goals, start: State) -> str:
    """Say which goal a start is farthest from; nothing where it is on all of them."""
    k, plant = space.plant.equations.kinematics, space.plant
    numbers = ca.SX(ca.DM(numbers_of(goals)))
    aims = [goal.aim(k, part) for goal, part in zip(goals, parts_of(numbers, goals), strict=True)]
    if not aims:
        return ""
    error = ca.Function("error", [k.symbols.q, k.symbols.t, k.symbols.p], [stacked_aims(aims).error])
    gaps = np.abs(error(start.q, 0.0, plant.parameters).full().ravel())
    units = [unit for goal in goals for unit in goal.units(plant.machine)]
    parts = gaps / [plant.scales.reach if unit == "m" else 1.0 for unit in units]
    worst = int(parts.argmax())
    if not parts[worst] > tolerances.OFF_COURSE:
        return ""
    names = [name for goal in goals for name in goal.names]
    return f"{names[worst]} starts {gaps[worst]:.3g} m or rad off its path"


def _joints(carry: Carry, space: ObjectSpace, start: State) -> list[JointMotion]:
    """The motions of the joints, in the order of ṡ."""
    plant = space.plant
    names = space.coordinates[6 * len(space.split.free) :]
    moves = dict(carry.joints)
    for name in moves:
        if name not in names:
            raise ControlError(f"Carry.joints: the object has no joint {name!r}; {near(name, names)}")
    places = {plant.velocities[j]: i for i, j in plant.machine.scalar_pairs}
    motions = []
    for name in names:
        if name not in places:
            raise ControlError(f"Carry: {name} belongs to a ball joint, which has no moves. Write a kb.Sampled(...).")
        wanted = _moves(name, moves[name]) if name in moves else ()
        i, course = places[name], _of_time(plant, name, wanted) if isinstance(wanted, str) else wanted
        motions.append(JointMotion(plant.coordinates[i], float(start.q[i]), course))
    return motions


def _of_time(plant: Plant, name: str, text: str) -> Expression:
    """Read an expression of t and parameters."""
    expression = read(plant, text, f"Carry.joints, {name}")
    parameters = {parameter.name for parameter in plant.machine.parameters}
    if expression.frames or expression.has_rate or expression.names - parameters:
        raise ControlError(f"Carry.joints, {name}: expected an expression of t and parameters, got {text!r}.")
    return expression
