"""Expressions of vectors and matrices."""

import casadi as ca
import numpy as np
import pytest

from kalaba.space.symbolic import solve


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e4])
def test_equations_are_solved_whatever_the_units_of_rows_and_columns(length: float):
    rng = np.random.default_rng(3)
    A, x = 4 * np.eye(6) + rng.normal(size=(6, 6)), rng.normal(size=(6, 2))
    rows, columns = np.diag([length] * 3 + [1.0] * 3), np.diag([1.0, length] * 3)
    matrix, wanted = rows @ A @ columns, np.linalg.inv(columns) @ x
    symbol, rhs = ca.SX.sym("A", 6, 6), ca.SX.sym("B", 6, 2)
    found = np.array(ca.Function("f", [symbol, rhs], [solve(symbol, rhs)])(matrix, rows @ A @ x))
    np.testing.assert_allclose(columns @ found, x, rtol=0, atol=1e-13)
    assert found == pytest.approx(wanted, rel=1e-12)
