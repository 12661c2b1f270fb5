"""Floating bases: motion of a tree whose base nobody holds, so that its momentum stays as it is.

The base b (a Free or Planar body on the world) and the rates m of everything on it share one momentum. Along the
motions S_b that the base can make with all it carries::

    S_bᵀ p = H_b v_b + H_bm v_m = 0        v_b = −H_b⁻¹ H_bm v_m        J* = J_m − J_b H_b⁻¹ H_bm

where p is the momentum about the world's origin and S_b the base's rigid motions there. For coordinates relative to the
base H_b and H_bm are the rows of M; written by the momentum they serve absolute angles too.

Reference: Umetani and Yoshida (1989), IEEE Trans. Robot. Autom. 5, 303-314 (J*); Nenchev, Umetani and Yoshida (1992),
IEEE Trans. Robot. Autom. 8, 1-6, and Yoshida, Hashizume and Abiko (2001), Proc. ICRA, 441-446 (reaction null space).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba.constrain.kernels.functions import expressions
from kalaba.errors import ModelError, near
from kalaba.plant.choice import rows_at
from kalaba.space.arrays import Array
from kalaba.tolerances import BASE_STILL

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.model.machine import Machine, MachineBody
    from kalaba.plant.plant import Plant


class Coupling(NamedTuple):
    """How a base follows what moves on it."""

    base: list[int]  # columns of the base's own velocities
    others: list[int]  # columns of all that rides on it
    response: Array  # H_b⁻¹ H_bm, (base, others): v_b = −response v_m
    jacobian: Array  # of the base, (6, base)


def generalised_jacobian(plant: Plant, frame: str, q: ArrayLike, base: str | None = None) -> Array:
    """J* of a frame, (6, n_v): its velocity for given rates while the momentum of its tree is zero.

    Columns of the base's own velocities are zero: they follow from the others. Linear, then angular, world axes.
    """
    machine = plant.machine
    if frame not in machine.frames:
        raise ModelError(f"{plant.system.name}: no frame {frame!r}; {near(frame, machine.frames)}")
    coupling = _coupling(plant, q, base or _root(machine, machine.body_of(frame), frame))
    J = plant.jacobian(frame, q)
    J_star = np.zeros_like(J)
    J_star[:, coupling.others] = J[:, coupling.others] - J[:, coupling.base] @ coupling.response
    return J_star


def reaction_null(plant: Plant, q: ArrayLike, base: str | None = None, *, attitude_only: bool = False) -> Array:
    """Rates that leave a base still, (n_v, k): orthonormal, zero for the base itself.

    With `attitude_only` the base may be pushed along but does not turn. Rates obey the rows, if there are any.
    """
    coupling = _coupling(plant, q, base or _only_base(plant.machine))
    pushed = coupling.jacobian @ coupling.response / plant.scales.twist[:, np.newaxis]
    rows = rows_at(plant, plant.inputs(q), coupling.others)
    T, felt = rows.free_directions(), pushed[3:] if attitude_only else pushed
    in_sizes = felt * rows.sizes.velocities, rows.sizes.of_rows(rows.matrix)
    longest = max(float(np.linalg.norm(part, axis=1).max(initial=0.0)) for part in in_sizes)
    _, sigma, Vt = np.linalg.svd(felt @ T)
    rank = int(np.sum(sigma > BASE_STILL * longest))
    rates = np.zeros((len(plant.velocities), T.shape[1] - rank))
    rates[coupling.others] = np.linalg.qr(T @ Vt[rank:].T)[0]
    return rates


def centre_of_mass(plant: Plant, q: ArrayLike) -> Array:
    """Centre of mass of the whole machine in the world."""
    function = plant.function("centre_of_mass", _trace_centre)
    moments = function(plant.inputs(q))
    if not moments[3] > 0:
        raise ModelError(f"{plant.system.name}: no body has mass, so there is no centre of mass.")
    return np.asarray(moments[:3] / moments[3])


def _trace_centre(equations: Equations) -> ca.Function:
    return expressions(equations, lambda e: [e.first_moment, e.total_mass])


def _trace_momentum(equations: Equations) -> ca.Function:
    """∂p/∂v: the momentum is linear in the velocities."""
    return expressions(equations, lambda e: [ca.vec(ca.densify(ca.jacobian(e.momentum, e.symbols.v)))])


def _coupling(plant: Plant, q: ArrayLike, base: str) -> Coupling:
    machine, n = plant.machine, len(plant.velocities)
    index = _base_index(machine, base)
    inputs = plant.inputs(q)
    P = plant.function("momentum_map", _trace_momentum)(inputs).reshape((6, n), order="F")
    base_columns = _columns(machine, machine.bodies[index])
    riders = [body for body in machine.bodies if body.name != base and _root_index(machine, body) == index]
    others = sorted({j for body in riders for j in _columns(machine, body)} | set(machine.bodies[index].modes_in_v))
    others = [j for j in others if j not in base_columns]
    J, position = plant.jacobian(base, q)[:, base_columns], plant.pose(base, q).position
    S = np.vstack([J[:3] - np.cross(J[3:], position, axis=0), J[3:]])  # velocity at the world's origin
    H_b, H_bm = S.T @ P[:, base_columns], S.T @ P[:, others]
    sizes = plant.scales.velocities[base_columns]
    if np.linalg.cond(H_b * sizes * sizes[:, np.newaxis]) > 1 / np.finfo(float).eps:
        raise ModelError(f"{plant.system.name}: nothing gives {base} and what it carries inertia. Give a body mass.")
    return Coupling(base_columns, others, np.asarray(np.linalg.solve(H_b, H_bm), dtype=np.float64), J)


def _columns(machine: Machine, body: MachineBody) -> list[int]:
    """The velocities of a body's joint; those of a beam's modes too, for a body that is no base."""
    return machine.joint_velocities(body) + ([] if body.joint.is_base else list(body.modes_in_v))


def _root_index(machine: Machine, body: MachineBody) -> int:
    index = machine.bodies.index(body)
    while (parent := machine.body_of(machine.bodies[index].parent)) >= 0:
        index = parent
    return index


def _bases(machine: Machine) -> list[str]:
    """Bodies on the world that nobody holds."""
    free = [body for body in machine.bodies if body.joint.is_base]
    return [body.name for body in free if machine.body_of(body.parent) < 0]


def _base_index(machine: Machine, base: str) -> int:
    names = _bases(machine)
    if base not in names:
        raise ModelError(
            f"{machine.name}: {base!r} is no floating base (a Free or Planar body on the world); {near(base, names)}"
        )
    return next(index for index, body in enumerate(machine.bodies) if body.name == base)


def _root(machine: Machine, body: int, frame: str) -> str:
    if body < 0:
        raise ModelError(f"{machine.name}.{frame}: this frame stands on the world, not on a floating base.")
    return machine.bodies[_root_index(machine, machine.bodies[body])].name


def _only_base(machine: Machine) -> str:
    names = _bases(machine)
    if len(names) != 1:
        raise ModelError(
            f"{machine.name}: expected one floating base (a Free or Planar body on the world), got "
            f"{', '.join(names) or 'none'}. Give base=."
        )
    return names[0]
