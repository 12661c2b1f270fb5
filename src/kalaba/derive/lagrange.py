"""Lagrange: kinetic and potential energy, differentiated. It knows where the bodies are and nothing else.

With q̇ as symbols of their own, all of q taken as coordinates (the four numbers of a quaternion too)::

    ṗ = ∂p/∂q q̇        ω = vee(Rᵀ Ṙ),  Ṙ = Σ ∂R/∂q_k q̇_k             of every body, ω in body axes
    T = Σ ½ m ṗ·ṗ + ½ ω·I ω + Σ ½ J δ̇²
    V = −Σ m g·p + Σ ½ k (δ − rest)²      D = Σ ½ c δ̇²

    E(q, q̇, q̈) = d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q + ∂D/∂q̇ + F

Only then q̇ = N v and q̈ = N v̇ + Ṅ v are put in, and Nᵀ E is what acts along the velocities::

    M = Nᵀ (∂²T/∂q̇²) N        bias = Nᵀ (∂²T/∂q̇² Ṅ v + ∂²T/∂q̇∂q q̇ − ∂T/∂q + ∂V/∂q + ∂D/∂q̇ + F)

F = Σ (∂δ̇/∂q̇)ᵀ f tanh(δ̇/δ̇₀) is dry friction, which has no part in D. The force that keeps a quaternion at length one
acts along the quaternion, and Nᵀ is blind to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.derive.dynamics import Dynamics
from kalaba.space.symbolic import vee

if TYPE_CHECKING:
    from kalaba.derive.kinematics import BodyKinematics, Kinematics


@dataclass(frozen=True, slots=True)
class Lagrange:
    """Derive from energies by the Euler-Lagrange equations."""

    def dynamics(self, kinematics: Kinematics) -> Dynamics:
        """M(q) and bias(q, v) of the unconstrained trees."""
        q, v, N = kinematics.symbols.q, kinematics.symbols.v, kinematics.symbols.rate_map
        q_dot = ca.vertcat(ca.SX(0, 1), *(ca.SX.sym(f"rate({q[i].name()})") for i in range(q.shape[0])))
        by_body = kinetic_energies(kinematics, q_dot)
        T, V = sum(by_body.values(), ca.SX(0)), potential_energy(kinematics)
        D = dissipation(kinematics, q_dot)
        N_dot_v = ca.jtimes(ca.mtimes(N, v), q, ca.mtimes(N, v))  # q̈ at v̇ = 0
        momenta = ca.gradient(T, q_dot)
        inertia = ca.jacobian(momenta, q_dot)
        momenta_rate = ca.jtimes(momenta, q_dot, N_dot_v) + ca.jtimes(momenta, q, q_dot)
        friction = dry_friction(kinematics, q_dot)
        rest = momenta_rate - ca.gradient(T - V, q) + ca.gradient(D, q_dot) + friction
        rest = ca.substitute(rest, q_dot, ca.mtimes(N, v))
        mass = ca.mtimes(ca.mtimes(N.T, inertia), N)
        steps = {
            "rates of the coordinates": q_dot,
            **{f"kinetic energy of {name}": energy for name, energy in by_body.items()},
            "kinetic energy": T,
            "potential energy": V,
            "dissipation": D,
            "Lagrangian": T - V,
            "momenta": momenta,  # ∂T/∂q̇
            "inertia": inertia,  # ∂²T/∂q̇²
            "rates of the momenta": momenta_rate,  # at v̇ = 0
            "slope of the kinetic energy": ca.gradient(T, q),
            "slope of the potential energy": ca.gradient(V, q),
            "slope of the dissipation": ca.gradient(D, q_dot),
            **({"dry friction": friction} if not friction.is_zero() else {}),
            "rates of the coordinates by velocities": ca.mtimes(N, v),
        }
        return Dynamics(ca.triu2symm(ca.triu(mass)), ca.mtimes(N.T, rest), steps)


def kinetic_energies(kinematics: Kinematics, q_dot: ca.SX) -> dict[str, ca.SX]:
    """T(q, q̇) = ½ m ṗ·ṗ + ½ ω·I ω of every body, and ½ J δ̇² of every rotor, by its name."""
    energies: dict[str, ca.SX] = {}
    poses = [ca.horzcat(_centre(body), body.world.rotation) for body in kinematics.bodies]
    rates = ca.jtimes(ca.horzcat(ca.SX(3, 0), *poses), kinematics.symbols.q, q_dot)  # (ṗ, Ṙ) of every body in a row
    for index, body in enumerate(kinematics.bodies):
        p_dot, R_dot = rates[:, 4 * index], rates[:, 4 * index + 1 : 4 * index + 4]
        omega = vee(ca.mtimes(body.world.rotation.T, R_dot))
        energy = body.mass * ca.dot(p_dot, p_dot) / 2 + ca.dot(omega, ca.mtimes(body.inertia, omega)) / 2
        if body.beam is not None:
            first = kinematics.machine.bodies[index].mode_q
            modes_dot = q_dot[first : first + body.beam.modes.shape[0]]
            energy += body.beam.kinetic_energy(omega, ca.mtimes(body.world.rotation.T, p_dot), modes_dot)
        energies[body.name] = energy
    for rotor in kinematics.machine.rotors:
        rate = ca.jtimes(kinematics.value(rotor.displacement), kinematics.symbols.q, q_dot)
        energies[rotor.name] = kinematics.number(rotor.inertia) * rate * rate / 2
    return energies


def _centre(body: BodyKinematics) -> ca.SX:
    """Where the centre of mass is in the world."""
    return body.world.position + ca.mtimes(body.world.rotation, body.com)


def potential_energy(kinematics: Kinematics) -> ca.SX:
    """V(q) = −Σ m g·p + Σ ½ k (δ − rest)²."""
    total = ca.SX(0)
    for body in kinematics.bodies:
        total -= body.mass * ca.dot(kinematics.gravity, _centre(body))
    for spring in kinematics.machine.springs:
        stretch = kinematics.value(spring.displacement) - kinematics.number(spring.rest)
        total += kinematics.number(spring.stiffness) * stretch * stretch / 2
    for body in kinematics.bodies:
        if body.beam is not None:
            moment = body.beam.mass * body.world.position + ca.mtimes(body.world.rotation, body.beam.first)
            total += body.beam.strain_energy - ca.dot(kinematics.gravity, moment)
    return total


def dissipation(kinematics: Kinematics, q_dot: ca.SX) -> ca.SX:
    """Rayleigh's D(q, q̇) = Σ ½ c δ̇² of the dampers."""
    symbols, total = kinematics.symbols, ca.SX(0)
    for spring in kinematics.machine.springs:
        delta = kinematics.value(spring.displacement)
        delta_dot = ca.jtimes(delta, symbols.q, q_dot) + ca.jtimes(delta, symbols.t, ca.SX(1))
        total += kinematics.number(spring.damping) * delta_dot * delta_dot / 2
    for index, beam in kinematics.beams.items():
        first = kinematics.machine.bodies[index].mode_q
        rates = q_dot[first : first + beam.modes.shape[0]]
        total += ca.dot(rates, ca.mtimes(beam.damping, rates)) / 2
    return total


def dry_friction(kinematics: Kinematics, q_dot: ca.SX) -> ca.SX:
    """Σ (∂δ̇/∂q̇)ᵀ f tanh(δ̇/δ̇₀): a force that has no quadratic dissipation."""
    symbols, total = kinematics.symbols, ca.SX.zeros(q_dot.shape[0])
    for spring in kinematics.machine.springs:
        delta = kinematics.value(spring.displacement)
        delta_dot = ca.jtimes(delta, symbols.q, q_dot) + ca.jtimes(delta, symbols.t, ca.SX(1))
        total += ca.gradient(delta_dot, q_dot) * kinematics.number(spring.friction) * ca.tanh(delta_dot / spring.creep)
    return total
