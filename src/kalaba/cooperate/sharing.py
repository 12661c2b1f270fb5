"""Load sharing: which motors carry a required force, and what they can do to an object without moving it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.control.allocation import Allocation, refuse_mixed_units
from kalaba.cooperate.arms import driven_velocities
from kalaba.errors import ControlError, ModelError, near
from kalaba.space.arrays import Array
from kalaba.tolerances import DEPENDENT_FORCES, FORCE_REACHED, GRASPS_APART

if TYPE_CHECKING:
    from kalaba.cooperate.object_space import ObjectSpace
    from kalaba.kinematics.objects.holding import Hold, Split
    from kalaba.model.machine import Machine
    from kalaba.plant.state import State


class Internal(NamedTuple):
    """Internal torques, which change the load on the objects and no motion: W τ = 0."""

    basis: Array  # (k, r), orthonormal columns
    projector: Array  # (k, k): basis basisᵀ


def motors(space: ObjectSpace, names: tuple[str, ...] | None, prescribed: Mapping[str, float]) -> tuple[int, ...]:
    """Indices of the motors that share: those named, or all that drive an arm and have no given torque."""
    plant = space.plant
    plant.motors(tuple(prescribed), "sharing")
    if names is not None:
        return plant.motors(names, "sharing")
    shared = tuple(i for i in space.arm_motors if plant.actuators[i] not in prescribed)
    if not shared:
        raise ControlError(f"{plant.system.name}: no motor drives an arm. Add Actuators, or name motors=.")
    return shared


def arm_motors(machine: Machine, split: Split) -> tuple[int, ...]:
    """Indices of the motors that drive a joint of an arm."""
    arms = {j for arm in split.arms for j in (*arm.follow, *arm.lead)}
    return tuple(i for i, driven in enumerate(driven_velocities(machine)) if driven & arms)


def check_units(space: ObjectSpace, shared: tuple[int, ...], share: Allocation) -> None:
    """Refuse to add squares of forces and torques without weights; ratios to limits have no unit."""
    names, units = [space.plant.actuators[i] for i in shared], [space.units[i] for i in shared]
    refuse_mixed_units(share, names, units, space.plant.limits[list(shared)])


def share_force(
    space: ObjectSpace,
    force_map: Array,
    force: Array,
    share: Allocation,
    shared: tuple[int, ...],
    prescribed: Mapping[str, float],
) -> Array:
    """Torques of all motors with W τ = F: some given, the others shared among the motors `shared`."""
    plant, columns = space.plant, list(shared)
    torques = np.zeros(len(plant.actuators))
    for name, value in prescribed.items():
        torques[plant.actuators.index(name)] = value
    torques[columns] = 0.0
    missing = force - force_map @ torques
    torques[columns] = share.allocate(force_map[:, columns], missing, plant.limits[columns], space.coordinates)
    return torques


def internal(force_map: Array, shared: tuple[int, ...]) -> Internal:
    """The kernel of W on the motors that share; its rows, which may differ in units, are scaled to length one."""
    columns = list(shared)
    W = force_map[:, columns]
    length = np.linalg.norm(W, axis=1, keepdims=True)
    _, sigma, Vt = np.linalg.svd(W / np.where(length > 0, length, 1.0))
    rank = int(np.sum(sigma > DEPENDENT_FORCES * sigma.max(initial=0.0)))
    basis = np.zeros((force_map.shape[1], len(columns) - rank))
    basis[columns] = Vt[rank:].T
    return Internal(basis, basis @ basis.T)


def squeeze(space: ObjectSpace, state: State, names: tuple[str, str], newtons: float) -> Array:
    """Torques by which two grasps press on one body with a force f along the line between them.

    With the unit vector e from one grasp to the other the arms push by f e and −f e: no net force, and no moment, since
    both act along one line. An arm pushes by w if its motors give B τ = Jᵀ w, J of the point where it holds.
    """
    first, second = (_hold(space, name) for name in names)
    if first.body != second.body or first == second:
        bodies = [space.plant.machine.bodies[hold.body].name for hold in (first, second)]
        raise ControlError(
            f"squeeze: expected two grasps of one body, {names[0]} holds {bodies[0]} and {names[1]} {bodies[1]}. "
            "Name two that hold the same."
        )
    plant, q = space.plant, state.q
    points = [plant.pose(hold.child, q).position for hold in (first, second)]
    line = points[1] - points[0]
    distance = float(np.linalg.norm(line))
    if distance < GRASPS_APART * plant.scales.reach:
        raise ControlError(f"squeeze: {names[0]} and {names[1]} hold at one point, so there is no line between them.")
    push = newtons * line / distance
    load = sum(_point_jacobian(space, hold, q).T @ (sign * push) for hold, sign in ((first, 1), (second, -1)))
    shared = list(motors(space, None, {}))
    B = plant.actuation_map(q)
    torques = np.zeros(len(plant.actuators))
    sizes = plant.scales.velocities
    torques[shared] = np.linalg.lstsq(B[:, shared] * sizes[:, np.newaxis], load * sizes, rcond=None)[0]
    _check_push(space, state, names, torques, np.asarray(load))
    return torques


def _check_push(space: ObjectSpace, state: State, names: tuple[str, str], torques: Array, load: Array) -> None:
    """Refuse a push that motors cannot give, or that a grasp lets slip."""
    sizes = space.plant.scales.velocities
    allowed = FORCE_REACHED * np.abs(load * sizes).max()
    if np.abs((space.plant.actuation_map(state.q) @ torques - load) * sizes).max() > allowed:
        raise ControlError(f"squeeze: the motors of the arms at {names[0]} and {names[1]} cannot give this push.")
    if np.abs(space.force_map(state) @ torques).max() > allowed:
        raise ControlError(
            f"squeeze: {names[0]} or {names[1]} slips along the line between them. Hold by a Weld or a Spherical."
        )


def _hold(space: ObjectSpace, name: str) -> Hold:
    holds = {hold.name: hold for hold in space.split.holds}
    if name not in holds:
        raise ModelError(f"{space.plant.system.name}: no grasp {name!r}; {near(name, holds)}")
    return holds[name]


def _point_jacobian(space: ObjectSpace, hold: Hold, q: Array) -> Array:
    """J of the point of the arm that is at the child's origin, (3, n): ẋ + ω × r."""
    plant = space.plant
    J = plant.jacobian(hold.arm_frame, q)
    r = plant.pose(hold.child, q).position - plant.pose(hold.arm_frame, q).position
    return np.asarray(J[:3] + np.cross(J[3:], r, axis=0))
