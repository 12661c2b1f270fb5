"""Straight-line linear algebra on CasADi expressions: LDLᵀ factors, with rows switched off by a mask.

Written out entry by entry, so that structural zeros cost nothing and the compiled code has no branches. Columns hold
their structural nonzeros only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import casadi as ca

from kalaba.constrain.ordering import shortest_order

Column = dict[int, ca.SX]  # structural nonzeros by their place


class MassFactor(Protocol):
    """M = L D Lᵀ, in whichever form L is kept: entries (`Factor`), or recursions over a tree (`articulated.py`)."""

    @property
    def inverse(self) -> Sequence[ca.SX] | Mapping[int, ca.SX]:
        """1/D, by place."""

    def forward(self, b: Column) -> Column:
        """L⁻¹ b."""

    def backward(self, b: Column) -> Column:
        """L⁻ᵀ b."""


@dataclass(frozen=True)
class Factor:
    """A = L D Lᵀ with unit lower L; `inverse` holds 1/D, or 0 for a row that is switched off."""

    lower: list[Column]  # lower[i][j], j eliminated before i
    pivots: list[ca.SX]  # D
    inverse: list[ca.SX]  # 1/D, masked
    order: list[int]  # in which the rows are eliminated

    def forward(self, b: Column) -> Column:
        """L⁻¹ b."""
        x = dict(b)
        for i in self.order:
            for j, entry in self.lower[i].items():
                if j in x:
                    x[i] = x.get(i, ca.SX(0)) - entry * x[j]
        return x

    def backward(self, b: Column) -> Column:
        """L⁻ᵀ b."""
        x = dict(b)
        for i in reversed(self.order):
            if i in x:
                for j, entry in self.lower[i].items():
                    x[j] = x.get(j, ca.SX(0)) - entry * x[i]
        return x

    def solve(self, b: list[ca.SX]) -> list[ca.SX]:
        """(L D Lᵀ)⁻¹ b on the rows that are on."""
        return filled(self.backward(scale(self, self.forward(nonzeros(b)))), len(b))


def scale(factor: MassFactor, b: Column) -> Column:
    """D⁻¹ b, zero for rows that are switched off."""
    return {i: entry * factor.inverse[i] for i, entry in b.items()}


def factorise(matrix: ca.SX, mask: ca.SX | None = None, order: Sequence[int] | None = None) -> Factor:
    """Factor a symmetric matrix, given by its lower triangle; rows with mask 0 are left out of the system.

    With mask μ_k the inverse pivot is μ_k / (μ_k d_k + (1 − μ_k)): exactly 1/d_k or 0, and never a division by the
    vanishing pivot of a row that is off. Rows are eliminated one after the other, or in an `order` given.
    """
    size = matrix.shape[0]
    order = list(range(size)) if order is None else list(order)
    place = {row: position for position, row in enumerate(order)}
    left = _symmetric_rows(matrix)  # what is left of each row, of columns not yet eliminated
    lower: list[Column] = [{} for _ in range(size)]
    pivots, inverse = [ca.SX(0)] * size, [ca.SX(0)] * size
    for k in order:
        d = left[k].pop(k, ca.SX(0))
        pivots[k] = d
        inverse[k] = 1 / d if mask is None else mask[k] / (mask[k] * d + (1 - mask[k]))
        column = {i: left[i].pop(k) for i in sorted(left[k], key=place.__getitem__)}
        for i, entry in column.items():
            lower[i][k] = entry * inverse[k]
            for j in column:
                if place[j] > place[i]:
                    break
                rest = left[i].get(j, ca.SX(0)) - entry * lower[j][k]
                left[i][j] = rest
                left[j][i] = rest
    return Factor(lower, pivots, inverse, order)


def _symmetric_rows(matrix: ca.SX) -> list[Column]:
    """All structural nonzeros of a symmetric matrix by rows, from its lower triangle."""
    rows: list[Column] = [{} for _ in range(matrix.shape[0])]
    for i, j, entry in zip(*matrix.sparsity().get_triplet(), matrix.nonzeros(), strict=True):
        if i >= j and not entry.is_zero():
            rows[i][j] = entry
            rows[j][i] = entry
    return rows


@dataclass(frozen=True)
class Elimination:
    """M and the rows A together: what a constrained solve and a projection share.

    X = L⁻¹ Aᵀ with M = L D Lᵀ, and G = A M⁻¹ Aᵀ = Xᵀ D⁻¹ X, factored with the mask.
    """

    mass: MassFactor
    spread: list[Column]  # columns of X, one per row of A
    gram: Factor

    def solve(self, force: ca.SX, rhs: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The constrained solve M x = Q + Aᵀ λ with A x = b on the rows that are on: x and λ.

        With z = L⁻¹ Q, λ = G⁻¹ (b − Xᵀ D⁻¹ z) and x = L⁻ᵀ D⁻¹ (z + X λ).
        """
        return self.solve_from(self.mass.forward(nonzeros(entries(force))), rhs)

    def solve_from(self, z: Column, rhs: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The same from z = L⁻¹ Q."""
        weighted = scale(self.mass, z)
        slack = [b - dot(column, weighted) for b, column in zip(entries(rhs), self.spread, strict=True)]
        multipliers = self.correct(slack)
        moved = self.lift(multipliers)  # by itself: where L leaves a column of Aᵀ alone, it is that entry of Aᵀ λ
        for i, entry in z.items():
            moved[i] = entry + moved[i] if i in moved else entry
        return stack(self.back(moved)), stack(multipliers)

    def correct(self, residual: list[ca.SX]) -> list[ca.SX]:
        """λ = G⁻¹ residual on the rows that are on."""
        return self.gram.solve(residual)

    def push(self, multipliers: list[ca.SX]) -> list[ca.SX]:
        """M⁻¹ Aᵀ λ."""
        return self.back(self.lift(multipliers))

    def lift(self, multipliers: list[ca.SX]) -> Column:
        """X λ."""
        total: Column = {}
        for column, multiplier in zip(self.spread, multipliers, strict=True):
            if not multiplier.is_zero():
                for i, entry in column.items():
                    total[i] = total[i] + entry * multiplier if i in total else entry * multiplier
        return total

    @property
    def moved(self) -> list[list[ca.SX]]:
        """The columns of M⁻¹ Aᵀ."""
        return [self.back(column) for column in self.spread]

    def back(self, column: Column) -> list[ca.SX]:
        """M⁻¹ b from the column L⁻¹ b: L⁻ᵀ D⁻¹ of it."""
        return filled(self.mass.backward(scale(self.mass, column)), len(self.mass.inverse))


def eliminate(mass_matrix: ca.SX, matrix: ca.SX, mask: ca.SX) -> Elimination:
    """Factor M, then G = A M⁻¹ Aᵀ with the mask."""
    return eliminate_rows(factorise(mass_matrix, order=shortest_order(mass_matrix, matrix)), matrix, mask)


def eliminate_rows(mass: MassFactor, matrix: ca.SX, mask: ca.SX) -> Elimination:
    """The same where M is factored already."""
    spread = [mass.forward(row) for row in row_columns(matrix)]
    return Elimination(mass, spread, factorise(gram_matrix(mass, spread), mask))


def row_columns(matrix: ca.SX) -> list[Column]:
    """The rows of a matrix, each as a column."""
    columns: list[Column] = [{} for _ in range(matrix.shape[0])]
    for i, j, entry in zip(*matrix.sparsity().get_triplet(), matrix.nonzeros(), strict=True):
        if not entry.is_zero():
            columns[i][j] = entry
    return columns


def gram_matrix(mass: MassFactor, spread: list[Column]) -> ca.SX:
    """G = Xᵀ D⁻¹ X, lower triangle only."""
    places: tuple[list[int], list[int]] = ([], [])
    values: list[ca.SX] = []
    weighted = [scale(mass, column) for column in spread]
    for i, column in enumerate(weighted):
        for j in range(i + 1):
            if not column.keys().isdisjoint(spread[j]):
                places[0].append(i)
                places[1].append(j)
                values.append(dot(column, spread[j]))
    return _sparse_matrix(places, values, len(spread))


def _sparse_matrix(places: tuple[list[int], list[int]], values: list[ca.SX], size: int) -> ca.SX:
    """A square matrix of some entries."""
    return ca.SX.triplet(*places, ca.vertcat(*values), size, size) if values else ca.SX(size, size)


def dot(a: Column, b: Column) -> ca.SX:
    """Σ a_i b_i over structural nonzeros."""
    total = ca.SX(0)
    for i in sorted(a.keys() & b.keys()):
        total = total + a[i] * b[i]
    return total


def nonzeros(values: list[ca.SX]) -> Column:
    """The entries of a list that are not zero whatever the symbols."""
    return {i: value for i, value in enumerate(values) if not value.is_zero()}


def filled(column: Column, size: int) -> list[ca.SX]:
    """A column with its zeros."""
    return [column.get(i, ca.SX(0)) for i in range(size)]


def entries(vector: ca.SX) -> list[ca.SX]:
    """The entries of a column."""
    return ca.vertsplit(ca.densify(vector)) if vector.shape[0] else []


def stack(values: list[ca.SX]) -> ca.SX:
    """A column of entries."""
    return ca.vertcat(*values) if values else ca.SX(0, 1)
