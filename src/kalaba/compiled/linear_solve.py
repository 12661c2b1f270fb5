"""Linear equations in compiled code: LU factors with partial pivoting, in place on flat row-major arrays."""

from kalaba.native.machine_code import Floats, Integers, compiled
from kalaba.tolerances import INFINITE


@compiled
def lu_factor(matrix: Floats, pivots: Integers, n: int) -> bool:
    """Replace a matrix by the factors of P A = L U; say whether it has an inverse.

    Reference: Golub and Van Loan, Matrix Computations (4th ed.), 3.4.1.
    """
    for k in range(n):
        best, largest = k, abs(matrix[k * n + k])
        for i in range(k + 1, n):
            if abs(matrix[i * n + k]) > largest:
                best, largest = i, abs(matrix[i * n + k])
        pivots[k] = best
        if not 0.0 < largest < INFINITE:  # also for NaN
            return False
        if best != k:
            for j in range(n):
                matrix[k * n + j], matrix[best * n + j] = matrix[best * n + j], matrix[k * n + j]
        inverse = 1.0 / matrix[k * n + k]
        for i in range(k + 1, n):
            factor = matrix[i * n + k] * inverse
            matrix[i * n + k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    matrix[i * n + j] -= factor * matrix[k * n + j]
    return True


@compiled
def lu_solve(matrix: Floats, pivots: Integers, n: int, vector: Floats) -> None:
    """Replace b by the solution of A x = b, A being factored."""
    for k in range(n):
        best = pivots[k]
        vector[k], vector[best] = vector[best], vector[k]
    for i in range(n):
        for j in range(i):
            vector[i] -= matrix[i * n + j] * vector[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            vector[i] -= matrix[i * n + j] * vector[j]
        vector[i] /= matrix[i * n + i]
