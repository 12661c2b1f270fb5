"""Motors and a frame of a machine with loops: which displacements reach a pose, which rates give a twist.

With N a basis of the velocities that keep every row, A N = 0, the frame's twist is V = J N z and the motors' rates are
u̇ = Bᵀ N z: B is power-dual to the displacements. So u̇ = K V with K = Bᵀ N (J N)⁺.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments
from kalaba.constrain.kernels.functions import expressions
from kalaba.errors import KinematicsError, ModelError, near
from kalaba.model.parts import Start
from kalaba.model.units import actuator_units
from kalaba.plant.arguments import checked_configuration
from kalaba.plant.choice import free_directions
from kalaba.plant.plant import build
from kalaba.plant.start import find_configuration, widest_gap
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant
    from kalaba.space.pose import Pose


@dataclass(frozen=True, slots=True, eq=False)
class MotorPlaces:
    """A configuration with a frame at a pose, and the motors' displacements there.

    Arguments:
        q: configuration, (n_q,)
        displacements: {motor: displacement}, m or rad
    """

    q: Array
    displacements: dict[str, float]


def motors_at(system: System | Plant, frame: str, pose: Pose, guess: ArrayLike | None = None) -> MotorPlaces:
    """The motors' displacements that put a frame at a pose, in the working mode nearest to `guess`.

    The default guess is the start. All rows are kept. A pose that the machine cannot have, such as a tilt of a frame
    that keeps level, is refused with the gap that is left. `assembly_modes(system, hold={frame: pose})` gives all
    working modes.

    Arguments:
        system: the machine
        frame: name of the frame
        pose: where it is to be in the world, a `kb.Pose`
        guess: a configuration, m and rad; None: the start
    """
    check_arguments(motors_at, locals())
    plant = with_frame(system, frame)
    q = plant.start.q if guess is None else checked_configuration(guess, plant.machine)
    near_q = {name: float(value) for name, value in zip(plant.coordinates, q, strict=True)}
    closed, problem = find_configuration(plant, Start(hold={frame: pose}, guess=near_q))
    if not closed.is_closed:
        row, gap, unit = widest_gap(plant, closed, problem)
        raise KinematicsError(
            f"{plant.system.name}: {frame} cannot be put there with all loops closed; smallest gap {gap:.3g} {unit} at "
            f"{row}. Choose a pose that the machine can have, or give another guess=."
        )
    return MotorPlaces(closed.q, dict(zip(plant.actuators, _displacements(plant, closed.q), strict=True)))


def motor_jacobian(system: System | Plant, frame: str, q: ArrayLike) -> Array:
    """K, (motors, 6): u̇ = K V for the twists V that the frame can have, as `plant.velocity` gives them.

    For other twists K V are the rates of the nearest one that it can have. Where motors can move while the frame
    rests there is no such matrix, and the configuration is refused.

    Arguments:
        system: the machine
        frame: name of the frame
        q: configuration, m and rad
    """
    check_arguments(motor_jacobian, locals())
    plant = with_frame(system, frame)
    at = checked_configuration(q, plant.machine)
    twists, rates = freedoms_seen(plant, frame, at)
    U, sigma, Vt = np.linalg.svd(twists, full_matrices=True)
    rank = int((sigma > tolerances.DEPENDENT_FREEDOM * sigma.max(initial=0.0)).sum())
    lost = np.abs(rates @ Vt[rank:].T)
    if lost.max(initial=0.0) > tolerances.DEPENDENT_FREEDOM * np.abs(rates).max(initial=0.0):
        motor = plant.actuators[int(np.argmax(lost.max(axis=1)))]
        raise KinematicsError(
            f"{plant.system.name}: {motor} can move while {frame} rests, so that the frame's twist says nothing of it. "
            f"Leave this singular configuration, or take a frame that it moves."
        )
    K = rates @ Vt[:rank].T / sigma[:rank] @ U[:, :rank].T
    return np.asarray(K * motor_sizes(plant, at)[:, np.newaxis] / plant.scales.twist)


def freedoms_seen(plant: Plant, frame: str, q: Array) -> tuple[Array, Array]:
    """J N (6, f) and Bᵀ N (k, f): what the frame and the motors see of the freedoms that the rows leave.

    In the machine's sizes: lengths are counted in its own length.
    """
    N, motors = free_directions(plant, q), motor_sizes(plant, q)
    twists = plant.jacobian(frame, q) @ N / plant.scales.twist[:, np.newaxis]
    return twists, plant.actuation_map(q).T @ N / motors[:, np.newaxis]


def motor_sizes(plant: Plant, q: Array) -> Array:
    """The size of each motor's displacement: the machine's length, or 1 for an angle.

    One of an unknown unit has the size that the machine's velocities move it by.
    """
    sizes = np.array([{"N": plant.scales.length, "N*m": 1.0}.get(unit, 0.0) for unit in actuator_units(plant.machine)])
    if not sizes.all():
        moved = np.max(np.abs(plant.actuation_map(q).T) * plant.scales.velocities, axis=1, initial=0.0)
        sizes = np.where(sizes > 0, sizes, np.where(moved > 0, moved, 1.0))
    return sizes


def with_frame(system: System | Plant, frame: str) -> Plant:
    """The Plant of a machine that has this frame, and motors on displacements."""
    plant = build(system)
    if frame not in plant.machine.frames:
        raise ModelError(f"{plant.system.name}: no frame {frame!r}; {near(frame, plant.machine.frames)}")
    return plant


def _displacements(plant: Plant, q: Array) -> list[float]:
    for name in plant.machine.thrusters:
        raise ModelError(f"{name}: expected a motor on a displacement, got a thruster, which has none. Leave it out.")
    motors = plant.machine.motor_displacements.values()

    def trace(equations: Equations) -> list[ca.SX]:
        return [equations.kinematics.value(entry) for entry in motors]

    if not motors:
        return []
    function = plant.function("motor_places", lambda equations: expressions(equations, trace), seldom=True)
    return [float(value) for value in function(plant.inputs(q))]
