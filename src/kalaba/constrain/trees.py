"""The trees of a machine: bodies that share a block of the mass matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

if TYPE_CHECKING:
    from kalaba.constrain.elimination import Column
    from kalaba.derive.kinematics import BodyKinematics, Kinematics


@dataclass(frozen=True)
class Tree:
    """Bodies that are coupled by joints, by velocities that several joints share, or by rotors: one block of M."""

    bodies: tuple[int, ...]  # parents first
    columns: frozenset[int]  # of M
    rates: dict[int, list[int]] | None  # columns of each body's rates; None: rates that are no velocities, or beams
    rotors: Column  # inertia on single columns
    paths: dict[int, tuple[int, ...]]  # of each column those that carry it, the tree's root first, itself last
    depth: int  # joints one after the other, from the root to the farthest leaf

    def neighbours(self, size: int) -> list[int]:
        """Of each row of M where it has nonzeros, one bit each (see `ordering`): velocities on one path are coupled."""
        neighbours = [1 << i for i in range(size)]
        for column, path in self.paths.items():
            for other in path:
                neighbours[column] |= 1 << other
                neighbours[other] |= 1 << column
        return neighbours


def trees_of(kinematics: Kinematics) -> list[Tree]:
    """Divide a machine into its trees; bodies that nothing moves belong to none."""
    rates = _Rates(kinematics)
    groups = _groups(rates)
    return [_tree(rates, bodies, columns) for bodies, columns in groups if columns]


class _Rates:
    """Which velocities move which bodies."""

    def __init__(self, kinematics: Kinematics) -> None:
        J = ca.jacobian(kinematics.joint_rates, kinematics.symbols.v)
        self.bodies = kinematics.bodies
        self.by_rate: list[dict[int, ca.SX]] = [{} for _ in range(J.shape[0])]
        for i, j, entry in zip(*J.sparsity().get_triplet(), J.nonzeros(), strict=True):
            if not entry.is_zero():
                self.by_rate[i][j] = entry
        self.rotors: list[tuple[ca.SX, Column]] = []
        for rotor in kinematics.machine.rotors:
            g = kinematics.symbols.gradient(kinematics.value(rotor.displacement))
            row = {j: e for j, e in zip(g.sparsity().get_triplet()[1], g.nonzeros(), strict=True) if not e.is_zero()}
            self.rotors.append((kinematics.number(rotor.inertia), row))

    def columns(self, index: int) -> set[int]:
        """Columns of M that move a body on its parent, or bend it."""
        return {column for rate in _rates_of(self.bodies[index]) for column in self.by_rate[rate]}

    def own_columns(self, index: int) -> list[int] | None:
        """The column of each rate of a body's joint; None if one is no velocity itself, or if the body bends."""
        body = self.bodies[index]
        rows = [self.by_rate[rate] for rate in _rates_of(body)]
        is_plain = body.beam is None and all(len(row) == 1 and next(iter(row.values())).is_one() for row in rows)
        return [next(iter(row)) for row in rows] if is_plain else None


def _rates_of(body: BodyKinematics) -> list[int]:
    return [*range(body.rates.start, body.rates.stop), *range(body.mode_rates.start, body.mode_rates.stop)]


def _groups(rates: _Rates) -> list[tuple[list[int], set[int]]]:
    """Bodies and columns that hang together."""
    groups: list[tuple[list[int], set[int]]] = []
    for index, body in enumerate(rates.bodies):
        columns = rates.columns(index)
        touching = [g for g in groups if body.parent in g[0] or not columns.isdisjoint(g[1])]
        groups = [g for g in groups if g not in touching]
        groups.append(_joined([*touching, ([index], columns)]))
    for _, row in rates.rotors:
        touching = [g for g in groups if not g[1].isdisjoint(row)]
        if len(touching) > 1:
            groups = [*(g for g in groups if g not in touching), _joined(touching)]
    return groups


def _joined(groups: list[tuple[list[int], set[int]]]) -> tuple[list[int], set[int]]:
    return sorted(index for bodies, _ in groups for index in bodies), set().union(*(columns for _, columns in groups))


def _tree(rates: _Rates, bodies: list[int], columns: set[int]) -> Tree:
    own = {index: rates.own_columns(index) for index in bodies}
    listed = [column for row in own.values() for column in row or ()]
    rotors = [(inertia, row) for inertia, row in rates.rotors if not columns.isdisjoint(row)]
    is_plain = len(listed) == len(set(listed)) == len(columns) and all(row is not None for row in own.values())
    if not is_plain or any(len(row) > 1 for _, row in rotors):
        return Tree(tuple(bodies), frozenset(columns), None, {}, {}, 0)
    on_columns: Column = {}
    for inertia, row in rotors:
        for column, g in row.items():
            on_columns[column] = on_columns.get(column, ca.SX(0)) + inertia * g * g
    plain = {index: list(row or ()) for index, row in own.items()}
    paths, depth = _paths(rates, plain)
    return Tree(tuple(bodies), frozenset(columns), plain, on_columns, paths, depth)


def _paths(rates: _Rates, own: dict[int, list[int]]) -> tuple[dict[int, tuple[int, ...]], int]:
    """Give the path to every column, and the joints on the longest."""
    ends: dict[int, tuple[tuple[int, ...], int]] = {-1: ((), 0)}
    paths: dict[int, tuple[int, ...]] = {}
    for index, columns in own.items():
        path, depth = ends[rates.bodies[index].parent]
        for column in columns:
            path = (*path, column)
            paths[column] = path
        ends[index] = path, depth + bool(columns)
    return paths, max(depth for _, depth in ends.values())
