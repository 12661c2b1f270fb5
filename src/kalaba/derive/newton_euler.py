"""Newton-Euler: recursions over the tree in body axes. The smallest equations of the three derivations.

With spatial vectors (ω; v) of a body's origin in its own axes, joint rates u and seat-to-child transforms::

    outward   V_i = X V_p + S u         A_i = X A_p + S u̇ + Ṡ u + V_i × (S u)        A_0 = (0; −g)
    inward    f_i = I A_i + V_i ×* (I V_i) + Σ Xᵀ f_child                           τ = Sᵀ f_i
    composite I_p += Xᵀ I_i X           M_ij = S_jᵀ (X …)ᵀ I_i S_i

Coordinates that are not the joints' own enter through u = J v: M = Jᵀ M_j J, bias = Jᵀ τ(u̇ = J̇ v). Rotors are added to
both (`rotors`).

Reference: Featherstone (2008), Rigid Body Dynamics Algorithms, tables 5.1 and 6.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from kalaba.derive.applied import spring_force
from kalaba.derive.beams import Field
from kalaba.derive.dynamics import Dynamics
from kalaba.derive.kinematics import BodyKinematics, Kinematics
from kalaba.derive.rotors import rotor_bias, rotor_mass
from kalaba.space.symbolic import cross, skew


@dataclass(frozen=True)
class RigidInertia:
    """A rigid body about its frame's origin: mass m, first moment h = m c, second moment I."""

    m: ca.SX
    h: ca.SX
    moment: ca.SX

    def times(self, w: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Momentum (angular; linear) of a motion (ω; v)."""
        return ca.mtimes(self.moment, w) + cross(self.h, v), self.m * v - cross(self.h, w)

    def plus(self, other: RigidInertia) -> RigidInertia:
        """Two bodies on one frame."""
        return RigidInertia(self.m + other.m, self.h + other.h, self.moment + other.moment)

    def in_parent(self, R: ca.SX, p: ca.SX) -> RigidInertia:
        """The same body about the parent's origin, in parent axes.

        With h' = R h, the moment becomes R I Rᵀ − [p×][h'×] − [h'×][p×] − m [p×][p×].
        """
        h = ca.mtimes(R, self.h)
        H, P = skew(h), skew(p)
        turned = ca.mtimes(ca.mtimes(R, self.moment), R.T)
        moment = turned - ca.mtimes(P, H) - ca.mtimes(H, P) - self.m * ca.mtimes(P, P)
        return RigidInertia(self.m, h + self.m * p, _symmetric(moment))


def _symmetric(matrix: ca.SX) -> ca.SX:
    """Use the upper triangle twice, so that the lower one costs nothing."""
    return ca.triu2symm(ca.triu(matrix))


def own_inertia(body: BodyKinematics) -> RigidInertia:
    """One body about its own origin, in its axes."""
    if body.beam is not None:
        return RigidInertia(body.beam.mass, body.beam.first, body.beam.second)
    C = skew(body.com)
    return RigidInertia(body.mass, body.mass * body.com, body.inertia - body.mass * ca.mtimes(C, C))


@dataclass(frozen=True, slots=True)
class NewtonEuler:
    """Derive by recursive Newton-Euler (bias) and composite bodies (mass matrix)."""

    def dynamics(self, kinematics: Kinematics) -> Dynamics:
        """M(q) and bias(q, v) of the unconstrained trees."""
        u = kinematics.joint_rates
        J = ca.jacobian(u, kinematics.symbols.v)
        result = self.recursion(kinematics)
        torque = result.torque
        M_joint = composite_mass_matrix(kinematics)
        mass = ca.mtimes(ca.mtimes(J.T, M_joint), J) + rotor_mass(kinematics)
        bias = ca.mtimes(J.T, torque) - spring_force(kinematics) + rotor_bias(kinematics)
        steps = {"joint rates": u, "joint rates by velocities": J, "body velocities": result.velocities}
        for body, (w, v, a, b), force in zip(kinematics.bodies, result.motion, result.forces, strict=True):
            steps |= {
                f"outward, velocity of {body.name}": ca.vertcat(w, v),
                f"outward, acceleration of {body.name}": ca.vertcat(a, b),
                f"inward, moment and force on {body.name}": ca.vertcat(*force),
            }
        steps |= {"joint torques": torque, "joint mass matrix": M_joint}
        return Dynamics(_symmetric(mass), bias, steps)

    def recursion(self, kinematics: Kinematics) -> Recursion:
        """What moves every body at constant velocities v: u̇ = J̇ v."""
        symbols, u = kinematics.symbols, kinematics.joint_rates
        return recursion(kinematics, u, ca.jtimes(u, symbols.q, symbols.q_dot), kinematics.gravity)

    def mass_matrix_of(self, kinematics: Kinematics, bodies: Sequence[int]) -> ca.SX:
        """M as far as it comes from some trees, given by all their bodies, without rotors; other entries are zero."""
        J = ca.jacobian(kinematics.joint_rates, kinematics.symbols.v)
        return _symmetric(ca.mtimes(ca.mtimes(J.T, composite_mass_matrix(kinematics, bodies)), J))


@dataclass(frozen=True)
class Recursion:
    """What the outward and inward recursions find."""

    torque: ca.SX  # of every joint
    motion: list[tuple[ca.SX, ca.SX, ca.SX, ca.SX]]  # ω, v, α, a of every body, body axes
    forces: list[tuple[ca.SX, ca.SX]]  # moment and force through every body's joint, body axes
    own_forces: list[tuple[ca.SX, ca.SX]]  # moment and force that every body takes itself, body axes

    @property
    def velocities(self) -> ca.SX:
        """All body velocities (ω; v) beside each other."""
        return ca.horzcat(*(ca.vertcat(w, v) for w, v, _, _ in self.motion)) if self.motion else ca.SX(6, 0)


def inverse_dynamics(kinematics: Kinematics, u: ca.SX, u_dot: ca.SX, gravity: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Joint torques for joint rates u and accelerations u̇, and all body velocities (ω; v) beside each other."""
    result = recursion(kinematics, u, u_dot, gravity)
    return result.torque, result.velocities


def recursion(kinematics: Kinematics, u: ca.SX, u_dot: ca.SX, gravity: ca.SX) -> Recursion:
    """Go outwards for the motion of every body, and inwards for what moves it."""
    zero = ca.SX.zeros(3)
    motion: list[tuple[ca.SX, ca.SX, ca.SX, ca.SX]] = []
    for body in kinematics.bodies:
        w, v, a, b = motion[body.parent] if body.parent >= 0 else (zero, zero, zero, -gravity)
        motion.append(_outward(body, (w, v, a, b), u[body.rates, 0], u_dot[body.rates, 0]))
    forces = [_body_force(body, *motion[i]) for i, body in enumerate(kinematics.bodies)]
    torque = ca.SX.zeros(u.shape[0])
    for index, body in enumerate(kinematics.bodies):
        if body.beam is not None:
            n, f, modal = beam_force(body.beam, motion[index], u[body.mode_rates, 0], u_dot[body.mode_rates, 0])
            forces[index] = (n, f)
            torque[body.mode_rates] = modal
    own_forces = list(forces)
    for index in reversed(range(len(forces))):
        body, (n, f) = kinematics.bodies[index], forces[index]
        if body.rates.stop > body.rates.start:
            torque[body.rates] = ca.mtimes(body.joint.motion.T, ca.vertcat(n, f))
        if body.parent >= 0:
            R, p = body.relative.rotation, body.relative.position
            N, F = forces[body.parent]
            turned = ca.mtimes(R, f)
            forces[body.parent] = (N + ca.mtimes(R, n) + cross(p, turned), F + turned)
    return Recursion(torque, motion, forces, own_forces)


def _outward(
    body: BodyKinematics, parent: tuple[ca.SX, ca.SX, ca.SX, ca.SX], u: ca.SX, u_dot: ca.SX
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """Velocity (ω; v) and acceleration (α; a) of a child from its parent's."""
    w, v, alpha, a = parent
    R_inv, p = body.relative.rotation.T, body.relative.position
    added = ca.mtimes(body.joint.motion, u)
    w_joint, v_joint = added[0:3], added[3:6]
    w_new = ca.mtimes(R_inv, w) + w_joint
    v_new = ca.mtimes(R_inv, v + cross(w, p)) + v_joint
    push = ca.mtimes(body.joint.motion, u_dot) + body.joint.drift
    alpha_new = ca.mtimes(R_inv, alpha) + push[0:3] + cross(w_new, w_joint)
    a_new = ca.mtimes(R_inv, a + cross(alpha, p)) + push[3:6] + cross(w_new, v_joint) + cross(v_new, w_joint)
    return w_new, v_new, alpha_new, a_new


def _body_force(body: BodyKinematics, w: ca.SX, v: ca.SX, alpha: ca.SX, a: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Moment and force that move one body: I A + V ×* (I V)."""
    inertia = own_inertia(body)
    L, P = inertia.times(w, v)
    n, f = inertia.times(alpha, a)
    return n + cross(w, L) + cross(v, P), f + cross(w, P)


def composite_mass_matrix(kinematics: Kinematics, chosen: Sequence[int] | None = None) -> ca.SX:
    """Joint-space mass matrix by composite rigid bodies: of all trees, or of some, given by all their bodies."""
    bodies = kinematics.bodies
    counted = range(len(bodies)) if chosen is None else sorted(chosen)
    composite = composite_inertias(bodies, counted)
    size = kinematics.joint_rates.shape[0]
    M = ca.SX(size, size)
    for index in counted:
        body = bodies[index]
        for c in range(body.rates.stop - body.rates.start):
            s = body.joint.motion[:, c]
            _fill_column(M, bodies, index, body.rates.start + c, composite[index].times(s[0:3], s[3:6]))
        if body.beam is not None:
            M[body.mode_rates, body.mode_rates] = body.beam.modal
            for c in range(body.mode_rates.stop - body.mode_rates.start):
                push = body.beam.turning[:, c], body.beam.moving[:, c]
                _fill_column(M, bodies, index, body.mode_rates.start + c, push)
    return M


def composite_inertias(bodies: Sequence[BodyKinematics], chosen: Sequence[int]) -> dict[int, RigidInertia]:
    """Each body of some trees with all that it carries, as if their joints were locked; parents come first."""
    composite = {index: own_inertia(bodies[index]) for index in chosen}
    for index in reversed(chosen):
        body = bodies[index]
        if body.parent >= 0:
            moved = composite[index].in_parent(body.relative.rotation, body.relative.position)
            composite[body.parent] = composite[body.parent].plus(moved)
    return composite


def _fill_column(
    M: ca.SX,
    bodies: tuple[BodyKinematics, ...],
    index: int,
    column: int,
    push: tuple[ca.SX, ca.SX],
) -> None:
    """Carry the force that moves a column inwards, and note what each joint on the way feels."""
    body, (n, f) = bodies[index], push
    while True:
        for row in range(body.rates.start, min(body.rates.stop, column + 1)):
            entry = ca.dot(body.joint.motion[:, row - body.rates.start], ca.vertcat(n, f))
            M[row, column] = entry
            M[column, row] = entry
        if body.parent < 0:
            return
        R, p = body.relative.rotation, body.relative.position
        f = ca.mtimes(R, f)
        n = ca.mtimes(R, n) + cross(p, f)
        body = bodies[body.parent]


def beam_force(
    beam: Field, motion: tuple[ca.SX, ca.SX, ca.SX, ca.SX], rates: ca.SX, rates_dot: ca.SX
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Moment and force on a beam's root, and the forces on its modes, that its motion takes; elasticity apart.

    With the momentum (L; P) = ∂T/∂V and the modes' momenta ∂T/∂η̇, in body axes (Boltzmann and Hamel)::

        n = L̇ + ω × L + v × P        f = Ṗ + ω × P        Q = d/dt ∂T/∂η̇ − ∂T/∂η
    """
    w, v, alpha, a = motion
    V, V_dot = ca.vertcat(w, v), ca.vertcat(alpha, a)
    speeds, accelerations = ca.SX.sym("V", 6), ca.SX.sym("eta_dot", rates.shape[0])
    T = beam.kinetic_energy(speeds[0:3], speeds[3:6], accelerations)
    both = ca.vertcat(speeds, accelerations)
    momenta = ca.gradient(T, both)
    change = ca.jtimes(momenta, both, ca.vertcat(V_dot, rates_dot)) + ca.jtimes(momenta, beam.modes, rates)
    expressions = [momenta, change, ca.gradient(T, beam.modes)]
    momentum, momentum_dot, slope = ca.substitute(expressions, [both], [ca.vertcat(V, rates)])
    L, P = momentum[0:3], momentum[3:6]
    n, f = momentum_dot[0:3] + cross(w, L) + cross(v, P), momentum_dot[3:6] + cross(w, P)
    return n, f, momentum_dot[6:] - slope
