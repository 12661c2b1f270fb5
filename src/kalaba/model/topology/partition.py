"""Parts of a machine that are alike: trees that hang on the rest by their own closures only, such as arms on a load.

A machine is divided into a *hub* and *limbs*. A limb is a tree (with whatever shares its coordinates, springs or
forces) whose closures join it to the hub or to itself, never to another limb. Limbs that are the same up to names and
numbers form a *kind*: they are derived and compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kalaba.model.machine import Machine, MachineBody, MachineFrame, MachinePart
from kalaba.model.names import WORLD
from kalaba.model.parts import Parameter
from kalaba.model.topology.groups import ACTING, Groups, expressions

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")


@dataclass(frozen=True)
class Share:
    """Some trees of a machine as a machine of their own, and where its entries stand in the whole."""

    machine: Machine
    q: tuple[int, ...]
    v: tuple[int, ...]
    u: tuple[int, ...]
    rows: tuple[int, ...]
    own_v: frozenset[int]  # of the entries in `v` those of the limb; the others are the hub's


@dataclass(frozen=True)
class Kind:
    """Limbs that are alike. The equations of the first serve all; each has its own numbers.

    A share has the limb, the hub and what joins them; entry i of `shares[k].machine.parameters` means the same for
    every limb k. `tree` is the first limb alone, for its dynamics.
    """

    shares: tuple[Share, ...]
    tree: Share

    @property
    def pattern(self) -> Share:
        """The limb whose equations are derived."""
        return self.shares[0]


@dataclass(frozen=True)
class Partition:
    """A hub and the kinds of limbs that hang on it."""

    hub: Share
    kinds: tuple[Kind, ...]


def partition(machine: Machine, least_bodies: int) -> Partition | None:
    """Divide a machine; None where fewer than `least_bodies` bodies belong to limbs that are alike."""
    groups = Groups(machine)
    working = any(closure.work for closure in machine.closures)
    if any(machine.is_velocity_level) or working or machine.measured or not groups.covers_all:
        return None
    limbs = _limbs(groups)
    while True:
        hub = frozenset(range(len(machine.bodies))).difference(*limbs)
        alike: dict[str, list[tuple[frozenset[int], Share]]] = {}
        for limb in limbs:
            share = _share(groups, limb, hub)
            alike.setdefault(_pattern(share.machine, groups.names(limb)), []).append((limb, share))
        lone = {members[0][0] for members in alike.values() if len(members) == 1}
        if not lone:
            break
        limbs = [limb for limb in limbs if limb not in lone]
    whole = _share(groups, frozenset(), hub)
    if sum(map(len, limbs)) < least_bodies or not whole.v:
        return None
    return Partition(whole, tuple(_kind(groups, members) for members in alike.values()))


def _kind(groups: Groups, members: list[tuple[frozenset[int], Share]]) -> Kind:
    shares = _freed([share for _, share in members])
    tree = _share(groups, members[0][0], frozenset(), closures=False)
    numbers = {p.name: p for p in shares[0].machine.parameters}
    parameters = tuple(numbers[p.name] for p in tree.machine.parameters)
    return Kind(shares, replace(tree, machine=replace(tree.machine, parameters=parameters)))


def _limbs(groups: Groups) -> list[frozenset[int]]:
    """Groups that are alike taken alone and have no closure with each other, the largest families first."""
    families: dict[str, list[frozenset[int]]] = {}
    for group in groups.members:
        alone = _share(groups, group, frozenset(), closures=False)
        families.setdefault(_pattern(alone.machine, groups.names(group)), []).append(group)
    taken: list[frozenset[int]] = []
    for family in sorted(families.values(), key=lambda groups_alike: -sum(map(len, groups_alike))):
        together = [*taken, *family]
        if len(family) > 1 and not any(groups.are_joined(a, b) for a in family for b in together if a is not b):
            taken = together
    return taken


def _share(groups: Groups, limb: frozenset[int], hub: frozenset[int], *, closures: bool = True) -> Share:
    """Cut out the bodies of a limb and of the hub, with what acts on the limb (on the hub, if there is no limb)."""
    whole, chosen = groups.machine, limb | hub
    q, v = groups.coordinates(chosen), groups.velocities(chosen)

    def is_mine(part: MachinePart) -> bool:
        touched = groups.bodies_of(part)
        return bool(touched & limb) if limb else touched <= hub

    mine = [closure for closure in whole.closures if closures and is_mine(closure)]
    part: dict[str, Any] = {name: tuple(filter(is_mine, getattr(whole, name))) for name in ACTING}
    bodies = [b for i, b in enumerate(whole.bodies) if i in chosen]
    frames = _frames(whole, bodies, [*mine, *(e for elements in part.values() for e in elements)])
    renumbered = {old: new for new, old in enumerate(sorted(chosen))}
    machine = replace(
        whole,
        coordinates=tuple(whole.coordinates[i] for i in q),
        velocities=tuple(whole.velocities[i] for i in v),
        bodies=tuple(body.renumbered(q, v) for body in bodies),
        frames={f.name: replace(f, body=renumbered.get(f.body, -1)) for f in frames},
        closures=tuple(mine),
        outputs=(),
        quaternions=tuple((q.index(i), v.index(j)) for i, j in whole.quaternions if i in q),
        scalar_pairs=tuple((q.index(i), v.index(j)) for i, j in whole.scalar_pairs if i in q),
        **part,
    )
    words = {name for e in expressions((machine.gravity, machine.bodies, frames, mine, part)) for name in e.names}
    machine = replace(machine, parameters=tuple(p for p in whole.parameters if p.name in words))
    names = [a.name for a in whole.actuators] + list(whole.sampled_inputs)
    inputs = [a.name for a in machine.actuators] + list(machine.sampled_inputs)
    places = {name: i for i, name in enumerate(whole.rows)}
    limb_v = groups.velocities(limb)
    return Share(
        machine,
        *(tuple(q), tuple(v), tuple(names.index(name) for name in inputs)),
        *(tuple(places[row] for row in machine.rows), frozenset(v.index(j) for j in limb_v)),
    )


def _frames(machine: Machine, bodies: Sequence[MachineBody], parts: Iterable[MachinePart]) -> list[MachineFrame]:
    """The frames that some bodies and parts stand on or speak of, in the machine's order."""
    wanted = {WORLD, *(name for body in bodies for name in (body.name, body.parent))}
    for part in parts:
        wanted |= set(part.frames)
        for expression in expressions(part):
            wanted |= expression.frames
            wanted |= {name.rpartition(".")[0] for name in expression.names} & set(machine.frames)
    waiting = list(wanted)
    while waiting:
        parent = machine.frames[waiting.pop()].parent
        if parent and parent not in wanted:
            wanted.add(parent)
            waiting.append(parent)
    return [frame for name, frame in machine.frames.items() if name in wanted]


def _pattern(machine: Machine, names: Sequence[str]) -> str:
    """A text that is equal for machines that differ only in these names and in the values of numbers."""
    places = {name: f"_{i}" for i, name in enumerate(dict.fromkeys(names))}
    places |= {p.name: f"#{i}" for i, p in enumerate(machine.parameters)}
    places |= {name: f"row{i}" for i, name in enumerate(machine.rows)}
    places |= {closure.name: f"closure{i}" for i, closure in enumerate(machine.closures)}

    def placed(match: re.Match[str]) -> str:
        word = match.group()
        head, dot, component = word.rpartition(".")
        return places.get(word) or (f"{places[head]}{dot}{component}" if head in places else word)

    motors = [(a.name, a.displacement) for a in machine.actuators]
    shape = (
        *(machine.gravity, machine.coordinates, machine.velocities, machine.bodies, list(machine.frames.values())),
        *(
            machine.closures,
            motors,
            machine.springs,
            machine.rotors,
            machine.forces,
            [p.name for p in machine.parameters],
        ),
    )
    return _WORD.sub(placed, repr(shape))


def _freed(shares: list[Share]) -> tuple[Share, ...]:
    """Let a number be structure only where it is so, with one value, in every limb."""
    columns = zip(*(share.machine.parameters for share in shares), strict=True)
    fixed = [all(p.is_structure and p.value == column[0].value for p in column) for column in columns]

    def with_fixed(share: Share) -> Share:
        pairs = zip(share.machine.parameters, fixed, strict=True)
        numbers: tuple[Parameter, ...] = tuple(replace(p, is_structure=is_fixed) for p, is_fixed in pairs)
        return replace(share, machine=replace(share.machine, parameters=numbers))

    return tuple(map(with_fixed, shares))
