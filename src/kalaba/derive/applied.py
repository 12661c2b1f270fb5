"""Applied forces as generalised forces: springs and dampers, motors, wrenches on frames.

A force F along a displacement δ(q) does the power F δ̇, so its generalised force is (∂δ/∂q · N)ᵀ F.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from kalaba.model.machine import Thrust
from kalaba.space.symbolic import cross

if TYPE_CHECKING:
    from kalaba.derive.beams import Field
    from kalaba.derive.kinematics import Kinematics
    from kalaba.model.machine import MachineBody, MachineForce, MachineSpring


def spring_force(kinematics: Kinematics) -> ca.SX:
    """Generalised force of all springs and dampers: −Σ (∂δ/∂q N)ᵀ (k (δ − rest) + c δ̇ + f tanh(δ̇/δ̇₀))."""
    symbols = kinematics.symbols
    total = ca.SX.zeros(symbols.v.shape[0])
    for spring in kinematics.machine.springs:
        delta = kinematics.value(spring.displacement)
        k, rest = kinematics.number(spring.stiffness), kinematics.number(spring.rest)
        total -= symbols.gradient(delta).T * (k * (delta - rest) + drag(kinematics, spring, symbols.rate(delta)))
    for body, beam in _beams(kinematics):
        part = slice(body.mode_v, body.mode_v + beam.modes.shape[0])
        total[part] -= ca.mtimes(beam.stiffness, beam.modes) + ca.mtimes(beam.damping, symbols.v[part])
    return total


def drag(kinematics: Kinematics, spring: MachineSpring, rate: ca.SX) -> ca.SX:
    """What a damper holds against its rate: c δ̇ + f tanh(δ̇/δ̇₀)."""
    return kinematics.number(spring.damping) * rate + kinematics.number(spring.friction) * ca.tanh(rate / spring.creep)


def _beams(kinematics: Kinematics) -> list[tuple[MachineBody, Field]]:
    return [(kinematics.machine.bodies[index], beam) for index, beam in kinematics.beams.items()]


def spring_energy(kinematics: Kinematics) -> ca.SX:
    """Elastic energy ½ k (δ − rest)² of all springs."""
    total = ca.SX(0)
    for spring in kinematics.machine.springs:
        stretch = kinematics.value(spring.displacement) - kinematics.number(spring.rest)
        total += kinematics.number(spring.stiffness) * stretch**2 / 2
    return sum((beam.strain_energy for _, beam in _beams(kinematics)), total)


def damping_power(kinematics: Kinematics) -> ca.SX:
    """Power that dampers take, less what feet that move by themselves bring: Σ d δ̇ − (k (δ − rest) + d) ∂δ/∂t.

    With d = c δ̇ + f tanh(δ̇/δ̇₀).
    """
    total, symbols = ca.SX(0), kinematics.symbols
    for spring in kinematics.machine.springs:
        delta = kinematics.value(spring.displacement)
        rate, foot = symbols.rate(delta), ca.jtimes(delta, symbols.t, ca.SX(1))
        k, rest = kinematics.number(spring.stiffness), kinematics.number(spring.rest)
        held = drag(kinematics, spring, rate)
        total += held * rate - (k * (delta - rest) + held) * foot
    for body, beam in _beams(kinematics):
        rates = kinematics.symbols.v[body.mode_v : body.mode_v + beam.modes.shape[0]]
        total += ca.dot(rates, ca.mtimes(beam.damping, rates))
    return total


def actuation_map(kinematics: Kinematics) -> ca.SX:
    """B(q) with generalised force B u: one column per motor, (∂δ/∂q N)ᵀ, or (R a)ᵀ J for a thruster on a frame."""
    symbols = kinematics.symbols
    rows = []
    for motor in kinematics.machine.actuators:
        if isinstance(motor.displacement, Thrust):
            pose, axis = kinematics.frame(motor.displacement.frame), ca.DM(motor.displacement.axis.components)
            rows.append(ca.mtimes(ca.mtimes(pose.rotation, axis).T, symbols.gradient(pose.position)))
        else:
            rows.append(symbols.gradient(kinematics.value(motor.displacement)))
    return ca.vertcat(*rows).T if rows else ca.SX(symbols.v.shape[0], 0)


def frame_jacobian(kinematics: Kinematics, frame: str) -> ca.SX:
    """(6, n_v): linear velocity of a frame's origin, then its angular velocity, both in world axes.

    The angular part comes from the rotation itself: ω = ½ Σ_k r_k × ṙ_k over the columns r_k of R.
    """
    symbols = kinematics.symbols
    pose = kinematics.frame(frame)
    turning = ca.SX(3, symbols.v.shape[0])
    for k in range(3):
        r = pose.rotation[:, k]
        D = symbols.gradient(r)
        moving = sorted(set(D.sparsity().get_col()))  # of many velocities few move a frame
        for j in moving:
            turning[:, j] += cross(r, D[:, j]) / 2
    return ca.densify(ca.vertcat(symbols.gradient(pose.position), turning))


def applied_force(kinematics: Kinematics) -> ca.SX:
    """Generalised force of the Force parts and of constraints that do work, as expressions of q, v, t, u."""
    symbols = kinematics.symbols
    total = ca.SX.zeros(symbols.v.shape[0])
    for force in kinematics.machine.forces:
        wrench = ca.vertcat(*(_half(kinematics, force, half) for half in ("force", "torque")))
        total += ca.mtimes(frame_jacobian(kinematics, force.frame).T, wrench)
    return total + working_constraints(kinematics)


def _half(kinematics: Kinematics, force: MachineForce, half: str) -> ca.SX:
    content = getattr(force, half)
    if isinstance(content, tuple):
        return ca.vertcat(*(kinematics.value(entry) for entry in content))
    first = len(kinematics.machine.actuators) + kinematics.machine.sampled_inputs.index(f"{force.name}.{half}.x")
    return kinematics.symbols.u[first : first + 3]


def working_constraints(kinematics: Kinematics) -> ca.SX:
    """The force C(q, v, t) that constraints exert beyond the ideal one.

    Reference: Udwadia and Kalaba (2002), Int. J. Non-Linear Mech. 37, 1079-1090: the motion is that of the ideal
    constraint under the applied force Q + C.
    """
    names = [velocity.name for velocity in kinematics.machine.velocities]
    total = ca.SX.zeros(len(names))
    for closure in kinematics.machine.closures:
        for name, expression in closure.work:
            total[names.index(name)] += kinematics.value(expression)
    return total
