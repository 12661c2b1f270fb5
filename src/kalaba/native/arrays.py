"""The arrays that kernels work on: C-contiguous float64 of shape (slots, lanes)."""

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import NativeError

ALIGNMENT = 64  # bytes; a value of 8 lanes then lies in one cache line, which saves 5 to 10 % of the time

Array = NDArray[np.float64]
Segments = tuple[tuple[str, int], ...]  # names and sizes of what stands one after the other in an array


def aligned_zeros(slots: int, lanes: int) -> Array:
    """Give an array of zeros that starts at a cache line."""
    size = slots * lanes
    buffer = np.zeros(size + ALIGNMENT // 8)
    first = (-buffer.ctypes.data % ALIGNMENT) // 8
    return buffer[first : first + size].reshape(slots, lanes)


def checked(what: str, array: Array, slots: int, lanes: int) -> Array:
    """Make sure that machine code can work on an array in place."""
    expected = ((slots, lanes), (slots,)) if lanes == 1 else ((slots, lanes),)
    if array.shape not in expected:
        raise NativeError(f"{what}: expected an array of shape {expected[0]}, got {array.shape}")
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise NativeError(f"{what}: expected contiguous float64, got {array.dtype}; use np.ascontiguousarray")
    return array
