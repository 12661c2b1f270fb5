"""Which constraint rows carry the motion: the only place in kalaba where a rank is decided.

Everybody calls `choose_rows`. Its four steps are leaves of plain loops on flat row-major arrays and allocate nothing,
so that `kalaba.loop` compiles them as they are and strings them together in the same way.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

INDEPENDENT = 1e-7  # least distance of an independent row of length 1 from the span of the rows taken before it
NOTHING = 1e-12  # a row of A without a larger entry is rounding: a loop that says nothing new, metres and radians
VANISHED = 1e-6  # rows shorter than this part of the longest are not stretched to length 1
STRONG = 0.1  # rows shorter than this part of the longest come later: one that is vanishing makes way in time
NEAR = 0.9  # of rows nearly as far as the farthest, the one declared first is taken
SINGULAR = 1e-14  # a pivot of M below this part of its diagonal is rounding


def choose_rows(mass: Floats, matrix: Floats, mask: Floats) -> int:
    """Mark a maximal independent set of rows of A in `mask` (1 kept, 0 left out) and return the rank.

    Pivoted QR of the rows in the metric of the constraint forces, A M⁻¹ Aᵀ = B Bᵀ with B = A L⁻ᵀ and M = L Lᵀ; working
    on B and not on B Bᵀ keeps the condition number from being squared. Returns -1, with nothing kept, when M is not
    positive definite. The state must lie on the constraint manifold: off it, dependent rows look independent.
    `mass` (n, n), `matrix` (m, n), `mask` (m,).

    Reference: Golub and Van Loan, Matrix Computations (4th ed.), 5.2.8 and 5.4.2.
    """
    m, n = matrix.shape
    factor, rows = np.array(mass, dtype=np.float64).ravel(), np.array(matrix, dtype=np.float64).ravel()
    weights = np.zeros(m)
    mask[:] = 0.0
    if not factorise(factor, n):
        return -1
    scale_rows(factor, rows, weights, np.full(m, NOTHING), m, n)
    rank, row = 0, farthest_row(rows, weights, mask, m, n)
    while row >= 0:
        take_row(rows, mask, m, n, row)
        rank, row = rank + 1, farthest_row(rows, weights, mask, m, n)
    return rank


def factorise(mass: Floats, n: int) -> bool:
    """Replace the lower triangle of M by that of L, M = L Lᵀ; say whether M is positive definite."""
    for j in range(n):
        for i in range(j, n):
            value = mass[i * n + j]
            for k in range(j):
                value -= mass[i * n + k] * mass[j * n + k]
            if i > j:
                mass[i * n + j] = value / mass[j * n + j]
            elif value > SINGULAR * mass[j * n + j]:
                mass[j * n + j] = np.sqrt(value)
            else:  # also for NaN
                return False
    return True


def scale_rows(factor: Floats, rows: Floats, weights: Floats, least: Floats, m: int, n: int) -> None:
    """Replace A by its rows in the metric of M and free of their units, and weigh them by their strength.

    With the factor L of M::

        B = A L⁻ᵀ        B_k ← B_k / max(|B_k|, 1e-6 max|B|)        w_k = min(1, |B_k| / 0.1 max|B|)

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
        scale = np.sqrt(max(weights[i], VANISHED**2 * longest))
        for j in range(n):
            rows[i * n + j] /= scale if scale > 0.0 else 1.0
        weights[i] = min(1.0, scale / (STRONG * np.sqrt(longest))) if scale > 0.0 else 0.0


def farthest_row(rows: Floats, weights: Floats, mask: Floats, m: int, n: int) -> int:
    """Find the row not yet taken that is farthest from the span of those taken; -1 = none is farther than 1e-7.

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
        if mask[i] == 0.0 and square >= INDEPENDENT**2 and weighted >= needed:
            best, needed = i, weighted / NEAR**2
    return best


def take_row(rows: Floats, mask: Floats, m: int, n: int, row: int) -> None:
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


def dependencies(mass: Floats, matrix: Floats, mask: Floats) -> Floats:
    """Say how the rows left out follow from those kept: C with A_out = C A_kept, for reports.

    Solved in the metric in which `choose_rows` decides, C = B_out B_kept⁺ with B = A L⁻ᵀ and M = L Lᵀ. One row of C
    for each row left out, one column for each row kept, both in declared order.
    """
    B = np.linalg.solve(np.linalg.cholesky(mass), matrix.T)
    kept = mask > 0.0
    C: Floats = np.linalg.lstsq(B[:, kept], B[:, ~kept], rcond=None)[0].T
    return C
