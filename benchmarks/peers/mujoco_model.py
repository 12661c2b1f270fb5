"""The machine in MuJoCo: the weld is an equality constraint, which MuJoCo keeps softly."""

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout

from benchmarks.machine import Array
from benchmarks.peers.pinocchio_model import LINKS, TURRET_HEIGHT

STEP = 1e-3
SOLREF = "0.002 1"  # time constant 2 steps, the stiffest that MuJoCo allows by itself; critical damping
SOLIMP = "0.9999 0.9999 0.001 0.5 2"  # impedance at MuJoCo's upper limit
SETTINGS = f"weld with solref {SOLREF}, solimp {SOLIMP}; Newton, RK4, no contacts"


@dataclass(frozen=True)
class Mujoco:
    """A model and its data."""

    model: Any
    data: Any

    def forward(self, q: Array, v: Array, force: Array) -> None:
        """Forward dynamics, as a user of MuJoCo calls it."""
        data = self.data
        data.qpos[:] = q
        data.qvel[:] = v
        data.qfrc_applied[:] = force
        mujoco.mj_forward(self.model, data)

    def acceleration(self, q: Array, v: Array, force: Array) -> Array:
        """Accelerations at a state."""
        self.forward(q, v, force)
        return self.data.qacc.copy()

    def roll(self, q: Array, v: Array, steps: int) -> Array:
        """MuJoCo's own loop in C, one thread: states after each step, (steps, 1 + 24)."""
        mujoco.mj_resetData(self.model, self.data)
        start = np.concatenate([[0.0], q, v])[None]
        states, _ = rollout.rollout(self.model, self.data, start, nstep=steps)
        return states[0]


def mujoco_machine() -> Mujoco:
    """Compile the model."""
    model = mujoco.MjModel.from_xml_string(_xml())
    return Mujoco(model, mujoco.MjData(model))


def _xml() -> str:
    return f"""
<mujoco>
  <compiler angle="radian" autolimits="false"/>
  <option timestep="{STEP}" integrator="RK4" solver="Newton" gravity="0 0 -9.8"><flag contact="disable"/></option>
  <worldbody>{_arm("left", "")}{_arm("right", 'euler="0 0 3.141592653589793"')}</worldbody>
  <equality><weld site1="right.tip" site2="left.tip" solref="{SOLREF}" solimp="{SOLIMP}"/></equality>
</mujoco>"""


def _arm(side: str, turn: str) -> str:
    """A platform, its turret and three links, the last with a site at the cut."""
    length = LINKS[-1][0]
    inner = f'<site name="{side}.tip" pos="{length} 0 0" {turn}/>'
    for number in (3, 2, 1):
        length, mass, inertia = LINKS[number - 1]
        place = f"{LINKS[number - 2][0]} 0 0" if number > 1 else f"0 0 {TURRET_HEIGHT}"
        inner = f"""
<body pos="{place}"><joint name="{side}.theta{number}" type="hinge" axis="0 1 0"/>
  <inertial pos="{length / 2} 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>{inner}</body>"""
    return f"""
<body><joint name="{side}.x" type="slide" axis="1 0 0"/><joint name="{side}.y" type="slide" axis="0 1 0"/>
  <inertial pos="0 0 0" mass="50" diaginertia="1 1 1"/>
  <body><joint name="{side}.delta" type="hinge" axis="0 0 1"/>
    <inertial pos="0 0 0.25" mass="2" diaginertia="0.0625 0.0625 0.0625"/>{inner}</body></body>"""
