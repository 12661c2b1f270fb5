"""The mass matrix of long trees pair by pair: M_jk = s_j · F_k for velocities j that carry velocity k.

Written out, M of a chain takes as many instructions as it has entries, and to compile them takes longer than all the
rest. Here the code is as long as the chain: once per velocity its motion s and the momentum F = I s of the composite
body that it moves, both about the origin of the tree's root in world axes, then one short function for many pairs.

Reference: Featherstone (2008), Rigid Body Dynamics Algorithms, table 6.2, in one system of axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.constrain.kernels.board import Board, Step
from kalaba.constrain.kernels.functions import position_rows, row_lengths
from kalaba.constrain.layout import Layout
from kalaba.constrain.trees import Tree, trees_of
from kalaba.derive.applied import damping_power
from kalaba.derive.dynamics import Recursive
from kalaba.derive.newton_euler import composite_inertias
from kalaba.derive.rotors import rotor_mass
from kalaba.space.symbolic import cross

if TYPE_CHECKING:
    from kalaba.constrain.kernels.board import Results
    from kalaba.derive.dynamics import Method
    from kalaba.derive.equations import Equations
    from kalaba.model.machine import Machine
    from kalaba.native.blocks import BlockProgram

LONG = 16  # joints one after the other: from here on M is not written out
AT_ONCE = 16  # pairs that one call of the short function works out


def has_long_trees(machine: Machine, method: Method) -> bool:
    """Whether some tree is so long that its mass matrix is better not written out; nothing is derived for this."""
    depths = {-1: 0}
    for index, body in enumerate(machine.bodies):
        depths[index] = depths[machine.body_of(body.parent)] + bool(body.joint.v_count)
    return max(depths.values()) >= LONG and isinstance(method, Recursive)


def _long_trees(equations: Equations) -> list[Tree]:
    """These trees, as far as their rates are velocities and their bodies rigid."""
    return [tree for tree in trees_of(equations.kinematics) if tree.rates is not None and tree.depth >= LONG]


def rows_by_pairs(equations: Equations, width: int) -> BlockProgram:
    """M and A, for choosing rows; see `matrices.rows`."""
    matrix = row_lengths(equations)
    return _program("rows", equations, {"matrix": matrix}, {}, width)


def system_matrices_by_pairs(equations: Equations, width: int) -> BlockProgram:
    """M, bias, force Q, A and b; see `matrices.system_matrices`."""
    k, method = equations.kinematics, equations.method
    assert isinstance(method, Recursive)  # noqa: S101  (else there are no long trees)
    J = ca.jacobian(k.joint_rates, k.symbols.v)
    taken = ca.mtimes(J.T, method.recursion(k).torque)  # by the bodies' weight and motion
    before = {"bias": taken + equations.acting_force - equations.joint_force}
    f = ca.SX.sym("f", k.symbols.v.shape[0])
    before["force"] = equations.joint_force - taken + f
    after = {
        "matrix": equations.constraint_matrix,
        "rhs": equations.constraint_rhs,
        "value": position_rows(equations, equations.rows.value),
        "rate": equations.rows.rate,
        "damping_power": damping_power(k),
    }
    return _program("matrices", equations, {**before, **after}, {"f": f}, width)


def _program(
    name: str, equations: Equations, others: dict[str, ca.SX], extra: dict[str, ca.SX], width: int
) -> BlockProgram:
    """A program that gives M and other outputs, in this order."""
    s, machine, trees = equations.symbols, equations.machine, _long_trees(equations)
    n = s.v.shape[0]
    sizes = {"mass": n * n} | {key: value.numel() for key, value in others.items()}
    board = Board(name, Layout.of(machine).sizes, sizes, machine, width)
    motion, momentum = board.room(n, 6), board.room(n, 6)
    columns, moving, moved = _motions(equations, trees)
    written = {key: _nonzeros(value, board.output(key)) for key, value in others.items()}
    written["motion"] = (moving, motion[columns].ravel())
    written["momentum"] = (moved, momentum[columns].ravel())
    written["mass"] = _nonzeros(_written_out(equations, trees), board.output("mass"))
    symbols = {"q": s.q, "v": s.v, "t": s.t, "u": s.u, **extra}
    arguments = {key: (symbol, board.input(key)) for key, symbol in symbols.items()}
    places: list[float | int] = list(range(len(machine.free_parameters)))
    board.add(Step(arguments, written, {}, (s.p, [places])))
    _add_pairs(board, trees, motion, momentum)
    rotors = {column: inertia for tree in trees for column, inertia in tree.rotors.items()}
    if rotors:
        slots = board.output("mass")[[column * (n + 1) for column in rotors]]
        total = ca.vertcat(*rotors.values())
        board.add(Step(arguments, {}, {"rotors": (total, slots)}, (s.p, [places])))
    return board.program()


def _add_pairs(board: Board, trees: Sequence[Tree], motion: np.ndarray, momentum: np.ndarray) -> None:
    """The short function, called for all pairs; what fills up its last call of a velocity goes to waste."""
    n, waste = len(motion), board.room(1)[0]
    mass = board.output("mass").reshape(n, n)
    rows: dict[str, list[np.ndarray]] = {"F": [], "S": [], "above": [], "below": []}
    for tree in trees:
        for column, path in tree.paths.items():
            for first in range(0, len(path), AT_ONCE):
                some = list(path[first : first + AT_ONCE])
                fill = AT_ONCE - len(some)
                rows["F"].append(momentum[column])
                rows["S"].append(motion[[*some, *[column] * fill]].ravel())
                rows["above"].append(np.append(mass[column, some], [waste] * fill))
                rows["below"].append(np.append(mass[some, column], [waste] * fill))
    slots = {key: np.array(value) for key, value in rows.items()}
    F, S = ca.SX.sym("F", 6), ca.SX.sym("S", 6, AT_ONCE)
    entries = ca.mtimes(S.T, F)
    if not rows["F"]:
        return
    results: Results = {key: (entries, slots[key]) for key in ("above", "below")}
    board.add(Step({"F": (F, slots["F"]), "S": (S, slots["S"])}, results, {}, (ca.SX(0, 1), [[] for _ in rows["F"]])))


def _motions(equations: Equations, trees: Sequence[Tree]) -> tuple[list[int], ca.SX, ca.SX]:
    """Columns of M, and of each s and F = I s, about the origin of the tree's root in world axes."""
    bodies = equations.kinematics.bodies
    chosen = sorted(index for tree in trees for index in tree.bodies)
    rates = {index: columns for tree in trees for index, columns in (tree.rates or {}).items()}
    inertias = composite_inertias(bodies, chosen)
    columns: list[int] = []
    motions, momenta = [ca.SX(6, 0)], [ca.SX(6, 0)]
    places: dict[int, ca.SX] = {}  # of origins, from the root's
    for index in chosen:
        body, R = bodies[index], bodies[index].world.rotation
        seat = bodies[body.parent].world.rotation if body.parent >= 0 else None
        r = ca.SX(3, 1) if seat is None else places[body.parent] + ca.mtimes(seat, body.relative.position)
        places[index] = r
        for k, column in enumerate(rates[index]):
            w, v = body.joint.motion[0:3, k], body.joint.motion[3:6, k]
            n, f = (ca.mtimes(R, part) for part in inertias[index].times(w, v))
            w, v = ca.mtimes(R, w), ca.mtimes(R, v)
            columns.append(column)
            motions.append(ca.vertcat(w, v + cross(r, w)))
            momenta.append(ca.vertcat(n + cross(r, f), f))
    return columns, ca.densify(ca.horzcat(*motions)), ca.densify(ca.horzcat(*momenta))


def _written_out(equations: Equations, trees: Sequence[Tree]) -> ca.SX:
    """M of all other trees."""
    k, method = equations.kinematics, equations.method
    assert isinstance(method, Recursive)  # noqa: S101  (else there are no long trees)
    long = {index for tree in trees for index in tree.bodies}
    others = [index for index in range(len(k.bodies)) if index not in long]
    if not others:
        return ca.SX(k.symbols.v.shape[0], k.symbols.v.shape[0])
    rotors = rotor_mass(k)
    columns = [column for tree in trees for column in tree.columns]
    rotors[columns, columns] = 0
    return method.mass_matrix_of(k, others) + rotors


def _nonzeros(value: ca.SX, slots: np.ndarray) -> tuple[ca.SX, np.ndarray]:
    """The entries that are not zero whatever the symbols, and their slots."""
    sparse = ca.sparsify(ca.vec(value))
    return ca.vertcat(*sparse.nonzeros()) if sparse.nnz() else ca.SX(0, 1), slots[sparse.sparsity().row()]
