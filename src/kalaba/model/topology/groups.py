"""Which bodies of a machine belong together: those of one tree, and those that a spring, a force or a coordinate joins.

Closures do not join groups: they are what is left when a machine has been cut into groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kalaba.model.machine import MachineConstraint, MachinePart, TracedRow
from kalaba.model.text.expressions import Expression

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

ACTING = ("actuators", "springs", "rotors", "forces")  # the fields of a machine that hold what acts on it


def expressions(value: Any) -> Iterator[Expression]:
    """Every expression inside a value of the model."""
    if isinstance(value, Expression):
        yield value
    elif isinstance(value, TracedRow):
        yield from value.arguments
    elif isinstance(value, tuple | list):
        for entry in value:
            yield from expressions(entry)
    elif isinstance(value, dict):
        for entry in value.values():
            yield from expressions(entry)
    elif is_dataclass(value):
        for entry in fields(value):
            yield from expressions(getattr(value, entry.name))


class Groups:
    """The groups of a machine, and which of them its parts touch. Bodies are meant by their index."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._q_of: dict[int, set[int]] = {}  # body: its entries of q
        self._v_of: dict[int, set[int]] = {}
        for index, _ in enumerate(machine.bodies):
            self._q_of[index], self._v_of[index] = self._entries(index)
        self._group: dict[int, frozenset[int]] = {}
        self._bodies_of: dict[int, frozenset[int]] = {}  # by the identity of the machine's parts
        self._join_trees()
        self.trees = self.members  # bodies that hang together or share coordinates, before anything acts on them
        self._join_acted_on()

    @property
    def members(self) -> list[frozenset[int]]:
        """The groups, in the order of their first bodies."""
        return list(dict.fromkeys(self._group[i] for i in range(len(self.machine.bodies))))

    @property
    def covers_all(self) -> bool:
        """Whether every coordinate moves some body."""
        return len(set().union(*self._q_of.values())) == len(self.machine.coordinates)

    def coordinates(self, bodies: Iterable[int]) -> list[int]:
        """Entries of q that move these bodies."""
        return sorted(set().union(*(self._q_of[i] for i in bodies)))

    def velocities(self, bodies: Iterable[int]) -> list[int]:
        """Entries of v that move these bodies."""
        return sorted(set().union(*(self._v_of[i] for i in bodies)))

    def names(self, bodies: frozenset[int]) -> list[str]:
        """All names that belong to these bodies, in declared order."""
        m = self.machine
        words = [m.coordinates[i].name for i in self.coordinates(bodies)]
        words += [m.velocities[i].name for i in self.velocities(bodies)]
        for index in sorted(bodies):
            body = m.bodies[index]
            words += [body.name, *(d.name for d in (*body.displacements, *body.readings))]
        carried = [f.name for f in m.frames.values() if f.body in bodies]
        bases = {m.bodies[i].parent for i in bodies if m.frames[m.bodies[i].parent].body < 0}
        acting = [e.name for kind in ACTING for e in getattr(m, kind) if self.bodies_of(e) & bodies]
        return [*words, *carried, *sorted(self._upwards(bases)), *acting]

    def bodies_of(self, part: MachinePart) -> frozenset[int]:
        """The groups that a part touches, as all their bodies."""
        if id(part) not in self._bodies_of:
            self._bodies_of[id(part)] = frozenset().union(*(self._group[i] for i in self.touched(part)))
        return self._bodies_of[id(part)]

    def touched(self, part: MachinePart) -> set[int]:
        """Bodies that a part acts on or reads."""
        m = self.machine
        frames = set(part.frames)
        bodies: set[int] = set()
        for expression in expressions(part):
            frames |= expression.frames
            for name in expression.names:
                bodies |= self._speakers.get(name, set())
                head = name.rpartition(".")[0]
                if name not in self._speakers and head in m.frames:
                    frames.add(head)
        if isinstance(part, MachineConstraint):
            for name, _ in part.work:
                bodies |= self._speakers.get(name, set())
        return bodies | {m.frames[name].body for name in frames if m.frames[name].body >= 0}

    def are_joined(self, a: frozenset[int], b: frozenset[int]) -> bool:
        """Tell whether a closure joins two groups."""
        return any(touched & a and touched & b for touched in self._closures)

    @cached_property
    def _closures(self) -> list[frozenset[int]]:
        return [self.bodies_of(closure) for closure in self.machine.closures]

    def _upwards(self, frames: Iterable[str]) -> set[str]:
        """Frames that stand on the world and what they stand on, without the world itself."""
        names: set[str] = set()
        for name in frames:
            frame = self.machine.frames[name]
            while frame.parent:
                names.add(frame.name)
                frame = self.machine.frames[frame.parent]
        return names

    def _entries(self, index: int) -> tuple[set[int], set[int]]:
        """Entries of q and v that a body's joint and its bending read."""
        body = self.machine.bodies[index]
        q = {self._places[name] for d in body.displacements for name in d.expression.names if name in self._places}
        v = {self._pairs[i] for i in q}
        if body.joint.has_quaternion:
            q |= set(range(body.q_index, body.q_index + body.joint.q_count))
            v |= set(range(body.v_index, body.v_index + body.joint.v_count))
        return q | set(body.modes_in_q), v | set(body.modes_in_v)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {c.name: i for i, c in enumerate(self.machine.coordinates)}

    @cached_property
    def _pairs(self) -> dict[int, int]:
        return dict(self.machine.scalar_pairs)

    def _join_trees(self) -> None:
        """Union of bodies that share a tree or a coordinate."""
        m = self.machine
        self._group = {i: frozenset({i}) for i in range(len(m.bodies))}
        for i, body in enumerate(m.bodies):
            parent = m.frames[body.parent].body
            if parent >= 0:
                self._unite({i, parent})
        for entry in range(len(m.coordinates)):
            self._unite({i for i, entries in self._q_of.items() if entry in entries})

    def _join_acted_on(self) -> None:
        """Union of bodies that share something that acts."""
        m = self.machine
        for kind in ACTING:
            for part in getattr(m, kind):
                self._unite(self.touched(part))
        for closure in m.closures:
            if isinstance(closure, MachineConstraint) and closure.work:
                self._unite(self.touched(closure))

    def _unite(self, bodies: Iterable[int]) -> None:
        joined = frozenset().union(*(self._group[i] for i in bodies))
        for i in joined:
            self._group[i] = joined

    @cached_property
    def _speakers(self) -> dict[str, set[int]]:
        """Bodies behind each coordinate, velocity and displacement."""
        m = self.machine
        speakers: dict[str, set[int]] = {}
        for i, body in enumerate(m.bodies):
            for d in (*body.displacements, *body.readings):
                speakers.setdefault(d.name, set()).add(i)
            for entry in self._q_of[i]:
                speakers.setdefault(m.coordinates[entry].name, set()).add(i)
            for entry in self._v_of[i]:
                speakers.setdefault(m.velocities[entry].name, set()).add(i)
        for measured in m.measured:
            speakers[measured.name] = {m.body_of(name) for name in measured.connection.frames if m.body_of(name) >= 0}
        for reading in (d for body in m.bodies for d in body.readings):
            for name in reading.expression.names:
                speakers[reading.name] |= speakers.get(name, set())
        return speakers
