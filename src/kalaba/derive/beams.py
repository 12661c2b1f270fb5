"""A beam in motion: what its mass does when its root moves and its modes change.

Points of the beam lie at r(ξ) = Σ_A f_A(ξ) e_A c_A in body axes, ξ on [0, 1], with the shapes f_A, the axes e_A and the
coordinates c = (L and the products of modes that foreshorten, the modes along y, the modes along z). All integrals are
means over the beam and reduce to the numbers ∫ f_A and ∫ f_A f_B::

    s = ∫ r        P = ∫ r rᵀ        J = tr P − P        C = [∫ r × ∂r/∂η; ∫ ∂r/∂η]        m = ∫ ∂r/∂ηᵀ ∂r/∂η

and with the mass μ and the root's velocity V = (ω; v) in body axes::

    T = μ (½ v·v + v·(ω × s) + ½ ω·J ω + Vᵀ C η̇ + ½ η̇ᵀ m η̇)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from kalaba.derive.rotation import about, cross
from kalaba.model.pose import Y, Z
from kalaba.model.shapes import table

if TYPE_CHECKING:
    from kalaba.model.beam import Beam

ROUNDING = 1e-13  # of the largest entry: shapes that are orthogonal stay so


@dataclass(frozen=True)
class Field:
    """A beam's motion and elasticity as expressions of its modes."""

    modes: ca.SX  # η, (n,)
    mass: ca.SX  # μ
    first: ca.SX  # s, (3,)
    second: ca.SX  # J, (3, 3), turning about the own axis included
    turning: ca.SX  # ∫ r × ∂r/∂η, (3, n)
    moving: ca.SX  # ∫ ∂r/∂η, (3, n)
    modal: ca.SX  # m, (n, n)
    stiffness: ca.SX  # K, (n, n)
    damping: ca.SX  # D, (n, n)
    tip_position: ca.SX
    tip_rotation: ca.SX
    points: tuple[tuple[float, ca.SX], ...]  # weight and place of points along the beam, for summing directly
    polar: ca.SX  # μ times the square of the section's polar radius

    def kinetic_energy(self, w: ca.SX, v: ca.SX, rates: ca.SX) -> ca.SX:
        """T of the root's velocity (ω; v) in body axes and the modes' rates."""
        rigid = ca.dot(v, v) / 2 + ca.dot(v, cross(w, self.first)) + ca.dot(w, ca.mtimes(self.second, w)) / 2
        mixed = ca.dot(ca.mtimes(self.turning, rates), w) + ca.dot(ca.mtimes(self.moving, rates), v)
        return self.mass * (rigid + mixed + ca.dot(rates, ca.mtimes(self.modal, rates)) / 2)

    def momentum(self, w: ca.SX, v: ca.SX, rates: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Angular momentum about the root, and linear momentum, in body axes."""
        angular = ca.mtimes(self.second, w) + cross(self.first, v) + ca.mtimes(self.turning, rates)
        return self.mass * angular, self.mass * (v + cross(w, self.first) + ca.mtimes(self.moving, rates))

    @property
    def strain_energy(self) -> ca.SX:
        """½ ηᵀ K η."""
        return ca.dot(self.modes, ca.mtimes(self.stiffness, self.modes)) / 2


def field(beam: Beam, number: Any, modes: ca.SX) -> Field:  # noqa: ANN401
    """Work out the motion of a beam; `number` turns the model's numbers into expressions."""
    shapes = _Integrals(beam)
    length, area = number(beam.length), beam.section.area(number)
    density, young = number(beam.density), number(beam.young)
    c = _coordinates(beam, shapes, length, modes)
    mass = density * area * length
    inertias = [beam.section.second_moment(plane, number) for plane in (1, 2)]
    polar = (inertias[0] + inertias[1]) / area
    D = [ca.jacobian(part, modes) for part in c]
    first = ca.vertcat(*(ca.dot(ca.DM(mean), part) for mean, part in zip(shapes.means, c, strict=True)))
    P = ca.vertcat(*(ca.horzcat(*(_product(c[a], shapes.gram(a, b), c[b]) for b in range(3))) for a in range(3)))
    R = {(a, b): ca.mtimes(c[a].T, ca.mtimes(ca.DM(shapes.gram(a, b)), D[b])) for a in range(3) for b in range(3)}
    turning = ca.vertcat(R[1, 2] - R[2, 1], R[2, 0] - R[0, 2], R[0, 1] - R[1, 0])
    modal = sum((ca.mtimes(D[a].T, ca.mtimes(ca.DM(shapes.gram(a, a)), D[a])) for a in range(3)), ca.SX(0))
    stiffness, damping = _elasticity(beam, shapes, (young, length, density * area, number(beam.damping)), inertias)
    second = ca.trace(P) * ca.SX.eye(3) - P
    second[0, 0] += polar
    return Field(
        modes=modes,
        mass=mass,
        first=first,
        second=ca.densify(second),
        turning=ca.densify(turning),
        moving=ca.densify(ca.jacobian(first, modes)),
        modal=ca.densify(modal),
        stiffness=stiffness,
        damping=damping,
        tip_position=ca.vertcat(*(ca.dot(ca.DM(tip), part) for tip, part in zip(shapes.tips, c, strict=True))),
        tip_rotation=_tip_rotation(beam, shapes, length, modes),
        points=tuple(
            (weight, ca.vertcat(*(ca.dot(ca.DM(column), part) for column, part in zip(columns, c, strict=True))))
            for weight, columns in shapes.nodes()
        ),
        polar=mass * polar,
    )


def _product(a: ca.SX, gram: Any, b: ca.SX) -> ca.SX:  # noqa: ANN401
    return ca.mtimes(a.T, ca.mtimes(ca.DM(gram), b))


def _plane(beam: Beam, modes: ca.SX, plane: int) -> ca.SX:
    """The modes along y (1) or z (2); zeros where the beam does not bend."""
    count = beam.shapes.count
    if plane not in beam.planes:
        return ca.SX.zeros(count)
    first = beam.planes.index(plane) * count
    return modes[first : first + count]


def _coordinates(beam: Beam, shapes: _Integrals, length: ca.SX, modes: ca.SX) -> list[ca.SX]:
    """c along x (length, then −η_i η_j/2L summed over planes), along y and along z."""
    along = [ca.SX(length)]
    y, z = _plane(beam, modes, 1), _plane(beam, modes, 2)
    for i, j in shapes.pairs:
        both = 1 if i == j else 2
        along.append(-both / (2 * length) * (y[i] * y[j] + z[i] * z[j]))
    return [ca.vertcat(*along), y, z]


def _tip_rotation(beam: Beam, shapes: _Integrals, length: ca.SX, modes: ca.SX) -> ca.SX:
    """Rz(w_y′) Ry(−w_z′): smooth at zero, exact in a plane."""
    slopes = [ca.dot(ca.DM(shapes.table.tip_slope), _plane(beam, modes, plane)) / length for plane in (1, 2)]
    rotation = about(Z, slopes[0]) if 1 in beam.planes else ca.SX(ca.DM.eye(3))
    return ca.mtimes(rotation, about(Y, -slopes[1])) if 2 in beam.planes else rotation


def _elasticity(beam: Beam, shapes: _Integrals, numbers: tuple[Any, ...], inertias: list[Any]) -> tuple[ca.SX, ca.SX]:
    """K = E I/L³ ∫ φ″φ″ and D = 2 ζ √(E I ρA)/L m Φ √λ Φᵀ m, plane by plane; Φ, λ solve the beam's own eigenproblem."""
    young, length, line_density, ratio = numbers
    blocks = []
    for plane in beam.planes:
        bending = young * inertias[plane - 1]
        blocks.append(
            (bending / length**3 * ca.DM(shapes.curvature), 2 * ratio * ca.sqrt(bending * line_density) / length)
        )
    K = ca.diagcat(*(stiff for stiff, _ in blocks))
    D = ca.diagcat(*(scale * ca.DM(shapes.modal_root) for _, scale in blocks))
    return ca.densify(ca.SX(K)), ca.densify(ca.SX(D))


class _Integrals:
    """Numbers of a beam's shapes on [0, 1]."""

    def __init__(self, beam: Beam) -> None:
        self.table = t = table(beam.shapes)
        count = beam.shapes.count
        self.pairs = [(i, j) for i in range(count) for j in range(i, count)] if beam.foreshortening else []
        pulls = [_running_integral(t.slope[i] * t.slope[j]) for i, j in self.pairs]
        self._functions = [np.vstack([t.points, *(pull for pull, _ in pulls)]), t.value, t.value]
        tip = np.array([1.0, *(end for _, end in pulls)])
        ends = beam.shapes.evaluate(np.array([1.0]))[0][:, 0]
        self.tips = [tip, ends, ends]
        self.means = [functions @ t.weights for functions in self._functions]
        self.curvature = _clean((t.curvature * t.weights) @ t.curvature.T)
        self.modal_root = self._modal_root()

    def gram(self, a: int, b: int) -> Any:  # noqa: ANN401
        """∫ f_A f_B between the shapes along two axes."""
        return _clean((self._functions[a] * self.table.weights) @ self._functions[b].T)

    def nodes(self) -> list[tuple[float, list[Any]]]:
        """Weight and shapes of every Gauss point."""
        weights = self.table.weights
        return [(float(w), [f[:, k] for f in self._functions]) for k, w in enumerate(weights)]

    def _modal_root(self) -> Any:  # noqa: ANN401
        """m Φ √λ Φᵀ m of K̂ Φ = m Φ λ with Φᵀ m Φ = 1."""
        m = self.gram(1, 1)
        lower = np.linalg.cholesky(m)
        inverse = np.linalg.inv(lower)
        values, vectors = np.linalg.eigh(inverse @ self.curvature @ inverse.T)
        return _clean(lower @ (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T @ lower.T)


def _running_integral(values: Any) -> tuple[Any, float]:  # noqa: ANN401
    """∫₀ˣ of a function given at the Gauss points, there and at 1: through its Legendre series, exact to rounding."""
    from numpy.polynomial import legendre

    x, w = legendre.leggauss(len(values))
    basis = legendre.legvander(x, len(values) - 1)
    series = (basis * (w * values)[:, None]).sum(axis=0) * (np.arange(len(values)) + 0.5)
    integral = legendre.legint(series, lbnd=-1) / 2
    return legendre.legval(x, integral), float(legendre.legval(1.0, integral))


def _clean(matrix: Any) -> Any:  # noqa: ANN401
    """Set entries at rounding to zero."""
    scale = np.sqrt(np.outer(np.abs(matrix).max(axis=1), np.abs(matrix).max(axis=0)))
    return np.where(np.abs(matrix) > ROUNDING * scale, matrix, 0.0)
