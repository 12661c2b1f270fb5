"""Declared coordinates that lose their joint when a joint is taken out of the tree: absolute angles, for instance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kalaba.model.machine import Coordinate, Displacement, Machine, MachineBody
from kalaba.model.text.expressions import Expression, Values, number, parse
from kalaba.space.arrays import Array
from kalaba.tolerances import COUPLING_LINEAR

PROBES = 3


def without_coupling(machine: Machine, body: MachineBody) -> Machine:
    """Make the displacements of a joint that is to be cut coordinates of their own, as far as others allow it.

    Displacements d = E θ + c of declared coordinates θ: as many θ as lose their meaning with the cut are replaced by
    the displacements that read them, θ = E⁻¹ (d − c).
    """
    for displacement in body.displacements:
        own, lost = _lost(machine, displacement)
        if not lost:
            continue
        by_name = {d.name: d for b in machine.bodies for d in b.displacements}
        meanings = _solved([by_name[name].expression for name in own], own, lost)
        units = {c.name: c.unit for c in machine.coordinates}
        readings = tuple(Displacement(name, units[name], text) for name, text in meanings.items())
        machine = _with_coordinates(
            machine, lost, [Coordinate(name, by_name[name].unit) for name in own], frozenset(own)
        )
        bodies = (replace(b, readings=(*b.readings, *readings)) if b.name == body.name else b for b in machine.bodies)
        machine = replace(machine, bodies=tuple(bodies))
    return machine


def _lost(machine: Machine, cut: Displacement) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Displacements that read the coordinates which lose their meaning when one displacement is no longer there.

    Nothing where the displacement is a coordinate of its own or a number, where others hold all its coordinates still
    (gears), or where the coupling is not linear with plain numbers: the coupling is then kept by a row.
    """
    names = {c.name for c in machine.coordinates}
    others = [d for b in machine.bodies for d in b.displacements if d.name != cut.name]
    theta = set(cut.expression.names) & names
    if not theta or cut.expression.text == cut.name:
        return (), ()
    while more := {n for d in others if d.expression.names & theta for n in d.expression.names & names} - theta:
        theta |= more
    order = [c.name for c in machine.coordinates if c.name in theta]
    readers = [d for d in others if d.expression.names & theta]
    matrix = _matrix([d.expression for d in (cut, *readers)], order)
    if matrix is None:
        return (), ()
    _, sizes, directions = np.linalg.svd(matrix[1:]) if readers else (0, np.zeros(0), np.eye(len(order)))
    free = directions[int(np.sum(sizes > COUPLING_LINEAR)) :]
    lost = [name for name, column in zip(order, free.T, strict=True) if np.abs(column).max(initial=0) > COUPLING_LINEAR]
    own = [d.name for d in (cut, *readers) if d.expression.names & set(lost)]
    return (tuple(own), tuple(lost)) if len(own) == len(lost) else ((), ())


def _matrix(texts: list[Expression], names: list[str]) -> Array | None:
    """E of expressions E θ + c with plain numbers in them; None if they are not of that kind."""
    if any(set(text.names) - set(names) for text in texts):
        return None

    def values(theta: Array) -> Array:
        return np.array([number(text, Values(dict(zip(names, theta, strict=True)))) for text in texts])

    zero = values(np.zeros(len(names)))
    matrix = np.column_stack([values(row) - zero for row in np.eye(len(names))])
    rng = np.random.default_rng(0)
    for theta in rng.normal(size=(PROBES, len(names))):
        if np.abs(zero + matrix @ theta - values(theta)).max() > COUPLING_LINEAR:
            return None
    return matrix


def _solved(texts: list[Expression], own: tuple[str, ...], lost: tuple[str, ...]) -> dict[str, Expression]:
    """Expressions of lost coordinates by displacements and the coordinates that stay."""
    names = list(dict.fromkeys([*lost, *(n for text in texts for n in sorted(text.names))]))
    matrix = _matrix(texts, names)
    assert matrix is not None  # noqa: S101  (they were judged before)
    inverse = np.linalg.inv(matrix[:, : len(lost)])
    stays = -inverse @ matrix[:, len(lost) :]
    zero = -inverse @ [number(text, Values(dict.fromkeys(names, 0.0))) for text in texts]
    solved = {}
    for name, by_own, by_others, constant in zip(lost, inverse, stays, zero, strict=True):
        terms = [*zip(by_own, own, strict=True), *zip(by_others, names[len(lost) :], strict=True)]
        said = "".join(f" + {float(c)!r}*{word}" for c, word in terms if abs(c) > COUPLING_LINEAR)
        constant_text = f" + {float(constant)!r}" if abs(constant) > COUPLING_LINEAR else ""
        solved[name] = parse((said + constant_text).replace(" + 1.0*", " + ").replace("+ -", "- ").removeprefix(" + "))
    return solved


def _with_coordinates(
    machine: Machine, removed: Iterable[str], added: Iterable[Coordinate], own: frozenset[str] = frozenset()
) -> Machine:
    """Replace plain coordinates by others; displacements of the names in `own` become coordinates of their own."""
    gone = set(removed)
    pairs = dict(machine.scalar_pairs)
    q_gone = {i for i, c in enumerate(machine.coordinates) if c.name in gone}
    machine = without_entries(machine, q_gone, {pairs[i] for i in q_gone})
    first_q, first_v, new = len(machine.coordinates), len(machine.velocities), list(added)
    bodies = [
        replace(
            b,
            displacements=tuple(replace(d, expression=parse(d.name)) if d.name in own else d for d in b.displacements),
        )
        for b in machine.bodies
    ]
    return replace(
        machine,
        bodies=tuple(bodies),
        coordinates=(*machine.coordinates, *new),
        velocities=(*machine.velocities, *(Coordinate(c.name, f"{c.unit}/s") for c in new)),
        scalar_pairs=(*machine.scalar_pairs, *((first_q + k, first_v + k) for k in range(len(new)))),
    )


def without_entries(machine: Machine, q_gone: set[int], v_gone: set[int]) -> Machine:
    """Take entries of q and v out, and number the others anew."""
    q = [i for i in range(len(machine.coordinates)) if i not in q_gone]
    v = [i for i in range(len(machine.velocities)) if i not in v_gone]
    return replace(
        machine,
        coordinates=tuple(machine.coordinates[i] for i in q),
        velocities=tuple(machine.velocities[i] for i in v),
        bodies=tuple(body.renumbered(q, v) for body in machine.bodies),
        quaternions=tuple((q.index(i), v.index(j)) for i, j in machine.quaternions if i in q),
        scalar_pairs=tuple((q.index(i), v.index(j)) for i, j in machine.scalar_pairs if i in q),
    )
