"""Triangles solved row after row give what a general solver gives."""

import numpy as np
import pytest

from kalaba.space.arrays import solve_triangle


@pytest.mark.parametrize("is_lower", [True, False])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (4, 0), (5, 7), (60, 3)])
def test_a_triangle_is_solved(shape, is_lower):
    numbers = np.random.default_rng(3)
    square = numbers.normal(size=(shape[0], shape[0]))
    triangle = np.tril(square, -1) / max(shape[0], 1) + np.diag(1.0 + np.arange(shape[0]))
    whole = triangle if is_lower else triangle.T
    columns = numbers.normal(size=shape)
    before = columns.copy()
    beside = np.triu(square, 1) if is_lower else np.tril(square, -1)  # as LAPACK leaves it there: it must not be read
    solved = solve_triangle(whole + beside, columns, lower=is_lower)
    np.testing.assert_allclose(whole @ solved, columns, rtol=0, atol=1e-13)  # a few hundred roundings
    np.testing.assert_array_equal(columns, before)


def test_whole_numbers_are_solved_exactly():
    triangle = np.array([[2.0, 0.0, 0.0], [1.0, 4.0, 0.0], [3.0, -2.0, 1.0]])
    solution = np.array([[1.0, -3.0], [5.0, 0.5], [-7.0, 8.0]])
    np.testing.assert_array_equal(solve_triangle(triangle, triangle @ solution, lower=True), solution)
    np.testing.assert_array_equal(solve_triangle(triangle.T, triangle.T @ solution, lower=False), solution)
