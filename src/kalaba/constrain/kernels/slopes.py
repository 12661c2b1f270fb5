"""Slopes of the constrained motion: for derivatives, linear models, and Newton steps in time. Whole machine only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.kernels.functions import free_inputs, position_rows, traced
from kalaba.constrain.kernels.jacobian import jacobian
from kalaba.constrain.kernels.motion import motion_outputs, solution
from kalaba.derive.applied import spring_force
from kalaba.derive.newton_euler import inverse_dynamics
from kalaba.derive.rotors import rotor_force

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations


def sensitivity(equations: Equations, *, is_singular: bool = False) -> ca.Function:
    """Derivatives of v̇ by a displacement along the velocities, by v and by force, and of the rows' rates by q."""
    extra = free_inputs(equations)
    s = equations.symbols
    acceleration = motion_outputs(equations, extra, is_singular=is_singular)["acceleration"]
    outputs = {
        "by_q": s.gradient(acceleration),
        "by_v": ca.jacobian(acceleration, s.v),
        "by_force": ca.jacobian(acceleration, extra["f"]),
        "rate_by_q": s.gradient(equations.rows.rate),
    }
    return traced("sensitivity", equations, outputs, extra)


def state_jacobian(equations: Equations, control: list[ca.SX], *, is_singular: bool = False) -> ca.Function:
    """∂ẏ/∂y of the state y = (q, v), with the held inputs given as expressions of it."""
    extra = free_inputs(equations)
    s = equations.symbols
    motion = motion_outputs(equations, extra, is_singular=is_singular)
    rate = ca.vertcat(motion["q_dot"], motion["acceleration"])
    if control:
        rate = ca.substitute(rate, s.u, ca.vertcat(*control))
    outputs = {"jacobian": ca.jacobian(rate, ca.vertcat(s.q, s.v))}
    return traced("state_jacobian", equations, outputs, extra)


def tangent(equations: Equations, control: list[ca.SX] | None = None, *, is_singular: bool = False) -> ca.Function:
    """Mass, damping and stiffness about the constrained motion, and those of its rows, for Newton steps in time.

    With v̇ and λ of the motion at the state held while the rest is differentiated::

        r = M v̇ − Q − Aᵀ λ        C = ∂r/∂v        K = ∂r/∂q N
        s = A v̇ − b              C_A = ∂s/∂v      K_A = ∂s/∂q N

    Besides these: M, the rows A, and their values. `control` gives the held inputs as expressions of the state.
    """
    extra = free_inputs(equations)
    s, A = equations.symbols, equations.constraint_matrix
    n = s.v.shape[0]
    zero_or_one = {**extra, "mask": ca.gt(extra["mask"], 0)}  # not who eliminates a row
    acceleration, multipliers, _ = solution(equations, zero_or_one, is_singular=is_singular)
    held, load = ca.SX.sym("a", n), ca.SX.sym("l", A.shape[0])  # v̇ and λ while they are held
    r = _missing_force(equations, held) - ca.mtimes(A.T, load)
    both = ca.vertcat(r, ca.mtimes(A, held) - equations.constraint_rhs)
    if control:
        both = ca.substitute(both, s.u, ca.vertcat(*control))
    by_v, by_q = _slopes(equations, both)
    by_v, by_q = ca.substitute([by_v, by_q], [held, load], [acceleration, multipliers])
    outputs = {
        "mass": equations.mass_matrix,
        "damping": by_v[:n, :],
        "stiffness": by_q[:n, :],
        "matrix": A,
        "value": position_rows(equations, equations.rows.value),
        "rows_damping": by_v[n:, :],
        "rows_stiffness": by_q[n:, :],
    }
    return traced("tangent", equations, outputs, extra)


def _missing_force(equations: Equations, acceleration: ca.SX) -> ca.SX:
    """M v̇ − Q for a given v̇, by inverse dynamics: M itself is not needed, and there is less to differentiate."""
    k, s = equations.kinematics, equations.symbols
    u = k.joint_rates
    J = ca.jacobian(u, s.v)
    u_dot = ca.mtimes(J, acceleration) + ca.jtimes(u, s.q, s.q_dot)
    torque, _ = inverse_dynamics(k, u, u_dot, k.gravity)
    motors = ca.mtimes(equations.actuation_map, s.u[: equations.actuation_map.shape[1]])
    inertia = ca.mtimes(J.T, torque) + rotor_force(k, acceleration)
    return inertia - spring_force(k) - motors - equations.applied_force


def _slopes(equations: Equations, values: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Derivatives of expressions by v, and by q along the velocities."""
    s = equations.symbols
    J, n = jacobian(ca.cse(values), ca.vertcat(s.v, s.q)), s.v.shape[0]
    return J[:, :n], ca.mtimes(J[:, n:], s.rate_map)
