"""Back to the constraints: one Newton step of a projection, unit quaternions, and a displacement of q.

Each for the whole machine at once and, beside it, limb by limb.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.elimination import Elimination, eliminate_rows, entries, stack
from kalaba.constrain.forest import tree_inertia
from kalaba.constrain.kernels.board import Step
from kalaba.constrain.kernels.functions import free_inputs, mass_factor, position_rows, traced
from kalaba.constrain.kernels.limb_solve import Limb, LimbSolve, with_unit
from kalaba.space.symbolic_configuration import retract, unit

if TYPE_CHECKING:
    from kalaba.constrain.kernels.board import BoardShare, Results
    from kalaba.constrain.kernels.limb_machine import LimbMachine
    from kalaba.derive.equations import Equations
    from kalaba.native.blocks import BlockProgram


def project(equations: Equations, *, is_singular: bool = False) -> ca.Function:
    """One mass-weighted Newton step back to the constraints, in q and in v; quaternions made unit again.

    Δ = −M⁻¹ Aᵀ G⁻¹ φ,  q ← q + N Δ;   v ← v − M⁻¹ Aᵀ G⁻¹ φ̇.  Rows at velocity level correct v only.
    """
    extra = free_inputs(equations)
    s, rows = equations.symbols, equations.rows
    mass = mass_factor(equations, extra, is_singular=is_singular)
    everything = eliminate_rows(mass, rows.matrix, extra["mask"])
    moving = rows.is_velocity_level
    if any(moving):
        holonomic = ca.DM([0.0 if is_moving else 1.0 for is_moving in moving])
        positional = eliminate_rows(mass, rows.matrix, extra["mask"] * holonomic)
    else:
        positional = everything
    step = stack(_newton(positional, position_rows(equations, rows.value)))
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
        at_unit = ca.substitute(list(outputs.values()), [s.q], [unit(equations.machine.quaternions, s.q)])
        outputs = dict(zip(outputs, at_unit, strict=True))
    return traced("project", equations, outputs, extra)


def _newton(parts: Elimination, residual: ca.SX) -> list[ca.SX]:
    return parts.push(parts.correct([-entry for entry in entries(residual)]))


def project_by_limbs(limbs: LimbMachine) -> BlockProgram:
    """One Newton step back to the constraints, limb by limb."""
    n_q, n, m = len(limbs.machine.coordinates), len(limbs.machine.velocities), len(limbs.machine.rows)
    board = limbs.board("project", {"work_next": 1, "q_next": n_q, "v_next": n, "residual": m, "speed_residual": m})
    hub, kinds = limbs.shares(board)
    solve = LimbSolve(board, hub, kinds, 2)
    for index, limb in enumerate(kinds):
        e = limb.equations
        inertia = tree_inertia(limb.tree, e.constraint_matrix[:, limb.own_v])
        tree = Limb(inertia.factor, inertia.rows, e.constraint_matrix[:, limb.hub], limb.mask)
        kept, to_hub = limb.all_translated(*tree.reduce([-e.rows.value, -e.rows.rate]))
        del kept["pivots"]
        written = {
            "residual": (e.rows.value, limb.slots(board.output("residual"), "rows")),
            "speed_residual": (e.rows.rate, limb.slots(board.output("speed_residual"), "rows")),
        }
        kept, to_hub, written = with_unit(limb, kept, to_hub, written)
        solve.reduce(index, kept, to_hub, written, {})
    e = hub.equations

    def results(x: ca.SX, pivots: ca.SX) -> tuple[Results, Results]:  # noqa: ARG001  (the solve hands it to everyone)
        work = ca.SX.sym("work")
        solve.hub_arguments["work"] = (work, board.input("work"))
        q = e.symbols.q + ca.mtimes(e.symbols.rate_map, x[:, 0])
        written = {
            "work_next": (work, board.output("work_next")),
            "q_next": (unit(e.machine.quaternions, q), hub.slots(board.output("q_next"), "q")),
            "v_next": (e.symbols.v + x[:, 1], hub.slots(board.output("v_next"), "v")),
            "residual": (e.rows.value, hub.slots(board.output("residual"), "rows")),
            "speed_residual": (e.rows.rate, hub.slots(board.output("speed_residual"), "rows")),
        }
        return written, {}

    rhs = ca.horzcat(-e.rows.value, -e.rows.rate)
    still = ca.SX.zeros(limbs.n_hub, 2)
    solve.hub_step(e.mass_matrix, still, (e.constraint_matrix, rhs), results, is_unit=True)
    for index, limb in enumerate(kinds):
        back, t = solve.back(index), limb.tree.symbols
        step = ca.mtimes(back.kept["moved"], back.load)
        quaternions = limb.tree.machine.quaternions
        q = unit(quaternions, t.q)
        moved = q + ca.mtimes(ca.substitute(t.rate_map, t.q, q), step[:, 0])
        back.call(
            {
                "q": (t.q, limb.slots(board.input("q"), "q", limb.own_q)),
                "v": (t.v, limb.slots(board.input("v"), "v", limb.own_v)),
            },
            {
                "q_next": (unit(quaternions, moved), limb.slots(board.output("q_next"), "q", limb.own_q)),
                "v_next": (t.v + step[:, 1], limb.slots(board.output("v_next"), "v", limb.own_v)),
            },
            {},
        )
    return board.program()


def normalise(equations: Equations) -> ca.Function:
    """The state with unit quaternions, for runs without projection."""
    s, extra = equations.symbols, free_inputs(equations)
    outputs = {"work_next": extra["work"], "q_next": unit(equations.machine.quaternions, s.q), "v_next": s.v}
    return traced("normalise", equations, outputs, extra)


def normalise_by_limbs(limbs: LimbMachine) -> BlockProgram:
    """The state with unit quaternions, limb by limb."""
    sizes = {"work_next": 1, "q_next": len(limbs.machine.coordinates), "v_next": len(limbs.machine.velocities)}
    board = limbs.board("normalise", sizes)

    def results(share: BoardShare) -> Results:
        t = share.tree
        q = share.translated([unit(t.machine.quaternions, t.symbols.q)])[0]
        return {
            "q_next": (q, share.slots(board.output("q_next"), "q", share.own_q)),
            "v_next": (share.equations.symbols.v[share.own_v], share.slots(board.output("v_next"), "v", share.own_v)),
        }

    work = ca.SX.sym("work")
    written = {"work_next": (work, board.output("work_next"))}
    board.add(Step({"work": (work, board.input("work"))}, written, {}, (ca.SX(0, 1), [[]])))
    return limbs.spread(board, results)


def displace(equations: Equations) -> ca.Function:
    """The configuration q ⊕ N v: where a displacement, put in the place of v, leads."""
    return traced("displace", equations, {"q_next": displaced(equations)}, free_inputs(equations))


def displaced(equations: Equations) -> ca.SX:
    """Move q along v."""
    s = equations.symbols
    return retract(equations.machine.quaternions, s.q, s.v, s.rate_map)


def displace_by_limbs(limbs: LimbMachine) -> BlockProgram:
    """Where a displacement, put in the place of v, leads, limb by limb."""
    board = limbs.board("displace", {"q_next": len(limbs.machine.coordinates)})

    def results(share: BoardShare) -> Results:
        q = share.translated([displaced(share.tree)])[0]
        return {"q_next": (q, share.slots(board.output("q_next"), "q", share.own_q))}

    return limbs.spread(board, results)
