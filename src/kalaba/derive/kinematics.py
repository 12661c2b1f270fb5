"""Positions of everything: bodies and frames of a machine as expressions of q, and the words of its expressions.

The derivations share this module's poses and joint rates; what each makes of them is its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from kalaba.derive.beams import Field, field, on_moving_seat
from kalaba.derive.symbols import Symbols, symbols
from kalaba.joints.formulas import Gap, JointMotion
from kalaba.joints.joint import Joint
from kalaba.model.machine import Machine, MachineBody, MachineConnection, Measured, TracedRow
from kalaba.model.names import WORLD
from kalaba.model.solids import MassProperties
from kalaba.model.text.expressions import Expression, Values, evaluate
from kalaba.model.text.symbolic import FUNCTIONS
from kalaba.space.number import XYZ, quantities, with_values
from kalaba.space.pose import Pose
from kalaba.space.symbolic import about, column, from_quaternion, from_rpy

if TYPE_CHECKING:
    from kalaba.space.pose import Axis


@dataclass(frozen=True)
class FramePose:
    """Rotation and position of a frame in the world, or in the body that carries it."""

    rotation: ca.SX
    position: ca.SX

    def then(self, other: FramePose) -> FramePose:
        """The pose of something that sits at `other` on this frame."""
        return FramePose(
            ca.mtimes(self.rotation, other.rotation), self.position + ca.mtimes(self.rotation, other.position)
        )

    @property
    def inverse(self) -> FramePose:
        """The pose of what this is a pose in."""
        return FramePose(self.rotation.T, -ca.mtimes(self.rotation.T, self.position))


MASSLESS = MassProperties(0.0, (0.0, 0.0, 0.0), (0.0,) * 6, None)
IDENTITY = FramePose(ca.SX(ca.DM.eye(3)), ca.SX.zeros(3))


@dataclass(frozen=True)
class Turn:
    """A rotation about one axis, on top of another rotation: what revolute joints with parallel axes in a row make.

    Written by the sum of their angles it is far smaller than the product of their rotations, and where the sum
    collapses (absolute angles: θ1 + (θ2 − θ1)) smaller still.
    """

    base: ca.SX
    axis: Axis
    angle: ca.SX

    @property
    def rotation(self) -> ca.SX:
        """The whole rotation."""
        return ca.mtimes(self.base, about(self.axis, self.angle))

    def then(self, seat: ca.SX, axis: Axis, angle: ca.SX) -> Turn | None:
        """Turn further on a seat; None if that is about another direction."""
        sign = {1.0: 1, -1.0: -1}.get(sum(x * y for x, y in zip(self.axis.components, axis.components, strict=True)))
        parallel = sign and tuple(sign * c for c in axis.components) == tuple(self.axis.components)
        return Turn(self.base, self.axis, self.angle + sign * angle) if _is_straight(seat) and parallel else None

    def carried(self, seat: ca.SX) -> Turn | None:
        """The rotation of what is welded to a seat; None if that is turned."""
        return self if _is_straight(seat) else None


def _is_straight(rotation: ca.SX) -> bool:
    """Whether a rotation is none, whatever the parameters."""
    return ca.SX(rotation).is_constant() and bool(np.array_equal(ca.DM(rotation).full(), np.eye(3)))


@dataclass(frozen=True)
class BodyKinematics:
    """One body: its numbers, its joint, its pose."""

    name: str
    parent: int  # index of the parent body, −1 for the world
    seat: FramePose  # in the parent body
    joint: JointMotion
    rates: slice  # of the joint rates u
    relative: FramePose  # in the parent body
    world: FramePose
    turn: Turn | None  # of its rotation in the world, for a revolute joint
    mass: ca.SX
    com: ca.SX  # in body axes
    inertia: ca.SX  # about the centre of mass, body axes, (3, 3)
    beam: Field | None = None  # what a beam's mass does; the rigid numbers above are then zero
    mode_rates: slice = dataclass_field(
        default_factory=lambda: slice(0, 0)
    )  # of the joint rates u: the beam's own modes


@dataclass(frozen=True)
class _Numbers(Values):
    """The environment of a model's numbers: parameters alone, with CasADi's functions."""

    def function(self, name: str) -> Callable[..., Any]:
        """The CasADi function of a name."""
        return FUNCTIONS[name]


class Kinematics:
    """All poses of a machine; also the environment in which its expressions are evaluated."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.symbols: Symbols = symbols(machine)
        self._q_of = {c.name: self.symbols.q[i] for i, c in enumerate(machine.coordinates)}
        self._v_of = {c.name: self.symbols.v[i] for i, c in enumerate(machine.velocities)}
        self._p_of: dict[str, Any] = {p.name: ca.SX(p.value) for p in machine.parameters}
        for index, parameter in enumerate(machine.free_parameters):
            self._p_of[parameter.name] = self.symbols.p[index]
        self._numbers = _Numbers(self._p_of)
        self._displacements = machine.displacements
        self._measured = {measured.name: measured for measured in machine.measured}
        self._bodies: dict[int, BodyKinematics] = {}
        self.time = self.symbols.t
        self.gravity = column(self.number(entry) for entry in machine.gravity)

    def number(self, entry: Expression) -> ca.SX:
        """Evaluate a number of the model: a constant or an expression of parameters."""
        return ca.SX(evaluate(entry, self._numbers))

    def value(self, entry: Expression | TracedRow) -> ca.SX:
        """Evaluate an expression or a recorded callable in full names."""
        if isinstance(entry, TracedRow):
            return entry.traced([self.value(argument) for argument in entry.arguments])[entry.index]
        return ca.SX(evaluate(entry, self))

    def scalar(self, name: str) -> ca.SX:
        """The value of a word: a coordinate, displacement, parameter, velocity, or a coordinate of a frame."""
        if name in self._q_of:
            return self._q_of[name]
        if name in self._measured:
            return self._read_off(self._measured[name])
        if name in self._displacements:
            return self.value(self._displacements[name].expression)
        frame, _, component = name.rpartition(".")
        if component in XYZ and frame in self.machine.frames:  # before parameters: `link.tip.x` is where the tip is
            return self.frame(frame).position[XYZ.index(component)]
        if name in self._p_of:
            return self._p_of[name]
        return self._v_of[name]

    def gap(self, connection: MachineConnection) -> Gap:
        """Seat and child of a connection in the world."""
        if not isinstance(connection.at, Pose):
            raise TypeError(f"{connection.name}.at: AsFound() must be settled before derivation")
        seat = self.frame(connection.parent).then(self.pose(connection.at))
        child = self.frame(connection.child)
        return Gap(seat.rotation, child.rotation, child.position - seat.position)

    def _read_off(self, measured: Measured) -> ca.SX:
        """A displacement of a joint that closes a cut; an angle within half a turn of where it is expected."""
        joint = self.joint(measured.connection.joint)
        value = joint.displacements_in(self.gap(measured.connection))[measured.index]
        if measured.unit != "rad" or not measured.near:
            return value
        away = value - measured.near
        return measured.near + ca.atan2(ca.sin(away), ca.cos(away))

    def position(self, frame: str) -> list[ca.SX]:
        """World position of a frame, for distance()."""
        return ca.vertsplit(self.frame(frame).position)  # type: ignore[no-any-return]

    def rate(self, value: Any) -> ca.SX:  # noqa: ANN401  (an expression, a row or a vector of them)
        """Time derivative along the motion, of positions; the rate of a rate is an acceleration, which is not known."""
        expression = ca.SX(value)
        if expression.shape[0] and ca.depends_on(expression, self.symbols.v):
            raise KeyError(str(expression))
        return self.symbols.rate(expression)

    def function(self, name: str) -> Callable[..., Any]:
        """The CasADi function of a name."""
        return FUNCTIONS[name]

    def known(self) -> Iterable[str]:
        """All words."""
        positions = (f"{frame}.{c}" for frame in self.machine.frames for c in XYZ)
        return [*self._q_of, *self._displacements, *self._p_of, *self._v_of, *positions]

    @property
    def bodies(self) -> tuple[BodyKinematics, ...]:
        """Every body, parents first."""
        return tuple(map(self.body, range(len(self.machine.bodies))))

    def body(self, index: int) -> BodyKinematics:
        """One body; only what carries it is worked out for it."""
        if index not in self._bodies:
            self._bodies[index] = self._body(index)
        return self._bodies[index]

    @cached_property
    def _slices(self) -> list[slice]:
        """Where each body's joint has its rates among the joint rates u."""
        slices, first = [], 0
        for body in self.machine.bodies:
            carrier = self.rides(body)
            last = first + body.joint.v_count + (carrier.solid.modes if carrier else 0)
            slices.append(slice(first, last))
            first = last + body.solid.modes
        return slices

    @cached_property
    def beams(self) -> dict[int, Field]:
        """The beams by the index of their body."""
        fields = {}
        for index, body in enumerate(self.machine.bodies):
            if (beam := body.solid.beam) is not None:
                fields[index] = field(beam, self.number, self.symbols.q[body.mode_q : body.mode_q + beam.modes])
        return fields

    def _mode_rates(self, body: MachineBody) -> list[ca.SX]:
        return [self.symbols.v[i] for i in body.modes_in_v]

    def rides(self, body: MachineBody) -> MachineBody | None:
        """The beam whose bending moves a body's seat."""
        frame = self.machine.frames[body.parent]
        while not frame.is_tip and frame.at is not None and frame.parent:
            frame = self.machine.frames[frame.parent]
        carrier = self.machine.bodies[frame.body] if frame.body >= 0 else None
        return carrier if frame.is_tip and carrier is not None and carrier.solid.modes else None

    @cached_property
    def joint_rates(self) -> ca.SX:
        """u: the rates of all joints' displacements, in the order of the bodies, as expressions of q and v."""
        rates = [rate for body in self.machine.bodies for rate in (*self._rates(body), *self._mode_rates(body))]
        return _stacked(rates)

    def _rates(self, body: MachineBody) -> list[ca.SX]:
        """Rates that move a body on its parent: those of the modes under its seat, then its joint's own."""
        carrier = self.rides(body)
        rates = self.joint_rates_of(body)
        return (self._mode_rates(carrier) if carrier else []) + (ca.vertsplit(rates) if rates.shape[0] else [])

    def joint(self, joint: Joint) -> Joint:
        """A joint of the machine with expressions of the parameters for its numbers."""
        numbers: dict[str, Any] = {quantity.path: quantity.value for quantity in quantities(joint)}
        return with_values(joint, lambda path: self.number(numbers[path]))

    def joint_coordinates_of(self, body: MachineBody) -> ca.SX:
        """The numbers that place a body on its seat, as its joint lists them."""
        if body.joint.has_quaternion:
            return self.symbols.q[body.q_index : body.q_index + body.joint.q_count]
        return _stacked([self.value(d.expression) for d in body.displacements])

    def joint_rates_of(self, body: MachineBody) -> ca.SX:
        """The rates of a body's joint alone, as its joint lists them."""
        if body.joint.has_quaternion:
            return self.symbols.v[body.v_index : body.v_index + body.joint.v_count]
        return _stacked([self.symbols.rate(self.value(d.expression)) for d in body.displacements])

    def _body(self, index: int) -> BodyKinematics:
        body, rates = self.machine.bodies[index], self._slices[index]
        q, axis = self.joint_coordinates_of(body), body.joint.hinge_axis
        motion = self.joint(body.joint).motion(q, self.joint_rates_of(body))
        parent = self.machine.frames[body.parent].body
        seat = self.frame_in_body(body.parent).then(self.pose(body.at))
        if self.rides(body) is not None:
            motion = on_moving_seat(motion, seat, self.beams[parent].modes, self.joint_rates[rates, 0], self.symbols)
        relative = seat.then(FramePose(motion.rotation, motion.position))
        below = self.body(parent) if parent >= 0 else None
        world = below.world.then(relative) if below else relative
        turn = below.turn.carried(seat.rotation) if below and below.turn and body.joint.is_rigid else None
        if turn:
            world = FramePose(turn.rotation, world.position)
        if axis is not None:
            above = below.turn if below else None
            turn = above.then(seat.rotation, axis, q[0]) if above else None
            if turn:
                world = FramePose(turn.rotation, world.position)
            else:
                base = below.world.then(seat) if below else seat
                turn = Turn(base.rotation, axis, q[0])
        beam = self.beams.get(index)
        numbers = MASSLESS if beam else body.solid.mass_properties(self.number)
        xx, yy, zz, xy, xz, yz = (ca.SX(entry) for entry in numbers.inertia)
        inertia = ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))
        return BodyKinematics(
            *(body.name, parent, seat, motion, rates, relative, world, turn),
            *(ca.SX(numbers.mass), column(numbers.com), inertia),
            beam=beam,
            mode_rates=slice(rates.stop, rates.stop + body.solid.modes),
        )

    def pose(self, at: Pose) -> FramePose:
        """A pose of the model as expressions of the parameters."""
        position = column(self.number(entry) for entry in at.position)  # type: ignore[arg-type]
        if at.quaternion is not None:
            return FramePose(from_quaternion([self.number(e) for e in at.quaternion]), position)  # type: ignore[arg-type]
        if at.rpy is not None:
            return FramePose(from_rpy(*(self.number(e) for e in at.rpy)), position)  # type: ignore[arg-type]
        return FramePose(IDENTITY.rotation, position)

    def frame_in_body(self, name: str) -> FramePose:
        """Pose of a frame in the body that carries it (or in the world)."""
        frame = self.machine.frames[name]
        if frame.is_tip:
            body = self.machine.bodies[frame.body]
            if frame.body in self.beams:
                return FramePose(self.beams[frame.body].tip_rotation, self.beams[frame.body].tip_position)
            return FramePose(IDENTITY.rotation, column(body.solid.mass_properties(self.number).tip))
        if frame.at is None:
            return IDENTITY
        if frame.inverse_of:
            return self.frame_in_body(frame.parent).then(self._place_of(frame.inverse_of, frame.at).inverse)
        return self.frame_in_body(frame.parent).then(self.pose(frame.at))

    def _place_of(self, name: str, at: Pose) -> FramePose:
        """A pose on a frame, in the body that carries the frame."""
        return self.frame_in_body(name).then(self.pose(at))

    def frame(self, name: str) -> FramePose:
        """Pose of a frame in the world."""
        body = self.machine.frames[name].body
        inside = self.frame_in_body(name)
        return inside if body < 0 or name == WORLD else self.body(body).world.then(inside)


def _stacked(entries: list[ca.SX]) -> ca.SX:
    return ca.vertcat(*entries) if entries else ca.SX(0, 1)
