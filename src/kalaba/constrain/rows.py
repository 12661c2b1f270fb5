"""Which constraint rows carry the motion: the only place in kalaba where a rank is decided.

`scaled_rows` and `independent_rows` are leaves of plain loops on flat row-major arrays, allocating nothing, so that
`kalaba.loop` compiles them as they are; everybody else calls `choose_rows`.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

INDEPENDENT = 1e-7  # least distance of an independent row of length 1 from the span of the rows taken before it
VANISHED = 1e-6  # rows shorter than this part of the longest are not stretched to length 1
NEAR = 0.9  # of rows nearly as far as the farthest, the one declared first is taken
SINGULAR = 1e-14  # a pivot of M below this part of its diagonal is rounding


def choose_rows(mass: Floats, matrix: Floats, mask: Floats) -> int:
    """Mark a maximal independent set of rows of A in `mask` (1 kept, 0 left out) and return the rank.

    Pivoted QR of the rows in the metric of the constraint forces, A M⁻¹ Aᵀ = B Bᵀ with B = A L⁻ᵀ and M = L Lᵀ; working
    on B and not on B Bᵀ keeps the condition number from being squared. Returns -1, with nothing kept, when M is not
    positive definite. The state must lie on the constraint manifold: off it, dependent rows look independent.
    `mass` (n, n), `matrix` (m, n), `mask` (m,).
    """
    m, n = matrix.shape
    factor, rows = np.array(mass, dtype=np.float64).ravel(), np.array(matrix, dtype=np.float64).ravel()
    mask[:] = 0.0
    return independent_rows(rows, mask, m, n) if scaled_rows(factor, rows, m, n) else -1


def scaled_rows(mass: Floats, rows: Floats, m: int, n: int) -> bool:
    """Turn rows of A into rows in the metric of M and free of their units; say whether M is positive definite.

    In place, M (n, n) becomes L and A (m, n) becomes B::

        M = L Lᵀ        B = A L⁻ᵀ        B_k ← B_k / max(|B_k|, 1e-6 max|B|)

    so a row that has vanished stays short.
    """
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
    longest = 0.0
    for i in range(m):
        square = 0.0
        for j in range(n):
            value = rows[i * n + j]
            for k in range(j):
                value -= mass[j * n + k] * rows[i * n + k]
            value /= mass[j * n + j]
            rows[i * n + j] = value
            square += value * value
        longest = max(longest, np.sqrt(square))
    if longest == 0.0:
        return True
    for i in range(m):
        square = 0.0
        for j in range(n):
            square += rows[i * n + j] * rows[i * n + j]
        scale = max(np.sqrt(square), VANISHED * longest)
        for j in range(n):
            rows[i * n + j] /= scale
    return True


def independent_rows(rows: Floats, mask: Floats, m: int, n: int) -> int:
    """Mark in `mask`, all 0 before, a maximal independent set of rows of length 1 or less, and return the rank.

    Modified Gram-Schmidt, twice: again and again the row farthest from the span of those taken is taken, until the
    farthest is nearer than 1e-7. On the manifold dependent rows lie at rounding, 1e-15 to 1e-13; an independent row
    as near as √1e-15 = 3e-8 could not be told from one whose dependence is of second order. Of `rows` (m, n) those
    taken become orthonormal, the others what is left of them.

    Reference: Golub and Van Loan, Matrix Computations (4th ed.), 5.2.8 and 5.4.2.
    """
    for rank in range(min(m, n)):
        best, needed = -1, INDEPENDENT**2
        for i in range(m):
            square = 0.0
            for j in range(n):
                square += rows[i * n + j] * rows[i * n + j]
            if mask[i] == 0.0 and square >= needed:
                best, needed = i, square / NEAR**2
        if best < 0:
            return rank
        mask[best] = 2.0  # until it has length 1
        for i in range(m):  # once more against those taken before: then it is orthogonal to rounding
            along = 0.0
            for j in range(n):
                along += rows[best * n + j] * rows[i * n + j]
            for j in range(n):
                rows[best * n + j] -= along * rows[i * n + j] if mask[i] == 1.0 else 0.0
        square = 0.0
        for j in range(n):
            square += rows[best * n + j] * rows[best * n + j]
        for j in range(n):
            rows[best * n + j] /= np.sqrt(square)
        mask[best] = 1.0
        for i in range(m):
            along = 0.0
            for j in range(n):
                along += rows[i * n + j] * rows[best * n + j]
            for j in range(n):
                rows[i * n + j] -= along * rows[best * n + j] if mask[i] == 0.0 else 0.0
    return min(m, n)


def dependencies(mass: Floats, matrix: Floats, mask: Floats) -> Floats:
    """Say how the rows left out follow from those kept: C with A_out = C A_kept, for reports.

    Solved in the metric in which `choose_rows` decides, C = B_out B_kept⁺ with B = A L⁻ᵀ and M = L Lᵀ. One row of C
    for each row left out, one column for each row kept, both in declared order.
    """
    B = np.linalg.solve(np.linalg.cholesky(mass), matrix.T)
    kept = mask > 0.0
    C: Floats = np.linalg.lstsq(B[:, kept], B[:, ~kept], rcond=None)[0].T
    return C
