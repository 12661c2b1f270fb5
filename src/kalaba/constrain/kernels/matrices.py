"""What a machine is at a state: its matrices, its rows, its energies and outputs. Nothing is solved here.

Each for the whole machine at once and, beside it, limb by limb: every limb writes its part, and adds to what is summed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.elimination import stack
from kalaba.constrain.kernels.board import Step
from kalaba.constrain.kernels.functions import free_inputs, metric, position_rows, row_lengths, traced
from kalaba.derive.applied import damping_power
from kalaba.derive.kinematics import Kinematics
from kalaba.derive.pfaffian import alignment, wound_values

if TYPE_CHECKING:
    from kalaba.constrain.kernels.board import Board, BoardShare, Results
    from kalaba.constrain.kernels.limb_machine import LimbMachine
    from kalaba.derive.equations import Equations
    from kalaba.native.blocks import BlockProgram


def rows(equations: Equations, *, is_singular: bool = False) -> ca.Function:
    """M (or the metric that stands in for it) and A, for choosing rows, with lengths for that."""
    extra = free_inputs(equations)
    every_row = {**extra, "mask": ca.SX.ones(equations.rows.value.shape[0])}
    M = metric(equations, every_row, is_singular=is_singular)
    return traced("rows", equations, {"mass": M, "matrix": row_lengths(equations)}, extra)


def rows_by_limbs(limbs: LimbMachine) -> BlockProgram:
    """M and A, for choosing rows, limb by limb."""
    n, m = len(limbs.machine.velocities), len(limbs.machine.rows)
    board = limbs.board("rows", {"mass": n * n, "matrix": m * n})

    def results(share: BoardShare) -> Results:
        M = share.translated([share.tree.mass_matrix])[0]
        return _matrices(board, share, M)

    return limbs.spread(board, results)


def system_matrices(equations: Equations) -> ca.Function:
    """M, bias, force Q, A and b."""
    extra = free_inputs(equations)
    outputs = {
        "mass": equations.mass_matrix,
        "bias": equations.bias,
        "force": equations.force + extra["f"],
        "matrix": equations.constraint_matrix,
        "rhs": equations.constraint_rhs,
        "value": position_rows(equations, equations.rows.value),
        "rate": equations.rows.rate,
        "damping_power": damping_power(equations.kinematics),
    }
    return traced("matrices", equations, outputs, extra)


def system_matrices_by_limbs(limbs: LimbMachine) -> BlockProgram:
    """M, bias, force, A, b and the rows, limb by limb."""
    n, m = len(limbs.machine.velocities), len(limbs.machine.rows)
    sizes = {"mass": n * n, "bias": n, "force": n, "matrix": m * n, "rhs": m, "value": m, "rate": m}
    board = limbs.board("matrices", {**sizes, "damping_power": 1})

    def results(share: BoardShare) -> Results:
        t, e = share.tree, share.equations
        M, bias, force = share.translated([t.mass_matrix, t.bias, t.force])
        return {
            **_matrices(board, share, M),
            "bias": (bias, share.slots(board.output("bias"), "v", share.own_v)),
            "force": (force + share.f, share.slots(board.output("force"), "v", share.own_v)),
            "rhs": (e.constraint_rhs, share.slots(board.output("rhs"), "rows")),
            "value": (e.rows.value, share.slots(board.output("value"), "rows")),
            "rate": (e.rows.rate, share.slots(board.output("rate"), "rows")),
        }

    def sums(share: BoardShare) -> Results:
        damping = share.translated([damping_power(share.tree.kinematics)])[0]
        return {"damping_power": (damping, board.output("damping_power"))}

    return limbs.spread(board, results, sums)


def required(equations: Equations) -> ca.Function:
    """M a + bias at an acceleration a, which stands in the place of the force f."""
    extra = free_inputs(equations)
    return traced("required", equations, {"force": equations.mass_matrix @ extra["f"] + equations.bias}, extra)


def observe(equations: Equations) -> ca.Function:
    """Energies, momentum, rows, and the machine's outputs."""
    k = equations.kinematics
    values = [k.value(output.value) for output in equations.machine.outputs]
    outputs = {
        "kinetic": equations.motion_energy,
        "potential": equations.potential_energy,
        "momentum": equations.momentum,
        "residual": position_rows(equations, equations.rows.value),
        "speed_residual": equations.rows.rate,
        "outputs": stack(values),
    }
    return traced("observe", equations, outputs, {})


def observe_by_limbs(limbs: LimbMachine) -> BlockProgram:
    """Energies, momentum, rows, and the machine's outputs, limb by limb."""
    m = len(limbs.machine.rows)
    sizes = {"kinetic": 1, "potential": 1, "momentum": 6, "residual": m, "speed_residual": m}
    board = limbs.board("observe", {**sizes, "outputs": len(limbs.machine.outputs)})

    def results(share: BoardShare) -> Results:
        rows = share.equations.rows
        return {
            "residual": (rows.value, share.slots(board.output("residual"), "rows")),
            "speed_residual": (rows.rate, share.slots(board.output("speed_residual"), "rows")),
        }

    def sums(share: BoardShare) -> Results:
        t = share.tree
        values = share.translated([t.motion_energy, t.potential_energy, t.momentum])
        names = ("kinetic", "potential", "momentum")
        return {name: (value, board.output(name)) for name, value in zip(names, values, strict=True)}

    if limbs.machine.outputs:
        _outputs(limbs, board)
    return limbs.spread(board, results, sums)


def _outputs(limbs: LimbMachine, board: Board) -> None:
    """The machine's outputs, which may read anything."""
    k = Kinematics(limbs.machine)
    s, values = k.symbols, stack([k.value(output.value) for output in limbs.machine.outputs])
    arguments = {name: (getattr(s, name), board.input(name)) for name in ("q", "v", "t", "u")}
    places: list[float | int] = list(range(len(limbs.machine.free_parameters)))
    board.add(Step(arguments, {"outputs": (values, board.output("outputs"))}, {}, (s.p, [places])))


def alignments(equations: Equations) -> ca.Function:
    """One cosine per connection: positive where it is closed as meant, negative at a false root."""
    values = [alignment(equations.kinematics, connection) for connection in equations.machine.connections]
    return traced("alignments", equations, {"cosines": stack(values)}, {})


def alignments_by_limbs(limbs: LimbMachine) -> BlockProgram:
    """One cosine per connection, limb by limb."""
    order = [connection.name for connection in limbs.machine.connections]
    board = limbs.board("alignments", {"cosines": len(order)})

    def results(share: BoardShare) -> Results:
        k = share.equations.kinematics
        connections = [s.machine.connections for s in share.shares]
        values = [alignment(k, connection) for connection in connections[0]]
        places = np.array([[order.index(c.name) for c in row] for row in connections], dtype=int)
        slots = board.output("cosines")[places.reshape(len(connections), -1)]
        return {"cosines": (stack(values), slots)}

    return limbs.spread(board, results)


def wound(equations: Equations) -> ca.Function:
    """Rows that close at many places, in a form for finding the nearest root, and their gradients."""
    values = stack(wound_values(equations.kinematics))
    return traced("wound", equations, {"value": values, "matrix": equations.symbols.gradient(values)}, {})


def _matrices(board: Board, share: BoardShare, mass: ca.SX) -> Results:
    """The share's blocks of M and A."""
    n, m = len(board.machine.velocities), len(board.machine.rows)
    v = np.array([entry.v for entry in share.shares], dtype=int).reshape(len(share.shares), -1)
    rows = np.array([entry.rows for entry in share.shares], dtype=int).reshape(len(share.shares), -1)
    columns, A = v[:, share.own_v], share.equations.constraint_matrix
    return {
        "mass": (ca.densify(mass), board.output("mass")[_places(columns, columns, n)]),
        "matrix": (ca.densify(A), board.output("matrix")[_places(rows, v, m)]),
    }


def _places(rows: NDArray[np.int64], columns: NDArray[np.int64], height: int) -> NDArray[np.int64]:
    """Places of a block's entries, column by column, in a matrix that is stored so; one line per limb."""
    places = columns[:, :, np.newaxis] * height + rows[:, np.newaxis, :]
    return places.reshape(len(rows), -1)
