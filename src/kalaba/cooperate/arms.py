"""Who holds what: the trees of a machine sorted into objects and arms, and which velocities lead.

The velocities of the objects, and of each arm as many as its rows leave open, are chosen; the rest follow from the
rows. Nothing here is derived: names and counts suffice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from kalaba import tolerances
from kalaba.errors import ControlError, ModelError, near
from kalaba.kinematics.objects.holding import Arm, Hold, Split
from kalaba.model.machine import MachineConnection
from kalaba.model.topology.groups import Groups
from kalaba.space.arrays import Array
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.model.machine import Machine
    from kalaba.plant.plant import Plant

Extra = Mapping[str, Sequence[str]]
STILL = "The plant of kb.build still works for it."


@dataclass(frozen=True, slots=True)
class Tree:
    """Bodies that hang together, or share coordinates."""

    bodies: tuple[int, ...]
    velocities: tuple[int, ...]


def split(plant: Plant, extra: Extra | None = None) -> Split:
    """Sort the trees of a machine into objects and arms."""
    machine = plant.machine
    trees = _trees(machine)
    objects = _objects(machine, trees)
    if not objects:
        _refuse(machine, "expected a Free body that arms hold by Connections, found none. Add Connections")
    rows: dict[int, list[int]] = {t: [] for t in range(len(trees)) if t not in objects}
    names = _names(machine, {t: trees[t] for t in rows})
    holds: list[Hold] = []
    first = 0
    for closure in machine.closures:
        if not isinstance(closure, MachineConnection):
            _refuse(machine, f"{closure.name} is no Connection, so it is no grasp. Remove it")
        child, parent = (_tree_of(trees, machine.body_of(end)) for end in (closure.child, closure.parent))
        arms = {t for t in (child, parent) if t in rows}
        if len(arms) != 1 or {child, parent} - arms - objects - {-1}:
            _refuse(machine, f"{closure.name} does not join one arm and an object; write it as the joint of a Body")
        arm = arms.pop()
        rows[arm] += range(first, first + len(closure.rows))
        if {child, parent} & objects:
            holds.append(_hold(machine, closure, names[arm], is_child_on_arm=child == arm))
        first += len(closure.rows)
    chosen = _resolved(machine, extra or {}, {names[t]: trees[t] for t in rows})
    arms_of_trees = tuple(_arm(plant, names[t], tuple(rows[t]), trees[t], chosen.get(names[t])) for t in rows)
    free = tuple(i for t in sorted(objects) for i in trees[t].bodies if _floats(machine, i))
    velocities = tuple(j for t in sorted(objects) for j in trees[t].velocities)
    return Split(free, velocities, arms_of_trees, tuple(holds))


def _trees(machine: Machine) -> list[Tree]:
    """Trees by parents; those that share a coordinate are one."""
    groups = Groups(machine)
    return [Tree(tuple(sorted(bodies)), tuple(groups.velocities(bodies))) for bodies in groups.trees]


def _tree_of(trees: list[Tree], body: int) -> int:
    return next((t for t, tree in enumerate(trees) if body in tree.bodies), -1)


def _floats(machine: Machine, index: int) -> bool:
    body = machine.bodies[index]
    return body.joint.is_free and machine.body_of(body.parent) < 0


def _objects(machine: Machine, trees: list[Tree]) -> set[int]:
    """Held trees that float; and held trees without a motor that hold no such tree themselves."""
    links = [
        tuple(_tree_of(trees, machine.body_of(end)) for end in (connection.child, connection.parent))
        for connection in machine.connections
    ]
    joined = [{b for pair in links if t in pair for b in pair} - {t, -1} for t in range(len(trees))]
    motors = driven_velocities(machine)
    free = {t for t, tree in enumerate(trees) if joined[t] and any(_floats(machine, i) for i in tree.bodies)}
    idle = {t for t, tree in enumerate(trees) if joined[t] and not any(set(tree.velocities) & m for m in motors)}
    return free | {t for t in idle if not joined[t] & (free | idle)}


def driven_velocities(machine: Machine) -> list[set[int]]:
    """For each motor the velocities of the bodies whose displacement or place it drives."""
    groups = Groups(machine)
    return [set(groups.velocities(groups.touched(actuator))) for actuator in machine.actuators]


def _hold(machine: Machine, connection: MachineConnection, arm: str, *, is_child_on_arm: bool) -> Hold:
    ends = (connection.child, connection.parent)
    on_arm, on_object = ends if is_child_on_arm else ends[::-1]
    return Hold(connection.name, arm, on_arm, connection.child, machine.body_of(on_object), is_child_on_arm)


def _name(machine: Machine, tree: Tree) -> str:
    """The path that all bodies of a tree share, or the name of its first body."""
    names = [machine.bodies[i].name for i in tree.bodies]
    path = names[0].rpartition(".")[0]
    while path and not all(name.startswith(f"{path}.") for name in names):
        path = path.rpartition(".")[0]
    return path or names[0]


def _names(machine: Machine, trees: dict[int, Tree]) -> dict[int, str]:
    """A name for each tree; trees that share a path go by their first bodies."""
    paths = {t: _name(machine, tree) for t, tree in trees.items()}
    names = list(paths.values())
    return {t: name if names.count(name) == 1 else machine.bodies[trees[t].bodies[0]].name for t, name in paths.items()}


def _resolved(machine: Machine, extra: Extra, trees: dict[str, Tree]) -> dict[str, tuple[int, ...]]:
    """The columns of the velocities that a user chose, by arm."""
    columns = {}
    for name, words in extra.items():
        if name not in trees:
            raise ModelError(f"object_space: no arm {name!r}; {near(name, trees)}")
        known = {machine.velocities[j].name: j for j in trees[name].velocities}
        full = [word if word in known else f"{name}.{word}" for word in words]
        for word in full:
            if word not in known:
                raise ModelError(f"object_space: {name} has no velocity {word!r}; {near(word, known)}")
        columns[name] = tuple(known[word] for word in full)
    return columns


def _arm(plant: Plant, name: str, rows: tuple[int, ...], tree: Tree, lead: tuple[int, ...] | None) -> Arm:
    spare = len(tree.velocities) - len(rows)
    if spare < 0:
        _refuse(
            plant.machine,
            f"{name} has {counted(len(tree.velocities), 'joint rate')}, fewer than the "
            f"{counted(len(rows), 'row')} of its grasps, so the object is not "
            "free to move. Hold it by a joint that leaves more freedom",
        )
    if lead is None:
        lead = _best(plant, rows, tree.velocities) if spare and rows else tree.velocities[:spare]
    if len(set(lead)) != spare:
        raise ModelError(
            f"object_space: expected {counted(spare, 'rate')} for {name} in extra=, got {len(set(lead))}. Give {spare}."
        )
    return Arm(name, rows, tuple(j for j in tree.velocities if j not in lead), lead)


def _best(plant: Plant, rows: tuple[int, ...], velocities: tuple[int, ...]) -> tuple[int, ...]:
    """The rates to lead at the start: those that leave the rest, which follow, with the largest least singular value.

    Pivoted QR gives a first set; then one rate is swapped for another while that helps.
    """
    from scipy.linalg import qr

    matrix, _ = plant.constraint(*plant.start)
    A = plant.scales.sizes.of_rows(matrix)[np.ix_(rows, velocities)]
    order = qr(A, mode="r", pivoting=True)[1]
    follow, lead = list(order[: len(rows)]), list(order[len(rows) :])
    while True:
        swaps = [(i, k) for i in range(len(follow)) for k in range(len(lead))]
        gains = [_least(A[:, [*follow[:i], lead[k], *follow[i + 1 :]]]) for i, k in swaps]
        if max(gains) <= _least(A[:, follow]) * (1 + tolerances.SWAP_GAIN):
            return tuple(sorted(velocities[j] for j in lead))
        i, k = swaps[int(np.argmax(gains))]
        follow[i], lead[k] = lead[k], follow[i]


def _least(matrix: Array) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])


def _refuse(machine: Machine, what: str) -> NoReturn:
    raise ModelError(f"{machine.name}: no object space; {what}. {STILL}")


def check_arms(plant: Plant, arms: tuple[Arm, ...], holding: Array) -> None:
    """Refuse a state at which an arm's rows do not determine the rates that follow; A_f of all arms in a row."""
    first = 0
    for arm in arms:
        size = len(arm.rows)
        if not size:
            continue
        matrix = holding[first : first + size * size].reshape((size, size), order="F")
        sizes = plant.scales.sizes
        matrix = matrix * sizes.velocities[list(arm.follow)] / sizes.rows[list(arm.rows)][:, np.newaxis]
        first += size * size
        sigma = np.linalg.svd(matrix, compute_uv=False) if np.isfinite(matrix).all() else np.zeros(1)
        if not sigma[-1] > tolerances.ARM_SINGULAR * sigma[0]:
            names = ", ".join(plant.velocities[j] for j in arm.follow)
            raise ControlError(
                f"{plant.system.name}: arm {arm.name} is singular here, smallest singular value "
                f"{sigma[-1]:.3g} of {sigma[0]:.3g} for {names}. Move it away, or name other rates in extra=."
            )
