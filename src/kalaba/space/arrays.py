"""The type of all arrays of numbers, and triangles solved."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def solve_triangle(triangle: NDArray[np.floating[Any]], columns: Array, *, lower: bool) -> Array:
    """L⁻¹ B for a triangle L; nothing where B is empty, without SciPy, which is slow to import."""
    if not columns.size:
        return columns
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(triangle, columns, lower=lower, check_finite=False), dtype=np.float64)
