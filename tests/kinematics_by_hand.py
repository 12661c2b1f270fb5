"""Poses by numbers, with nothing of kalaba's derivation: 4×4 matrices, SciPy's rotations, one line per joint."""

import math
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kalaba import joints as kinds
from kalaba.model.beams.beam import Beam
from kalaba.model.machine import Machine, MachineBody
from kalaba.model.text.expressions import Expression, Values, evaluate
from kalaba.space.number import with_values
from kalaba.space.pose import Axis, Pose
from states import State


def matrix(rotation: Any = None, position: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
    """A rotation and a position as one 4×4 matrix."""
    T = np.eye(4)
    T[:3, :3] = np.eye(3) if rotation is None else rotation.as_matrix()
    T[:3, 3] = position
    return T


def quaternion(e: Any) -> Rotation:
    """The rotation of (w, x, y, z); SciPy has w last."""
    return Rotation.from_quat(np.roll(e, -1))


def about(axis: Axis, angle: float) -> Rotation:
    return Rotation.from_rotvec(np.array(axis.components) * angle)


def along(axis: Axis, travel: float) -> np.ndarray:
    return np.array(axis.components) * travel


def tree_pose(joint: Any, d: Any) -> np.ndarray:  # noqa: PLR0911  (one line per joint)
    """Child in seat for displacements d; a ball takes a quaternion, a free joint a position and a quaternion."""
    match joint:
        case kinds.Weld():
            return matrix()
        case kinds.Revolute(axis=a):
            return matrix(about(a, d[0]))
        case kinds.Prismatic(axis=a):
            return matrix(None, along(a, d[0]))
        case kinds.Screw(axis=a, pitch=h):
            return matrix(about(a, d[0]), along(a, h * d[0] / (2 * math.pi)))
        case kinds.Cylindrical(axis=a):
            return matrix(about(a, d[1]), along(a, d[0]))
        case kinds.Universal(axis1=a, axis2=b):
            return matrix(about(a, d[0]) * about(b, d[1]))
        case kinds.Spherical():
            return matrix(quaternion(d))
        case kinds.Planar(normal=n):
            first, second = n.across()
            return matrix(about(n, d[2]), along(first, d[0]) + along(second, d[1]))
        case kinds.Free():
            return matrix(quaternion(d[3:]), d[:3])
    raise TypeError(joint)


def joint_pose(joint: kinds.Joint, rng: np.random.Generator) -> np.ndarray:
    """Child in seat anywhere in the range of a joint, closing ones included."""
    match joint:
        case kinds.PointOnLine(axis=a):
            return matrix(quaternion(rng.normal(size=4)), along(a, rng.normal()))
        case kinds.Distance(length=length):
            direction = rng.normal(size=3)
            return matrix(quaternion(rng.normal(size=4)), direction / np.linalg.norm(direction) * length)
    if joint.has_quaternion:
        e = rng.normal(size=4)
        return tree_pose(joint, e / np.linalg.norm(e))
    return tree_pose(joint, rng.uniform(-1.5, 1.5, size=len(joint.displacements)))


class PosesByHand:
    """Where all bodies and frames of a machine are, by numbers."""

    def __init__(self, machine: Machine, state: State) -> None:
        self.machine = machine
        parameters = {p.name: p.value for p in machine.parameters}
        parameters |= {p.name: float(value) for p, value in zip(machine.free_parameters, state.p, strict=True)}
        coordinates = {c.name: float(value) for c, value in zip(machine.coordinates, state.q, strict=True)}
        self.words = Values({**parameters, **coordinates})
        self.q = state.q
        self.bodies: list[np.ndarray] = []
        for index in range(len(machine.bodies)):
            self.bodies.append(self._body(index))

    def number(self, entry: Expression) -> float:
        return float(evaluate(entry, self.words))

    def _body(self, index: int) -> np.ndarray:
        body = self.machine.bodies[index]
        joint = with_values(body.joint, lambda path: self.number(getattr(body.joint, path)))
        d = [self.number(displacement.expression) for displacement in body.displacements]
        if joint.has_quaternion:
            d = self.q[body.q_index : body.q_index + (4 if isinstance(joint, kinds.Spherical) else 7)]
        return self.frame(body.parent) @ self.pose(body.at) @ tree_pose(joint, d)

    def _bent_tip(self, body: MachineBody) -> np.ndarray:
        """The tip of a beam: moved by its modes, drawn back by ½ ∫ w′², turned Rz(w_y′) Ry(−w_z′) Rx(twist)."""
        beam, length = body.solid, self.number(body.solid.length)
        modes = self.q[body.mode_q : body.mode_q + beam.modes]
        x, weights = np.polynomial.legendre.leggauss(60)
        place, turns = np.array([length, 0.0, 0.0]), np.zeros(3)
        for number, plane in enumerate(beam.planes):
            own = modes[number * beam.shapes.count : (number + 1) * beam.shapes.count]
            value, slope, _ = (own @ part for part in beam.shapes.evaluate(np.append((x + 1) / 2, 1.0)))
            place[plane], turns[plane] = value[-1], slope[-1] / length
            place[0] -= beam.foreshortening * (weights @ slope[:-1] ** 2) / 4 / length
        twist = modes[beam.bending_modes :].sum()
        return matrix(Rotation.from_euler("ZYX", [turns[1], -turns[2], twist]), place)

    def pose(self, at: Pose) -> np.ndarray:
        position = [self.number(entry) for entry in at.position]
        if at.quaternion is not None:
            return matrix(quaternion([self.number(entry) for entry in at.quaternion]), position)
        turns = [self.number(entry) for entry in at.rpy or ()]
        return matrix(Rotation.from_euler("xyz", turns) if turns else None, position)

    def frame(self, name: str) -> np.ndarray:
        """A frame in the world."""
        frame = self.machine.frames[name]
        if name == "world":
            return np.eye(4)
        if frame.is_tip and isinstance(self.machine.bodies[frame.body].solid, Beam):
            return self.bodies[frame.body] @ self._bent_tip(self.machine.bodies[frame.body])
        if frame.is_tip:
            tip = self.machine.bodies[frame.body].solid.mass_properties(self.number).tip
            return self.bodies[frame.body] @ matrix(None, tip)
        if frame.at is None:
            return self.bodies[frame.body]
        return self.frame(frame.parent) @ self.pose(frame.at)


def frame_poses(machine: Machine, state: State) -> dict[str, np.ndarray]:
    """All frames of a machine in the world."""
    poses = PosesByHand(machine, state)
    return {name: poses.frame(name) for name in machine.frames}
