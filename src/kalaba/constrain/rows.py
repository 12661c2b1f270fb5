"""Which constraint rows carry the motion: the only place in kalaba where the rank of rows is decided.

In Python everybody asks `independent_rows` for the rows A and the metric M at a state: which rows are independent, how
the others follow from them, and which directions they leave free.

The same algorithm stands here twice. `choose_rows` is written with NumPy. The compiled loop must not allocate: it uses
`factorise`, `scale_rows`, `farthest_row` and `take_row`, plain loops on flat row-major arrays, and calls them in the
order of `choose_rows` (`kalaba/compiled/choice.py`); tests hold the two to each other.

A machine with many limbs that are alike is solved limb by limb (`kernels/limb_solve.py`). A row that a limb's joints
can hardly meet goes up to the hub, to one of its free rows: `hand_up_rows` decides (the compiled loop repeats it).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kalaba.space.arrays import Array, solve_triangle
from kalaba.tolerances import (
    LIMB_MEETS,
    MASS_PIVOT,
    ROW_INDEPENDENT,
    ROW_NOTHING,
    ROW_PREFERRED,
    ROW_STRONG,
    ROW_VANISHED,
    VELOCITY_ROW_LENGTH,
)

Integers = npt.NDArray[np.int64]
# Ends of each limb's rows (the first begins at 0), all rows one limb after the other; the same of its own columns.
Tables = tuple[Integers, Integers, Integers, Integers]
Limbs = tuple[Tables, int]  # the tables, and how many rows the hub can take over (that it has free)


class Sizes(NamedTuple):
    """How large rows and velocities of a machine are, by which metres and radians are compared.

    In these sizes an entry of A is A_kj s_j / r_k, one of M is M_ij s_i s_j: the same for a machine at any size.
    """

    rows: Array  # r, (m,)
    velocities: Array  # s, (n,)

    @property
    def even(self) -> Sizes:
        """The nearest powers of two, which round nothing."""
        return Sizes(*(np.exp2(np.round(np.log2(sizes))) for sizes in self))

    def some(self, rows: npt.NDArray[np.bool_]) -> Sizes:
        """The sizes where some of the rows are meant."""
        return Sizes(self.rows[rows], self.velocities)

    def of_rows(self, matrix: Array) -> Array:
        """A in these sizes."""
        return np.ascontiguousarray(matrix * self.velocities / self.rows[:, np.newaxis])

    def of_metric(self, metric: Array) -> Array:
        """M in these sizes."""
        return np.ascontiguousarray(metric * self.velocities * self.velocities[:, np.newaxis])


@dataclass(frozen=True, slots=True)
class IndependentRows:
    """The rows of a machine at one state on its constraint manifold, and which of them are independent."""

    metric: Array  # M, (n, n), or what stands in for it where it is singular
    matrix: Array  # A, (m, n)
    mask: Array  # (m,): 1 for a row of the independent set, 0 for a row that follows from it
    rank: int  # -1 if the metric is not positive definite, so that nothing could be decided
    sizes: Sizes  # by which it was decided

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """The rows of the independent set."""
        return np.asarray(self.mask > 0.0)

    def free_directions(self, *, mass_orthonormal: bool = False) -> Array:
        """Directions T (n, n − rank) that the rows leave free, A T = 0: TᵀM T = 1, or TᵀT = 1 in the sizes."""
        sizes = self.sizes.velocities[:, np.newaxis]
        A = self.sizes.of_rows(self.matrix)[self.kept]
        if not mass_orthonormal:
            return np.asarray(sizes * null_directions(A))
        lower = np.linalg.cholesky(self.sizes.of_metric(self.metric))
        B = solve_triangle(lower, A.T, lower=True).T
        return np.asarray(sizes * solve_triangle(lower.T, null_directions(B), lower=False))

    def dependencies(self) -> Array:
        """How the rows left out follow from those kept: C with A_out = C A_kept, in the sizes (see `dependencies`)."""
        return dependencies(self.sizes.of_metric(self.metric), self.sizes.of_rows(self.matrix), self.mask)

    def from_kept(self) -> Array:
        """All rows by those kept: P (m, rank) with A = P A_kept, in the sizes.

        It has the rank that was decided, to the last bit.
        """
        P = np.zeros((len(self.mask), self.rank))
        P[self.kept] = np.eye(self.rank)
        P[~self.kept] = self.dependencies()
        return P


def independent_rows(
    metric: Array,
    matrix: Array,
    is_velocity_level: Sequence[bool] = (),
    *,
    sizes: Sizes | None = None,
    apart: float = ROW_INDEPENDENT,
    vanished: Array | float = ROW_NOTHING,
) -> IndependentRows:
    """Decide which rows of A are independent in the metric M; the state must lie on the constraint manifold.

    Rows at velocity level are scaled down: where one says the same as rows at position level, those are kept, since
    they alone bring the configuration back. `apart` and `vanished` as in `choose_rows`, of A in the sizes.
    """
    mask = np.zeros(len(matrix))
    sizes = Sizes(*(np.ones(count) for count in matrix.shape)) if sizes is None else sizes
    chosen_from = sizes.of_rows(matrix)
    if any(is_velocity_level):
        chosen_from = chosen_from * np.where(is_velocity_level, VELOCITY_ROW_LENGTH, 1.0)[:, np.newaxis]
    rank = choose_rows(sizes.of_metric(metric), chosen_from, mask, apart=apart, vanished=vanished)
    return IndependentRows(metric, matrix, mask, rank, sizes)


def null_directions(matrix: Array) -> Array:
    """Orthonormal T (n, n − m) with A T = 0, of m independent rows: no rank is decided here."""
    m, n = matrix.shape
    return np.asarray(np.linalg.svd(matrix)[2][m:].T) if m else np.eye(n)


def choose_rows(
    mass: Array,
    matrix: Array,
    mask: Array,
    *,
    apart: float = ROW_INDEPENDENT,
    vanished: Array | float = ROW_NOTHING,
) -> int:
    """Mark a maximal independent set of rows of A in `mask` (1 kept, 0 left out) and return the rank.

    Pivoted QR of the rows in the metric of the constraint forces, A M⁻¹ Aᵀ = B Bᵀ with B = A L⁻ᵀ and M = L Lᵀ; working
    on B and not on B Bᵀ keeps the condition number from being squared. Returns -1, with nothing kept, when M is not
    positive definite. The state must lie on the constraint manifold: off it, dependent rows look independent, by as
    much as it is off; `apart`, a row's least distance from the span of those taken, must then be more than that.
    `mass` (n, n), `matrix` (m, n), `mask` (m,). Rows without an entry above `vanished` count as nothing.

    Reference: Golub and Van Loan, Matrix Computations (4th ed.), 5.2.8 and 5.4.2.
    """
    weights = np.zeros(len(matrix))
    mask[:] = 0.0
    lower = metric_factor(mass)
    if lower is None:
        return -1
    rows = unit_rows(lower, matrix, weights, vanished)
    rank, row = 0, _farthest(rows, weights, mask, apart)
    while row >= 0:
        _take(rows, mask, row)
        rank, row = rank + 1, _farthest(rows, weights, mask, apart)
    return rank


def metric_factor(metric: Array) -> Array | None:
    """L with M = L Lᵀ; None where M is not positive definite but for rounding."""
    try:
        lower = np.asarray(np.linalg.cholesky(metric), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return lower if (np.diag(lower) ** 2 > MASS_PIVOT * np.diag(metric)).all() else None


def pivots(metric: Array, matrix: Array, mask: Array) -> Array | None:
    """The pivots of G = A M⁻¹ Aᵀ on the rows that the mask keeps, in declared order, and zero for the others.

    By QR of L⁻¹ Aᵀ, without G: the squares of the diagonal of R. None where M is not positive definite.
    """
    lower = metric_factor(metric)
    if lower is None:
        return None
    found, kept = np.zeros(len(mask)), mask > 0.0
    columns = solve_triangle(lower, matrix[kept].T, lower=True)  # L⁻¹ Aᵀ
    diagonal = np.zeros(columns.shape[1])
    triangle = np.diag(np.linalg.qr(columns, mode="r"))
    diagonal[: len(triangle)] = triangle
    found[kept] = diagonal**2
    return found


def unit_rows(lower: Array, matrix: Array, weights: Array, vanished: Array | float = ROW_NOTHING) -> Array:
    """The rows that `scale_rows` makes of A with the factor L of M, and their weights."""
    sizes = np.abs(matrix).max(axis=1, initial=0.0)
    counted_rows = np.where((sizes > vanished)[:, None], matrix, 0.0)
    rows = solve_triangle(lower, counted_rows.T, lower=True).T
    lengths = np.linalg.norm(rows, axis=1)
    longest = lengths.max(initial=0.0)
    scale = np.maximum(lengths, ROW_VANISHED * longest)
    weights[:] = np.minimum(1.0, scale / (ROW_STRONG * longest)) if longest > 0.0 else 0.0
    return np.ascontiguousarray(rows / np.where(scale > 0.0, scale, 1.0)[:, None])


def _farthest(rows: Array, weights: Array, mask: Array, apart: float) -> int:
    """The row that `farthest_row` finds."""
    squares = np.einsum("ij,ij->i", rows, rows)
    weighted = np.where((mask == 0.0) & (squares >= apart**2), squares * weights**2, -1.0)
    best, needed = -1, 0.0
    for i in np.flatnonzero(weighted >= 0.0):
        if weighted[i] >= needed:
            best, needed = int(i), weighted[i] / ROW_PREFERRED**2
    return best


def _take(rows: Array, mask: Array, row: int) -> None:
    """Do what `take_row` does."""
    taken = rows[mask > 0.0]
    rows[row] -= (taken @ rows[row]) @ taken
    rows[row] /= np.linalg.norm(rows[row])
    mask[row] = 1.0
    others = mask == 0.0
    rows[others] -= np.outer(rows[others] @ rows[row], rows[row])


def factorise(mass: Array, n: int) -> bool:
    """Replace the lower triangle of M by that of L, M = L Lᵀ; say whether M is positive definite."""
    for j in range(n):
        for i in range(j, n):
            value = mass[i * n + j]
            for k in range(j):
                value -= mass[i * n + k] * mass[j * n + k]
            if i > j:
                mass[i * n + j] = value / mass[j * n + j]
            elif value > MASS_PIVOT * mass[j * n + j]:
                mass[j * n + j] = np.sqrt(value)
            else:  # also for NaN
                return False
    return True


def scale_rows(factor: Array, rows: Array, weights: Array, least: Array, m: int, n: int) -> None:
    """Replace A by its rows in the metric of M and free of their units, and weigh them by their strength.

    With the factor L of M::

        B = A L⁻ᵀ    s_k = max(|B_k|, ROW_VANISHED max|B|)    B_k ← B_k / s_k    w_k = min(1, s_k / ROW_STRONG max|B|)

    so a row that has vanished stays short, and one that is about to has little weight. A row of A whose largest entry
    is at most `least` counts as nothing.
    """
    longest = 0.0
    for i in range(m):
        square, largest = 0.0, 0.0
        for j in range(n):
            largest = max(largest, abs(rows[i * n + j]))
        for j in range(n):
            value = rows[i * n + j] if largest > least[i] else 0.0
            for k in range(j):
                value -= factor[j * n + k] * rows[i * n + k]
            rows[i * n + j] = value / factor[j * n + j]
            square += rows[i * n + j] * rows[i * n + j]
        longest = max(longest, square)
        weights[i] = square
    for i in range(m):
        scale = np.sqrt(max(weights[i], ROW_VANISHED**2 * longest))
        for j in range(n):
            rows[i * n + j] /= scale if scale > 0.0 else 1.0
        weights[i] = min(1.0, scale / (ROW_STRONG * np.sqrt(longest))) if scale > 0.0 else 0.0


def farthest_row(rows: Array, weights: Array, mask: Array, m: int, n: int) -> int:
    """Find the row not yet taken that is farthest from the span of those taken; -1 if none is ROW_INDEPENDENT away.

    On the manifold dependent rows lie at rounding, 1e-15 to 1e-13; an independent row as near as √1e-15 = 3e-8 could
    not be told from one whose dependence is of second order. Among rows farther than that the weighted distance
    counts, and a later row must be farther by a tenth to be preferred, so that rounding does not turn the choice.
    """
    best, needed = -1, 0.0
    for i in range(m):
        square = 0.0
        for j in range(n):
            square += rows[i * n + j] * rows[i * n + j]
        weighted = square * weights[i] * weights[i]
        if mask[i] == 0.0 and square >= ROW_INDEPENDENT**2 and weighted >= needed:
            best, needed = i, weighted / ROW_PREFERRED**2
    return best


def take_row(rows: Array, mask: Array, m: int, n: int, row: int) -> None:
    """Take a row: make it orthonormal to those taken, mark it and subtract its direction from those not taken.

    It is made orthogonal to the others once more, since what is left of a near row is mostly rounding ("twice is
    enough"). Of `rows` those taken are orthonormal, the others what is left of them.
    """
    for i in range(m):
        along = 0.0
        for j in range(n):
            along += rows[row * n + j] * rows[i * n + j] * mask[i]
        for j in range(n):
            rows[row * n + j] -= along * rows[i * n + j]
    square = 0.0
    for j in range(n):
        square += rows[row * n + j] * rows[row * n + j]
    for j in range(n):
        rows[row * n + j] /= np.sqrt(square)
    mask[row] = 1.0
    for i in range(m):
        along = 0.0
        for j in range(n):
            along += rows[i * n + j] * rows[row * n + j] * (1.0 - mask[i])
        for j in range(n):
            rows[i * n + j] -= along * rows[row * n + j]


def hand_up_rows(rows: Array, mask: Array, limbs: Limbs, n: int) -> None:
    """Say of the kept rows which a limb eliminates itself (mask 1) and which it hands up (mask 2 + free row).

    `rows` are those of `scale_rows`. If more rows should go up than the hub has free rows, those go that the limbs' own
    joints meet least.
    """
    tables, n_free = limbs
    n_limbs = len(tables[0]) - 1
    for limb in range(n_limbs):
        take_own_rows(rows, mask, tables, limb, n)
    for free in range(n_free):
        give_hub_row(rows, mask, tables, n_limbs, n, free)
    settle_hub_rows(mask, tables[1], len(tables[1]))


def take_own_rows(rows: Array, mask: Array, tables: Tables, limb: int, n: int) -> None:
    """Let a limb take its kept rows one after the other, the farthest in its own columns first.

    Their mask is −1 meanwhile, a value that no kernel reads (`layout.py` lists those that kernels do).

    Of a row that is not taken, less than `LIMB_MEETS` is left in these columns: the limb cannot eliminate it well.
    """
    row_ends, own_rows, column_ends, own_columns = tables
    first, last = row_ends[limb], row_ends[limb + 1]
    start, stop = column_ends[limb], column_ends[limb + 1]
    searching = True
    while searching:
        best, largest = -1, LIMB_MEETS * LIMB_MEETS
        for r in range(first, last):
            i, square = own_rows[r], 0.0
            for c in range(start, stop):
                square += rows[i * n + own_columns[c]] * rows[i * n + own_columns[c]]
            if mask[i] == 1.0 and square >= largest:
                best, largest = i, square
        searching = best >= 0
        if searching:
            mask[best] = -1.0
            for r in range(first, last):
                i, along = own_rows[r], 0.0
                for c in range(start, stop):
                    along += rows[best * n + own_columns[c]] * rows[i * n + own_columns[c]] / largest
                if mask[i] == 1.0:
                    for c in range(start, stop):
                        rows[i * n + own_columns[c]] -= along * rows[best * n + own_columns[c]]


def give_hub_row(rows: Array, mask: Array, tables: Tables, n_limbs: int, n: int, free: int) -> None:
    """Hand up to a free row of the hub the kept row, not taken by its limb, of which the least is left there."""
    row_ends, own_rows, column_ends, own_columns = tables
    best, least = -1, 1.0
    for limb in range(n_limbs):
        for r in range(row_ends[limb], row_ends[limb + 1]):
            i, square = own_rows[r], 0.0
            for c in range(column_ends[limb], column_ends[limb + 1]):
                square += rows[i * n + own_columns[c]] * rows[i * n + own_columns[c]]
            if mask[i] == 1.0 and square < least:
                best, least = i, square
    if best >= 0:
        mask[best] = 2.0 + free


def settle_hub_rows(mask: Array, own_rows: Integers, count: int) -> None:
    """Mark the rows that limbs have taken, and those for which no free row was left, as the limbs' own."""
    for r in range(count):
        i = own_rows[r]
        mask[i] = 1.0 if mask[i] < 0.0 else mask[i]


def dependencies(mass: Array, matrix: Array, mask: Array) -> Array:
    """Say how the rows left out follow from those kept: C with A_out = C A_kept, for reports.

    Solved in the metric in which `choose_rows` decides, C = B_out B_kept⁺ with B = A L⁻ᵀ and M = L Lᵀ. One row of C
    for each row left out, one column for each row kept, both in declared order.
    """
    columns = np.linalg.solve(np.linalg.cholesky(mass), matrix.T)  # Bᵀ
    kept = mask > 0.0
    C: Array = np.linalg.lstsq(columns[:, kept], columns[:, ~kept], rcond=None)[0].T
    return C
