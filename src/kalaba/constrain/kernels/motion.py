"""The constrained motion: M v̇ = Q + Aᵀ λ with A v̇ = b, on the rows that are kept.

The whole machine at once (`motion`), or limb by limb (`motion_by_limbs`, see `limb_solve.py`); with the rate and the
slack of every row where rows are left out. The outputs begin with ẏ = power | q̇ | v̇, which a stepper integrates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.elimination import eliminate, eliminate_rows, stack
from kalaba.constrain.forest import tree_inertia
from kalaba.constrain.kernels.functions import free_inputs, metric, traced
from kalaba.constrain.kernels.limb_solve import Limb, LimbSolve
from kalaba.derive.applied import damping_power

if TYPE_CHECKING:
    from kalaba.constrain.kernels.board import BoardShare, Results
    from kalaba.constrain.kernels.limb_machine import LimbMachine
    from kalaba.constrain.stabilisation import Baumgarte
    from kalaba.derive.equations import Equations
    from kalaba.native.blocks import BlockProgram


def motion(equations: Equations, *, is_singular: bool = False, baumgarte: Baumgarte | None = None) -> ca.Function:
    """The constrained motion.

    With G = A M⁻¹ Aᵀ on the rows that are on::

        λ = G⁻¹ (b − A M⁻¹ Q)        v̇ = M⁻¹ (Q + Aᵀ λ)        Qc = Aᵀ λ

    Where M is singular, M + AᵀwA and Q + Aᵀwb take the places of M and Q: the same motion for any w > 0.
    """
    extra = free_inputs(equations)
    outputs = motion_outputs(equations, extra, is_singular=is_singular, baumgarte=baumgarte)
    return traced("motion", equations, outputs, extra)


def motion_with_slack(equations: Equations, *, is_singular: bool = False) -> ca.Function:
    """The constrained motion with the slack b − A v̇ and the rate of every row, also of those that are off."""
    extra = free_inputs(equations)
    outputs = motion_outputs(equations, extra, is_singular=is_singular)
    outputs["rate"] = equations.rows.rate
    outputs["slack"] = equations.constraint_rhs - ca.mtimes(equations.constraint_matrix, outputs["acceleration"])
    return traced("motion", equations, outputs, extra)


def motion_outputs(
    equations: Equations,
    extra: dict[str, ca.SX],
    *,
    is_singular: bool,
    baumgarte: Baumgarte | None = None,
) -> dict[str, ca.SX]:
    """What a motion function gives, by name."""
    s, A = equations.symbols, equations.constraint_matrix
    acceleration, multipliers, pivots = solution(equations, extra, is_singular=is_singular, baumgarte=baumgarte)
    if is_singular:
        constraint_force = ca.mtimes(equations.mass_matrix, acceleration) - equations.force - extra["f"]
    else:
        constraint_force = ca.mtimes(A.T, multipliers)
    acting = equations.acting_force + extra["f"] + constraint_force
    return {
        "power": ca.dot(acting, s.v) - damping_power(equations.kinematics),
        "q_dot": s.q_dot,
        "acceleration": acceleration,
        "constraint_force": constraint_force,
        "pivots": pivots,
        "gap": ca.fabs(equations.rows.value),
    }


def solution(
    equations: Equations,
    extra: dict[str, ca.SX],
    *,
    is_singular: bool,
    baumgarte: Baumgarte | None = None,
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """v̇, λ and the pivots of G."""
    A, b, mask = equations.constraint_matrix, equations.constraint_rhs, extra["mask"]
    if baumgarte is not None:
        b = b - restoring(equations, baumgarte)
    if is_singular:
        parts = eliminate(metric(equations, extra, is_singular=True), A, mask)
        driven = equations.force + extra["f"] + ca.mtimes(A.T, mask * extra["w"] * b)
        acceleration, multipliers = parts.solve(driven, b)
    else:
        inertia = tree_inertia(equations, A)
        parts = eliminate_rows(inertia.factor, A, mask)
        acceleration, multipliers = parts.solve_from(inertia.load(extra["f"]), b)
    return acceleration, multipliers, stack(parts.gram.pivots)


def restoring(equations: Equations, baumgarte: Baumgarte) -> ca.SX:
    """2 ζ ω φ̇ + ω² φ, or ω ψ at velocity level."""
    w, zeta = baumgarte.frequency, baumgarte.damping
    value, rate = equations.rows.value, equations.rows.rate
    terms = [
        w * value[i] if moving else 2 * zeta * w * rate[i] + w**2 * value[i]
        for i, moving in enumerate(equations.rows.is_velocity_level)
    ]
    return stack(terms)


def motion_by_limbs(
    limbs: LimbMachine, *, with_slack: bool = False, baumgarte: Baumgarte | None = None
) -> BlockProgram:
    """The constrained motion, limb by limb.

    Every limb is reduced to what the hub feels of it, the hub moves, and each limb gets its motion back
    (`limb_solve.py`). The power and what the hub gets are sums over the limbs.
    """
    n, m = len(limbs.machine.velocities), len(limbs.machine.rows)
    sizes = {"power": 1, "q_dot": len(limbs.machine.coordinates), "acceleration": n, "constraint_force": n}
    sizes |= {"pivots": m, "gap": m, **({"rate": m, "slack": m} if with_slack else {})}
    board = limbs.board("motion", sizes)
    hub, kinds = limbs.shares(board)
    solve = LimbSolve(board, hub, kinds, 1)
    for index, limb in enumerate(kinds):
        e = limb.equations
        b = e.constraint_rhs if baumgarte is None else e.constraint_rhs - restoring(e, baumgarte)
        inertia = tree_inertia(limb.tree, e.constraint_matrix[:, limb.own_v])
        tree = Limb(inertia.factor, inertia.rows, e.constraint_matrix[:, limb.hub], limb.mask)
        y = tree.free(inertia.load(limb.f))  # M⁻¹ Q: the limb without its rows
        kept, to_hub = tree.reduce([b - ca.mtimes(tree.A, y)])
        kept, to_hub = limb.all_translated(kept | {"y": y}, to_hub)
        (power,) = limb.translated([_power(limb.tree)])
        written = {
            "pivots": (kept.pop("pivots"), limb.slots(board.output("pivots"), "rows")),
            "q_dot": (e.symbols.q_dot[limb.own_q], limb.slots(board.output("q_dot"), "q", limb.own_q)),
            "gap": (ca.fabs(e.rows.value), limb.slots(board.output("gap"), "rows")),
        }
        if with_slack:
            written["rate"] = (e.rows.rate, limb.slots(board.output("rate"), "rows"))
        power += ca.dot(limb.f, e.symbols.v[limb.own_v])
        kept |= {"A": tree.A, **({"b": e.constraint_rhs} if with_slack else {})}
        solve.reduce(index, kept, to_hub, written, {"power": (power, board.output("power"))})
    _hub_motion(solve, hub, baumgarte, with_slack=with_slack)
    for index, limb in enumerate(kinds):
        _limb_motion(solve, index, limb, with_slack=with_slack)
    return board.program()


def motion_with_slack_by_limbs(limbs: LimbMachine) -> BlockProgram:
    """The constrained motion with the slack of every row, limb by limb."""
    return motion_by_limbs(limbs, with_slack=True)


def _hub_motion(solve: LimbSolve, hub: BoardShare, baumgarte: Baumgarte | None, *, with_slack: bool) -> None:
    """The hub's v̇ = x with the inertia and the push of all limbs added to its own; what they do to it counts as Qc."""
    board, e = solve.board, hub.equations
    Q = e.force + hub.f

    def results(x: ca.SX, pivots: ca.SX) -> tuple[Results, Results]:
        held = ca.mtimes(e.mass_matrix, x) - Q
        written = {
            "q_dot": (e.symbols.q_dot, hub.slots(board.output("q_dot"), "q")),
            "acceleration": (x, hub.slots(board.output("acceleration"), "v")),
            "constraint_force": (held, hub.slots(board.output("constraint_force"), "v")),
            "pivots": (pivots, hub.slots(board.output("pivots"), "rows")),
            "gap": (ca.fabs(e.rows.value), hub.slots(board.output("gap"), "rows")),
        }
        if with_slack:
            slack = e.constraint_rhs - ca.mtimes(e.constraint_matrix, x)
            written["rate"] = (e.rows.rate, hub.slots(board.output("rate"), "rows"))
            written["slack"] = (slack, hub.slots(board.output("slack"), "rows"))
        power = _power(e) + ca.dot(hub.f + held, e.symbols.v)
        return written, {"power": (power, board.output("power"))}

    b = e.constraint_rhs if baumgarte is None else e.constraint_rhs - restoring(e, baumgarte)
    solve.hub_step(e.mass_matrix, Q, (e.constraint_matrix, b), results)


def _limb_motion(solve: LimbSolve, index: int, limb: BoardShare, *, with_slack: bool) -> None:
    """A limb's v̇ = M⁻¹ Q + M⁻¹ Aᵀ λ and Qc = Aᵀ λ, once x of the hub and so λ are known."""
    board, back = solve.board, solve.back(index)
    v = ca.SX.sym("v", len(limb.own_v))
    acceleration = back.kept["y"] + ca.mtimes(back.kept["moved"], back.load)
    held = ca.mtimes(back.kept["A"].T, back.load)
    written = {
        "acceleration": (acceleration, limb.slots(board.output("acceleration"), "v", limb.own_v)),
        "constraint_force": (held, limb.slots(board.output("constraint_force"), "v", limb.own_v)),
    }
    if with_slack:
        moved = ca.mtimes(back.kept["A"], acceleration) + ca.mtimes(back.kept["B"], back.x)
        written["slack"] = (back.kept["b"] - moved, limb.slots(board.output("slack"), "rows"))
    back.call(
        {"v": (v, limb.slots(board.input("v"), "v", limb.own_v))},
        written,
        {"power": (ca.dot(held, v), board.output("power"))},
    )


def _power(tree: Equations) -> ca.SX:
    """Power of all that acts on a tree, the constraints and further forces apart."""
    return ca.dot(tree.acting_force, tree.symbols.v) - damping_power(tree.kinematics)
