"""Servo control as expressions: what the motors must do so that the closed machine meets its goals.

With the structural rows A v̇ = b kept, M v̇ = Q + B u + Aᵀ λ gives v̇ = v̇₀ + Y u, where v̇₀ is the motion with idle motors
and Y = M⁻¹ (B − Aᵀ G⁻¹ A M⁻¹ B), G = A M⁻¹ Aᵀ. Goals A_s v̇ = b_s are then met by::

    S u = r        S = A_s Y        r = b_s − A_s v̇₀
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.elimination import eliminate, entries, factorise

if TYPE_CHECKING:
    from kalaba.control.goals import Rows
    from kalaba.derive.equations import Equations


def demand(
    equations: Equations, mask: ca.SX, rows: Rows, gains: tuple[float, float], motors: list[int]
) -> tuple[ca.SX, ca.SX]:
    """S and r for goals with gains (ω, ζ); `mask` marks the structural rows."""
    A, B = equations.constraint_matrix, ca.densify(equations.actuation_map)
    parts = eliminate(equations.mass_matrix, A, mask)
    idle, _ = parts.solve(equations.applied_force - equations.bias, equations.constraint_rhs)
    still = ca.SX(A.shape[0], 1)
    moved = [parts.solve(B[:, j], still)[0] for j in motors]
    rates = ca.mtimes(rows.matrix, equations.symbols.v)
    r = rows.wanted(rates, *gains) - ca.mtimes(rows.matrix, idle)
    return ca.densify(ca.mtimes(rows.matrix, ca.horzcat(*moved))), ca.densify(r)


def ideal_force(
    equations: Equations,
    mask: ca.SX,
    rows: Rows,
    gains: tuple[float, float],
    *,
    stacked: bool,
    beside: ca.SX | None = None,
) -> list[ca.SX]:
    """The force on every velocity that the goals take: A_sᵀ (A_s Y A_sᵀ)⁻¹ (b_s − A_s v̇₀), with Y of B = 1.

    Stacked on the structural rows, or with the goals' rows alone: then Y = M⁻¹ and v̇₀ is the motion of the parts cut
    loose. A force `beside` it counts among those that are applied.
    """
    A, b = equations.constraint_matrix, equations.constraint_rhs
    if not stacked:
        A, b, mask = A[:0, :], b[:0], mask[:0]
    parts = eliminate(equations.mass_matrix, A, mask)
    applied = equations.applied_force - equations.bias
    idle, _ = parts.solve(applied if beside is None else applied + beside, b)
    A_s, still = ca.densify(rows.matrix), ca.SX(A.shape[0], 1)
    moved = ca.horzcat(*(parts.solve(A_s[i, :].T, still)[0] for i in range(A_s.shape[0])))
    r = rows.wanted(ca.mtimes(A_s, equations.symbols.v), *gains) - ca.mtimes(A_s, idle)
    share = factorise(ca.densify(ca.mtimes(A_s, moved))).solve(entries(ca.densify(r)))
    return entries(ca.mtimes(A_s.T, ca.vertcat(*share)))


def cascaded_force(equations: Equations, levels: Sequence[Rows], gains: tuple[float, float]) -> list[ca.SX]:
    """The forces of several sets of rows one after another; each counts those before it among the applied forces."""
    force = ca.SX(equations.mass_matrix.shape[0], 1)
    for rows in levels:
        force += ca.vertcat(*ideal_force(equations, ca.SX(), rows, gains, stacked=False, beside=force))
    return entries(ca.densify(force))


def motor_entries(equations: Equations, force: list[ca.SX]) -> list[ca.SX]:
    """What motors give of a force: u of least ‖B u − F‖, its own entry for a motor that drives a coordinate."""
    B = ca.densify(equations.actuation_map)
    return list(factorise(ca.densify(ca.mtimes(B.T, B))).solve(entries(ca.densify(ca.mtimes(B.T, ca.vertcat(*force))))))
