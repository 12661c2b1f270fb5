"""Mobility: how a machine can move, which rows depend on which, and which reactions are unique."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.errors import ConstraintError
from kalaba.plant.choice import rows_at
from kalaba.plant.plant import Plant, build
from kalaba.plant.reference import project_state
from kalaba.plant.state import State
from kalaba.results.notebook import mobility_html
from kalaba.space.arrays import Array
from kalaba.space.configuration import displaced
from kalaba.tolerances import DEPENDENCE_BROKEN, DEPENDENCE_SHOWN, EQUAL_SHARE, ROW_STRETCHED
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.constrain.rows import IndependentRows
    from kalaba.model.system import System

NEARBY = 1e-2  # rad, or of the machine's length: the steps to nearby configurations
OFF = 1e-3  # rad, or of the machine's length: the steps off the manifold
PROBES = 6


@dataclass(frozen=True)
class Mobility:
    """What `kb.check` finds at the start of a machine.

    Arguments:
        name: name of the machine
        coordinates: how many numbers q has
        velocities: how many numbers v has
        rows: names of the constraint rows
        rank: how many rows are independent
        freedoms: at the start
        freedoms_nearby: at configurations near it
        dependencies: rows that depend on others: (row, ((other row, coefficient), ...))
        on_manifold_only: rows whose dependence holds only while all are closed
        unique_reactions: connections whose whole wrench the motion decides
        non_unique_reactions: connections whose wrench it leaves open
        smallest_singular_value: of the kept rows in the mass metric, free of their units; 1 is best, 0 singular
        weakest_row: the row behind it
        is_mass_singular: whether some motion has no inertia
    """

    name: str
    coordinates: int
    velocities: int
    rows: tuple[str, ...]
    rank: int
    freedoms: int
    freedoms_nearby: int
    dependencies: tuple[tuple[str, tuple[tuple[str, float], ...]], ...]
    on_manifold_only: tuple[str, ...]
    unique_reactions: tuple[str, ...]
    non_unique_reactions: tuple[str, ...]
    smallest_singular_value: float
    weakest_row: str
    is_mass_singular: bool

    @property
    def dependent_rows(self) -> tuple[str, ...]:
        """Rows that follow from the others."""
        return tuple(row for row, _ in self.dependencies)

    def __str__(self) -> str:
        """One paragraph for people."""
        size = f"{counted(self.velocities, 'velocity')}, {counted(len(self.rows), 'row')} of rank {self.rank}"
        lines = [f"{self.name}: {size}, {counted(self.freedoms, 'freedom')} ({self.freedoms_nearby} nearby)"]
        for row, terms in self.dependencies:
            said = " ".join(f"{c:+.3g} {other}" for other, c in terms) or "0"
            lines.append(f"{row} = {said}" + ("  (while closed)" if row in self.on_manifold_only else ""))
        if self.rows:
            lines.append(f"smallest singular value {self.smallest_singular_value:.3g} ({self.weakest_row})")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return mobility_html(self)


def check(system: System | Plant) -> Mobility:
    """Examine a machine at its start: freedoms, rank, dependent rows, conditioning.

    Arguments:
        system: a System or a Plant

    Raises:
        ConstraintError: where some motion has neither inertia nor a row
    """
    check_arguments(check, locals())
    plant = build(system)
    q, v = plant.start
    rows = rows_at(plant, plant.inputs(q, v))
    depending = _dependencies(plant, rows)
    loose = {row for row, terms in depending for row in (row, *(other for other, _ in terms))}
    value, weakest = conditioning(plant, rows)
    n = len(plant.velocities)
    return Mobility(
        name=plant.system.name,
        coordinates=len(plant.coordinates),
        velocities=n,
        rows=plant.constraints,
        rank=rows.rank,
        freedoms=n - rows.rank,
        freedoms_nearby=n - _nearby_rank(plant, rows),
        dependencies=depending,
        on_manifold_only=_on_manifold_only(plant, rows),
        unique_reactions=tuple(row for row in plant.constraints if row not in loose),
        non_unique_reactions=tuple(row for row in plant.constraints if row in loose),
        smallest_singular_value=value,
        weakest_row=weakest,
        is_mass_singular=plant.is_singular,
    )


def _dependencies(plant: Plant, rows: IndependentRows) -> tuple[tuple[str, tuple[tuple[str, float], ...]], ...]:
    """Each row that is left out as a combination of those that are kept."""
    names, kept, sizes = plant.constraints, np.flatnonzero(rows.kept), rows.sizes.rows
    combinations = []
    for row, coefficients in zip(np.flatnonzero(~rows.kept), rows.dependencies(), strict=True):
        shown = [(j, c) for j, c in zip(kept, coefficients, strict=True) if abs(c) > DEPENDENCE_SHOWN]
        terms = [(names[j], float(c * sizes[row] / sizes[j])) for j, c in shown]
        combinations.append((names[row], tuple(terms)))
    return tuple(combinations)


def conditioning(plant: Plant, rows: IndependentRows) -> tuple[float, str]:
    """Smallest singular value of the kept rows in the mass metric, and the row with the largest part in it."""
    if not rows.kept.any():
        return 1.0, ""
    sized = rows.sizes.of_metric(rows.metric), rows.sizes.of_rows(rows.matrix)
    U, sigma, _ = np.linalg.svd(_unit_rows(*sized)[rows.kept], full_matrices=False)
    names = [name for name, is_kept in zip(plant.constraints, rows.kept, strict=True) if is_kept]
    share = np.abs(U[:, -1])
    return float(sigma[-1]), names[int(np.argmax(share > EQUAL_SHARE * share.max()))]  # of equal ones the first


def _unit_rows(metric: Array, matrix: Array) -> Array:
    """Rows of A L⁻ᵀ, M = L Lᵀ, each of unit length unless it is much shorter than the longest: vanishing rows show."""
    rows = np.linalg.solve(np.linalg.cholesky(metric), matrix.T).T
    lengths = np.linalg.norm(rows, axis=1)
    return np.asarray(rows / np.maximum(lengths, ROW_STRETCHED * lengths.max(initial=1e-300))[:, None])


def _nearby_rank(plant: Plant, rows: IndependentRows) -> int:
    """The largest rank at closed configurations near the start."""
    if not plant.constraints:
        return 0
    q, v = plant.start
    tangent = rows.free_directions()
    rng = np.random.default_rng(2)
    best = rows.rank
    for _ in range(PROBES if tangent.size else 0):
        step = tangent @ rng.normal(size=tangent.shape[1]) * NEARBY
        try:
            near = project_state(plant, State(displaced(plant.machine, q, step), v), 0.0)
            best = max(best, rows_at(plant, plant.inputs(*near)).rank)
        except ConstraintError:
            continue
    return best


def _on_manifold_only(plant: Plant, rows: IndependentRows) -> tuple[str, ...]:
    """Rows left out whose dependence on the kept ones is no identity: off the manifold it does not hold.

    The probes move q across the manifold, along M⁻¹Aᵀ.
    """
    left_out = np.flatnonzero(~rows.kept)
    if not left_out.size:
        return ()
    coefficients, sizes = rows.dependencies(), rows.sizes
    metric, matrix = sizes.of_metric(rows.metric), sizes.of_rows(rows.matrix)
    q, v = plant.start
    rng = np.random.default_rng(3)
    broken = np.zeros(len(left_out), dtype=bool)
    for _ in range(PROBES):
        across = np.linalg.solve(metric, matrix.T @ rng.normal(size=len(matrix)))
        step = np.asarray(sizes.velocities * across * OFF / max(np.abs(across).max(), 1e-300), dtype=np.float64)
        A = sizes.of_rows(plant.constraint(displaced(plant.machine, q, step), v)[0])
        gap = np.abs(A[left_out] - coefficients @ A[rows.kept]).max(axis=1)
        broken |= gap > DEPENDENCE_BROKEN * np.abs(A).max()
    return tuple(plant.constraints[k] for k in left_out[broken])
