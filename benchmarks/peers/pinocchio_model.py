"""The machine in Pinocchio: two trees, one 6-D rigid constraint, the proximal solver run to convergence."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.machine import Array

MU = 1e-12  # the weld has rank 5 of 6: with mu = 0 Pinocchio returns nonsense
ITERATIONS = (
    2  # accelerations agree to rounding from here on; the stop test never fires, as one row depends on the others
)
SETTINGS = f"constraintDynamics, CONTACT_6D LOCAL, mu {MU:g}, {ITERATIONS} proximal iterations"
LINKS = ((0.7, 3.0, 0.490), (0.8, 4.0, 0.855), (0.4, 1.0, 0.080))  # length, mass, moment of inertia
TURRET_HEIGHT = 0.5


@dataclass(frozen=True)
class Pinocchio:
    """A model with all that a call of `constraintDynamics` needs."""

    model: Any
    data: Any
    constraints: Any
    constraint_data: Any
    settings: Any

    def acceleration(self, q: Array, v: Array, force: Array) -> Array:
        """Constrained forward dynamics, as a user of Pinocchio calls it."""
        return pin.constraintDynamics(
            self.model, self.data, q, v, force, self.constraints, self.constraint_data, self.settings
        )

    def jacobian(self, q: Array, joint: int) -> Array:
        """World-axes Jacobian of a joint's frame, as a user of Pinocchio calls it."""
        pin.computeJointJacobians(self.model, self.data, q)
        return pin.getJointJacobian(self.model, self.data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)

    def required_force(self, q: Array, v: Array, acceleration: Array) -> Array:
        """Inverse dynamics of the open trees, as a user of Pinocchio calls it."""
        return pin.rnea(self.model, self.data, q, v, acceleration)

    def run(self, q: Array, v: Array, steps: int, step: float) -> tuple[Array, Array]:
        """Classical Runge-Kutta in Python, without motors or projection."""
        force, model, dynamics = np.zeros(self.model.nv), self.model, self.acceleration
        for _ in range(steps):
            a1 = dynamics(q, v, force)
            v2 = v + step / 2 * a1
            a2 = dynamics(pin.integrate(model, q, step / 2 * v), v2, force)
            v3 = v + step / 2 * a2
            a3 = dynamics(pin.integrate(model, q, step / 2 * v2), v3, force)
            v4 = v + step * a3
            a4 = dynamics(pin.integrate(model, q, step * v3), v4, force)
            q = pin.integrate(model, q, step / 6 * (v + 2 * v2 + 2 * v3 + v4))
            v = v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        return q, v


def pinocchio_machine() -> Pinocchio:
    """Make the machine and the memory that Pinocchio works in."""
    model = pin.Model()
    model.gravity.linear = np.array([0.0, 0.0, -9.8])
    tips = [_arm(model, side) for side in ("left", "right")]
    tip = pin.SE3(np.eye(3), np.array([LINKS[-1][0], 0.0, 0.0]))
    turned = pin.SE3(np.diag([-1.0, -1.0, 1.0]), tip.translation)  # the halves face each other
    weld = pin.RigidConstraintModel(
        pin.ContactType.CONTACT_6D, model, tips[1], turned, tips[0], tip, pin.ReferenceFrame.LOCAL
    )
    constraints, constraint_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    constraints.append(weld)
    constraint_data.append(weld.createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, constraints, constraint_data)
    return Pinocchio(model, data, constraints, constraint_data, pin.ProximalSettings(1e-12, MU, ITERATIONS))


def _arm(model: Any, side: str) -> int:
    """Add a platform, its turret and three links; give the joint of the last link."""
    here = pin.SE3.Identity()
    along_x = model.addJoint(0, pin.JointModelPX(), here, f"{side}.x")
    platform = model.addJoint(along_x, pin.JointModelPY(), here, f"{side}.y")
    model.appendBodyToJoint(platform, pin.Inertia(50.0, np.zeros(3), np.zeros((3, 3))), here)
    joint = model.addJoint(platform, pin.JointModelRZ(), here, f"{side}.delta")
    model.appendBodyToJoint(joint, pin.Inertia(2.0, np.array([0.0, 0.0, 0.25]), 0.0625 * np.eye(3)), here)
    place = pin.SE3(np.eye(3), np.array([0.0, 0.0, TURRET_HEIGHT]))
    for number, (length, mass, inertia) in enumerate(LINKS, 1):
        joint = model.addJoint(joint, pin.JointModelRY(), place, f"{side}.theta{number}")
        body = pin.Inertia(mass, np.array([length / 2, 0.0, 0.0]), inertia * np.eye(3))
        model.appendBodyToJoint(joint, body, here)
        place = pin.SE3(np.eye(3), np.array([length, 0.0, 0.0]))
    return joint
