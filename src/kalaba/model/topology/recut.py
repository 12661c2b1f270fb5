"""The same machine with a loop cut elsewhere.

A Connection closes a loop: itself and the joints on the way between its two ends through the tree. Any joint of the
loop may be the cut instead. The Connection then becomes a joint of the tree, the joint becomes a Connection, and what
lies between them hangs the other way round::

    world ─crank─ A ─coupler─ B ─rocker─ C ═pin═ world         cut at the pin
    world ─crank─ A ═coupler═ B ─rocker─ C ─pin─ world         cut at the coupler: B hangs on C, C on the world

Names keep their meaning. A joint that hangs the other way round (`Backwards`) has the displacements it had; those of
the joint that is cut are read off the poses on both sides of it (`Measured`); declared coordinates that lose their
joint become expressions of what is left. So motors, springs, rows and starts need no change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kalaba.errors import ModelError, near
from kalaba.joints import Backwards, Weld
from kalaba.model.machine import (
    Coordinate,
    Displacement,
    Machine,
    MachineBody,
    MachineConnection,
    MachineConstraint,
    MachineFrame,
    Measured,
)
from kalaba.model.parts import Start
from kalaba.model.solids import Solid
from kalaba.model.text.expressions import Values, number, parse
from kalaba.model.topology.coupling import without_coupling, without_entries
from kalaba.model.topology.groups import expressions
from kalaba.model.topology.trees import carrier, parents_first
from kalaba.space.number import with_values
from kalaba.space.pose import AsFound, Pose

if TYPE_CHECKING:
    from kalaba.joints import Joint

HERE = with_values(Pose(), lambda _: parse(0.0))
MASSLESS = with_values(Solid(0.0), lambda _: parse(0.0))


def loop_of(machine: Machine, connection: MachineConnection) -> tuple[str, ...]:
    """The bodies whose joints lie in the loop that a connection closes, from its child to its parent."""
    up, down = (_carriers(machine, frame) for frame in connection.frames)
    shared = set(up) & set(down)
    return (*(name for name in up if name not in shared), *reversed([name for name in down if name not in shared]))


def recut(machine: Machine, connection_name: str, body_name: str) -> Machine:
    """Cut the loop of a connection at the joint of a body instead; a ModelError says why that cannot be done."""
    known = {c.name: c for c in machine.connections}
    if connection_name not in known:
        raise ModelError(f"{machine.name}.cuts: no connection {connection_name!r}; {near(connection_name, known)}")
    connection = known[connection_name]
    loop = loop_of(machine, connection)
    if body_name not in loop:
        raise ModelError(
            f"{machine.name}.cuts: no body {body_name!r} in the loop of {connection_name!r}; {near(body_name, loop)}"
        )
    body = next(b for b in machine.bodies if b.name == body_name)
    _check(machine, connection, body)
    machine = without_coupling(machine, body)
    body = next(b for b in machine.bodies if b.name == body_name)
    return _Recut(machine, connection, body).machine()


def _carriers(machine: Machine, frame: str) -> list[str]:
    """The body that carries a frame, the one that carries that, and so on to the world."""
    names = []
    while (index := machine.body_of(frame)) >= 0:
        names.append(machine.bodies[index].name)
        frame = machine.bodies[index].parent
    return names


def _check(machine: Machine, connection: MachineConnection, body: MachineBody) -> None:
    where = f"{machine.name}: no cut at {body.name} instead of {connection.name}"
    if not connection.joint.in_tree:
        raise ModelError(f"{where}: {connection.joint.kind} closes loops only. Leave this loop as it is.")
    if isinstance(connection.at, AsFound):
        raise ModelError(f"{where}: its at=AsFound() is not known yet. Give a pose, or use kb.cuts(system).")
    if body.joint.has_quaternion:
        names = {f"{body.name}.{label}" for label, _ in (*body.joint.coordinates, *body.joint.velocities)}
        acting = (machine.actuators, machine.springs, machine.rotors, machine.forces)
        parts = (machine.closures, acting, machine.outputs)
        if read := names & {name for expression in expressions(parts) for name in expression.names}:
            raise ModelError(
                f"{where}: {', '.join(sorted(read))} of its joint is read elsewhere. Cut at another joint."
            )


@dataclass(frozen=True)
class _Recut:
    """One exchange: `connection` becomes a joint of the tree, the joint of `body` becomes a connection."""

    whole: Machine
    connection: MachineConnection
    body: MachineBody

    def machine(self) -> Machine:
        """The machine after it."""
        whole, near_values = self.whole, self._near()
        measured = tuple(
            Measured(d.name, d.unit, self._closure, index, near_values[index])
            for index, d in enumerate(self.body.displacements)
        )
        names = {d.name for d in self.body.displacements}
        q_gone = {i for i, c in enumerate(whole.coordinates) if c.name in names}
        v_gone = {dict(whole.scalar_pairs)[i] for i in q_gone}
        if self.body.joint.has_quaternion:
            q_gone = set(range(self.body.q_index, self.body.q_index + self.body.joint.q_count))
            v_gone = set(range(self.body.v_index, self.body.v_index + self.body.joint.v_count))
        new = self._with_joint(without_entries(whole, q_gone, v_gone))
        bodies, frames = self._hung(new)
        ordered = parents_first(bodies, frames)
        indices = {b.name: index for index, b in enumerate(ordered)}
        known = {*frames, *names, *(c.name for c in new.coordinates), *new.displacements}
        return replace(
            new,
            bodies=tuple(ordered),
            frames={name: replace(f, body=carrier(name, frames, indices)) for name, f in frames.items()},
            closures=self._closures(),
            measured=(*new.measured, *measured),
            start=_kept(whole.start, known, whole),
        )

    @property
    def _closure(self) -> MachineConnection:
        """The joint of the body as a connection."""
        body = self.body
        return MachineConnection(f"{body.name}.joint", body.name, body.parent, body.at, body.joint)

    @property
    def _is_forward(self) -> bool:
        """Whether the child of the connection, not its parent, is on the side that the cut loosens."""
        return self.body.name in _carriers(self.whole, self.connection.child)

    def _near(self) -> list[float]:
        """The displacements at the start as it is guessed: angles are read off within half a turn of these."""
        start = self.whole.start
        given = {k: float(v) for k, v in (*start.guess, *start.hold) if isinstance(v, float | int)}
        values = {p.name: p.value for p in self.whole.parameters}
        values |= {c.name: given.get(c.name, 0.0) for c in self.whole.coordinates}
        known = self.whole.displacements

        def value(d: Displacement | Measured) -> float:
            if d.name in given:
                return given[d.name]
            readings = {n: value(known[n]) for n in d.expression.names if n in known and n != d.name}
            return number(d.expression, Values({**values, **readings}))

        return [value(d) for d in self.body.displacements]

    def _closures(self) -> tuple[MachineConnection | MachineConstraint, ...]:
        """The closures with the new cut in the place of the old one, and rows for what its joint had locked."""
        names = {c.name for c in self.whole.coordinates}
        locked = [d for d in self.body.displacements if d.name not in names]
        new: list[MachineConnection | MachineConstraint] = [] if self._closure.joint.is_free else [self._closure]
        if locked:
            rows = tuple(f"{self.body.name}.kept.{d.name.rpartition('.')[2]}" for d in locked)
            zero = tuple(parse(f"{d.name} - ({d.expression.text})") for d in locked)
            new.append(MachineConstraint(f"{self.body.name}.kept", rows, zero, ()))
        closures: list[MachineConnection | MachineConstraint] = []
        for closure in self.whole.closures:
            closures += new if closure.name == self.connection.name else [closure]
        return tuple(closures)

    def _with_joint(self, machine: Machine) -> Machine:
        """The machine with coordinates of the connection's joint at the end of q and v."""
        joint, name = self.connection.joint, self.connection.name
        q = tuple(Coordinate(f"{name}.{label}", unit) for label, unit in joint.coordinates)
        v = tuple(Coordinate(f"{name}.{label}", unit) for label, unit in joint.velocities)
        first_q, first_v = len(machine.coordinates), len(machine.velocities)
        scalars = joint.v_count - 3 * joint.has_quaternion
        quaternion = ((first_q + scalars, first_v + scalars),) if joint.has_quaternion else ()
        return replace(
            machine,
            coordinates=(*machine.coordinates, *q),
            velocities=(*machine.velocities, *v),
            quaternions=(*machine.quaternions, *quaternion),
            scalar_pairs=(*machine.scalar_pairs, *((first_q + k, first_v + k) for k in range(scalars))),
        )

    def _hung(self, machine: Machine) -> tuple[list[MachineBody], dict[str, MachineFrame]]:
        """Bodies and frames: those between the connection and the cut hang the other way round.

        A joint that is turned round moves a body without mass, on which the body that it now carries is welded where
        the joint's old seat says.
        """
        connection, forward = self.connection, self._is_forward
        bodies = {b.name: b for b in machine.bodies}
        frames = {name: replace(f, body=-1) for name, f in machine.frames.items()}
        joint = connection.joint
        at = connection.at if isinstance(connection.at, Pose) else HERE  # AsFound was refused
        new = MachineBody(
            connection.name,
            MASSLESS,
            parent=connection.parent if forward else connection.child,
            at=at if forward else HERE,
            joint=joint if forward else _backwards(joint),
            displacements=self._displacements(),
            q_index=len(machine.coordinates) - joint.q_count if joint.has_quaternion else -1,
            v_index=len(machine.velocities) - joint.v_count if joint.has_quaternion else -1,
        )
        seat = (connection.child, HERE) if forward else (connection.parent, at)
        for name in self._turned_round(seat[0]):
            self._weld(new, seat, bodies[name], bodies, frames)
            old = next(b for b in machine.bodies if b.name == name)
            new = replace(
                old,
                name=_unused(f"{name}.joint", bodies, frames),
                solid=MASSLESS,
                parent=name,
                at=HERE,
                joint=_backwards(old.joint),
                mode_q=-1,
                mode_v=-1,
                readings=(),
            )
            seat = (old.parent, old.at)
        return list(bodies.values()), frames

    def _turned_round(self, frame: str) -> list[str]:
        """Bodies from the loosened end of the connection up to the one whose joint is cut."""
        names = _carriers(self.whole, frame)
        return names[: names.index(self.body.name) + 1]

    def _weld(
        self,
        mover: MachineBody,
        seat: tuple[str, Pose],
        body: MachineBody,
        bodies: dict[str, MachineBody],
        frames: dict[str, MachineFrame],
    ) -> None:
        """Put a body on one without mass, so that a place of it (a frame, and a pose on that) is where the other is."""
        frame, at = seat
        if body.solid.modes and _stands_on_tip(self.whole, frame):
            raise ModelError(
                f"{self.whole.name}: no cut at {self.body.name} instead of {self.connection.name}: {body.name} bends, "
                "and would hang on its tip. Cut between the beam and its root."
            )
        foot = f"{mover.name}.foot"
        bodies[mover.name] = mover
        frames[mover.name] = MachineFrame(mover.name, "", None, -1)
        frames[foot] = MachineFrame(foot, mover.name, at, -1, inverse_of=frame)
        bodies[body.name] = replace(body, parent=foot, at=HERE, joint=Weld(), displacements=(), q_index=-1, v_index=-1)

    def _displacements(self) -> tuple[Displacement, ...]:
        name = self.connection.name
        labels = self.connection.joint.displacements
        return tuple(Displacement(f"{name}.{label}", unit, parse(f"{name}.{label}")) for label, unit in labels)


def _unused(name: str, *taken: Mapping[str, object]) -> str:
    """A name that is not taken: a joint that was turned round before has left its own."""
    count, new = 1, name
    while any(new in names for names in taken):
        count += 1
        new = f"{name}{count}"
    return new


def _backwards(joint: Joint) -> Joint:
    return joint.turned_over or Backwards(joint)


def _stands_on_tip(machine: Machine, frame: str) -> bool:
    """Whether a frame is on the tip of the body that carries it."""
    place = machine.frames[frame]
    while place.parent and not place.is_tip:
        place = machine.frames[place.parent]
    return place.is_tip


def _kept(start: Start, known: set[str], whole: Machine) -> Start:
    """A start without the coordinates that are no more; every displacement and frame is still there."""
    gone = {c.name for c in whole.coordinates} - known

    def those(entries: Iterable[tuple[str, object]]) -> Mapping[str, object]:
        return {name: value for name, value in entries if name not in gone}

    return Start(those(start.hold), those(start.guess), those(start.speed))  # type: ignore[arg-type]
