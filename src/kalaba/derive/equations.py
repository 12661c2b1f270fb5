"""Equations: a machine's motion and constraints as CasADi expressions, whichever way they were derived.

M(q) v̇ + bias(q, v) = B(q) u + applied + Qc        A(q, v, t) v̇ = b(q, v, t)        q̇ = N(q) v
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from kalaba.boundary import check_arguments, check_choice, shown
from kalaba.derive.applied import actuation_map, applied_force, frame_jacobian, spring_energy, spring_force
from kalaba.derive.carried_rows import shorter_rows
from kalaba.derive.dynamics import Method, Recursive
from kalaba.derive.kinematics import Kinematics
from kalaba.derive.newton_euler import NewtonEuler, inverse_dynamics
from kalaba.derive.pfaffian import Rows, constraint_rows
from kalaba.derive.rotors import rotor_bias
from kalaba.errors import DeriveError, near
from kalaba.model.system import System
from kalaba.printing.display import equations_html, equations_latex
from kalaba.printing.page import latex
from kalaba.printing.reading import operation_count
from kalaba.space.symbolic import cross

if TYPE_CHECKING:
    from kalaba.derive.dynamics import Dynamics
    from kalaba.derive.kinematics import BodyKinematics
    from kalaba.derive.symbols import Symbols
    from kalaba.model.machine import Machine
    from kalaba.printing.notation import Notation


@dataclass(frozen=True)
class Equations:
    """The equations of a machine: CasADi expressions of `symbols`, derived when they are first asked for.

    Arguments:
        method: how M and the bias of the trees are derived
        kinematics: the machine with the motion of its bodies as expressions
    """

    method: Method
    kinematics: Kinematics = field(repr=False)

    @cached_property
    def dynamics(self) -> Dynamics:
        """What the method derives: M and bias of the trees. Rows and readings do not need it."""
        return self.method.dynamics(self.kinematics)

    @property
    def mass_matrix(self) -> ca.SX:
        """M(q)."""
        return self.dynamics.mass_matrix

    @property
    def bias(self) -> ca.SX:
        """Coriolis, centrifugal, gravity, elastic, damping and friction terms."""
        return self.dynamics.bias

    @property
    def steps(self) -> dict[str, Any]:
        """What the method went through, by name."""
        return self.dynamics.steps

    @cached_property
    def rows(self) -> Rows:
        """The constraint rows at three levels; of connections by recursion, where the method has one, if shorter."""
        rows = constraint_rows(self.kinematics)
        if not isinstance(self.method, Recursive) or not self.machine.connections:
            return rows
        return shorter_rows(self.kinematics, self.method.recursion(self.kinematics), rows)

    @property
    def machine(self) -> Machine:
        """The machine these are the equations of."""
        return self.kinematics.machine

    @property
    def symbols(self) -> Symbols:
        """q, v, t, u, p and N(q)."""
        return self.kinematics.symbols

    @property
    def constraint_matrix(self) -> ca.SX:
        """A(q, v, t)."""
        return self.rows.matrix

    @property
    def constraint_rhs(self) -> ca.SX:
        """b(q, v, t)."""
        return self.rows.rhs

    @cached_property
    def actuation_map(self) -> ca.SX:
        """B(q): generalised force of the motors is B u."""
        return actuation_map(self.kinematics)

    @cached_property
    def applied_force(self) -> ca.SX:
        """Generalised force of Force parts and of constraints that do work."""
        return applied_force(self.kinematics)

    @cached_property
    def force(self) -> ca.SX:
        """Q: all that drives the free motion M v̇ = Q."""
        return self.acting_force - self.bias

    @cached_property
    def acting_force(self) -> ca.SX:
        """B u and the applied forces: all that drives the motion from outside."""
        motors = self.symbols.u[: self.actuation_map.shape[1]]
        return ca.mtimes(self.actuation_map, motors) + self.applied_force

    @cached_property
    def joint_force(self) -> ca.SX:
        """Q without what weight and motion of the bodies take: motors, applied forces, springs, drift of rotors."""
        return self.acting_force + spring_force(self.kinematics) - rotor_bias(self.kinematics)

    @cached_property
    def coriolis(self) -> ca.SX:
        """C(q, v) of Christoffel symbols, so that Ṁ − 2C is skew: C_ij = ½ Σ_k (M_ij,k + M_ik,j − M_kj,i) v_k.

        For machines without quaternions (v = q̇).
        """
        if self.machine.quaternions:
            raise DeriveError(
                f"{self.machine.name}: Christoffel's C needs v = q̇; this machine has quaternions. Use bias."
            )
        q, v, n = self.symbols.q, self.symbols.v, self.symbols.v.shape[0]
        slopes = [ca.jacobian(self.mass_matrix[:, j], q) for j in range(n)]  # slopes[j][i, k] = M_ij,k
        C = ca.SX(n, n)
        for j in range(n):
            for i in range(n):
                terms = slopes[j][i, :] + ca.horzcat(*(slopes[k][i, j] for k in range(n))) - slopes[j][:, i].T
                C[i, j] = ca.mtimes(terms, v) / 2
        return C

    @cached_property
    def gravity(self) -> ca.SX:
        """Generalised gravity load G(q), a part of the bias; by Newton and Euler, whatever the method."""
        k = self.kinematics
        u = k.joint_rates
        still = ca.SX.zeros(u.shape[0])
        torque, _ = inverse_dynamics(k, still, still, k.gravity)
        load = ca.mtimes(ca.jacobian(u, self.symbols.v).T, torque)
        return ca.substitute(load, self.symbols.v, ca.SX.zeros(self.symbols.v.shape[0]))

    @cached_property
    def elastic(self) -> ca.SX:
        """What springs, dampers and the bending of beams hold against the motion, a part of the bias."""
        return -spring_force(self.kinematics)

    @cached_property
    def kinetic_energy(self) -> ca.SX:
        """½ vᵀ M v."""
        return ca.mtimes(self.symbols.v.T, ca.mtimes(self.mass_matrix, self.symbols.v)) / 2

    @cached_property
    def motion_energy(self) -> ca.SX:
        """The kinetic energy again, summed over bodies and rotors: short, with parts that the momentum has too."""
        k, total = self.kinematics, ca.SX(0)
        if len(k.bodies) == 1:  # whose mass matrix is shorter still: it knows which way the joint lets the body move
            return self.kinetic_energy
        for index, body in enumerate(k.bodies):
            w, v = self._velocities[0:3, index], self._velocities[3:6, index]
            at_centre = v + cross(w, body.com)
            total += (body.mass * ca.dot(at_centre, at_centre) + ca.dot(w, ca.mtimes(body.inertia, w))) / 2
            if body.beam is not None:
                beam, rates = body.beam, k.joint_rates[body.mode_rates, 0]
                L, P = beam.momentum(w, v, rates)
                modal = ca.mtimes(beam.turning.T, w) + ca.mtimes(beam.moving.T, v) + ca.mtimes(beam.modal, rates)
                total += (ca.dot(w, L) + ca.dot(v, P) + ca.dot(rates, modal)) / 2
        for rotor in self.machine.rotors:
            rate = self.symbols.rate(k.value(rotor.displacement))
            total += k.number(rotor.inertia) * rate**2 / 2
        return total

    @cached_property
    def _velocities(self) -> ca.SX:
        """Velocities (ω; v) of all bodies beside each other, each in its own axes."""
        k = self.kinematics
        return inverse_dynamics(k, k.joint_rates, k.joint_rates, k.gravity)[1]

    @cached_property
    def potential_energy(self) -> ca.SX:
        """Gravity and springs: −Σ m g·r + ½ k (δ − rest)²."""
        return spring_energy(self.kinematics) - ca.dot(self.kinematics.gravity, self.first_moment)

    @cached_property
    def first_moment(self) -> ca.SX:
        """Σ m r over all mass, world axes: total mass times centre of mass."""
        moments = [body.mass * centre for body, centre in self._centres()]
        moments += [first_moment(body) for body in self.kinematics.bodies if body.beam is not None]
        return sum(moments, ca.SX.zeros(3))

    @cached_property
    def total_mass(self) -> ca.SX:
        """The mass of all bodies."""
        bodies = self.kinematics.bodies
        return sum((body.mass + (body.beam.mass if body.beam is not None else 0) for body in bodies), ca.SX(0))

    @cached_property
    def momentum(self) -> ca.SX:
        """Linear momentum, then angular momentum about the world's origin, world axes."""
        k, velocities = self.kinematics, self._velocities
        linear, angular = ca.SX.zeros(3), ca.SX.zeros(3)
        for index, (body, centre) in enumerate(self._centres()):
            w, v = velocities[0:3, index], velocities[3:6, index]
            P = body.mass * ca.mtimes(body.world.rotation, v + cross(w, body.com))
            linear += P
            angular += cross(centre, P) + ca.mtimes(body.world.rotation, ca.mtimes(body.inertia, w))
            if body.beam is not None:
                L_body, P_body = body.beam.momentum(w, v, k.joint_rates[body.mode_rates, 0])
                P = ca.mtimes(body.world.rotation, P_body)
                linear += P
                angular += cross(body.world.position, P) + ca.mtimes(body.world.rotation, L_body)
        return ca.vertcat(linear, angular)

    def _centres(self) -> list[tuple[BodyKinematics, ca.SX]]:
        """Every body with its centre of mass in the world."""
        return [(b, b.world.position + ca.mtimes(b.world.rotation, b.com)) for b in self.kinematics.bodies]

    def jacobian(self, frame: str) -> ca.SX:
        """(6, n_v): linear, then angular velocity of a frame, world axes.

        Arguments:
            frame: name of a body, or of a frame on one
        """
        check_arguments(Equations.jacobian, locals())
        if frame not in self.machine.frames:
            raise DeriveError(f"{self.machine.name}: no frame {shown(frame)}; {near(frame, self.machine.frames)}")
        return frame_jacobian(self.kinematics, frame)

    def latex(self, name: str = "mass_matrix", notation: Notation | None = None) -> str:
        """One of the fields in print, in the letters of a notation: common parts named and listed, then every entry.

        Arguments:
            name: name of the field, such as "bias" or "constraint_matrix"
            notation: letters of the symbols; the names of the machine's own if not given
        """
        check_arguments(Equations.latex, locals())
        self._field(name)
        return latex(self, name, notation)

    def operations(self, name: str) -> int:
        """Additions, multiplications and functions that a field takes, common parts worked out once.

        Arguments:
            name: name of the field, such as "mass_matrix"
        """
        check_arguments(Equations.operations, locals())
        s = self.symbols
        return operation_count(self._field(name), ca.vertcat(s.q, s.v, s.t, s.u, s.p))

    def _repr_latex_(self) -> str:
        return equations_latex(self)

    def _repr_html_(self) -> str:
        return equations_html(self)

    def function(self, name: str) -> ca.Function:
        """A CasADi function of (q, v, t, u, p) for one of the fields, or "motion" for v̇ and Qc by KKT.

        Arguments:
            name: name of the field, such as "mass_matrix", or "motion"
        """
        check_arguments(Equations.function, locals())
        s = self.symbols
        arguments, names = [s.q, s.v, s.t, s.u, s.p], ["q", "v", "t", "u", "p"]
        if name == "motion":
            return ca.Function(name, arguments, _motion(self), names, ["acceleration", "constraint_force"])
        return ca.Function(name, arguments, [self._field(name)], names, [name])

    def _field(self, name: str) -> ca.SX:
        """A field of expressions by its name."""
        members = {key: member for base in type(self).__mro__ for key, member in vars(base).items() if key[0] != "_"}
        fields = [key for key, member in members.items() if isinstance(member, property | cached_property)]
        value = getattr(self, name) if name in fields else None
        if not isinstance(value, ca.SX):
            raise DeriveError(f"{self.machine.name}: no field {shown(name)} of Equations; {near(name, fields)}")
        return value


def first_moment(body: BodyKinematics) -> ca.SX:
    """Mass times place of a beam's centre of mass in the world."""
    assert body.beam is not None  # noqa: S101  (only beams are bent)
    return body.beam.mass * body.world.position + ca.mtimes(body.world.rotation, body.beam.first)


def _motion(equations: Equations) -> list[ca.SX]:
    """v̇ and Qc from the full KKT system; needs independent rows."""
    M, A = equations.mass_matrix, equations.constraint_matrix
    n, m = M.shape[0], A.shape[0]
    K = ca.vertcat(ca.horzcat(M, -A.T), ca.horzcat(A, ca.SX(m, m)))
    solution = ca.solve(K, ca.vertcat(equations.force, equations.constraint_rhs))
    return [solution[:n], ca.mtimes(A.T, solution[n:])]


def derive(system: System, method: Method | None = None) -> Equations:
    """Derive the equations of a System: trees by the method, loops and other constraints as rows.

    Arguments:
        system: the machine, described
        method: NewtonEuler() (the default), Lagrange() or Kane(); all give the same equations

    Returns:
        Equations: expressions of q, v, t, the actuation u and the parameters p

    Raises:
        ModelError: a row reads rate() of what does not move
    """
    check_choice(system, System, "derive: system", "kb.load(...)")
    chosen = NewtonEuler() if method is None else method
    check_choice(chosen, Method, "derive: method", "kb.Lagrange()")
    equations = equations_of(system.machine, chosen)
    _ = equations.dynamics, equations.rows  # what is wrong with a model is said here
    return equations


def equations_of(machine: Machine, method: Method) -> Equations:
    """The equations of a machine, each derived when it is first asked for."""
    return Equations(method, Kinematics(machine))
