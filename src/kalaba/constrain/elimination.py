"""Straight-line linear algebra on CasADi expressions: LDLᵀ factors, with rows switched off by a mask.

Written out entry by entry, so that structural zeros cost nothing and the compiled code has no branches.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca


@dataclass(frozen=True)
class Factor:
    """A = L D Lᵀ with unit lower L; `inverse` holds 1/D, or 0 for a row that is switched off."""

    lower: list[dict[int, ca.SX]]  # lower[i][j], j < i, structural nonzeros only
    pivots: list[ca.SX]  # D
    inverse: list[ca.SX]  # 1/D, masked

    def forward(self, b: list[ca.SX]) -> list[ca.SX]:
        """L⁻¹ b."""
        x = list(b)
        for i, row in enumerate(self.lower):
            for j, entry in row.items():
                if not x[j].is_zero():
                    x[i] = x[i] - entry * x[j]
        return x

    def backward(self, b: list[ca.SX]) -> list[ca.SX]:
        """L⁻ᵀ b."""
        x = list(b)
        for i in reversed(range(len(x))):
            for j, entry in self.lower[i].items():
                x[j] = x[j] - entry * x[i]
        return x

    def scale(self, b: list[ca.SX]) -> list[ca.SX]:
        """D⁻¹ b, zero for rows that are switched off."""
        return [entry if entry.is_zero() else entry * inverse for entry, inverse in zip(b, self.inverse, strict=True)]

    def solve(self, b: list[ca.SX]) -> list[ca.SX]:
        """(L D Lᵀ)⁻¹ b on the rows that are on."""
        return self.backward(self.scale(self.forward(b)))


def factorise(matrix: ca.SX, mask: ca.SX | None = None) -> Factor:
    """Factor a symmetric matrix; rows with mask 0 are left out of the system.

    With mask μ_k the inverse pivot is μ_k / (μ_k d_k + (1 − μ_k)): exactly 1/d_k or 0, and never a division by the
    vanishing pivot of a row that is off.
    """
    size = matrix.shape[0]
    lower: list[dict[int, ca.SX]] = [{} for _ in range(size)]
    scaled: list[dict[int, ca.SX]] = [{} for _ in range(size)]  # L D
    pivots: list[ca.SX] = []
    inverse: list[ca.SX] = []
    for i in range(size):
        for j in range(i):
            entry = matrix[i, j]
            for k in scaled[i].keys() & lower[j].keys():
                entry = entry - scaled[i][k] * lower[j][k]
            if not entry.is_zero():
                scaled[i][j] = entry
                lower[i][j] = entry * inverse[j]
        d = matrix[i, i]
        for k, entry in scaled[i].items():
            d = d - entry * lower[i][k]
        pivots.append(d)
        inverse.append(1 / d if mask is None else mask[i] / (mask[i] * d + (1 - mask[i])))
    return Factor(lower, pivots, inverse)


@dataclass(frozen=True)
class Elimination:
    """M and the rows A together: what a constrained solve and a projection share.

    X = L⁻¹ Aᵀ with M = L D Lᵀ, and G = A M⁻¹ Aᵀ = Xᵀ D⁻¹ X, factored with the mask.
    """

    mass: Factor
    spread: list[list[ca.SX]]  # columns of X, one per row of A
    gram: Factor

    def solve(self, force: ca.SX, rhs: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The constrained solve M x = Q + Aᵀ λ with A x = b on the rows that are on: x and λ.

        With z = L⁻¹ Q, λ = G⁻¹ (b − Xᵀ D⁻¹ z) and x = L⁻ᵀ D⁻¹ (z + X λ).
        """
        z = self.mass.forward(entries(force))
        slack = [b - dot(column, self.mass.scale(z)) for b, column in zip(entries(rhs), self.spread, strict=True)]
        multipliers = self.correct(slack)
        moved = [x + y for x, y in zip(z, self.lift(multipliers), strict=True)]
        return stack(self.mass.backward(self.mass.scale(moved))), stack(multipliers)

    def correct(self, residual: list[ca.SX]) -> list[ca.SX]:
        """λ = G⁻¹ residual on the rows that are on."""
        return self.gram.solve(residual)

    def push(self, multipliers: list[ca.SX]) -> list[ca.SX]:
        """M⁻¹ Aᵀ λ."""
        return self.mass.backward(self.mass.scale(self.lift(multipliers)))

    def lift(self, multipliers: list[ca.SX]) -> list[ca.SX]:
        """X λ."""
        total = [ca.SX(0) for _ in self.mass.pivots]
        for column, multiplier in zip(self.spread, multipliers, strict=True):
            for i, entry in enumerate(column):
                if not entry.is_zero():
                    total[i] = total[i] + entry * multiplier
        return total


def eliminate(mass_matrix: ca.SX, matrix: ca.SX, mask: ca.SX) -> Elimination:
    """Factor M, then G = A M⁻¹ Aᵀ with the mask."""
    mass = factorise(mass_matrix)
    spread = [mass.forward(ca.vertsplit(ca.densify(matrix[i, :]).T)) for i in range(matrix.shape[0])]
    return Elimination(mass, spread, factorise(gram_matrix(mass, spread), mask))


def gram_matrix(mass: Factor, spread: list[list[ca.SX]]) -> ca.SX:
    """G = Xᵀ D⁻¹ X, lower triangle only."""
    size = len(spread)
    G = ca.SX(size, size)
    weighted = [mass.scale(column) for column in spread]
    for i in range(size):
        for j in range(i + 1):
            entry = dot(weighted[i], spread[j])
            if not entry.is_zero():
                G[i, j] = entry
    return G


def dot(a: list[ca.SX], b: list[ca.SX]) -> ca.SX:
    """Σ a_i b_i over structural nonzeros."""
    total = ca.SX(0)
    for x, y in zip(a, b, strict=True):
        if not x.is_zero() and not y.is_zero():
            total = total + x * y
    return total


def entries(vector: ca.SX) -> list[ca.SX]:
    """The entries of a column."""
    return ca.vertsplit(ca.densify(vector)) if vector.shape[0] else []


def stack(values: list[ca.SX]) -> ca.SX:
    """A column of entries."""
    return ca.vertcat(*values) if values else ca.SX(0, 1)
