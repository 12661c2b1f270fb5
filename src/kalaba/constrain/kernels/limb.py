"""The constrained solve of a machine whose limbs hang on a hub, limb by limb.

With M_i, A_i (own columns), B_i (the hub's columns) of limb i, and the rows it eliminates itself (mask 1)::

    limb    G = A M⁻¹ Aᵀ       k = Ĝ⁻¹ r,  K = Ĝ⁻¹ B             Ĝ⁻¹: on the rows that it eliminates
    hub     (M_0 + Σ Bᵀ K) x = Q_0 + Σ Bᵀ k + Rᵀ μ + A_0ᵀ λ_0
    limb    λ = k − K x + V μ                                   M⁻¹ Aᵀ λ moves the limb

Rows that the limb's own joints cannot meet, or hardly, are handed up (mask 2 + s: to seat s): with
V = (1 − Ĝ⁻¹ G) at these rows, R = Vᵀ B, S = Vᵀ G V, β = Vᵀ r they become rows of the hub, R x + S μ = β. This is the
same elimination in another order, exact for every choice of who eliminates what; S is small where the limb is singular
and zero where it has too few joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from kalaba.constrain.elimination import Elimination, eliminate, entries, factorise, gram_matrix, stack

OWN = 1.0  # mask of a row that its limb eliminates
FIRST_SEAT = 2.0  # mask of a row that is handed up to the hub's first seat

Named = dict[str, ca.SX]


def lower(matrix: ca.SX) -> ca.SX:
    """The lower triangle, row by row."""
    size = matrix.shape[0]
    return stack([ca.SX(matrix[i, j]) for i in range(size) for j in range(i + 1)])


def symmetric(triangle: ca.SX, size: int) -> ca.SX:
    """The matrix of a lower triangle."""
    matrix = ca.SX(size, size)
    position = 0
    for i in range(size):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = triangle[position]
            position += 1
    return matrix


def seats(mask: ca.SX, count: int) -> ca.SX:
    """(count, m): 1 where a row sits in a seat of the hub."""
    rows = [ca.horzcat(*(ca.eq(entry, FIRST_SEAT + s) for entry in entries(mask))) for s in range(count)]
    return ca.vertcat(*rows)


@dataclass(frozen=True)
class Limb:
    """One limb: the mass matrix of its tree, and its rows split into own columns A and the hub's columns B."""

    M: ca.SX
    A: ca.SX
    B: ca.SX
    mask: ca.SX

    @cached_property
    def parts(self) -> Elimination:
        """M and the rows that the limb eliminates itself."""
        return eliminate(self.M, self.A, ca.eq(self.mask, OWN))

    def free(self, Q: ca.SX) -> ca.SX:  # noqa: N803
        """M⁻¹ Q: the limb's motion without its rows."""
        return stack(self.parts.mass.solve(entries(Q)))

    def reduce(self, residuals: list[ca.SX]) -> tuple[Named, Named]:
        """What is kept for the way back, and what the hub gets, for some right-hand sides r."""
        B, parts = ca.densify(self.B), self.parts
        columns = [parts.correct(entries(B[:, j])) for j in range(B.shape[1])]
        K = ca.horzcat(*map(stack, columns))
        k = ca.horzcat(*(stack(parts.correct(entries(r))) for r in residuals))
        moved = [stack(parts.mass.backward(parts.mass.scale(column))) for column in parts.spread]
        kept = {
            "pivots": ca.eq(self.mask, OWN) * stack(parts.gram.pivots),
            "handed": ca.sum1(ca.gt(self.mask, OWN)),
            "K": K,
            "k": k,
            "moved": ca.horzcat(*moved),
            "B": B,
            "G": lower(gram_matrix(parts.mass, parts.spread)),
            "r": ca.horzcat(*residuals),
        }
        return kept, {"inertia": lower(ca.mtimes(B.T, K)), "push": ca.mtimes(B.T, k)}


def hand_up(mask: ca.SX, G: ca.SX, B: ca.SX, r: ca.SX, count: int) -> tuple[Named, Named]:  # noqa: N803
    """Rows for the hub's seats: what is kept (V), and what the hub gets (R, S, β, which seats are taken)."""
    m = mask.shape[0]
    factor = factorise(ca.SX(ca.tril(G)), ca.eq(mask, OWN))
    columns = [stack(factor.solve(entries(G[:, k]))) for k in range(m)]
    seat = seats(mask, count)
    V = ca.mtimes(ca.SX.eye(m) - ca.horzcat(*columns), seat.T)
    S = ca.mtimes(V.T, ca.mtimes(G, V))
    given = {"R": ca.mtimes(V.T, B), "S": lower(S), "beta": ca.mtimes(V.T, r), "taken": ca.sum2(seat)}
    return {"V": V}, given


def solve_hub(
    mass: ca.SX,
    push: ca.SX,
    own: tuple[ca.SX, ca.SX, ca.SX],
    handed: Named,
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
    """Motion of the hub for some right-hand sides: x, its own rows' λ_0 and pivots, the seats' μ and pivots.

    `own` are the hub's own rows: matrix, right-hand sides and mask.
    """
    A, rhs, mask = own
    n_own, n_seats = A.shape[0], handed["R"].shape[0]
    rows, wanted = ca.vertcat(A, handed["R"]), ca.vertcat(rhs, handed["beta"])
    factor = factorise(ca.SX(ca.tril(mass)))
    spread = [factor.forward(entries(rows[i, :].T)) for i in range(n_own + n_seats)]
    G = gram_matrix(factor, spread)
    S = symmetric(handed["S"], n_seats)
    for i in range(n_seats):
        for j in range(i + 1):
            G[n_own + i, n_own + j] = G[n_own + i, n_own + j] + S[i, j]
    gram = factorise(G, ca.vertcat(mask, handed["taken"]))
    parts = Elimination(factor, spread, gram)
    moved, forces = [], []
    for c in range(push.shape[1]):
        x = stack(factor.solve(entries(push[:, c])))
        multipliers = parts.correct(entries(wanted[:, c] - ca.mtimes(rows, x)))
        moved.append(x + stack(parts.push(multipliers)))
        forces.append(stack(multipliers))
    x, loads = ca.horzcat(*moved), ca.horzcat(*forces)
    pivots = stack(gram.pivots)
    return x, loads[:n_own, :], pivots[:n_own], loads[n_own:, :], pivots[n_own:]
