"""M = L D Lᵀ of a tree by recursions over its bodies: the work grows with the number of bodies, not with its cube.

With spatial vectors (ω; v) and (n; f) of a body's origin in its own axes, transforms X from the parent's axes to the
child's, one column s of a joint's motion at a time (the last first) and J the inertia of its rotor::

    inward    U = I s        d = sᵀ U + J        I ← I − U d⁻¹ Uᵀ        then I_p += Xᵀ I X
    L⁻¹ b     ε = b − sᵀ p                       p ← p + U d⁻¹ ε         then p_p += Xᵀ p
    L⁻ᵀ y     x = y − d⁻¹ Uᵀ a                   a ← a + s x             from a = X a_p

I is the inertia of a body with all that hangs on it, free to give way (articulated); d are the pivots D of M in the
order from the leaves to the root. L itself is never formed. A right-hand side moves from where it acts to the root
only. Forces on bodies enter L⁻¹ b as p of the bodies: what their own motion takes needs no joint torques on the way.

References: Featherstone (2008), Rigid Body Dynamics Algorithms, table 7.1; Brandl, Johanni and Otter (1986), A very
efficient algorithm for the simulation of robots and similar multibody systems without inversion of the mass matrix,
IFAC Symposium on Theory of Robots; Jain (2011), Robot and Multibody Dynamics, chapter 7: the same as factors of M.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from kalaba.constrain.elimination import Column
from kalaba.derive.kinematics import BodyKinematics, FramePose
from kalaba.derive.newton_euler import own_inertia
from kalaba.space.symbolic import cross, skew

Wrench = tuple[ca.SX, ca.SX]  # moment and force on a body's origin, its axes


@dataclass(frozen=True)
class ArticulatedInertia:
    """(n; f) = I (ω; v) in blocks: n = A ω + B v, f = Bᵀ ω + C v."""

    A: ca.SX
    B: ca.SX
    C: ca.SX

    @classmethod
    def of_body(cls, body: BodyKinematics) -> ArticulatedInertia:
        """A rigid body alone."""
        rigid = own_inertia(body)
        return cls(rigid.moment, skew(rigid.h), rigid.m * ca.SX.eye(3))

    def times(self, s: ca.SX) -> ca.SX:
        """I s."""
        w, v = s[0:3], s[3:6]
        return ca.vertcat(ca.mtimes(self.A, w) + ca.mtimes(self.B, v), ca.mtimes(self.B.T, w) + ca.mtimes(self.C, v))

    def without(self, push: ca.SX, inverse: ca.SX, vanishing: int | None) -> ArticulatedInertia:
        """With U the push: I − U d⁻¹ Uᵀ: the body gives way. What vanishes of it altogether has a zero in its place."""
        U, scaled = push, push * inverse
        kept = ca.SX.ones(6)
        if vanishing is not None:
            kept[vanishing] = 0
        blocks = []
        for block, rows, columns in ((self.A, 0, 0), (self.B, 0, 3), (self.C, 3, 3)):
            inner = slice(rows, rows + 3), slice(columns, columns + 3)
            change = block - ca.mtimes(scaled[inner[0]], U[inner[1]].T)
            blocks.append(change * ca.mtimes(kept[inner[0]], kept[inner[1]].T))
        return ArticulatedInertia(_symmetric(blocks[0]), blocks[1], _symmetric(blocks[2]))

    def in_parent(self, pose: FramePose) -> ArticulatedInertia:
        """About the parent's origin, in its axes: with B' = R B Rᵀ + P C', A' = R A Rᵀ − B' P + P (R B Rᵀ)ᵀ."""
        R, P = pose.rotation, skew(pose.position)
        A, B, C = (ca.mtimes(ca.mtimes(R, block), R.T) for block in (self.A, self.B, self.C))
        A, C = _symmetric(A), _symmetric(C)
        moved = B + ca.mtimes(P, C)
        return ArticulatedInertia(_symmetric(A - ca.mtimes(moved, P) + ca.mtimes(P, B.T)), moved, C)

    def plus(self, other: ArticulatedInertia) -> ArticulatedInertia:
        """Two on one frame."""
        return ArticulatedInertia(self.A + other.A, self.B + other.B, self.C + other.C)


def _symmetric(matrix: ca.SX) -> ca.SX:
    """Use the upper triangle twice."""
    return ca.triu2symm(ca.triu(matrix))


def _axis_of(s: ca.SX) -> int | None:
    """The one entry of a motion that is not zero, whatever the parameters; None if there are several."""
    places = [i for i in range(6) if not s[i].is_zero()]
    return places[0] if len(places) == 1 else None


@dataclass(frozen=True)
class _Freedom:
    """One column of a joint's motion."""

    column: int  # of M
    s: ca.SX
    U: ca.SX
    inverse: ca.SX  # 1/d


@dataclass(frozen=True)
class _Link:
    """A body with its joint's freedoms, in the order of its rates."""

    parent: int
    R: ca.SX
    p: ca.SX
    freedoms: tuple[_Freedom, ...]

    def force_in_parent(self, force: Wrench) -> Wrench:
        """Xᵀ p."""
        n, f = force
        turned = ca.mtimes(self.R, f)
        return ca.mtimes(self.R, n) + cross(self.p, turned), turned

    def motion_in_child(self, motion: ca.SX) -> ca.SX:
        """X a."""
        w, v = motion[0:3], motion[3:6]
        return ca.vertcat(ca.mtimes(self.R.T, w), ca.mtimes(self.R.T, v + cross(w, self.p)))


@dataclass(frozen=True)
class ArticulatedFactor:
    """M = L D Lᵀ of some trees; a `MassFactor` that has the columns of its bodies' joints."""

    links: Mapping[int, _Link]  # by the body's index, parents first
    inverse: Mapping[int, ca.SX]  # 1/D by column

    def forward(self, b: Column, forces: Mapping[int, Wrench] | None = None) -> Column:
        """L⁻¹ (b − Sᵀ Σ forces), of forces that bodies take: inward, each body once all that hangs on it is done."""
        p = {index: (force[0], force[1]) for index, force in (forces or {}).items()}
        innovations: Column = {}
        for index in reversed(list(self.links)):
            link = self.links[index]
            for freedom in reversed(link.freedoms):
                if index not in p and freedom.column not in b:
                    continue
                n, f = p.get(index, (ca.SX(3, 1), ca.SX(3, 1)))
                rest = b.get(freedom.column, ca.SX(0)) - ca.dot(freedom.s, ca.vertcat(n, f))
                if rest.is_zero():
                    continue
                innovations[freedom.column] = rest
                more = freedom.U * (freedom.inverse * rest)
                p[index] = (n + more[0:3], f + more[3:6])
            if link.parent >= 0 and index in p:
                n, f = link.force_in_parent(p[index])
                N, F = p.get(link.parent, (ca.SX(3, 1), ca.SX(3, 1)))
                p[link.parent] = (N + n, F + f)
        return innovations

    def backward(self, b: Column) -> Column:
        """L⁻ᵀ b: outward, from the root of whatever b moves."""
        x: Column = {}
        motions: dict[int, ca.SX] = {}
        for index, link in self.links.items():
            a = link.motion_in_child(motions[link.parent]) if link.parent in motions else None
            for freedom in link.freedoms:
                rest = b.get(freedom.column, ca.SX(0))
                if a is not None:
                    rest = rest - freedom.inverse * ca.dot(freedom.U, a)
                if not rest.is_zero():
                    x[freedom.column] = rest
                    a = freedom.s * rest if a is None else a + freedom.s * rest
            if a is not None:
                motions[index] = a
        return x


def articulated_factor(
    bodies: Sequence[BodyKinematics], chosen: Sequence[int], columns: Mapping[int, Sequence[int]], rotors: Column
) -> ArticulatedFactor:
    """Factor the mass matrix of some trees.

    `chosen` are the trees' bodies, parents first; `columns` says which column of M each rate of a body's joint has, and
    `rotors` which inertia a column has beside that of the bodies.
    """
    inertia = {index: ArticulatedInertia.of_body(bodies[index]) for index in chosen}
    links: dict[int, _Link] = {}
    inverses: dict[int, ca.SX] = {}
    for index in reversed(chosen):
        body, I = bodies[index], inertia[index]  # noqa: E741  (the inertia of the formula)
        freedoms: list[_Freedom] = []
        for k in reversed(range(len(columns[index]))):
            s, column = body.joint.motion[:, k], columns[index][k]
            U = I.times(s)
            inverses[column] = 1 / (ca.dot(s, U) + rotors.get(column, ca.SX(0)))
            freedoms.append(_Freedom(column, s, U, inverses[column]))
            I = I.without(U, inverses[column], None if column in rotors else _axis_of(s))  # noqa: E741
        if body.parent >= 0:
            moved = I.in_parent(body.relative)
            inertia[body.parent] = inertia[body.parent].plus(moved)
        links[index] = _Link(body.parent, body.relative.rotation, body.relative.position, tuple(reversed(freedoms)))
    return ArticulatedFactor(dict(reversed(links.items())), inverses)
