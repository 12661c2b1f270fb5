"""The functions that a Plant evaluates, as CasADi functions with one common input layout.

Inputs are those of `constrain/layout.py`, in its order. Both backends evaluate these functions: CasADi's interpreter as
they are, native code compiled from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.elimination import Elimination, dot, eliminate, entries, stack
from kalaba.constrain.kernels.jacobian import jacobian
from kalaba.constrain.layout import INPUTS, Layout
from kalaba.derive.applied import damping_power, spring_force
from kalaba.derive.newton_euler import inverse_dynamics
from kalaba.joints.closure import alignment
from kalaba.model.machine import MachineConnection
from kalaba.space.symbolic_configuration import retract, unit
from kalaba.tolerances import VELOCITY_ROW_LENGTH

if TYPE_CHECKING:
    from kalaba.constrain.stabilisation import Baumgarte
    from kalaba.derive.equations import Equations


def _function(
    name: str, equations: Equations, outputs: dict[str, ca.SX], extra: dict[str, ca.SX], numbers: ca.SX | None = None
) -> ca.Function:
    s = equations.symbols
    p = s.p if numbers is None else ca.vertcat(s.p, numbers)
    given = {"q": s.q, "v": s.v, "t": s.t, "u": s.u, "p": p, **extra}
    sizes = Layout.of(equations.machine).sizes
    arguments = [given[key] if key in given else ca.SX.sym(key, sizes[key]) for key in INPUTS]
    expressions = [ca.densify(ca.vec(entry)) for entry in ca.cse(list(outputs.values()))]
    return ca.Function(name, arguments, expressions, list(INPUTS), list(outputs))


def _inputs(equations: Equations) -> dict[str, ca.SX]:
    sizes = Layout.of(equations.machine).sizes
    return {name: ca.SX.sym(name, sizes[name]) for name in ("work", "f", "mask", "w")}


def _metric(equations: Equations, extra: dict[str, ca.SX], *, is_singular: bool) -> ca.SX:
    """M, or M + w AᵀA over the rows that are on where M alone is singular (Udwadia-Phohomsiri)."""
    if not is_singular:
        return equations.mass_matrix
    A = equations.constraint_matrix
    return equations.mass_matrix + ca.mtimes(A.T, ca.mtimes(ca.diag(extra["mask"] * extra["w"]), A))


def motion(equations: Equations, *, is_singular: bool = False, baumgarte: Baumgarte | None = None) -> ca.Function:
    """The constrained motion.

    With G = A M⁻¹ Aᵀ on the rows that are on::

        λ = G⁻¹ (b − A M⁻¹ Q)        v̇ = M⁻¹ (Q + Aᵀ λ)        Qc = Aᵀ λ

    Where M is singular, M + w AᵀA and Q + w Aᵀb take the places of M and Q: the same motion for any w > 0.
    """
    extra = _inputs(equations)
    return _function("motion", equations, _motion(equations, extra, is_singular, baumgarte), extra)


def motion_with_slack(equations: Equations, *, is_singular: bool = False) -> ca.Function:
    """The constrained motion with the slack b − A v̇ of every row, also of those that are off."""
    extra = _inputs(equations)
    outputs = _motion(equations, extra, is_singular)
    outputs["slack"] = equations.constraint_rhs - ca.mtimes(equations.constraint_matrix, outputs["acceleration"])
    return _function("motion", equations, outputs, extra)


def _motion(
    equations: Equations,
    extra: dict[str, ca.SX],
    is_singular: bool,  # noqa: FBT001
    baumgarte: Baumgarte | None = None,
) -> dict[str, ca.SX]:
    s, A, Q = equations.symbols, equations.constraint_matrix, equations.force + extra["f"]
    acceleration, multipliers, pivots = _solution(equations, extra, is_singular, baumgarte)
    if is_singular:
        constraint_force = ca.mtimes(equations.mass_matrix, acceleration) - Q
    else:
        constraint_force = ca.mtimes(A.T, multipliers)
    acting = equations.force + equations.bias + extra["f"] + constraint_force
    return {
        "power": ca.dot(acting, s.v) - damping_power(equations.kinematics),
        "q_dot": s.q_dot,
        "acceleration": acceleration,
        "constraint_force": constraint_force,
        "pivots": pivots,
        "gap": ca.fabs(equations.rows.value),
    }


def _solution(
    equations: Equations,
    extra: dict[str, ca.SX],
    is_singular: bool,  # noqa: FBT001
    baumgarte: Baumgarte | None = None,
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """v̇, λ and the pivots of G."""
    A, b, Q = equations.constraint_matrix, equations.constraint_rhs, equations.force + extra["f"]
    if baumgarte is not None:
        b = b - restoring(equations, baumgarte)
    driven = Q + ca.mtimes(A.T, extra["mask"] * extra["w"] * b) if is_singular else Q
    parts = eliminate(_metric(equations, extra, is_singular=is_singular), A, extra["mask"])
    z = parts.mass.forward(entries(driven))
    slack = [rhs - dot(column, parts.mass.scale(z)) for rhs, column in zip(entries(b), parts.spread, strict=True)]
    multipliers = parts.correct(slack)
    moved = [x + y for x, y in zip(z, parts.lift(multipliers), strict=True)]
    acceleration = stack(parts.mass.backward(parts.mass.scale(moved)))
    return acceleration, stack(multipliers), stack(parts.gram.pivots)


def restoring(equations: Equations, baumgarte: Baumgarte) -> ca.SX:
    """2 ζ ω φ̇ + ω² φ, or ω ψ at velocity level."""
    w, zeta = baumgarte.frequency, baumgarte.damping
    value, rate = equations.rows.value, equations.rows.rate
    terms = [
        w * value[i] if moving else 2 * zeta * w * rate[i] + w**2 * value[i]
        for i, moving in enumerate(equations.rows.is_velocity_level)
    ]
    return stack(terms)


def _position_rows(equations: Equations, values: ca.SX) -> ca.SX:
    """Blank out the rows at velocity level."""
    kept = [ca.SX(0) if moving else values[i] for i, moving in enumerate(equations.rows.is_velocity_level)]
    return stack(kept)


def project(equations: Equations, *, is_singular: bool = False) -> ca.Function:
    """One mass-weighted Newton step back to the constraints, in q and in v; quaternions made unit again.

    Δ = −M⁻¹ Aᵀ G⁻¹ φ,  q ← q + N Δ;   v ← v − M⁻¹ Aᵀ G⁻¹ φ̇.  Rows at velocity level correct v only.
    """
    extra = _inputs(equations)
    s, rows = equations.symbols, equations.rows
    metric = _metric(equations, extra, is_singular=is_singular)
    everything = eliminate(metric, rows.matrix, extra["mask"])
    moving = rows.is_velocity_level
    if any(moving):
        holonomic = ca.DM([0.0 if is_moving else 1.0 for is_moving in moving])
        positional = eliminate(metric, rows.matrix, extra["mask"] * holonomic)
    else:
        positional = everything
    step = stack(_newton(positional, _position_rows(equations, rows.value)))
    q_new = unit(equations.machine.quaternions, s.q + ca.mtimes(s.rate_map, step))
    v_new = s.v + stack(_newton(everything, rows.rate))
    outputs = {
        "work_next": extra["work"],
        "q_next": q_new,
        "v_next": v_new,
        "residual": rows.value,
        "speed_residual": rows.rate,
    }
    if equations.machine.quaternions:  # made unit before, too: from a stretched one Newton's step does not converge
        found = ca.substitute(list(outputs.values()), [s.q], [unit(equations.machine.quaternions, s.q)])
        outputs = dict(zip(outputs, found, strict=True))
    return _function("project", equations, outputs, extra)


def _newton(parts: Elimination, residual: ca.SX) -> list[ca.SX]:
    return parts.push(parts.correct([-entry for entry in entries(residual)]))


def normalise(equations: Equations) -> ca.Function:
    """The state with unit quaternions, for runs without projection."""
    s, extra = equations.symbols, _inputs(equations)
    outputs = {"work_next": extra["work"], "q_next": unit(equations.machine.quaternions, s.q), "v_next": s.v}
    return _function("normalise", equations, outputs, extra)


def rows(equations: Equations, *, is_singular: bool = False) -> ca.Function:
    """M (or the metric that stands in for it) and A, for choosing rows.

    Rows at velocity level are given short: where one says the same as rows at position level, those are kept, since
    they alone bring the configuration back.
    """
    extra = _inputs(equations)
    matrix = ca.SX(equations.constraint_matrix)
    for i, moving in enumerate(equations.rows.is_velocity_level):
        matrix[i, :] *= VELOCITY_ROW_LENGTH if moving else 1.0
    every_row = {**extra, "mask": ca.SX.ones(equations.rows.value.shape[0])}
    metric = _metric(equations, every_row, is_singular=is_singular)
    return _function("rows", equations, {"mass": metric, "matrix": matrix}, extra)


def system_matrices(equations: Equations) -> ca.Function:
    """M, bias, force Q, A and b."""
    extra = _inputs(equations)
    outputs = {
        "mass": equations.mass_matrix,
        "bias": equations.bias,
        "force": equations.force + extra["f"],
        "matrix": equations.constraint_matrix,
        "rhs": equations.constraint_rhs,
        "value": _position_rows(equations, equations.rows.value),
        "rate": equations.rows.rate,
        "damping_power": damping_power(equations.kinematics),
    }
    return _function("matrices", equations, outputs, extra)


def observe(equations: Equations) -> ca.Function:
    """Energies, momentum, rows, and the machine's outputs."""
    k = equations.kinematics
    values = [k.value(output.value) for output in equations.machine.outputs]
    outputs = {
        "kinetic": equations.kinetic_energy,
        "potential": equations.potential_energy,
        "momentum": equations.momentum,
        "residual": _position_rows(equations, equations.rows.value),
        "speed_residual": equations.rows.rate,
        "outputs": stack(values),
    }
    return _function("observe", equations, outputs, {})


def watch(equations: Equations, names: tuple[str, ...]) -> ca.Function:
    """Named scalars (value and gradient) and frames (position, rotation, Jacobian), for starts and readings."""
    outputs: dict[str, ca.SX] = {}
    for index, name in enumerate(names):
        if name in equations.machine.frames:
            pose = equations.kinematics.frame(name)
            entry = ca.vertcat(pose.position, ca.vec(pose.rotation), ca.vec(equations.jacobian(name)))
        else:
            value = equations.kinematics.scalar(name)
            entry = ca.vertcat(value, equations.symbols.gradient(value).T)
        outputs[f"entry{index}"] = entry
    return _function("watch", equations, outputs, {})


def sensitivity(equations: Equations, *, is_singular: bool = False) -> ca.Function:
    """Derivatives of v̇ by a displacement along the velocities, by v and by force, and of the rows' rates by q."""
    extra = _inputs(equations)
    s = equations.symbols
    acceleration = _motion(equations, extra, is_singular)["acceleration"]
    outputs = {
        "by_q": s.gradient(acceleration),
        "by_v": ca.jacobian(acceleration, s.v),
        "by_force": ca.jacobian(acceleration, extra["f"]),
        "rate_by_q": s.gradient(equations.rows.rate),
    }
    return _function("sensitivity", equations, outputs, extra)


def state_jacobian(equations: Equations, control: list[ca.SX], *, is_singular: bool = False) -> ca.Function:
    """∂ẏ/∂y of the state y = (q, v), with the held inputs given as expressions of it."""
    extra = _inputs(equations)
    s = equations.symbols
    found = _motion(equations, extra, is_singular)
    rate = ca.vertcat(found["q_dot"], found["acceleration"])
    if control:
        rate = ca.substitute(rate, s.u, ca.vertcat(*control))
    outputs = {"jacobian": ca.jacobian(rate, ca.vertcat(s.q, s.v))}
    return _function("state_jacobian", equations, outputs, extra)


def displace(equations: Equations) -> ca.Function:
    """The configuration q ⊕ N v: where a displacement, put in the place of v, leads."""
    return _function("displace", equations, {"q_next": displaced(equations)}, _inputs(equations))


def displaced(equations: Equations) -> ca.SX:
    """Move q along v."""
    s = equations.symbols
    return retract(equations.machine.quaternions, s.q, s.v, s.rate_map)


def tangent(equations: Equations, control: list[ca.SX] | None = None, *, is_singular: bool = False) -> ca.Function:
    """Mass, damping and stiffness about the constrained motion, and those of its rows, for Newton steps in time.

    With v̇ and λ of the motion at the state held while the rest is differentiated::

        r = M v̇ − Q − Aᵀ λ        C = ∂r/∂v        K = ∂r/∂q N
        s = A v̇ − b              C_A = ∂s/∂v      K_A = ∂s/∂q N

    Besides these: M, the rows A, and their values. `control` gives the held inputs as expressions of the state.
    """
    extra = _inputs(equations)
    s, A = equations.symbols, equations.constraint_matrix
    n = s.v.shape[0]
    kept = {**extra, "mask": ca.gt(extra["mask"], 0)}  # whoever eliminates a row
    acceleration, multipliers, _ = _solution(equations, kept, is_singular)
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
        "value": _position_rows(equations, equations.rows.value),
        "rows_damping": by_v[n:, :],
        "rows_stiffness": by_q[n:, :],
    }
    return _function("tangent", equations, outputs, extra)


def _missing_force(equations: Equations, acceleration: ca.SX) -> ca.SX:
    """M v̇ − Q for a given v̇, by inverse dynamics: M itself is not needed, and there is less to differentiate."""
    k, s = equations.kinematics, equations.symbols
    u = k.joint_rates
    J = ca.jacobian(u, s.v)
    u_dot = ca.mtimes(J, acceleration) + ca.jtimes(u, s.q, s.q_dot)
    torque, _ = inverse_dynamics(k, u, u_dot, k.gravity)
    motors = ca.mtimes(equations.actuation_map, s.u[: equations.actuation_map.shape[1]])
    return ca.mtimes(J.T, torque) - spring_force(k) - motors - equations.applied_force


def _slopes(equations: Equations, values: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Derivatives of expressions by v, and by q along the velocities."""
    s = equations.symbols
    found, n = jacobian(ca.cse(values), ca.vertcat(s.v, s.q)), s.v.shape[0]
    return found[:, :n], ca.mtimes(found[:, n:], s.rate_map)


def alignments(equations: Equations) -> ca.Function:
    """One cosine a connection: positive where it is closed as meant, negative at a false root."""
    found = [c for c in equations.machine.closures if isinstance(c, MachineConnection)]
    values = [alignment(equations.kinematics, connection) for connection in found]
    return _function("alignments", equations, {"cosines": stack(values)}, {})


def expressions(equations: Equations, values: Callable[[Equations], list[ca.SX]]) -> ca.Function:
    """Any expressions of the machine: a control law, an event, a recorded quantity."""
    return _function("expressions", equations, {"values": stack(values(equations))}, {})


def law_values(
    equations: Equations, values: Callable[[Equations, ca.SX, ca.SX], list[ca.SX]], count: int = 0
) -> ca.Function:
    """Expressions that also read which rows are kept (1) or not (0), and `count` numbers that follow the parameters."""
    extra, numbers = _inputs(equations), ca.SX.sym("numbers", count)
    found = values(equations, ca.gt(extra["mask"], 0), numbers)
    return _function("law", equations, {"values": stack(found)}, extra, numbers)
