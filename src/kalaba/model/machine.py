"""A machine: a System with all its placed Systems laid out flat, every name a full path, every number an expression.

This is what derivation reads. Numbers that are parameters stand as names; structural ones as constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kalaba.joints import Joint
    from kalaba.model.acting import Sampled
    from kalaba.model.appearance import MachineVisual
    from kalaba.model.parts import Parameter, Start
    from kalaba.model.solids import AnySolid
    from kalaba.model.text.expressions import Expression
    from kalaba.model.text.traced import Traced
    from kalaba.space.pose import AsFound, Axis, Pose


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A scalar of q or of v."""

    name: str
    unit: str


@dataclass(frozen=True, slots=True)
class Displacement:
    """A scalar displacement of a joint as an expression of coordinates."""

    name: str
    unit: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Measured:
    """A displacement of a joint that closes a cut, read off the poses on both sides of it.

    Arguments:
        name: its name
        unit: "m" or "rad"
        connection: the cut
        index: which of the displacements of its joint it is
        near: an angle is read off within half a turn of this value
    """

    name: str
    unit: str
    connection: MachineConnection
    index: int
    near: float

    @property
    def expression(self) -> Expression:
        """It is no expression of others: its own name."""
        from kalaba.model.text.expressions import parse

        return parse(self.name)


@dataclass(frozen=True, slots=True)
class TracedRow:
    """One result of a recorded callable, with its arguments as expressions in full names."""

    traced: Traced
    index: int
    arguments: tuple[Expression, ...]

    @property
    def reads(self) -> tuple[Expression, ...]:
        """The arguments that this result depends on; others may serve its neighbours."""
        read = self.traced.reads(self.index)
        pairs = zip(self.traced.arguments, self.arguments, strict=True)
        return tuple(argument for text, argument in pairs if text in read)


@dataclass(frozen=True, slots=True)
class MachineBody:
    """A body of the tree; `parent` is a frame, `q_index` and `v_index` say where a quaternion joint sits."""

    name: str
    solid: AnySolid
    parent: str
    at: Pose
    joint: Joint
    displacements: tuple[Displacement, ...]
    q_index: int = -1  # first coordinate of a joint with a quaternion
    v_index: int = -1
    mode_q: int = -1  # first mode of a beam, in q
    mode_v: int = -1  # and in v
    readings: tuple[Displacement, ...] = ()  # deflection and slope of a beam's tip

    @property
    def modes_in_q(self) -> range:
        """Where the modes of its bending stand in q; empty for a rigid body."""
        return range(self.mode_q, self.mode_q + self.solid.modes)

    @property
    def modes_in_v(self) -> range:
        """Where their rates stand in v."""
        return range(self.mode_v, self.mode_v + self.solid.modes)

    def renumbered(self, q: Sequence[int], v: Sequence[int]) -> MachineBody:
        """The same body in a machine whose q and v have these entries of the old ones."""

        def place(index: int, among: Sequence[int]) -> int:
            return among.index(index) if index in among else -1

        return replace(
            self,
            q_index=place(self.q_index, q),
            v_index=place(self.v_index, v),
            mode_q=place(self.mode_q, q),
            mode_v=place(self.mode_v, v),
        )


@dataclass(frozen=True, slots=True)
class MachineFrame:
    """A frame: a body's own (`body` ≥ 0, no parent), its tip, or one placed on a parent frame.

    With `inverse_of` it is where a body sits of which the parent frame is the place `at` on that frame.
    """

    name: str
    parent: str
    at: Pose | None  # None: a body's own frame or its tip
    body: int  # index of the body that carries it, −1 for the world
    is_tip: bool = False
    inverse_of: str = ""


@dataclass(frozen=True, slots=True)
class MachineConnection:
    """A closed cut between two frames."""

    name: str
    child: str
    parent: str
    at: Pose | AsFound
    joint: Joint

    @property
    def rows(self) -> tuple[str, ...]:
        """Full names of its rows."""
        return tuple(f"{self.name}.{row}" for row in self.joint.rows)

    @property
    def work(self) -> tuple[tuple[str, Expression], ...]:
        """It does none."""
        return ()

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames that it joins."""
        return self.child, self.parent


@dataclass(frozen=True, slots=True)
class MachineConstraint:
    """Named rows that stay zero, and the generalised forces by which the constraint does work."""

    name: str
    row_names: tuple[str, ...]
    zero: tuple[Expression | TracedRow, ...]
    work: tuple[tuple[str, Expression], ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """Full names of its rows."""
        return self.row_names

    @property
    def frames(self) -> tuple[str, ...]:
        """None but those in its expressions."""
        return ()


@dataclass(frozen=True, slots=True)
class Thrust:
    """What a thruster pushes: a frame, along an axis fixed in it."""

    frame: str
    axis: Axis

    @property
    def text(self) -> str:
        """For people."""
        x, y, z = self.axis.components
        return f"{self.frame} along ({x:g}, {y:g}, {z:g})"


@dataclass(frozen=True, slots=True)
class MachineActuator:
    """A motor on a displacement, or a thruster on a frame."""

    name: str
    displacement: Expression | Thrust
    limit: float

    @property
    def frames(self) -> tuple[str, ...]:
        """The frame of a thruster; none but those in the expression of a motor."""
        return (self.displacement.frame,) if isinstance(self.displacement, Thrust) else ()


@dataclass(frozen=True, slots=True)
class MachineSpring:
    """A spring and damper on a displacement."""

    name: str
    displacement: Expression
    stiffness: Any
    damping: Any
    rest: Any
    friction: Any
    creep: float

    @property
    def frames(self) -> tuple[str, ...]:
        """None but those in its expressions."""
        return ()


@dataclass(frozen=True, slots=True)
class MachineRotor:
    """Inertia along a displacement."""

    name: str
    displacement: Expression
    inertia: Any

    @property
    def frames(self) -> tuple[str, ...]:
        """None but those in its expressions."""
        return ()


@dataclass(frozen=True, slots=True)
class MachineForce:
    """A wrench on a frame in world axes; each half three expressions or a sampled function."""

    name: str
    frame: str
    force: tuple[Expression | TracedRow, ...] | Sampled
    torque: tuple[Expression | TracedRow, ...] | Sampled

    @property
    def frames(self) -> tuple[str, ...]:
        """The frame that it acts on."""
        return (self.frame,)


# What joins or moves bodies; each names its frames beside those in its expressions.
MachinePart = MachineConnection | MachineConstraint | MachineActuator | MachineSpring | MachineRotor | MachineForce


@dataclass(frozen=True, slots=True)
class MachineOutput:
    """A named expression to record."""

    name: str
    value: Expression
    unit: str


@dataclass(frozen=True)
class Machine:
    """All of a System, flat."""

    name: str
    gravity: tuple[Any, Any, Any]
    coordinates: tuple[Coordinate, ...]
    velocities: tuple[Coordinate, ...]
    bodies: tuple[MachineBody, ...]
    frames: dict[str, MachineFrame]
    closures: tuple[MachineConnection | MachineConstraint, ...]  # in declared order
    actuators: tuple[MachineActuator, ...]
    springs: tuple[MachineSpring, ...]
    rotors: tuple[MachineRotor, ...]
    forces: tuple[MachineForce, ...]
    outputs: tuple[MachineOutput, ...]
    parameters: tuple[Parameter, ...]
    start: Start
    quaternions: tuple[tuple[int, int], ...]  # (first index in q, first index in v) of each unit quaternion
    scalar_pairs: tuple[tuple[int, int], ...]  # (index in q, index in v) of the plain coordinates
    measured: tuple[Measured, ...] = ()  # displacements of joints that close cuts
    visuals: tuple[MachineVisual, ...] = ()  # shapes for pictures

    @property
    def connections(self) -> tuple[MachineConnection, ...]:
        """The closed cuts among the closures."""
        return tuple(closure for closure in self.closures if isinstance(closure, MachineConnection))

    @property
    def rows(self) -> tuple[str, ...]:
        """Full names of all constraint rows, in declared order."""
        return tuple(row for closure in self.closures for row in closure.rows)

    @property
    def wound_rows(self) -> tuple[str, ...]:
        """Full names of the rows that close at many places, such as a thread's at every turn."""
        return tuple(f"{c.name}.{row}" for c in self.connections for row in c.joint.wound_rows)

    @property
    def is_velocity_level(self) -> tuple[bool, ...]:
        """For each row, whether it reads rates and is therefore kept at velocity level."""
        positions = {c.name for c in self.coordinates}
        rates = {c.name for c in self.velocities} - positions

        def moves(entry: Expression | TracedRow) -> bool:
            return any(e.has_rate or e.names & rates for e in entry.reads)

        levels: list[bool] = []
        for closure in self.closures:
            levels += (
                [moves(e) for e in closure.zero]
                if isinstance(closure, MachineConstraint)
                else [False] * len(closure.rows)
            )
        return tuple(levels)

    @property
    def displacements(self) -> dict[str, Displacement | Measured]:
        """All scalar displacements by full name."""
        known: dict[str, Displacement | Measured] = {
            d.name: d for body in self.bodies for d in (*body.displacements, *body.readings)
        }
        return known | {m.name: m for m in self.measured}

    @property
    def free_parameters(self) -> tuple[Parameter, ...]:
        """The parameters that stay symbols in the equations."""
        return tuple(p for p in self.parameters if not p.is_structure)

    @property
    def sampled_inputs(self) -> tuple[str, ...]:
        """Names of the inputs that hold sampled forces, after the motors'."""
        return tuple(
            f"{force.name}.{half}.{axis}"
            for force in self.forces
            for half in ("force", "torque")
            if not isinstance(getattr(force, half), tuple)
            for axis in "xyz"
        )

    @property
    def motor_displacements(self) -> dict[str, Expression]:
        """What each motor acts along, by its name; thrusters, which push a frame, have no displacement."""
        return {a.name: a.displacement for a in self.actuators if not isinstance(a.displacement, Thrust)}

    @property
    def thrusters(self) -> tuple[str, ...]:
        """Names of the actuators that push a frame and drive no displacement."""
        return tuple(a.name for a in self.actuators if isinstance(a.displacement, Thrust))

    def joint_velocities(self, body: MachineBody) -> list[int]:
        """Entries of v that the displacements of a body's joint follow from; coupled joints share some."""
        names = {name for displacement in body.displacements for name in displacement.expression.names}
        pairs = dict(self.scalar_pairs)
        velocities = [pairs[i] for i, c in enumerate(self.coordinates) if c.name in names and i in pairs]
        if body.joint.has_quaternion:
            velocities += range(body.v_index, body.v_index + body.joint.v_count)
        return velocities

    def body_of(self, frame: str) -> int:
        """Index of the body that carries a frame, −1 for the world."""
        return self.frames[frame].body
