"""Reactions: the wrench that a connection carries, and which of its components the equations determine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.kernels.functions import expressions
from kalaba.constrain.rows import IndependentRows, null_directions
from kalaba.errors import ModelError, near
from kalaba.joints.formulas import Gap
from kalaba.model.machine import MachineConnection
from kalaba.plant.choice import rows_at
from kalaba.plant.evaluate import motion
from kalaba.space.arrays import Array
from kalaba.space.symbolic import skew
from kalaba.tolerances import REACTION_UNIQUE

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant


class Reaction(NamedTuple):
    """The wrench on the child of a connection at the child frame's origin, world axes.

    Components that dependent rows leave open are not unique: the one of least multipliers (in the machine's sizes) is
    given, and flagged.

    Arguments:
        force: (3,), N
        torque: (3,), N·m
        is_unique: (6,): force x y z, torque x y z
        multipliers: one per row of the connection
    """

    force: Array
    torque: Array
    is_unique: NDArray[np.bool_]
    multipliers: Array


def reaction(plant: Plant, name: str, inputs: Array) -> Reaction:
    """Find the reaction of a connection at packed inputs."""
    connection = _connection(plant, name)
    result = motion(plant, inputs.copy())
    rows = rows_at(plant, inputs)
    multipliers, open_directions = _multipliers(rows, result.constraint_force)
    mine = [plant.constraints.index(row) for row in connection.rows]
    E = _wrench_map(plant, connection, inputs)
    wrench = E @ multipliers[mine]
    sized = E * plant.scales.twist[:, np.newaxis] / rows.sizes.rows[mine]
    loose = np.abs(sized @ open_directions[mine]).max(axis=1, initial=0.0)
    scale = max(1.0, float(np.abs(sized).max()))
    return Reaction(wrench[:3], wrench[3:], loose <= REACTION_UNIQUE * scale, multipliers[mine])


def _multipliers(rows: IndependentRows, force: Array) -> tuple[Array, Array]:
    """The least λ with Aᵀ λ = Qc, and the multipliers that do nothing, as columns in the machine's sizes.

    With the rows written by those kept, A = P A_kept, this is Pᵀ λ = μ with A_keptᵀ μ = Qc: μ is unique, λ = (Pᵀ)⁺ μ;
    A, λ and Qc in the sizes.
    """
    A, P = rows.sizes.of_rows(rows.matrix)[rows.kept], rows.from_kept()
    lengths = np.linalg.norm(A, axis=1)
    mu = np.linalg.lstsq((A / lengths[:, np.newaxis]).T, force * rows.sizes.velocities, rcond=None)[0] / lengths
    return np.asarray(P @ np.linalg.solve(P.T @ P, mu)) / rows.sizes.rows, null_directions(P.T)


def _connection(plant: Plant, name: str) -> MachineConnection:
    connections = {c.name: c for c in plant.machine.connections}
    if name not in connections:
        raise ModelError(f"{plant.system.name}: no connection {name!r}; {near(name, connections)}")
    return connections[name]


def _wrench_map(plant: Plant, connection: MachineConnection, inputs: Array) -> Array:
    """E of a connection in numbers."""
    function = plant.function("wrench", lambda equations: _trace(equations, connection), connection.name)
    return function(inputs).reshape((6, len(connection.rows)), order="F")


def _trace(equations: Equations, connection: MachineConnection) -> ca.Function:
    return expressions(equations, lambda e: [ca.vec(ca.densify(wrench_map(e, connection)))])


def wrench_map(equations: Equations, connection: MachineConnection) -> ca.SX:
    """E with wrench = E λ: how the rows change when the child moves and turns, transposed."""
    kinematics = equations.kinematics
    move, gap = ca.SX.sym("move", 6), kinematics.gap(connection)  # a small motion of the child: along, then turn
    turned = ca.mtimes(ca.SX.eye(3) + skew(move[3:6]), gap.child)
    moved = Gap(gap.seat, turned, gap.world + move[0:3])
    rows = ca.vertcat(*kinematics.joint(connection.joint).row_values(moved))
    return ca.substitute(ca.jacobian(rows, move), move, ca.SX.zeros(6)).T
