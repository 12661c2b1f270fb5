"""The equations of arms and objects in the velocities ṡ of the objects, as CasADi functions.

Objects: v₀ = T₀ ṡ, where for a body that floats ṡ holds the velocity of its centre of mass and its angular velocity,
both in world axes, and for a joint its own rate. The rows of arm i, split into the rates that follow and those that
lead::

    A_f q̇_f + A_l q̇_l + A₀ v₀ = 0        q̇_f = −A_f⁻¹ (A_l ṡ_l + A₀ T₀ ṡ)

so v = T ṡ and v̇ = T s̈ + γ, with γ from b and Ṫ₀. Projected on T the forces of the grasps do no work::

    H s̈ + τ_b = F        H = Tᵀ M T        τ_b = Tᵀ (M γ + bias − applied)        F = W τ        W = Tᵀ B
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.kernels.functions import expressions
from kalaba.control.allocation.solutions import least_squares
from kalaba.space.symbolic import cross, skew, solve

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.derive.kinematics import BodyKinematics, Kinematics
    from kalaba.kinematics.objects.holding import Arm, Split


@dataclass(frozen=True)
class ObjectEquations:
    """The model in object space as expressions: d velocities of the objects, n of the plant, k motors."""

    inertia: ca.SX  # H, (d, d)
    bias: ca.SX  # τ_b, (d,)
    force_map: ca.SX  # W, (d, k)
    velocity_map: ca.SX  # T, (n, d)
    convective: ca.SX  # γ, (n,)
    speed_map: ca.SX  # S with ṡ = S v, (d, n)
    holding: list[ca.SX]  # A_f, one square matrix per arm that has rows


def object_equations(equations: Equations, split: Split) -> ObjectEquations:
    """Project the equations of a machine on the motions of its objects."""
    M, B = equations.mass_matrix, equations.actuation_map
    T, gamma, S = object_maps(equations.kinematics, split)
    holding = follow(equations, split.arms, T, gamma)
    load = equations.bias - equations.applied_force
    return ObjectEquations(
        inertia=ca.mtimes(T.T, ca.mtimes(M, T)),
        bias=ca.mtimes(T.T, ca.mtimes(M, gamma) + load),
        force_map=ca.mtimes(T.T, B),
        velocity_map=T,
        convective=gamma,
        speed_map=S,
        holding=holding,
    )


def follow(equations: Equations, arms: tuple[Arm, ...], velocity_map: ca.SX, convective: ca.SX) -> list[ca.SX]:
    """Fill in the rows of T and γ that follow, still empty: A_f T_f = −A T, A_f γ_f = b − A γ. Returns every A_f."""
    T, gamma, holding = velocity_map, convective, []
    for arm in arms:
        rows, columns = list(arm.rows), list(arm.follow)
        if not rows:
            continue
        A = equations.constraint_matrix[rows, :]
        solved = solve(
            A[:, columns], ca.horzcat(-ca.mtimes(A, T), equations.constraint_rhs[rows] - ca.mtimes(A, gamma))
        )
        T[columns, :], gamma[columns] = solved[:, :-1], solved[:, -1]
        holding.append(ca.densify(A[:, columns]))
    return holding


def object_maps(kinematics: Kinematics, split: Split) -> tuple[ca.SX, ca.SX, ca.SX]:
    """T, γ and S for the velocities of the objects and those that lead; all other rows are empty."""
    lead = [j for arm in split.arms for j in arm.lead]
    n, d = kinematics.symbols.v.shape[0], len(split.objects) + len(lead)
    T, gamma, S = ca.SX(n, d), ca.SX(n, 1), ca.SX(d, n)
    at = 0
    floating: set[int] = set()
    for index in split.free:
        first = kinematics.machine.bodies[index].v_index
        columns, place = list(range(first, first + 6)), list(range(at, at + 6))
        T[columns, place], gamma[columns], S[place, columns] = _floating(kinematics, kinematics.body(index), first)
        floating |= set(columns)
        at += 6
    for j in [*(j for j in split.objects if j not in floating), *lead]:
        T[j, at] = S[at, j] = 1
        at += 1
    return T, gamma, S


def _floating(kinematics: Kinematics, body: BodyKinematics, first: int) -> tuple[ca.SX, ca.SX, ca.SX]:
    """T, γ and S of a body that floats, whose v holds the velocity of its origin in seat axes and ω in body axes.

    With r from its origin to the centre of mass, world axes: v_O = v_C + r × ω, and v̇_O = −ω × (ω × r) while s̈ = 0.
    """
    R, Rs = body.world.rotation, body.seat.rotation
    r = ca.mtimes(R, body.com)
    w = ca.mtimes(R, kinematics.symbols.v[first + 3 : first + 6])
    zero = ca.SX(3, 3)
    T = ca.vertcat(ca.horzcat(Rs.T, ca.mtimes(Rs.T, skew(r))), ca.horzcat(zero, R.T))
    S = ca.vertcat(ca.horzcat(Rs, -ca.mtimes(skew(r), R)), ca.horzcat(zero, R))
    gamma = ca.vertcat(-ca.mtimes(Rs.T, cross(w, cross(w, r))), ca.SX(3, 1))
    return T, gamma, S


def model(equations: Equations, split: Split) -> ca.Function:
    """H, τ_b, W, T, γ, S and every A_f, one after the other, each column by column."""

    def values(whole: Equations) -> list[ca.SX]:
        e = object_equations(whole, split)
        parts = (e.inertia, e.bias, e.force_map, e.velocity_map, e.convective, e.speed_map, *e.holding)
        return [ca.vec(ca.densify(part)) for part in parts]

    return expressions(equations, values)


def least_torques(equations: Equations, split: Split, motors: tuple[int, ...]) -> ca.Function:
    """Torques of least squares for s̈, which stands in the slots of the actuation: τ = Wᵀ (W Wᵀ)⁻¹ (H s̈ + τ_b).

    They are followed by W τ − F, the force F itself, and every A_f.
    """

    def values(whole: Equations) -> list[ca.SX]:
        e = object_equations(whole, split)
        d = e.bias.shape[0]
        force = ca.mtimes(e.inertia, whole.symbols.u[:d]) + e.bias
        W = ca.densify(e.force_map[:, list(motors)])
        torques = least_squares(W, force)
        parts = (torques, ca.mtimes(W, torques) - force, force, *e.holding)
        return [ca.vec(ca.densify(part)) for part in parts]

    return expressions(equations, values)
