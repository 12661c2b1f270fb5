"""Rotors: inertia J along displacements δ(q). Each has the kinetic energy ½ J δ̇², with δ̇ = g v and g = ∂δ/∂q N.

What it adds follows from δ̈ = g v̇ + ġ v, whose power J δ̈ δ̇ is what it takes::

    M += gᵀ J g        bias += gᵀ J ġ v
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

if TYPE_CHECKING:
    from kalaba.derive.kinematics import Kinematics


def rotor_mass(kinematics: Kinematics) -> ca.SX:
    """Σ gᵀ J g."""
    symbols = kinematics.symbols
    count = symbols.v.shape[0]
    total = ca.SX(count, count)
    for rotor in kinematics.machine.rotors:
        g = symbols.gradient(kinematics.value(rotor.displacement))
        total += kinematics.number(rotor.inertia) * ca.mtimes(g.T, g)
    return total


def rotor_bias(kinematics: Kinematics) -> ca.SX:
    """Σ gᵀ J ġ v: what rotors take at constant v; zero for displacements that are linear in q."""
    return rotor_force(kinematics, ca.SX.zeros(kinematics.symbols.v.shape[0]))


def rotor_force(kinematics: Kinematics, acceleration: ca.SX) -> ca.SX:
    """Σ gᵀ J (g v̇ + ġ v): generalised force that an acceleration of the rotors takes."""
    symbols = kinematics.symbols
    total = ca.SX.zeros(symbols.v.shape[0])
    for rotor in kinematics.machine.rotors:
        g = symbols.gradient(kinematics.value(rotor.displacement))
        drift = ca.jtimes(ca.mtimes(g, symbols.v), symbols.q, symbols.q_dot)
        total += g.T * kinematics.number(rotor.inertia) * (ca.mtimes(g, acceleration) + drift)
    return total
