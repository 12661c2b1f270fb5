"""The inertia of a machine's trees as factors of M, each tree in the form that takes fewer operations.

Two forms give the same numbers. *Composite*: M is written out (composite bodies) and factored entry by entry; short for
small trees. *Articulated*: recursions over the bodies, which never write M (`articulated.py`); short for long chains,
since it grows with the number of bodies only. Trees are counted one by one, coupled ones together. The articulated form
is for rigid bodies on joints whose rates are velocities of the machine themselves; others are written out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.articulated import ArticulatedFactor, articulated_factor
from kalaba.constrain.elimination import (
    Column,
    Factor,
    MassFactor,
    entries,
    factorise,
    nonzeros,
    row_columns,
    scale,
    stack,
)
from kalaba.constrain.ordering import operations, shortest_order
from kalaba.constrain.trees import Tree, trees_of
from kalaba.derive.dynamics import Recursive
from kalaba.derive.rotors import rotor_mass

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.derive.newton_euler import Recursion

SHALLOW = 4  # velocities one after the other: up to here recursions are never shorter
PER_ENTRY = 3  # operations that an entry of M takes at least


@dataclass(frozen=True)
class ForestFactor:
    """M = L D Lᵀ of all trees, in both forms; a `MassFactor`."""

    articulated: ArticulatedFactor
    composite: Factor

    @cached_property
    def inverse(self) -> list[ca.SX]:
        """1/D."""
        return [self.articulated.inverse.get(i, other) for i, other in enumerate(self.composite.inverse)]

    def forward(self, b: Column) -> Column:
        """L⁻¹ b."""
        inner, written = self._split(b)
        return self.articulated.forward(inner) | self.composite.forward(written)

    def backward(self, b: Column) -> Column:
        """L⁻ᵀ b."""
        inner, written = self._split(b)
        return self.articulated.backward(inner) | self.composite.backward(written)

    def _split(self, b: Column) -> tuple[Column, Column]:
        inner = _some_of(b, self.articulated.inverse)
        return inner, {i: entry for i, entry in b.items() if i not in inner}


@dataclass(frozen=True)
class TreeInertia:
    """The factors of M, and the load Q on it."""

    equations: Equations
    rows: ca.SX  # A, in the columns of M
    factor: MassFactor

    def load(self, further: ca.SX) -> Column:
        """L⁻¹ (Q + further)."""
        return self.factor.forward(nonzeros(entries(self.equations.force + further)))


@dataclass(frozen=True)
class ForestInertia:
    """The same where some trees are articulated: what their bodies take goes in as forces on bodies."""

    equations: Equations
    rows: ca.SX
    factor: ForestFactor
    recursion: Recursion

    def load(self, further: ca.SX) -> Column:
        """L⁻¹ (Q + further)."""
        k, articulated = self.equations.kinematics, self.factor.articulated
        on_joints = entries(self.equations.joint_force + further)
        forces = {index: self.recursion.own_forces[index] for index in articulated.links}
        z = articulated.forward(_some(on_joints, articulated.inverse), forces)
        if written := self.factor.composite.order:
            taken = ca.mtimes(ca.jacobian(k.joint_rates, k.symbols.v).T, self.recursion.torque)
            z |= self.factor.composite.forward(_some(entries(stack(on_joints) - taken), written))
        return z


def _some(values: list[ca.SX], places: Iterable[int]) -> Column:
    """Entries at some places that are not zero whatever the symbols."""
    return {i: values[i] for i in sorted(places) if not values[i].is_zero()}


def _some_of(column: Column, places: Container[int]) -> Column:
    """A column at some places."""
    return {i: entry for i, entry in column.items() if i in places}


def tree_inertia(equations: Equations, rows: ca.SX) -> TreeInertia | ForestInertia:
    """The factors of M in the form, or forms, that take the fewest operations with rows A."""
    method = equations.method
    if isinstance(method, Recursive):
        forest = _Forest(equations, rows, method)
        if chosen := forest.articulated_trees():
            return forest.inertia(chosen)
    return composite_inertia(equations, rows)


def composite_inertia(equations: Equations, rows: ca.SX) -> TreeInertia:
    """The factors of M written out."""
    M = equations.mass_matrix
    return TreeInertia(equations, rows, factorise(M, order=shortest_order(M, rows)))


def articulated_inertia(equations: Equations, rows: ca.SX) -> TreeInertia | ForestInertia:
    """The factors of M by recursions, of all trees that allow it."""
    method = equations.method
    if not isinstance(method, Recursive):
        return composite_inertia(equations, rows)
    forest = _Forest(equations, rows, method)
    chosen = [tree for tree in forest.trees if tree.rates is not None]
    return forest.inertia(chosen) if chosen else composite_inertia(equations, rows)


@dataclass(frozen=True)
class _Forest:
    """The trees of a machine, and what they take in each form."""

    equations: Equations
    matrix: ca.SX  # A
    method: Recursive

    @cached_property
    def trees(self) -> list[Tree]:
        return trees_of(self.equations.kinematics)

    @cached_property
    def recursion(self) -> Recursion:
        return self.method.recursion(self.equations.kinematics)

    @cached_property
    def rows(self) -> list[Column]:
        return row_columns(self.matrix)

    def inertia(self, chosen: Sequence[Tree]) -> ForestInertia:
        """The factors with some trees articulated."""
        written = [tree for tree in self.trees if tree not in chosen]
        factor = ForestFactor(self._articulated(chosen), self._composite(written))
        return ForestInertia(self.equations, self.matrix, factor, self.recursion)

    def articulated_trees(self) -> list[Tree]:
        """Those trees whose recursions are shorter than their factors written out."""
        return [tree for tree in self.trees if tree.rates is not None and tree.depth > SHALLOW and self._shorter(tree)]

    def _shorter(self, tree: Tree) -> bool:
        """Count; M itself is not written out where the products of its elimination alone are more.

        Recursions that are not shorter for the tree alone are not so with rows either.
        """
        rows = [_some_of(row, tree.columns) for row in self.rows if not row.keys().isdisjoint(tree.columns)]
        recursive = self._articulated([tree])
        least, alone = self._least_composite(tree), self._length(recursive, tree, [])
        if least > alone and least > (self._length(recursive, tree, rows) if rows else alone):
            return True
        written = self._composite([tree], whole=self.equations.mass_matrix)
        if alone >= self._length(written, tree, []):
            return False
        return not rows or self._length(recursive, tree, rows) < self._length(written, tree, rows)

    def _least_composite(self, tree: Tree) -> int:
        """Operations that M of a tree and its factors take at least."""
        neighbours = tree.neighbours(self.equations.symbols.v.shape[0])
        order = sorted(tree.columns, reverse=True)
        rows = [sum(1 << i for i in row if i in tree.columns) for row in self.rows]
        entries_of_M = sum(neighbours[i].bit_count() + 1 for i in order) // 2
        return operations(neighbours, [row for row in rows if row], order) + PER_ENTRY * entries_of_M

    def _length(self, factor: MassFactor, tree: Tree, rows: Sequence[Column]) -> int:
        """Instructions for the motion from any L⁻¹ Q and loads on some rows, and, by their places, for A M⁻¹ Aᵀ."""
        spread = [factor.forward(row) for row in rows]
        loads, total = ca.SX.sym("load", len(rows)), {i: ca.SX.sym("z") for i in sorted(tree.columns)}
        for k, column in enumerate(spread):
            for i, entry in column.items():
                total[i] = total.get(i, ca.SX(0)) + entry * loads[k]
        outputs = ca.cse([stack(list(factor.backward(scale(factor, total)).values()))])
        free = ca.symvar(outputs[0])
        uses = Counter(i for column in spread for i in column)
        gram = sum(times + times * (times + 1) for times in uses.values())  # D⁻¹ X, then products and sums
        return gram + int(ca.Function("length", [stack(free)], outputs).n_instructions())

    def _articulated(self, chosen: Sequence[Tree]) -> ArticulatedFactor:
        bodies = sorted(index for tree in chosen for index in tree.bodies)
        rates = {index: columns for tree in chosen for index, columns in (tree.rates or {}).items()}
        rotors = {column: inertia for tree in chosen for column, inertia in tree.rotors.items()}
        return articulated_factor(self.equations.kinematics.bodies, bodies, rates, rotors)

    def _composite(self, written: Sequence[Tree], whole: ca.SX | None = None) -> Factor:
        """Factors of the blocks of some trees; of M, where it is there."""
        k, columns = self.equations.kinematics, sorted(i for tree in written for i in tree.columns)
        n = k.symbols.v.shape[0]
        if not columns:
            return Factor([{} for _ in range(n)], [ca.SX(0)] * n, [ca.SX(0)] * n, [])
        if whole is None:
            bodies = [index for tree in written for index in tree.bodies]
            whole = self.method.mass_matrix_of(k, bodies) + rotor_mass(k)
        inner = whole[columns, columns]
        order = shortest_order(inner, self.matrix[:, columns])
        return factorise(whole, order=[columns[i] for i in order])
