"""Named ways to solve for the constrained motion; each independent of the others but for the rank of the rows.

All solve M v̇ = Q + Qc with A v̇ = b, Qc doing no virtual work. `MaskedLDL` is the default: native code with rows chosen
on the manifold. The others work on plain arrays, and are for tests and teaching. None decides a rank: a `Problem` asks
`rows.py`, since its state lies on the manifold, and the rows of a `Chosen` one were chosen there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.rows import Sizes, independent_rows
from kalaba.errors import ConstraintError
from kalaba.space.arrays import Array
from kalaba.tolerances import NO_INERTIA


class Motion(NamedTuple):
    """What a constrained machine does: v̇ and the generalised constraint force.

    Arguments:
        acceleration: v̇, (n_v,), m/s² or rad/s²
        constraint_force: Qc, (n_v,), N or N·m
    """

    acceleration: Array
    constraint_force: Array


class Problem(NamedTuple):
    """One instant at a state on the constraint manifold: M v̇ = Q + Qc, A v̇ = b."""

    mass: Array  # M
    force: Array  # Q
    matrix: Array  # A
    rhs: Array  # b

    @property
    def independent(self) -> NDArray[np.bool_]:
        """Which rows are independent; refuses a metric that leaves some direction without inertia and rows."""
        rows = independent_rows(row_metric(self.mass, self.matrix), self.matrix)
        if rows.rank < 0:
            raise ConstraintError(
                "the motion is not unique: some direction has neither inertia nor a row. Give it one."
            )
        return rows.kept

    @property
    def rank(self) -> int:
        """How many rows are independent."""
        return int(self.independent.sum())

    def chosen(self, mask: Array) -> Chosen:
        """The same with the rows that a mask keeps: it was chosen at a state on the manifold, nearby."""
        kept = mask > 0.0
        return Chosen(self.mass, self.force, self.matrix[kept], self.rhs[kept])


def in_sizes(problem: Problem, sizes: Sizes) -> Problem:
    """The same problem in a machine's own sizes: of v̇ = s v̇', and each row over its size r. Qc is Qc'/s.

    Sizes that are powers of two leave all digits as they are.
    """
    M, Q, A, b = problem
    s, r = sizes.velocities, sizes.rows
    return Problem(sizes.of_metric(M), s * Q, sizes.of_rows(A), b / r)


class Chosen(Problem):
    """One instant with the rows in use alone. The state may lie off the manifold, as the stages of a step do."""

    __slots__ = ()

    @property
    def independent(self) -> NDArray[np.bool_]:
        """All of them: they were chosen so."""
        return np.ones(len(self.rhs), dtype=bool)


@runtime_checkable
class Solver(Protocol):
    """A way to solve."""

    is_compiled: ClassVar[bool] = False  # whether the kernels of native code solve as it does

    def solve(self, problem: Problem) -> Motion:
        """Find the motion and the constraint force."""


@dataclass(frozen=True, slots=True)
class MaskedLDL(Solver):
    """λ = (A M⁻¹ Aᵀ)⁻¹ (b − A M⁻¹ Q) over rows chosen on the manifold by pivoted QR of A L⁻ᵀ."""

    is_compiled: ClassVar[bool] = True

    def solve(self, problem: Problem) -> Motion:
        """Solve with the independent rows; where M is singular, with M + w AᵀA and Q + w Aᵀb in its and Q's place."""
        M, Q, A, b = problem
        kept = problem.independent
        M_hat, Q_hat = M, Q
        if is_singular(M):
            weight = mass_weight(M, A)
            M_hat, Q_hat = M + weight * A.T @ A, Q + weight * A.T @ b
        A, b = A[kept], b[kept]
        a = np.linalg.solve(M_hat, Q_hat)
        M_inv_At = np.linalg.solve(M_hat, A.T)
        multipliers = np.linalg.solve(A @ M_inv_At, b - A @ a)
        acceleration = np.asarray(a + M_inv_At @ multipliers, dtype=float)
        return Motion(acceleration, A.T @ multipliers if M_hat is M else M @ acceleration - Q)


@dataclass(frozen=True, slots=True)
class UdwadiaKalaba(Solver):
    """The equation as published: Qc = M^½ (A M^-½)⁺ (b − A M⁻¹ Q), by eigenvalues and singular values.

    Where M is singular, Udwadia and Phohomsiri's form: v̇ = [(1 − A⁺A) M; A]⁺ [Q; b].

    References: Udwadia and Kalaba (1992), Proc. R. Soc. Lond. A 439, 407-410; Udwadia and Phohomsiri (2006), Proc. R.
    Soc. A 462, 2097-2117.
    """

    def solve(self, problem: Problem) -> Motion:
        """Evaluate the equation literally."""
        M, Q, A, b = problem
        rank = problem.rank
        if is_singular(M):
            tangent = np.eye(len(Q)) - _pseudo_inverse(A, rank) @ A
            stacked = np.vstack([tangent @ M, A])
            acceleration = _pseudo_inverse(stacked, len(Q)) @ np.concatenate([tangent @ Q, b])  # of full column rank
            return Motion(acceleration, M @ acceleration - Q)
        values, vectors = np.linalg.eigh(M)
        root = (vectors * np.sqrt(values)) @ vectors.T
        inverse_root = (vectors / np.sqrt(values)) @ vectors.T
        a = inverse_root @ (inverse_root @ Q)
        force = root @ (_pseudo_inverse(A @ inverse_root, rank) @ (b - A @ a))
        return Motion(a + inverse_root @ (inverse_root @ force), force)


@dataclass(frozen=True, slots=True)
class KKT(Solver):
    """The multipliers' system [[M, −Aᵀ], [A, 0]] [v̇; λ] = [Q; b], least multipliers where rows depend."""

    def solve(self, problem: Problem) -> Motion:
        """Solve for accelerations and multipliers together."""
        M, Q, A, b = problem
        m, n = A.shape
        K = np.block([[M, -A.T], [A, np.zeros((m, m))]])
        rank = n + problem.rank
        solution = _pseudo_inverse(K, rank) @ np.concatenate([Q, b])
        return Motion(solution[:n], A.T @ solution[n:])


@dataclass(frozen=True, slots=True)
class NullSpace(Solver):
    """v̇ = v̇₀ + Z z with A v̇₀ = b, A Z = 0: the multipliers never appear. Zᵀ M Z z = Zᵀ (Q − M v̇₀)."""

    def solve(self, problem: Problem) -> Motion:
        """Solve on the tangent space."""
        M, Q, A, b = problem
        if not len(b):
            return Motion(np.asarray(np.linalg.solve(M, Q), dtype=float), np.zeros(len(Q)))
        U, sigma, Vt = np.linalg.svd(A)
        rank = problem.rank
        Z = Vt[rank:].T
        particular = Vt[:rank].T @ ((U[:, :rank].T @ b) / sigma[:rank])
        z = np.linalg.solve(Z.T @ M @ Z, Z.T @ (Q - M @ particular))
        acceleration = particular + Z @ z
        return Motion(acceleration, M @ acceleration - Q)


def _pseudo_inverse(matrix: Array, rank: int) -> Array:
    """A⁺ of a matrix whose rank is known: the smaller singular values are rounding."""
    U, sigma, Vt = np.linalg.svd(matrix, full_matrices=False)
    return np.asarray(Vt[:rank].T @ (U[:, :rank].T / sigma[:rank, np.newaxis]))


def is_singular(mass: Array) -> bool:
    """Tell whether a mass matrix leaves some motion without inertia."""
    if not mass.size:
        return False
    scale = np.sqrt(np.maximum(np.diag(mass), 0.0))
    if np.any(scale <= NO_INERTIA * scale.max()):
        return True
    return bool(np.linalg.eigvalsh(mass / np.outer(scale, scale))[0] < NO_INERTIA)


def row_metric(mass: Array, matrix: Array) -> Array:
    """The metric in which rows are chosen: M, filled up to M + w AᵀA where it is singular."""
    return mass + mass_weight(mass, matrix) * matrix.T @ matrix if is_singular(mass) else mass


def mass_weight(mass: Array, matrix: Array) -> float:
    """A weight w that makes w AᵀA as large as M; any positive one gives the same motion."""
    size = float(np.sum(matrix**2))
    return float(np.trace(mass)) / size if size > 0 else 1.0


SOLVERS: tuple[Solver, ...] = (MaskedLDL(), UdwadiaKalaba(), KKT(), NullSpace())  # the first is the default
