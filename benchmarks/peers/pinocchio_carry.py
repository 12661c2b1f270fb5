"""Arms that carry one load in Pinocchio, made of the numbers of kalaba's System: one 6-D rigid constraint a grasp."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

import kalaba as kb
from benchmarks.machine import Array
from benchmarks.peers.pinocchio_model import Pinocchio
from kalaba.model.system import Placement

SETTINGS = "constraintDynamics, CONTACT_6D LOCAL, mu 0, 1 proximal iteration (all rows are independent)"
LOAD_Q, LOAD_V = 7, 6  # the load's entries stand last in q and v


@dataclass(frozen=True)
class Carrying:
    """The machine in Pinocchio, whose load moves in its own axes: v_peer = Rᵀ v, and its quaternion ends with w."""

    peer: Pinocchio

    def configuration(self, q: Array) -> Array:
        """Put w last."""
        return np.concatenate([q[:-4], q[-3:], q[-4:-3]])

    def velocity(self, q: Array, v: Array) -> Array:
        """Turn what the load does into its own axes; powers are equal, so generalised forces turn alike."""
        turned = v.copy()
        turned[-LOAD_V:-3] = _rotation(q).T @ v[-LOAD_V:-3]
        return turned

    def acceleration(self, q: Array, v: Array, force: Array) -> Array:
        """Constrained forward dynamics in kalaba's coordinates: v̇ = R (v̇_peer + ω × v_peer)."""
        peer_v = self.velocity(q, v)
        acceleration = self.peer.acceleration(self.configuration(q), peer_v, self.velocity(q, force)).copy()
        acceleration[-LOAD_V:-3] = _rotation(q) @ (acceleration[-LOAD_V:-3] + np.cross(v[-3:], peer_v[-LOAD_V:-3]))
        return acceleration

    def run(self, start: kb.State, steps: int, step: float) -> Array:
        """The configuration at the end of classical Runge-Kutta in Python, in kalaba's coordinates."""
        end, _ = self.peer.run(self.configuration(start.q), self.velocity(start.q, start.v), steps, step)
        return np.concatenate([end[:-4], end[-1:], end[-4:-1]])


def pinocchio_carry(system: kb.System) -> Carrying:
    """Make arms of hinges about z, the load, and the memory that Pinocchio works in."""
    model = pin.Model()
    model.gravity.linear = np.array(system.gravity, dtype=float)
    tools = {}
    for arm in (part for part in system.parts if isinstance(part, Placement)):
        tools |= _arm(model, arm)
    load = next(part for part in system.parts if isinstance(part, kb.Body))
    joint = _body(model, 0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), load)
    constraints, constraint_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for grip in (part for part in system.parts if isinstance(part, kb.Connection)):
        ends = (joint, _pose(grip.at), *tools[grip.child])
        weld = pin.RigidConstraintModel(pin.ContactType.CONTACT_6D, model, *ends, pin.ReferenceFrame.LOCAL)
        constraints.append(weld)
        constraint_data.append(weld.createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, constraints, constraint_data)
    return Carrying(Pinocchio(model, data, constraints, constraint_data, pin.ProximalSettings(1e-12, 0.0, 1)))


def _arm(model: Any, arm: Placement) -> dict[str, tuple[int, Any]]:
    """Add an arm; give joint and place of each of its frames."""
    joints, frames = {"world": (0, _pose(arm.at))}, {}
    for part in arm.system.parts:
        if isinstance(part, kb.Body):
            parent, place = joints[part.parent]
            joint = _body(model, parent, pin.JointModelRZ(), place * _pose(part.at), part, f"{arm.name}.")
            joints[part.name] = (joint, pin.SE3.Identity())
        elif isinstance(part, kb.Frame):
            parent, place = joints[part.parent]
            frames[f"{arm.name}.{part.name}"] = (parent, place * _pose(part.at))
    return frames


def _body(model: Any, parent: int, kind: Any, place: Any, body: kb.Body, path: str = "") -> int:
    """Add a joint and the body on it."""
    joint = model.addJoint(parent, kind, place, path + body.name)
    mass, com, (xx, yy, zz, xy, xz, yz), _ = body.solid.mass_properties(float)
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    model.appendBodyToJoint(joint, pin.Inertia(mass, np.array(com), inertia), pin.SE3.Identity())
    return joint


def _pose(pose: kb.Pose) -> Any:
    roll, pitch, yaw = pose.rpy or (0.0, 0.0, 0.0)
    return pin.SE3(pin.rpy.rpyToMatrix(roll, pitch, yaw), np.array(pose.position, dtype=float))


def _rotation(q: Array) -> Array:
    w, x, y, z = q[-4:]
    return pin.Quaternion(w, x, y, z).matrix()
