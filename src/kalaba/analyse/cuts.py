"""Where the loops of a machine can be cut, and what each cut costs.

A loop must be cut somewhere to leave trees; a Connection says where. Any other joint of the loop would do: the motion
is the same, but coordinates, rows, their rank and conditioning, and the work of an evaluation are others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from kalaba.analyse.mobility import conditioning
from kalaba.boundary import check_arguments
from kalaba.constrain.kernels.standard import STANDARD
from kalaba.errors import KalabaError, ModelError, near
from kalaba.model.listing import Table, html, table
from kalaba.model.parts import Start
from kalaba.model.text.expressions import Values, number, parse
from kalaba.model.topology.recut import loop_of
from kalaba.native.backend import Interpreted
from kalaba.plant.choice import rows_at
from kalaba.plant.plant import Plant, build
from kalaba.plant.readings import ScalarReadings
from kalaba.space.instructions import ARITY, instructions
from kalaba.space.number import quantities, with_values
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.space.rotations import from_pose, rotation_of
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.model.machine import MachineConnection
    from kalaba.model.system import System

AS_DESCRIBED = "as described"


@dataclass(frozen=True)
class Cut:
    """A machine with its loops cut at one place.

    Arguments:
        loop: the connection that closes the loop as the machine is described; "" for the machine as it is described
        joint: the body whose joint is cut instead; "" for the machine as it is described
        kind: kind of the joint that is cut, in words
        velocities: how many numbers v has
        rows: how many rows the constraints have
        rank: how many of them are independent
        freedoms: velocities less rank: the same for every cut
        operations: additions, multiplications and functions in one evaluation of the motion
        smallest_singular_value: of the independent rows in the mass metric, free of their units; 1 is best, 0 singular
        system: the machine cut so, at the same start; ready for everything that a System is for
    """

    loop: str
    joint: str
    kind: str
    velocities: int
    rows: int
    rank: int
    freedoms: int
    operations: int
    smallest_singular_value: float
    system: System = field(repr=False)


@dataclass(frozen=True)
class Cuts:
    """What `kb.cuts` finds: the places where loops can be cut, the fewest operations first.

    Arguments:
        name: name of the machine
        possible: the cuts; `cuts[0]` is the first of them, `cuts["coupler"]` the one at the joint of that body
        impossible: (connection, body, reason) of joints of loops that cannot be the cut
    """

    name: str
    possible: tuple[Cut, ...]
    impossible: tuple[tuple[str, str, str], ...] = ()

    def __iter__(self) -> Iterator[Cut]:
        return iter(self.possible)

    def __len__(self) -> int:
        return len(self.possible)

    def __getitem__(self, key: int | str) -> Cut:
        if not isinstance(key, str):
            return self.possible[key]
        named = {cut.joint: cut for cut in reversed(self.possible)}
        if key not in named:
            raise ModelError(f"{self.name}: no cut at {key!r}; {near(key, named)}")
        return named[key]

    @property
    def described(self) -> Cut:
        """The machine as it is described."""
        return self[""]

    @property
    def table(self) -> Table:
        """One row per cut."""
        columns = ("cut", "instead of", "velocities", "rows", "rank", "operations", "smallest singular value")
        rows = (
            (
                f"{c.joint}, {c.kind}" if c.joint else AS_DESCRIBED,
                *(c.loop, c.velocities, c.rows, c.rank, f"{c.operations:,}", f"{c.smallest_singular_value:.3g}"),
            )
            for c in self.possible
        )
        freedoms = self.possible[0].freedoms
        return table(f"{self.name}: {counted(freedoms, 'freedom')}, however it is cut", columns, rows, columns[2:])

    def __str__(self) -> str:
        listed = self.table
        cells = [listed.columns, *listed.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(listed.columns))]
        lines = [listed.title]
        for row in cells:
            texts = [t.ljust(w) if k < 2 else t.rjust(w) for k, (t, w) in enumerate(zip(row, widths, strict=True))]
            lines.append("  ".join(texts).rstrip())
        lines += [f"not at {body} instead of {loop}: {reason}" for loop, body, reason in self.impossible]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html(self.table)


def cuts(system: System | Plant, connections: Sequence[str] | None = None) -> Cuts:
    """List where the loops of a machine can be cut, with what each cut costs, the fewest operations first.

    For every Connection each joint of its loop is tried: the joint becomes the connection, and the connection a joint
    of the tree. One loop is cut elsewhere at a time. Every cut is the same machine: it has the same freedoms and moves
    alike, and names mean what they meant. The angle of a joint that is cut is read off its two sides, within half a
    turn of where it starts: it counts no whole turns.

    Arguments:
        system: a System or a Plant
        connections: names of those whose loops are examined; all if not given
    """
    check_arguments(cuts, locals())
    plant = build(build(system).system, backend=Interpreted())
    known = {c.name: c for c in plant.machine.connections}
    possible, impossible = [_judged(plant, "", "", "")], []
    joints = {body.name: body.joint.words for body in plant.machine.bodies}
    for name in known if connections is None else connections:
        if name not in known:
            raise ModelError(f"{plant.system.name}: no connection {name!r}; {near(name, known)}")
        for body in loop_of(plant.machine, known[name]):
            try:
                other = build(_cut(plant, known[name], body), backend=Interpreted())
                possible.append(_judged(other, name, body, joints[body]))
            except (KalabaError, NotImplementedError) as error:
                impossible.append((name, body, str(error).rpartition(": ")[2]))
    ordered = sorted(possible, key=lambda cut: (cut.operations, -cut.smallest_singular_value))
    return Cuts(plant.system.name, tuple(ordered), tuple(impossible))


def _judged(plant: Plant, loop: str, body: str, kind: str) -> Cut:
    rows = rows_at(plant, plant.inputs(*plant.start))
    motion = STANDARD["motion"].whole(plant.equations, is_singular=plant.is_singular)
    n = len(plant.velocities)
    return Cut(
        *(loop, body, kind, n, len(plant.constraints), rows.rank, n - rows.rank),
        operations=sum(instruction.word in ARITY for instruction in instructions(motion)),
        smallest_singular_value=conditioning(plant, rows)[0],
        system=plant.system,
    )


def _cut(plant: Plant, connection: MachineConnection, body: str) -> System:
    """The System with one loop cut elsewhere, which starts where the other does."""
    system = plant.system
    trial = replace(system, cuts=(*system.cuts, (connection.name, body)))
    names = {c.name for c in trial.machine.coordinates} | set(trial.machine.displacements)
    names -= {name for name, _ in plant.machine.start.hold}
    guess = {name: value for name, value in _guess(plant, connection).items() if name in names}
    return replace(trial, start=Start(guess=guess).over(system.start))


def _guess(plant: Plant, connection: MachineConnection) -> dict[str, float]:
    """Every coordinate and displacement at the start, and those that the connection's joint would have in the tree."""
    machine, q = plant.machine, plant.start.q
    names = tuple(machine.displacements)
    readings = ScalarReadings.of(plant.watch(names, plant.inputs(q)), len(plant.velocities))
    values = dict(zip(names, readings.values.tolist(), strict=True))
    values |= dict(zip(plant.coordinates, q.tolist(), strict=True))
    if not isinstance(connection.at, Pose):
        return values
    numbers = Values({p.name: p.value for p in machine.parameters})
    position, quaternion = from_pose(connection.at, lambda entry: number(parse(entry), numbers))
    seat = plant.pose(connection.parent, q).then(NumericPose(position, rotation_of(quaternion)))
    placed = plant.pose(connection.child, q).seen_from(seat)
    sizes = {quantity.path: quantity.value for quantity in quantities(connection.joint)}
    joint = with_values(connection.joint, lambda path: number(parse(sizes[path]), numbers))
    found = joint.coordinates_at(np.asarray(placed.position), np.asarray(placed.rotation))
    labels = (label for label, _ in connection.joint.coordinates)
    return values | {f"{connection.name}.{label}": float(value) for label, value in zip(labels, found, strict=True)}
