"""Straight-line LDLᵀ against dense linear algebra."""

import casadi as ca
import numpy as np
import pytest

from kalaba.constrain.elimination import dot, eliminate, factorise, gram_matrix, row_columns
from kalaba.constrain.ordering import shortest_order

EXACT = 1e-10  # condition numbers below 1e3


def column(entries) -> ca.SX:
    return [ca.SX(float(entry)) for entry in entries]


def numbers(entries) -> np.ndarray:
    return np.array([float(ca.evalf(entry)) for entry in entries])


def positive(rng: np.random.Generator, n: int) -> np.ndarray:
    B = rng.normal(size=(n, n))
    return B @ B.T + 0.3 * np.eye(n)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_a_factor_solves(n):
    rng = np.random.default_rng(n)
    M, b = positive(rng, n), rng.normal(size=n)
    factor = factorise(ca.SX(ca.DM(M)))
    assert numbers(factor.solve(column(b))) == pytest.approx(np.linalg.solve(M, b), rel=EXACT, abs=EXACT)
    assert np.prod(numbers(factor.pivots)) == pytest.approx(np.linalg.det(M))


def test_structural_zeros_are_not_touched():
    """A diagonal of symbols: no entry below it, and the work is one product an entry."""
    M = ca.diag(ca.SX.sym("d", 6))
    factor = factorise(M)
    assert all(not row for row in factor.lower)
    function = ca.Function("f", [ca.diag(M)], factor.inverse)
    assert function.n_instructions() == 6 * 3  # read, invert, write


def test_an_arrow_pointing_away_from_the_first_pivot_does_not_fill():
    d, a = ca.SX.sym("d", 5), ca.SX.sym("a", 4)
    M = ca.diag(d)
    for i in range(4):
        M[4, i] = M[i, 4] = a[i]
    factor = factorise(M)
    assert [len(row) for row in factor.lower] == [0, 0, 0, 0, 4]


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_are_off_leave_no_trace(seed):
    rng = np.random.default_rng(seed)
    n, m = 6, 4
    M, A, residual = positive(rng, n), rng.normal(size=(m, n)), rng.normal(size=m)
    kept = rng.random(m) < 0.6
    parts = eliminate(ca.SX(ca.DM(M)), ca.SX(ca.DM(A)), ca.SX(ca.DM(kept.astype(float))))
    G = A[kept] @ np.linalg.solve(M, A[kept].T)
    expected = np.zeros(m)
    expected[kept] = np.linalg.solve(G, residual[kept])
    multipliers = parts.correct(column(residual))
    assert numbers(multipliers) == pytest.approx(expected, rel=EXACT, abs=EXACT)
    assert numbers(parts.push(multipliers)) == pytest.approx(np.linalg.solve(M, A.T @ expected), rel=EXACT, abs=EXACT)


def test_a_dependent_row_that_is_off_divides_by_nothing():
    """Its pivot is zero, and the result is finite all the same."""
    A = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    parts = eliminate(ca.SX(ca.DM.eye(3)), ca.SX(ca.DM(A)), ca.SX(ca.DM([1.0, 0.0, 1.0])))
    assert numbers(parts.gram.pivots)[1] == 0.0
    assert numbers(parts.correct(column([1.0, 5.0, 2.0]))) == pytest.approx([1.0, 0.0, 2.0])


def test_the_gram_matrix_is_that_of_the_rows_in_the_metric():
    rng = np.random.default_rng(5)
    M, A = positive(rng, 5), rng.normal(size=(3, 5))
    mass = factorise(ca.SX(ca.DM(M)))
    spread = [mass.forward(row) for row in row_columns(ca.SX(ca.DM(A)))]
    G = np.array(ca.evalf(ca.densify(gram_matrix(mass, spread))))
    assert np.tril(G) == pytest.approx(np.tril(A @ np.linalg.solve(M, A.T)), rel=EXACT)


def test_a_dot_product_skips_zeros():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    assert ca.is_equal(dot({0: x, 2: y}, {1: x, 2: y}), y * y, 1)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_elimination_changes_nothing_but_the_length(seed):
    rng = np.random.default_rng(seed)
    M, b = positive(rng, 6), rng.normal(size=6)
    factor = factorise(ca.SX(ca.DM(M)), order=[int(k) for k in rng.permutation(6)])
    assert numbers(factor.solve(column(b))) == pytest.approx(np.linalg.solve(M, b), rel=EXACT, abs=EXACT)
    assert np.prod(numbers(factor.pivots)) == pytest.approx(np.linalg.det(M))


def star(branches: int, length: int) -> ca.SX:
    """The mass matrix of branches on one base: those on different branches do not know each other."""
    size = 1 + branches * length
    M = ca.SX.sym("M", ca.Sparsity.lower(size))
    for i in range(1, size):
        for j in range(1, i):
            if (i - 1) // length != (j - 1) // length:
                M[i, j] = 0
    return ca.sparsify(M)


def test_branches_are_eliminated_from_their_leaves_and_fill_in_nothing():
    M = star(4, 3)
    factor = factorise(M, order=shortest_order(M, ca.SX(0, M.shape[0])))
    assert sum(map(len, factor.lower)) == M.nnz() - M.shape[0]
    assert sum(map(len, factorise(M).lower)) > M.nnz() - M.shape[0]


def test_rows_on_the_outer_joints_alone_are_eliminated_last():
    """L⁻¹ Aᵀ of such a row has one entry then; from the leaves it would have as many as the chain has joints."""
    M, A = ca.SX.sym("M", 4, 4), ca.SX(6, 4)
    A[:, 3] = ca.SX.sym("a", 6)
    assert shortest_order(M, A) == [0, 1, 2, 3]
    A = ca.SX(6, 4)
    A[:, 0] = ca.SX.sym("a", 6)
    assert shortest_order(M, A) == [3, 2, 1, 0]


def test_trees_that_do_not_know_each_other_are_ordered_each_by_itself():
    M, A = ca.diagcat(ca.SX.sym("M", 3, 3), ca.SX.sym("N", 3, 3)), ca.SX(4, 6)
    A[:2, 2], A[2:, 3] = ca.SX.sym("a", 2), ca.SX.sym("b", 2)
    assert shortest_order(M, A) == [0, 1, 2, 5, 4, 3]
