"""Partners: entries of a machine that mean the same in two trees that are alike, such as both arms' first angles.

Trees are alike if they have the same joints in the same order, whatever their names and numbers are. Two of them at a
time are partners; where three are alike, the third has none. What joins trees to each other has no partner either.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kalaba.model.topology.groups import ACTING, Groups, expressions

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

Partners = Mapping[str, Mapping[int, int]]
"""By input of the packed vector (q, v, u, f, mask, w, p): entry → its partner, both ways."""


def partners(machine: Machine) -> Partners:
    """The entries of a machine that have partners."""
    groups = Groups(machine)
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for mine, theirs in _couples(groups):
        pairs["q"] += _matched(groups.coordinates(mine), groups.coordinates(theirs))
        pairs["v"] += _matched(groups.velocities(mine), groups.velocities(theirs))
        pairs["u"] += _matched(_motors(groups, mine), _motors(groups, theirs))
        pairs["mask"] += _matched(_rows(groups, mine), _rows(groups, theirs))
        pairs["p"] += _numbers(groups, mine, theirs)
    pairs["f"], pairs["w"] = pairs["v"], pairs["mask"]
    return {
        name: {a: b for one, other in both for a, b in ((one, other), (other, one)) if a != b}
        for name, both in pairs.items()
    }


def _couples(groups: Groups) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """Two and two trees that are alike: those with the same numbers free first, then those that are left."""
    families: dict[Hashable, dict[Hashable, list[frozenset[int]]]] = defaultdict(lambda: defaultdict(list))
    for bodies in groups.members:
        families[_shape(groups, bodies)][_freedom(groups, bodies)].append(bodies)
    for family in families.values():
        single = [members[-1] for members in family.values() if len(members) % 2]
        for members in (*family.values(), single):
            yield from zip(members[::2], members[1::2], strict=False)


def _freedom(groups: Groups, bodies: frozenset[int]) -> Hashable:
    """Which numbers of a tree are free, and the values of the others."""
    known = {parameter.name: parameter for parameter in groups.machine.parameters}
    read = [known[e.text] for e in expressions(_parts(groups, bodies)) if e.text in known]
    return tuple(parameter.value if parameter.is_structure else None for parameter in read)


def _shape(groups: Groups, bodies: frozenset[int]) -> Hashable:
    """The joints of a tree and which body carries which."""
    m, order = groups.machine, sorted(bodies)
    places = {index: place for place, index in enumerate(order)}
    return tuple((type(m.bodies[i].joint), places.get(m.frames[m.bodies[i].parent].body, -1)) for i in order)


def _parts(groups: Groups, bodies: frozenset[int]) -> list[Any]:
    """The bodies of a tree and what acts on it alone."""
    m = groups.machine
    acting = [part for kind in ACTING for part in getattr(m, kind) if groups.bodies_of(part) == bodies]
    return [*(m.bodies[i] for i in sorted(bodies)), *acting]


def _motors(groups: Groups, bodies: frozenset[int]) -> list[int]:
    actuators = enumerate(groups.machine.actuators)
    return [i for i, actuator in actuators if groups.bodies_of(actuator) == bodies]


def _rows(groups: Groups, bodies: frozenset[int]) -> list[int]:
    """The rows that join bodies of one tree to each other or to the world."""
    places = {name: i for i, name in enumerate(groups.machine.rows)}
    own = (closure for closure in groups.machine.closures if groups.bodies_of(closure) == bodies)
    return [places[row] for closure in own for row in closure.rows]


def _numbers(groups: Groups, mine: frozenset[int], theirs: frozenset[int]) -> list[tuple[int, int]]:
    """The free parameters that stand at the same places of two trees."""
    free = {parameter.name: i for i, parameter in enumerate(groups.machine.free_parameters)}
    pairs: dict[int, int] = {}
    for one, other in zip(_parts(groups, mine), _parts(groups, theirs), strict=False):
        for a, b in zip(expressions(one), expressions(other), strict=False):
            if a.text in free and b.text in free:
                pairs.setdefault(free[a.text], free[b.text])
    one_to_one = len(set(pairs.values())) == len(pairs) and not pairs.keys() & set(pairs.values())
    return list(pairs.items()) if one_to_one else []


def _matched(mine: Sequence[int], theirs: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(mine, theirs, strict=True)) if len(mine) == len(theirs) else []
