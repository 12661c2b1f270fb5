"""A beam in motion: what its mass does when its root moves and its modes change.

Points of the beam lie at r(ξ) = Σ_A f_A(ξ) e_A c_A in body axes, ξ on [0, 1], with the shapes f_A, the axes e_A and the
coordinates c = (L and the products of modes that foreshorten, the modes along y, the modes along z). All integrals are
means over the beam and reduce to the numbers ∫ f_A and ∫ f_A f_B::

    s = ∫ r        P = ∫ r rᵀ        J = tr P − P        C = [∫ r × ∂r/∂η; ∫ ∂r/∂η]        m = ∫ ∂r/∂ηᵀ ∂r/∂η

and with the mass μ and the root's velocity V = (ω; v) in body axes::

    T = μ (½ v·v + v·(ω × s) + ½ ω·J ω + Vᵀ C η̇ + ½ η̇ᵀ m η̇)

A point mass at the tip adds its own s, J, C and m; torsion turns the sections by ψ(ξ) η about x.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.polynomial import legendre

from kalaba.joints.formulas import JointMotion
from kalaba.model.beams.shapes import table
from kalaba.space.arrays import Array
from kalaba.space.pose import X, Y, Z
from kalaba.space.symbolic import about, cross, spin
from kalaba.tolerances import SHAPES_ORTHOGONAL

if TYPE_CHECKING:
    from kalaba.derive.kinematics import FramePose
    from kalaba.derive.symbols import Symbols
    from kalaba.model.beams.beam import Beam
    from kalaba.model.solids import Evaluate


@dataclass(frozen=True)
class Field:
    """A beam's motion and elasticity as expressions of its modes."""

    modes: ca.SX  # η, (n,)
    mass: ca.SX  # μ
    first: ca.SX  # μ s, (3,)
    second: ca.SX  # μ J, (3, 3), turning about the own axis included
    turning: ca.SX  # ∫ r × ∂r/∂η dm and what torsion turns, (3, n)
    moving: ca.SX  # ∫ ∂r/∂η dm, (3, n)
    modal: ca.SX  # m, (n, n)
    stiffness: ca.SX  # K, (n, n)
    damping: ca.SX  # D, (n, n)
    tip_position: ca.SX
    tip_rotation: ca.SX
    points: tuple[tuple[ca.SX, ca.SX], ...]  # mass and place of points along the beam, for summing directly
    sections: tuple[tuple[ca.SX, ca.SX], ...]  # polar inertia and twist (n,) of sections along the beam, likewise

    def kinetic_energy(self, w: ca.SX, v: ca.SX, rates: ca.SX) -> ca.SX:
        """T of the root's velocity (ω; v) in body axes and the modes' rates."""
        rigid = (
            self.mass * ca.dot(v, v) / 2 + ca.dot(v, cross(w, self.first)) + ca.dot(w, ca.mtimes(self.second, w)) / 2
        )
        mixed = ca.dot(ca.mtimes(self.turning, rates), w) + ca.dot(ca.mtimes(self.moving, rates), v)
        return rigid + mixed + ca.dot(rates, ca.mtimes(self.modal, rates)) / 2

    def momentum(self, w: ca.SX, v: ca.SX, rates: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Angular momentum about the root, and linear momentum, in body axes."""
        angular = ca.mtimes(self.second, w) + cross(self.first, v) + ca.mtimes(self.turning, rates)
        return angular, self.mass * v + cross(w, self.first) + ca.mtimes(self.moving, rates)

    @property
    def strain_energy(self) -> ca.SX:
        """½ ηᵀ K η."""
        return ca.dot(self.modes, ca.mtimes(self.stiffness, self.modes)) / 2


def field(beam: Beam, number: Evaluate, modes: ca.SX) -> Field:
    """Work out the motion of a beam; `number` turns the model's numbers into expressions."""
    shapes, material = _Integrals(beam), _Material.of(beam, number)
    c = _coordinates(beam, shapes, material.length, modes)
    D = [ca.jacobian(part, modes) for part in c]
    grams = {(a, b): shapes.gram(a, b) for a in range(3) for b in range(3)}
    first = _places(shapes.means, c)
    P = ca.vertcat(*(ca.horzcat(*(_product(c[a], grams[a, b], c[b]) for b in range(3))) for a in range(3)))
    R = {(a, b): ca.mtimes(c[a].T, ca.mtimes(ca.DM(grams[a, b]), D[b])) for a in range(3) for b in range(3)}
    turning = ca.vertcat(R[1, 2] - R[2, 1], R[2, 0] - R[0, 2], R[0, 1] - R[1, 0])
    modal = sum((ca.mtimes(D[a].T, ca.mtimes(ca.DM(grams[a, a]), D[a])) for a in range(3)), ca.SX(0))
    tip = _places(shapes.tips, c)
    tip_slope = ca.jacobian(tip, modes)
    line, point, twist = material.line_mass, material.tip_mass, _twists(beam)
    second = line * (ca.trace(P) * ca.SX.eye(3) - P) + point * (ca.dot(tip, tip) * ca.SX.eye(3) - ca.mtimes(tip, tip.T))
    second[0, 0] += material.polar
    turning = line * turning + point * ca.horzcat(*(cross(tip, tip_slope[:, k]) for k in range(modes.shape[0])))
    turning[0, :] += material.polar * ca.DM(twist.mean).T
    modal = line * modal + point * ca.mtimes(tip_slope.T, tip_slope) + material.polar * ca.DM(twist.gram)
    stiffness, damping = _elasticity(beam, shapes, material, twist)
    nodes = [(line * weight, _places(columns, c)) for weight, columns in shapes.nodes()]
    return Field(
        modes=modes,
        mass=line + point,
        first=line * first + point * tip,
        second=ca.densify(second),
        turning=ca.densify(turning),
        moving=ca.densify(line * ca.jacobian(first, modes) + point * tip_slope),
        modal=ca.densify(modal),
        stiffness=stiffness,
        damping=damping,
        tip_position=tip,
        tip_rotation=_tip_rotation(beam, shapes, material.length, modes),
        points=(*nodes, (point, tip)),
        sections=tuple((material.polar * weight, ca.SX(ca.DM(row))) for weight, row in twist.nodes),
    )


def _places(functions: list[Array], c: list[ca.SX]) -> ca.SX:
    """Where a point is whose shapes have the given values."""
    return ca.vertcat(*(ca.dot(ca.DM(values), part) for values, part in zip(functions, c, strict=True)))


@dataclass(frozen=True)
class _Material:
    """The numbers of a beam as expressions."""

    length: ca.SX
    line_mass: ca.SX  # ρ A L
    line_density: ca.SX  # ρ A
    polar: ca.SX  # ρ I_p L
    bending: tuple[ca.SX, ca.SX]  # E I along y and along z
    torsion: ca.SX  # G J
    ratio: ca.SX  # damping
    tip_mass: ca.SX

    @classmethod
    def of(cls, beam: Beam, number: Evaluate) -> _Material:
        length, line = number(beam.length), beam.line_density(number)
        y, z = (beam.bending_stiffness(plane, number) for plane in (1, 2))
        return cls(
            length=length,
            line_mass=line * length,
            line_density=line,
            polar=beam.polar_inertia(number) * length,
            bending=(y, z),
            torsion=beam.torsion_stiffness(number) if beam.torsion else ca.SX(0),
            ratio=number(beam.damping),
            tip_mass=number(beam.tip_mass),
        )


@dataclass(frozen=True)
class _Twists:
    """Numbers of the torsion shapes ψ_k = ± sin((k − ½) π ξ), 1 at the tip; zero for the modes of bending."""

    mean: Array  # ∫ ψ, (n,)
    gram: Array  # ∫ ψ ψ, (n, n)
    slopes: Array  # ∫ ψ′ ψ′, (n, n)
    nodes: tuple[tuple[float, Array], ...]  # weight and ψ (n,) of the Gauss points


def _twists(beam: Beam) -> _Twists:
    t, n, first = table(beam.shapes), beam.modes, beam.bending_modes
    value, slope = np.zeros((n, len(t.points))), np.zeros((n, len(t.points)))
    for k in range(beam.torsion):
        rate, sign = (k + 0.5) * np.pi, (-1) ** k
        value[first + k], slope[first + k] = sign * np.sin(rate * t.points), sign * rate * np.cos(rate * t.points)
    gram, slopes = (_clean((f * t.weights) @ f.T) for f in (value, slope))
    nodes = tuple((float(w), value[:, k]) for k, w in enumerate(t.weights)) if beam.torsion else ((1.0, np.zeros(n)),)
    return _Twists(value @ t.weights, gram, slopes, nodes)


def _product(a: ca.SX, gram: Array, b: ca.SX) -> ca.SX:
    return ca.mtimes(a.T, ca.mtimes(ca.DM(gram), b))


def _plane(beam: Beam, modes: ca.SX, plane: int) -> ca.SX:
    """The modes along y (1) or z (2); zeros where the beam does not bend."""
    count = beam.shapes.count
    if plane not in beam.planes:
        return ca.SX.zeros(count)
    first = beam.planes.index(plane) * count
    return modes[first : first + count]


def _coordinates(beam: Beam, shapes: _Integrals, length: ca.SX, modes: ca.SX) -> list[ca.SX]:
    """Coordinates along x (length, then −η_i η_j/2L summed over planes), along y and along z."""
    along = [ca.SX(length)]
    y, z = _plane(beam, modes, 1), _plane(beam, modes, 2)
    for i, j in shapes.pairs:
        both = 1 if i == j else 2
        along.append(-both / (2 * length) * (y[i] * y[j] + z[i] * z[j]))
    return [ca.vertcat(*along), y, z]


def _tip_rotation(beam: Beam, shapes: _Integrals, length: ca.SX, modes: ca.SX) -> ca.SX:
    """Rz(w_y′) Ry(−w_z′) Rx(twist): smooth at zero, exact in a plane."""
    slopes = [ca.dot(ca.DM(shapes.table.tip_slope), _plane(beam, modes, plane)) / length for plane in (1, 2)]
    rotation = about(Z, slopes[0]) if 1 in beam.planes else ca.SX(ca.DM.eye(3))
    rotation = ca.mtimes(rotation, about(Y, -slopes[1])) if 2 in beam.planes else rotation
    twist = ca.sum1(modes[beam.bending_modes :]) if beam.torsion else ca.SX(0)
    return ca.mtimes(rotation, about(X, twist)) if beam.torsion else rotation


def _elasticity(beam: Beam, shapes: _Integrals, material: _Material, twist: _Twists) -> tuple[ca.SX, ca.SX]:
    """K = E I/L³ ∫ φ″φ″ and D = 2 ζ √(E I ρA)/L m Φ √λ Φᵀ m, plane by plane; Φ, λ solve the beam's own eigenproblem.

    Torsion: K = G J/L ∫ ψ′ψ′; its shapes are the modes, so D = 2 ζ √(G J ρI_p) ∫ ψψ (k − ½) π, with I_p per length.
    """
    length, ratio = material.length, material.ratio
    stiff, damped = [], []
    for plane in beam.planes:
        bending = material.bending[plane - 1]
        stiff.append(bending / length**3 * ca.DM(shapes.curvature))
        damped.append(2 * ratio * ca.sqrt(bending * material.line_density) / length * ca.DM(shapes.modal_root))
    if beam.torsion:
        part = slice(beam.bending_modes, None)
        rates = np.diag([(k + 0.5) * np.pi for k in range(beam.torsion)])
        stiff.append(material.torsion / length * ca.DM(twist.slopes[part, part]))
        scale = 2 * ratio * ca.sqrt(material.torsion * material.polar / length)
        damped.append(scale * ca.DM(twist.gram[part, part] @ rates))
    return ca.densify(ca.SX(ca.diagcat(*stiff))), ca.densify(ca.SX(ca.diagcat(*damped)))


class _Integrals:
    """Numbers of a beam's shapes on [0, 1]."""

    def __init__(self, beam: Beam) -> None:
        self.table = t = table(beam.shapes)
        count = beam.shapes.count
        self.pairs = [(i, j) for i in range(count) for j in range(i, count)] if beam.foreshortening else []
        pulls = [_running_integral(t.slope[i] * t.slope[j]) for i, j in self.pairs]
        self._functions = [np.vstack([t.points, *(pull for pull, _ in pulls)]), t.value, t.value]
        tip = np.array([1.0, *(end for _, end in pulls)])
        self.tips = [tip, t.tip, t.tip]
        self.means = [functions @ t.weights for functions in self._functions]
        self.curvature = _clean((t.curvature * t.weights) @ t.curvature.T)
        self.modal_root = self._modal_root()

    def gram(self, a: int, b: int) -> Array:
        """∫ f_A f_B between the shapes along two axes."""
        return _clean((self._functions[a] * self.table.weights) @ self._functions[b].T)

    def nodes(self) -> list[tuple[float, list[Array]]]:
        """Weight and shapes of every Gauss point."""
        weights = self.table.weights
        return [(float(w), [f[:, k] for f in self._functions]) for k, w in enumerate(weights)]

    def _modal_root(self) -> Array:
        """The matrix m Φ √λ Φᵀ m of K̂ Φ = m Φ λ with Φᵀ m Φ = 1."""
        m = self.gram(1, 1)
        lower = np.linalg.cholesky(m)
        inverse = np.linalg.inv(lower)
        values, vectors = np.linalg.eigh(inverse @ self.curvature @ inverse.T)
        return _clean(lower @ (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T @ lower.T)


def _running_integral(values: Array) -> tuple[Array, float]:
    """∫₀ˣ of a function given at the Gauss points, there and at 1: through its Legendre series, exact to rounding."""
    x, w = legendre.leggauss(len(values))
    basis = legendre.legvander(x, len(values) - 1)
    series = (basis * (w * values)[:, None]).sum(axis=0) * (np.arange(len(values)) + 0.5)
    integral = legendre.legint(series, lbnd=-1) / 2
    return np.asarray(legendre.legval(x, integral), dtype=float), float(legendre.legval(1.0, integral))


def _clean(matrix: Array) -> Array:
    """Set entries at rounding to zero."""
    scale = np.sqrt(np.outer(np.abs(matrix).max(axis=1), np.abs(matrix).max(axis=0)))
    return np.where(np.abs(matrix) > SHAPES_ORTHOGONAL * scale, matrix, 0.0)


def on_moving_seat(motion: JointMotion, seat: FramePose, modes: ca.SX, rates: ca.SX, symbols: Symbols) -> JointMotion:
    """A joint whose seat is moved by the modes of the beam it sits on: columns for their rates stand first.

    With the seat at R_s(η), p_s(η) in the parent body, and the child at R, p in it::

        ω_s = ½ Σ_k r_k × ∂r_k/∂η η̇        (ω; v) = (Rᵀ ω_s; Rᵀ (∂p_s/∂η η̇ + ω_s × (p − p_s))) + S u
    """
    R_s, p_s = seat.rotation, seat.position
    R, lever = ca.mtimes(R_s, motion.rotation), ca.mtimes(R_s, motion.position)
    columns = []
    for k in range(modes.shape[0]):
        direction = ca.SX.zeros(modes.shape[0])
        direction[k] = 1
        dR, dp = ca.jtimes(R_s, modes, direction), ca.jtimes(p_s, modes, direction)
        omega = spin(R_s, dR)
        columns.append(ca.vertcat(ca.mtimes(R.T, omega), ca.mtimes(R.T, dp + cross(omega, lever))))
    S = ca.horzcat(*columns, motion.motion)
    constant = ca.SX.sym("constant", rates.shape[0])  # Ṡ u at constant u
    drift = ca.substitute(ca.jtimes(ca.mtimes(S, constant), symbols.q, symbols.q_dot), constant, rates)
    return JointMotion(motion.rotation, motion.position, S, drift)
