"""Mobility: how a machine can move, which rows depend on which, and which reactions are unique."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.rows import choose_rows, dependencies
from kalaba.constrain.solvers import mass_weight
from kalaba.errors import ConstraintError
from kalaba.plant.forward import not_unique
from kalaba.plant.plant import Plant, build
from kalaba.plant.reference import project_state
from kalaba.plant.state import State
from kalaba.space.configuration import displaced

if TYPE_CHECKING:
    from kalaba.model.system import System

Array = NDArray[np.float64]
NEARBY = 1e-2  # size of the steps to nearby configurations
OFF = 1e-3  # size of the steps off the manifold
PROBES = 6
SHOWN = 1e-9  # coefficients below this are rounding
BROKEN = 1e-6  # of the largest entry: a dependence that fails by more is no identity
STRONG = 0.1  # rows shorter than this part of the longest are not stretched to length 1


@dataclass(frozen=True)
class Mobility:
    """What `kb.check` finds at the start of a machine."""

    name: str
    coordinates: int  # numbers in q
    velocities: int  # numbers in v
    rows: tuple[str, ...]
    rank: int
    freedoms: int  # at the start
    freedoms_nearby: int  # at configurations near it
    dependencies: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]  # a row = Σ coefficient · other row
    on_manifold_only: tuple[str, ...]  # rows whose dependence holds only while all are closed
    unique_reactions: tuple[str, ...]
    non_unique_reactions: tuple[str, ...]
    smallest_singular_value: float  # of the kept rows in the mass metric, free of their units; 1 is best, 0 singular
    weakest_row: str  # the row behind it
    is_mass_singular: bool

    @property
    def dependent_rows(self) -> tuple[str, ...]:
        """Rows that say nothing new."""
        return tuple(row for row, _ in self.dependencies)

    def __str__(self) -> str:
        """One paragraph for people."""
        size = f"{self.velocities} velocities, {len(self.rows)} rows of rank {self.rank}"
        lines = [f"{self.name}: {size}, {_freedoms(self.freedoms)} ({self.freedoms_nearby} nearby)"]
        for row, terms in self.dependencies:
            said = " ".join(f"{c:+.3g} {other}" for other, c in terms) or "0"
            lines.append(f"{row} = {said}" + ("  (while closed)" if row in self.on_manifold_only else ""))
        if self.rows:
            lines.append(f"smallest singular value {self.smallest_singular_value:.3g} ({self.weakest_row})")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from kalaba.results.notebook import mobility_html

        return mobility_html(self)


def _freedoms(count: int) -> str:
    return f"{count} freedom" if count == 1 else f"{count} freedoms"


def check(system: System | Plant) -> Mobility:
    """Examine a machine at its start: freedoms, rank, dependent rows, conditioning."""
    plant = build(system)
    q, v = plant.start
    metric, A = _metric(plant, q, v)
    mask = np.zeros(len(A))
    rank = _rank(plant, metric, A, mask)
    kept = mask > 0
    depending = _dependencies(plant, metric, A, mask)
    loose = {row for row, terms in depending for row in (row, *(other for other, _ in terms))}
    value, weakest = _conditioning(plant, metric, A, kept)
    n = len(plant.velocities)
    return Mobility(
        name=plant.system.name,
        coordinates=len(plant.coordinates),
        velocities=n,
        rows=plant.constraints,
        rank=rank,
        freedoms=n - rank,
        freedoms_nearby=n - _nearby_rank(plant, A, rank),
        dependencies=depending,
        on_manifold_only=_on_manifold_only(plant, metric, A, mask),
        unique_reactions=tuple(row for row in plant.constraints if row not in loose),
        non_unique_reactions=tuple(row for row in plant.constraints if row in loose),
        smallest_singular_value=value,
        weakest_row=weakest,
        is_mass_singular=plant.is_singular,
    )


def _metric(plant: Plant, q: Array, v: Array) -> tuple[Array, Array]:
    """M (filled up by AᵀA where it is singular) and A."""
    problem = plant.problem(plant.inputs(q, v))
    mass, A = problem.mass, np.ascontiguousarray(problem.matrix)
    if plant.is_singular:
        mass = mass + mass_weight(mass, A) * A.T @ A
    return np.ascontiguousarray(mass), A


def _rank(plant: Plant, metric: Array, matrix: Array, mask: Array) -> int:
    rank = choose_rows(metric, matrix, mask)
    if rank < 0:
        error: ConstraintError = not_unique(plant, plant.problem(plant.inputs(*plant.start)))
        raise error
    return rank


def _dependencies(
    plant: Plant, metric: Array, matrix: Array, mask: Array
) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...]:
    """Each row that is left out as a combination of those that are kept."""
    names = plant.constraints
    kept = np.flatnonzero(mask > 0)
    coefficients = dependencies(metric, matrix, mask)
    found = []
    for k, row in enumerate(np.flatnonzero(mask == 0)):
        terms = [(names[j], float(c)) for j, c in zip(kept, coefficients[k], strict=True) if abs(c) > SHOWN]
        found.append((names[row], tuple(terms)))
    return tuple(found)


def _conditioning(plant: Plant, metric: Array, matrix: Array, kept: NDArray[np.bool_]) -> tuple[float, str]:
    """Smallest singular value of the kept rows in the mass metric, and the row with the largest part in it."""
    if not kept.any():
        return 1.0, ""
    U, sigma, _ = np.linalg.svd(_unit_rows(metric, matrix)[kept], full_matrices=False)
    names = [name for name, keep in zip(plant.constraints, kept, strict=True) if keep]
    return float(sigma[-1]), names[int(np.argmax(np.abs(U[:, -1])))]


def _unit_rows(metric: Array, matrix: Array) -> Array:
    """Rows of A L⁻ᵀ, M = L Lᵀ, each of unit length unless it is much shorter than the longest: vanishing rows show."""
    rows = np.linalg.solve(np.linalg.cholesky(metric), matrix.T).T
    lengths = np.linalg.norm(rows, axis=1)
    return np.asarray(rows / np.maximum(lengths, STRONG * lengths.max(initial=1e-300))[:, None])


def _nearby_rank(plant: Plant, matrix: Array, rank: int) -> int:
    """The largest rank at closed configurations near the start."""
    if not plant.constraints:
        return 0
    q, v = plant.start
    _, _, directions = np.linalg.svd(matrix)
    tangent = directions[rank:].T
    rng = np.random.default_rng(2)
    best = rank
    for _ in range(PROBES if tangent.size else 0):
        step = tangent @ rng.normal(size=tangent.shape[1]) * NEARBY
        try:
            near = project_state(plant, State(displaced(plant.machine, q, step), v), 0.0)
        except ConstraintError:
            continue
        metric, A = _metric(plant, near.q, near.v)
        best = max(best, choose_rows(metric, A, np.zeros(len(A))))
    return best


def _on_manifold_only(plant: Plant, metric: Array, matrix: Array, mask: Array) -> tuple[str, ...]:
    """Rows left out whose dependence on the kept ones is no identity: off the manifold it does not hold.

    The probes move q across the manifold, along M⁻¹Aᵀ.
    """
    left_out, kept = np.flatnonzero(mask == 0), mask > 0
    if not left_out.size:
        return ()
    coefficients = dependencies(metric, matrix, mask)
    q, v = plant.start
    rng = np.random.default_rng(3)
    broken = np.zeros(len(left_out), dtype=bool)
    for _ in range(PROBES):
        across = np.linalg.solve(metric, matrix.T @ rng.normal(size=len(matrix)))
        step = np.asarray(across * OFF / max(np.abs(across).max(), 1e-300), dtype=np.float64)
        A = plant.constraint(displaced(plant.machine, q, step), v)[0]
        gap = np.abs(A[left_out] - coefficients @ A[kept]).max(axis=1)
        broken |= gap > BROKEN * np.abs(A).max()
    return tuple(plant.constraints[k] for k in left_out[broken])
