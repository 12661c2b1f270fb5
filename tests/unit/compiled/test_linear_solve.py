"""LU factors in compiled code, beside NumPy's."""

import numpy as np
import pytest

from kalaba.compiled.linear_solve import lu_factor, lu_solve


def solved(matrix, vector):
    n = len(vector)
    factors, pivots, x = matrix.astype(float).ravel(), np.zeros(n, dtype=np.int64), vector.astype(float)
    assert lu_factor(factors, pivots, n)
    lu_solve(factors, pivots, n, x)
    return x


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("kind", ["random", "whole", "sparse", "graded"])
def test_solutions_are_those_of_numpy(n, kind):
    """Whole numbers make factors of exactly 0, 1 and -1; graded rows need their pivots."""
    rng = np.random.default_rng(n)
    for _ in range(20):
        A = rng.normal(size=(n, n))
        if kind == "whole":
            A = rng.integers(-1, 2, size=(n, n)).astype(float)
        elif kind == "sparse":
            A[rng.random((n, n)) < 0.5] = 0.0
        elif kind == "graded":
            A *= 10.0 ** rng.uniform(-8, 8, size=(n, 1))
        if abs(np.linalg.det(A / np.abs(A).max(axis=1, keepdims=True).clip(1e-300))) < 1e-6:
            continue
        x = rng.normal(size=n)
        assert solved(A, A @ x) == pytest.approx(x, abs=1e-7)


def test_a_zero_on_the_diagonal_is_exchanged():
    assert solved(np.array([[0.0, 2.0], [3.0, 0.0]]), np.array([4.0, 9.0])) == pytest.approx([3.0, 2.0])


@pytest.mark.parametrize("matrix", [np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), np.nan), np.full((2, 2), 1e301)])
def test_a_matrix_without_an_inverse_is_told(matrix):
    assert not lu_factor(matrix.ravel().copy(), np.zeros(2, dtype=np.int64), 2)
