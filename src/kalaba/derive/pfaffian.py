"""Constraints in second-order form A v̇ = b, by automatic differentiation.

Position level, φ(q, t) = 0::          A = φ_q N         b = −d/dt(A v + φ_t) at constant v
Velocity level, ψ(q, v, t) = 0::       A = ψ_v           b = −(ψ_q N v + ψ_t)

The rows of a Connection are its joint's, of the gap between two frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.errors import ModelError
from kalaba.model.machine import MachineConnection

if TYPE_CHECKING:
    from kalaba.derive.kinematics import Kinematics


@dataclass(frozen=True)
class Rows:
    """All constraint rows of a machine, at three levels."""

    value: ca.SX  # φ(q, t); ψ(q, v, t) for rows at velocity level, (m,)
    rate: ca.SX  # φ̇; ψ itself for rows at velocity level, (m,)
    matrix: ca.SX  # A(q, v, t), (m, n_v)
    rhs: ca.SX  # b(q, v, t), (m,)
    is_velocity_level: tuple[bool, ...]


def constraint_rows(kinematics: Kinematics) -> Rows:
    """Differentiate every row until it is linear in v̇."""
    symbols = kinematics.symbols
    values = ca.densify(ca.vertcat(*_values(kinematics))) if kinematics.machine.closures else ca.SX(0, 1)
    moving = ca.which_depends(values, symbols.v, 1, True) if values.shape[0] else []  # noqa: FBT003  (CasADi's own order of arguments)
    if symbols.v.shape[0] == 0:
        moving = [False] * values.shape[0]
    if tuple(map(bool, moving)) != kinematics.machine.is_velocity_level:
        rows = zip(kinematics.machine.rows, moving, kinematics.machine.is_velocity_level, strict=True)
        name = next(row for row, depends, reads in rows if bool(depends) != reads)
        raise ModelError(f"{name}: expected a rate of the coordinates, got rate() of what does not move. Leave it out.")
    holonomic = [i for i, depends in enumerate(moving) if not depends]
    rate = ca.SX(values)
    if holonomic:
        rate[holonomic] = symbols.rate(values[holonomic])
    matrix = ca.jacobian(rate, symbols.v)
    return Rows(values, rate, matrix, -symbols.rate(rate), tuple(bool(d) for d in moving))


def closure_rows(kinematics: Kinematics, connection: MachineConnection) -> list[ca.SX]:
    """Values of a connection's rows, in the order of their names."""
    return kinematics.joint(connection.joint).row_values(kinematics.gap(connection))


def alignment(kinematics: Kinematics, connection: MachineConnection) -> ca.SX:
    """A cosine that is 1 where the rows are truly closed and −1 at their false root (half a turn, flipped axis)."""
    return kinematics.joint(connection.joint).alignment(kinematics.gap(connection))


def wound_values(kinematics: Kinematics) -> list[ca.SX]:
    """Values of the rows that close at many places (`Machine.wound_rows`), in a form for finding the nearest root."""
    connections = [c for c in kinematics.machine.connections if c.joint.wound_rows]
    return [value for c in connections for value in kinematics.joint(c.joint).wound_values(kinematics.gap(c))]


def _values(kinematics: Kinematics) -> list[ca.SX]:
    rows: list[ca.SX] = []
    for closure in kinematics.machine.closures:
        if isinstance(closure, MachineConnection):
            rows += closure_rows(kinematics, closure)
        else:
            rows += [kinematics.value(entry) for entry in closure.zero]
    return rows
