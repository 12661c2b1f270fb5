"""What grasps carry: the wrench of each arm on its object, what of it carries and what presses only.

The rows of an arm act on it by Qc = Aᵀ λ. Of its velocities that follow, with A_f square, and E the wrenches of a
grasp's rows at its point::

    λ = A_f⁻ᵀ Qc_f        h = ∓ E λ        on the object: − where the arm has the connection's child

All wrenches together load the objects by G h, which moves them. What G does not see is internal: it presses, bends and
twists the objects and moves nothing. Of all wrenches that the grasps can transmit, h = C λ, the least with the same
effect carries, in the measure Σ |force|² + |moment|²/L², L the root mean square distance of the grasps from their
centre::

    h_c = X (G X)⁺ G h        X = C (Cᵀ D C)⁻¹ Cᵀ Gᵀ        h_i = h − h_c        G h_i = 0

Of a body with several grasps at r_i, with centre c and ρ the root mean square of |c − r_i|, the pressing force f is how
much of the pattern (c − r_i)/ρ is in the grasps' forces. The pattern has no force and no moment in sum, so that f
belongs to the internal part alone and depends on no unit of length::

    f = 1/n Σ F_i · (c − r_i)/ρ        two grasps: ½ (F_1 − F_2) · e, e from the first to the second
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np

from kalaba.boundary import check_arguments
from kalaba.constrain.kernels.functions import expressions
from kalaba.cooperate.arms import split
from kalaba.cooperate.equations import object_maps
from kalaba.native.backend import Interpreted
from kalaba.plant.reaction import wrench_map
from kalaba.results.observe import evaluate_samples
from kalaba.space.arrays import Array
from kalaba.space.symbolic import skew, solve
from kalaba.tolerances import DEPENDENT_FORCES, GRASPS_APART

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.kinematics.objects.holding import Arm, Hold, Split
    from kalaba.model.machine import Machine, MachineConnection
    from kalaba.results.run import Run


class GraspForces(NamedTuple):
    """Wrenches of arms on objects at every sample, each at the grasp's point, force (N) then moment (N·m), world axes.

    Arguments:
        time: (N,), s
        grasps: names, in the order of the wrenches
        points: (N, grasps, 3), m
        wrenches: (N, grasps, 6), carrying and internal together
        carrying: (N, grasps, 6), the least that has the same effect on the objects
        internal: (N, grasps, 6), the rest, which moves nothing
        squeeze: by name of each body with several grasps, the force by which they press on it, (N,), N
    """

    time: Array
    grasps: tuple[str, ...]
    points: Array
    wrenches: Array
    carrying: Array
    internal: Array
    squeeze: dict[str, Array]


def grasp_forces(run: Run) -> GraspForces:
    """The wrenches that grasps carry along a run, with the internal part apart from the carrying part.

    They are those of the recorded constraint force, accelerations and all.

    Arguments:
        run: a run of arms that hold objects

    Raises:
        ModelError: the machine has no object that arms hold
    """
    check_arguments(grasp_forces, locals())
    plant = run.plant
    view = split(plant)
    traced = Interpreted().evaluator(
        "grasp_maps",
        plant.key,
        lambda: expressions(plant.equations, lambda one: _parts(one, view)),
        plant.parameters,
    )
    values = evaluate_samples(run, traced)
    samples, first = len(run.time), 0

    def block(rows: int, columns: int) -> Array:
        nonlocal first
        first += rows * columns
        return values[:, first - rows * columns : first].reshape((samples, columns, rows)).transpose(0, 2, 1)

    points, wrenches, ranges, effects = [], [], [], []
    for hold in view.holds:
        arm = arm_of(view, hold)
        points.append(block(3, 1)[:, :, 0])
        wrenches.append(np.einsum("nij,nj->ni", block(6, len(arm.follow)), run.constraint_force[:, list(arm.follow)]))
        ranges.append(block(6, len(connection_of(plant.machine, hold).rows)))
        effects.append(block(6, len(view.objects)))
    placed, total = np.stack(points, axis=1), np.stack(wrenches, axis=1)
    carrying = _carrying(placed, total, ranges, effects, plant.scales.reach)
    pressed = {
        body: pressing(placed[:, mine], total[:, mine, :3])
        for body, mine in grasped_bodies(plant.machine, view).items()
    }
    names = tuple(hold.name for hold in view.holds)
    return GraspForces(run.time, names, placed, total, carrying, total - carrying, pressed)


def grasped_bodies(machine: Machine, view: Split) -> dict[str, list[int]]:
    """Bodies that several grasps hold, with the places of these among all grasps."""
    places: dict[int, list[int]] = {}
    for place, hold in enumerate(view.holds):
        places.setdefault(hold.body, []).append(place)
    return {machine.bodies[body].name: mine for body, mine in places.items() if len(mine) > 1}


def pressing(points: Array, forces: Array) -> Array:
    """The force f by which grasps press on a body at every sample: 1/n Σ F_i · (c − r_i)/ρ."""
    inward, square = _inward(points)
    along = (forces * inward).sum(axis=(1, 2)) / points.shape[1]
    return np.asarray(np.divide(along, np.sqrt(square), out=np.zeros_like(along), where=square > 0))


def _inward(points: Array) -> tuple[Array, Array]:
    """Vectors c − r_i of grasps at every sample, and the mean of their squares."""
    inward = points.mean(axis=1, keepdims=True) - points
    return inward, (inward**2).sum(axis=2).mean(axis=1)


def arm_of(view: Split, hold: Hold) -> Arm:
    """The arm of a grasp."""
    return next(arm for arm in view.arms if arm.name == hold.arm)


def connection_of(machine: Machine, hold: Hold) -> MachineConnection:
    """The connection of a grasp."""
    return next(connection for connection in machine.connections if connection.name == hold.name)


def transmitted(equations: Equations, view: Split, hold: Hold, wrenches: ca.SX) -> ca.SX:
    """X with Xᵀ Qc_f = the components of the wrench on the object along `wrenches`, (6, c): X = ∓ A_f⁻¹ Eᵀ wrenches."""
    arm, connection = arm_of(view, hold), connection_of(equations.machine, hold)
    rows = [equations.machine.rows.index(row) for row in connection.rows]
    along = ca.SX(len(arm.rows), wrenches.shape[1])
    along[[arm.rows.index(row) for row in rows], :] = ca.mtimes(wrench_map(equations, connection).T, wrenches)
    A_f = equations.constraint_matrix[list(arm.rows), list(arm.follow)]
    return (-1 if hold.is_child_on_arm else 1) * solve(A_f, along)


def grasp_point(equations: Equations, hold: Hold) -> ca.SX:
    """Where a grasp's wrench is given: the origin of the connection's child."""
    return equations.kinematics.frame(hold.child).position


def _parts(equations: Equations, view: Split) -> list[ca.SX]:
    """For each grasp: its point; the map of Qc_f to its wrench; E; the twist of the object at the point by ṡ."""
    T, _, _ = object_maps(equations.kinematics, view)
    T, parts = T[:, : len(view.objects)], []
    for hold in view.holds:
        point, body = grasp_point(equations, hold), equations.machine.bodies[hold.body].name
        J = equations.jacobian(body)
        shift = point - equations.kinematics.frame(body).position
        twist = ca.vertcat(J[:3, :] - ca.mtimes(skew(shift), J[3:, :]), J[3:, :])
        parts += [
            point,
            transmitted(equations, view, hold, ca.SX.eye(6)).T,
            wrench_map(equations, connection_of(equations.machine, hold)),
            ca.mtimes(twist, T),
        ]
    return [ca.vec(ca.densify(part)) for part in parts]


def _carrying(points: Array, wrenches: Array, ranges: Sequence[Array], effects: Sequence[Array], reach: float) -> Array:
    """h_c of all grasps at every sample; moments are divided by L inside, which makes D = 1."""
    samples, count = points.shape[:2]
    L = np.sqrt(_inward(points)[1])
    L = np.where(GRASPS_APART * reach < L, L, reach)
    units = np.ones((samples, 1, 6))
    units[:, 0, 3:] = L[:, np.newaxis]
    G = np.concatenate([J.transpose(0, 2, 1) * units for J in effects], axis=2)
    lengths = np.linalg.norm(G, axis=2, keepdims=True)
    G = G / np.where(lengths > 0, lengths, 1.0)
    X = np.zeros((samples, 6 * count, G.shape[1]))
    for i, C in enumerate(ranges):  # Q Qᵀ projects on what a grasp can transmit
        mine, Q = slice(6 * i, 6 * i + 6), np.linalg.qr(C / units.transpose(0, 2, 1))[0]
        X[:, mine] = Q @ (Q.transpose(0, 2, 1) @ G[:, :, mine].transpose(0, 2, 1))
    h = (wrenches / units).reshape((samples, 6 * count, 1))
    carried = X @ (np.linalg.pinv(G @ X, rcond=DEPENDENT_FORCES, hermitian=True) @ (G @ h))
    return np.asarray(carried.reshape((samples, count, 6)) * units)
