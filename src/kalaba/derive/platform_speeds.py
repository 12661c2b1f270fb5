"""The equations of a parallel robot in the speeds of its platform, by Kane's method.

The speeds s are components of the twist of a frame, world axes, and rates that legs lend which could move while the
frame rests. All else follows from the rows of the legs, A_f v = 0::

    [S; A_f] v = [s; 0]        v = T s        v̇ = T ṡ + γ

T holds the partial velocities of the machine with respect to s: those of a body are V T and W T. Projected on them the
forces of the rows that follow do no work. Rows that are left, A_l, are loads λ on the platform, such as that of a leg
which takes away a freedom::

    G [u; λ] = H ṡ + h        G = Tᵀ [B, A_lᵀ]        H = Tᵀ M T        h = Tᵀ (M γ + bias − applied)

Reference: Kane and Levinson (1985), Dynamics: Theory and Applications, sections 2.14 and 4.4; Dou et al. (2014),
equations (28)-(43), where the loads stand in one column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca

from kalaba.derive.equations import Equations
from kalaba.derive.kane import body_velocities


@dataclass(frozen=True, slots=True)
class PlatformSplit:
    """Which speeds lead, which rows the rest follows by, and which rows load the platform; all by index.

    Arguments:
        frame: name of the frame whose twist leads
        twist: components of its twist that are speeds: 0-2 linear, 3-5 angular
        lent: velocities of the machine that are speeds too
        follow: rows by which all other velocities follow
        loads: rows on the speeds, whose forces are loads
    """

    frame: str
    twist: tuple[int, ...]
    lent: tuple[int, ...]
    follow: tuple[int, ...]
    loads: tuple[int, ...]


@dataclass(frozen=True)
class PlatformEquations(Equations):
    """The equations of a machine, and the same in the speeds of its platform.

    Arguments:
        split: which speeds lead and which rows follow
    """

    split: PlatformSplit = field(repr=False)

    @cached_property
    def _maps(self) -> tuple[ca.SX, ca.SX]:
        return platform_maps(self, self.split)

    @property
    def velocity_map(self) -> ca.SX:
        """T, (n_v, p): v = T s."""
        return self._maps[0]

    @property
    def convective(self) -> ca.SX:
        """γ, (n_v,): v̇ = T ṡ + γ."""
        return self._maps[1]

    @cached_property
    def force_map(self) -> ca.SX:
        """G, (p, motors + loads)."""
        columns = ca.horzcat(self.actuation_map, self.constraint_matrix[list(self.split.loads), :].T)
        return ca.mtimes(self.velocity_map.T, columns)

    @cached_property
    def platform_inertia(self) -> ca.SX:
        """H, (p, p): symmetric, positive definite."""
        T = self.velocity_map
        return ca.mtimes(T.T, ca.mtimes(self.mass_matrix, T))

    @cached_property
    def platform_bias(self) -> ca.SX:
        """h, (p,): Coriolis, centrifugal, gravity, elastic and damping terms, less the applied forces."""
        load = ca.mtimes(self.mass_matrix, self.convective) + self.bias - self.applied_force
        return ca.mtimes(self.velocity_map.T, load)

    @cached_property
    def load_rhs(self) -> ca.SX:
        """The right side c of the rows on the speeds, C ṡ = c, where Cᵀ are the last columns of G."""
        rows = list(self.split.loads)
        return self.constraint_rhs[rows] - ca.mtimes(self.constraint_matrix[rows, :], self.convective)

    @cached_property
    def partial_velocities(self) -> ca.SX:
        """ω* and v* of every body's centre of mass, world axes, below each other: (6 bodies, p)."""
        velocities = body_velocities(self.kinematics)
        return ca.mtimes(ca.jacobian(velocities, self.symbols.v), self.velocity_map)


def platform_equations(equations: Equations, split: PlatformSplit) -> PlatformEquations:
    """The equations of a machine with those in the speeds of its platform."""
    return PlatformEquations(equations.method, equations.kinematics, split)


def platform_maps(equations: Equations, split: PlatformSplit) -> tuple[ca.SX, ca.SX]:
    """T and γ: [S; A_f] T = [1; 0] and [S; A_f] γ = [−Ṡ v; b_f]."""
    s, n = equations.symbols, equations.symbols.v.shape[0]
    S = ca.vertcat(equations.jacobian(split.frame)[list(split.twist), :], ca.SX.eye(n)[list(split.lent), :])
    p, rows = S.shape[0], list(split.follow)
    leading = ca.vertcat(ca.SX.eye(p), ca.SX(n - p, p))
    turning = ca.vertcat(-s.rate(ca.mtimes(S, s.v)), equations.constraint_rhs[rows])
    square = ca.sparsify(ca.vertcat(S, equations.constraint_matrix[rows, :]))
    solved = solve_by_blocks(square, ca.horzcat(leading, turning))
    return solved[:, :p], solved[:, p]


def solve_by_blocks(matrix: ca.SX, rhs: ca.SX) -> ca.SX:
    """K⁻¹ R, one block of K after the other: the platform first, then each leg by itself.

    Blocks are those of the block triangular form of K's pattern; CasADi's `solve` would factor K as a whole.
    """
    _, rows, columns, row_ends, column_ends, _, _ = matrix.sparsity().btf()
    solution = ca.SX(matrix.shape[1], rhs.shape[1])
    done: list[int] = []
    for k in range(len(row_ends) - 1):
        i, j = rows[row_ends[k] : row_ends[k + 1]], columns[column_ends[k] : column_ends[k + 1]]
        known = ca.mtimes(matrix[i, done], solution[done, :]) if done else 0
        solution[j, :] = ca.solve(matrix[i, j], rhs[i, :] - known)
        done += j
    return solution
