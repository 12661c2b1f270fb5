"""Chains of hinges in Pinocchio, of the numbers of `benchmarks/chain_machines.py`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

import kalaba as kb
from benchmarks.chain_machines import DOWN, LINK
from benchmarks.machine import Array

SETTINGS = "aba, called from Python"


@dataclass(frozen=True)
class Chain:
    """A chain in Pinocchio, with the same coordinates."""

    model: Any
    data: Any

    def acceleration(self, q: Array, v: Array, force: Array) -> Array:
        """Forward dynamics."""
        return pin.aba(self.model, self.data, q, v, force)


def pinocchio_chain(system: kb.System) -> Chain:
    """The chain of a System of hinges about coordinate axes."""
    model, joint = pin.Model(), 0
    joints = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}
    inertia = pin.Inertia(LINK.mass, np.array(LINK.com), np.diag(LINK.inertia[:3]))
    for i, body in enumerate(system.parts):
        place = pin.SE3(np.eye(3), np.array([0.0, 1.0, 0.0]) if i else np.zeros(3))
        joint = model.addJoint(joint, joints[body.joint.axis.letter](), place, body.name)
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    model.gravity.linear = np.array(DOWN)
    return Chain(model, model.createData())
