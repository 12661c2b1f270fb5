"""The type of all arrays of numbers, and triangles solved."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def solve_triangle(triangle: NDArray[np.floating[Any]], columns: Array, *, lower: bool) -> Array:
    """L⁻¹ B for a triangle L, row after row; not by SciPy, which takes longer to import than a command to run."""
    solved = np.array(columns, dtype=np.float64)
    count = len(solved)
    for i in range(count) if lower else reversed(range(count)):
        known = slice(0, i) if lower else slice(i + 1, count)
        solved[i] = (solved[i] - triangle[i, known] @ solved[known]) / triangle[i, i]
    return solved
