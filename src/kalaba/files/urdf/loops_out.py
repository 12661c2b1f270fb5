"""Loops of a machine that is written as URDF, in kalaba's YAML beside it: x.urdf → x.loops.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kalaba.files.names import Names
from kalaba.files.source import Notes
from kalaba.files.yaml.layout import laid_out
from kalaba.files.yaml.writing import to_data
from kalaba.model.formats import format_of
from kalaba.model.machine import MachineConnection, MachineConstraint, TracedRow
from kalaba.model.parts import Connection, Constraint, Start
from kalaba.model.text.expressions import Values, number
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import build
from kalaba.results.places import replacing
from kalaba.space.number import XYZ, quantities, with_values
from kalaba.space.pose import AsFound, Pose

if TYPE_CHECKING:
    from kalaba.model.machine import Machine
    from kalaba.model.system import System

Part = TypeVar("Part")
SUFFIX = ".loops.yaml"
SECTIONS = ("kalaba", "connections", "constraints", "start")


@dataclass(frozen=True, slots=True)
class Renamed:
    """Names of a machine where its file is read again.

    Arguments:
        frames: by frame
        words: by displacement
        coordinates: by coordinate: an expression of displacements
    """

    frames: dict[str, str]
    words: dict[str, str]
    coordinates: dict[str, str]


def write_loops(system: System, path: Path, renamed: Renamed, notes: Notes) -> None:
    """Write connections and constraints beside a URDF that has just been written, with the start that closes them."""
    machine = system.machine
    place = path.with_suffix(SUFFIX)
    if not machine.closures:
        if machine.start != Start():
            notes.add("the start, left out")
        return
    read = format_of(path).read
    assert read is not None  # noqa: S101  (URDF is read)
    tree: System = read(path, ()).system
    names = Names(notes, "loop", taken={part.name for part in tree.parts})
    closing = [part for closure in machine.closures for part in _closing(closure, machine, renamed, names, notes)]
    if not closing:
        return
    whole = replace(tree.add(*closing), start=_start(system, renamed))
    data = {key: value for key, value in to_data(whole).items() if key in SECTIONS}
    with replacing(place) as beside:
        beside.write_text(laid_out(data), encoding="utf-8")
    notes.add(f"loops, which are in {place.name} (loops=, --loops)")


def _closing(
    closure: MachineConnection | MachineConstraint, machine: Machine, renamed: Renamed, names: Names, notes: Notes
) -> Iterator[Connection | Constraint]:
    if isinstance(closure, MachineConnection):
        at = closure.at if isinstance(closure.at, AsFound) else _plain(closure.at, machine)
        joint = _plain(closure.joint, machine)
        child, parent = renamed.frames[closure.child], renamed.frames[closure.parent]
        yield Connection(names[closure.name], child, parent, at, joint)
        return
    rows = {}
    for row, zero in zip(closure.row_names, closure.zero, strict=True):
        if isinstance(zero, TracedRow) or closure.work or any(_word(n, machine, renamed) is None for n in zero.names):
            notes.add("constraints that read what the file does not hold, left out", closure.name)
            return
        text = zero.with_words(lambda name: _word(name, machine, renamed) or name).text
        rows[row.removeprefix(f"{closure.name}.") if row != closure.name else ""] = text
    yield Constraint(names[closure.name], tuple(rows.items()))


def _word(name: str, machine: Machine, renamed: Renamed) -> str | None:
    """What stands for a word of an expression in the file; None: nothing does."""
    for known in (renamed.words, renamed.frames, renamed.coordinates):
        if name in known:
            return known[name]
    frame, _, axis = name.rpartition(".")
    if frame in renamed.frames and axis in XYZ:
        return f"{renamed.frames[frame]}.{axis}"
    value = next((p.value for p in machine.parameters if p.name == name), None)
    return None if value is None else f"({value!r})"


def _plain(part: Part, machine: Machine) -> Part:
    """The same with plain numbers."""
    values = Values({p.name: p.value for p in machine.parameters})
    numbers = {q.path: float(number(q.value, values)) for q in quantities(part)}  # type: ignore[arg-type]
    return with_values(part, numbers.__getitem__)


def _start(system: System, renamed: Renamed) -> Start:
    """All displacements as they are at the machine's own start, which its loops close."""
    plant, machine = build(system, backend=Interpreted()), system.machine
    q = plant.start.q
    values = Values(
        {p.name: p.value for p in machine.parameters}
        | {c.name: float(x) for c, x in zip(machine.coordinates, q, strict=True)}
    )
    guess: dict[str, float | Pose] = {}
    for name, word in renamed.words.items():
        expression = machine.displacements[name].expression
        if expression.names & {c.name for c in machine.coordinates}:
            guess[word] = float(number(expression, values))
    for body in machine.bodies:
        if body.joint.has_position and machine.body_of(body.parent) < 0:
            guess[renamed.frames[body.name]] = plant.pose(body.name, q).as_pose
    return Start(guess=guess)
