"""Kane: partial velocities of every body in world axes, and what acts and resists along them.

Velocities are summed outwards along each chain, joint by joint. They are linear in v, so their partial
velocities and what remains of the accelerations at v̇ = 0 follow by differentiation::

    ω = ω_p + Σ axis · rate          v_o = v_p + ω_p × (o − o_p) + Σ direction · rate          v_c = v_o + ω × (c − o)
    V = ∂v_c/∂v    W = ∂ω/∂v         a = d/dt v_c    α = d/dt ω        at constant v

Inertia forces and active forces along every velocity balance: gravity g, and springs h on a displacement δ, with
stiffness k, damping c and dry friction f::

    M = Σ m VᵀV + Wᵀ I W             bias = Σ Vᵀ m (a − g) + Wᵀ (I α + ω × I ω) + Σ (∂δ̇/∂v)ᵀ h
                                     h = k (δ − rest) + c δ̇ + f tanh(δ̇/δ̇₀)

A rotor of inertia J on a displacement δ is one more partial velocity, W = ∂δ̇/∂v: M += J WᵀW, bias += J Wᵀ dδ̇/dt.

Reference: Kane and Levinson (1985), Dynamics: Theory and Applications, sections 2.14 and 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.derive.dynamics import Dynamics
from kalaba.joints.formulas import InWorld, Velocity
from kalaba.space.symbolic import cross, spin

if TYPE_CHECKING:
    from kalaba.derive.kinematics import BodyKinematics, Kinematics
    from kalaba.model.machine import MachineBody

NONE = ca.SX.zeros(3)


@dataclass(frozen=True, slots=True)
class Kane:
    """Derive by Kane's method: forces along partial velocities."""

    def dynamics(self, kinematics: Kinematics) -> Dynamics:
        """M(q) and bias(q, v) of the unconstrained trees."""
        symbols, count = kinematics.symbols, kinematics.symbols.v.shape[0]
        velocities = body_velocities(kinematics)  # rows ω, v_c of every body below each other
        partial = ca.jacobian(velocities, symbols.v)
        remainder = symbols.rate(velocities)  # α, a at constant v
        M, bias = ca.SX(count, count), ca.SX.zeros(count)
        steps = {"body velocities": velocities, "partial velocities": partial, "accelerations without v̇": remainder}
        for index, body in enumerate(kinematics.bodies):
            first = 6 * index
            turning, moving = slice(first, first + 3), slice(first + 3, first + 6)
            W, V, omega = partial[turning, :], partial[moving, :], velocities[turning]
            I = ca.mtimes(ca.mtimes(body.world.rotation, body.inertia), body.world.rotation.T)  # noqa: E741  (the inertia of the formula)
            M += body.mass * ca.mtimes(V.T, V) + ca.mtimes(W.T, ca.mtimes(I, W))
            torque = ca.mtimes(I, remainder[turning]) + cross(omega, ca.mtimes(I, omega))
            force = body.mass * (remainder[moving] - kinematics.gravity)
            bias += ca.mtimes(V.T, force) + ca.mtimes(W.T, torque)
            steps |= {
                f"angular velocity of {body.name}": omega,
                f"velocity of the centre of {body.name}": velocities[moving],
                f"partial angular velocities of {body.name}": W,
                f"partial velocities of {body.name}": V,
                f"angular acceleration of {body.name}": remainder[turning],  # without v̇, as the next
                f"acceleration of the centre of {body.name}": remainder[moving],
                f"inertia torque of {body.name}": -torque,
                f"inertia force of {body.name}": -body.mass * remainder[moving],
                f"active force on {body.name}": body.mass * kinematics.gravity,
            }
        for index in kinematics.beams:
            first = 6 * index
            beam_M, beam_bias = _beam_inertia(kinematics, index, velocities[first : first + 6])
            M, bias = M + beam_M, bias + beam_bias
        for rotor in kinematics.machine.rotors:
            rate = symbols.rate(kinematics.value(rotor.displacement))
            W, J = ca.jacobian(rate, symbols.v), kinematics.number(rotor.inertia)
            M, bias = M + J * ca.mtimes(W.T, W), bias + J * W.T * symbols.rate(rate)
        springs = spring_resistance(kinematics)
        steps |= {"inertia and gravity forces": bias, "spring forces": springs}
        return Dynamics(ca.triu2symm(ca.triu(M)), bias + springs, steps)


def spring_resistance(kinematics: Kinematics) -> ca.SX:
    """Σ (∂δ̇/∂v)ᵀ (k (δ − rest) + c δ̇ + f tanh(δ̇/δ̇₀)): what springs and dampers hold against each velocity."""
    symbols = kinematics.symbols
    total = ca.SX.zeros(symbols.v.shape[0])
    for spring in kinematics.machine.springs:
        delta = kinematics.value(spring.displacement)
        delta_dot = symbols.rate(delta)
        numbers = (spring.stiffness, spring.damping, spring.rest, spring.friction)
        k, c, rest, f = (kinematics.number(entry) for entry in numbers)
        held = k * (delta - rest) + c * delta_dot + f * ca.tanh(delta_dot / spring.creep)
        total += ca.jacobian(delta_dot, symbols.v).T * held
    for index, beam in kinematics.beams.items():
        first = kinematics.machine.bodies[index].mode_v
        part = slice(first, first + beam.modes.shape[0])
        total[part] += ca.mtimes(beam.stiffness, beam.modes) + ca.mtimes(beam.damping, symbols.v[part])
    return total


def _seat_velocity(kinematics: Kinematics, body: BodyKinematics, parent: BodyKinematics) -> Velocity:
    """Velocity of a seat at a child's origin, in world axes, as the bending of the beam below it gives."""
    if parent.beam is None:
        return NONE, NONE
    R, symbols = parent.world.rotation, kinematics.symbols
    omega = ca.mtimes(R, spin(body.seat.rotation, symbols.rate(body.seat.rotation)))
    lever = body.world.position - parent.world.position - ca.mtimes(R, body.seat.position)
    return omega, ca.mtimes(R, symbols.rate(body.seat.position)) + cross(omega, lever)


def _beam_inertia(kinematics: Kinematics, index: int, root: ca.SX) -> tuple[ca.SX, ca.SX]:
    """M and bias of a beam, summed point by point: Σ m VᵀV and Σ m Vᵀ (a − g), with the turning of its sections."""
    symbols, body = kinematics.symbols, kinematics.bodies[index]
    beam, R = body.beam, body.world.rotation
    assert beam is not None  # noqa: S101  (only beams have modes)
    count = symbols.v.shape[0]
    M, bias = ca.SX(count, count), ca.SX.zeros(count)
    for mass, place in beam.points:
        v = root[3:6] + cross(root[0:3], ca.mtimes(R, place)) + ca.mtimes(R, symbols.rate(place))
        V = ca.jacobian(v, symbols.v)
        M += mass * ca.mtimes(V.T, V)
        bias += mass * ca.mtimes(V.T, symbols.rate(v) - kinematics.gravity)
    rates, turning = symbols.rate(beam.modes), ca.jacobian(root[0:3], symbols.v)
    for inertia, twist in beam.sections:
        turning_rate = ca.dot(R[:, 0], root[0:3]) + ca.dot(twist, rates)  # about the beam's own axis
        W = ca.jacobian(turning_rate, symbols.v)
        M += inertia * ca.mtimes(W.T, W)
        gyroscopic = ca.mtimes(turning.T, cross(root[0:3], R[:, 0]))  # the sections' spin turns with the beam
        bias += inertia * (W.T * symbols.rate(turning_rate) + turning_rate * gyroscopic)
    return M, bias


def body_velocities(kinematics: Kinematics) -> ca.SX:
    """Angular velocity and velocity of the centre of mass of every body, world axes, below each other."""
    velocities: list[Velocity] = []
    for body, described in zip(kinematics.bodies, kinematics.machine.bodies, strict=True):
        o, (omega, v) = body.world.position, (NONE, NONE)
        if body.parent >= 0:
            omega, v = velocities[body.parent]
            parent = kinematics.bodies[body.parent]
            turn, slip = _seat_velocity(kinematics, body, parent)
            v = v + cross(omega, o - parent.world.position) + slip
            omega = omega + turn
        turn, slide = _joint_velocity(kinematics, body, described)
        velocities.append((omega + turn, v + slide))
    arms = [ca.mtimes(body.world.rotation, body.com) for body in kinematics.bodies]
    rows = [ca.vertcat(omega, v + cross(omega, arm)) for (omega, v), arm in zip(velocities, arms, strict=True)]
    return ca.vertcat(ca.SX(0, 1), *rows)


def _joint_velocity(kinematics: Kinematics, body: BodyKinematics, described: MachineBody) -> Velocity:
    """Angular velocity and velocity of the origin that a joint adds to those of its seat."""
    parent = kinematics.bodies[body.parent].world.rotation if body.parent >= 0 else ca.SX.eye(3)
    seat = ca.mtimes(parent, body.seat.rotation)
    q, rates = kinematics.joint_coordinates_of(described), kinematics.joint_rates_of(described)
    return kinematics.joint(described.joint).velocity(InWorld(seat, body.world.rotation, q, rates))
