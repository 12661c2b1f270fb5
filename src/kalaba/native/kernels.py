"""What the stages make: a kernel, one compiled function of arrays, with the layout of these arrays.

Arrays are C-contiguous float64 of shape (slots, lanes).
"""

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kalaba.errors import NativeError, near
from kalaba.native.llvm import LoadedCode
from kalaba.native.program import Arrays, Segments
from kalaba.space.arrays import Array

ALIGNMENT = 64  # bytes; a value of 8 lanes then lies in one cache line, which saves 5 to 10 % of the time

_CALL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)  # releases the GIL


def address(array: Any) -> int:  # noqa: ANN401  (an array; typeshed knows no array as a buffer)
    """Where an array begins that can be written to; 0 for an empty one. A third of the time of `array.ctypes.data`."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array)) if array.size else 0


def aligned_zeros(slots: int, lanes: int) -> Array:
    """Give an array of zeros that starts at a cache line."""
    size = slots * lanes
    buffer = np.zeros(size + ALIGNMENT // 8)
    first = (-address(buffer) % ALIGNMENT) // 8
    return buffer[first : first + size].reshape(slots, lanes)


def checked(what: str, array: Array, slots: int, lanes: int) -> Array:
    """Make sure that machine code can work on an array in place."""
    expected = ((slots, lanes), (slots,)) if lanes == 1 else ((slots, lanes),)
    if array.shape not in expected:
        raise NativeError(f"{what}: expected an array of shape {expected[0]}, got {array.shape}")
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise NativeError(f"{what}: expected contiguous float64, got {array.dtype}; use np.ascontiguousarray")
    return array


@dataclass(frozen=True, slots=True)
class Layout(Arrays):
    """The shape of a kernel: its arrays' slots, each `lanes` numbers wide."""

    name: str
    lanes: int
    inputs: Segments  # without the parameters
    outputs: Segments
    n_parameters: int
    n_constants: int  # values that depend on the parameters only, first in the store
    n_work: int  # scratch space, after them
    instructions: int  # operations in one evaluation

    @property
    def n_store(self) -> int:
        """Slots of the store."""
        return self.n_constants + self.n_work

    def input_slice(self, name: str) -> slice:
        """Find an input's slots."""
        return _slice(f"kernel {self.name} has no input", self.inputs, name)

    def output_slice(self, name: str) -> slice:
        """Find an output's slots."""
        return _slice(f"kernel {self.name} has no output", self.outputs, name)


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled kernel that is not yet in memory."""

    layout: Layout
    code: bytes


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Kernel(Layout):
    """Machine code `void (double *inputs, double *outputs, double *store)` on arrays of shape (slots, lanes).

    The arrays must not overlap. The store holds the prepared constants and scratch space, so threads that call a
    kernel at the same time need a store each; the code itself may run in any number of them.
    """

    address: int
    prepare_address: int  # void (double *parameters, double *store, double *store): computes the constants
    code: LoadedCode = field(repr=False, compare=False)

    def store(self, parameters: ArrayLike) -> Array:
        """Allocate a store and compute the constants; parameters of shape (n,) or, one value per lane, (n, lanes)."""
        values = np.asarray(parameters, dtype=np.float64)
        if values.shape not in {(self.n_parameters,), (self.n_parameters, self.lanes)}:
            shapes = f"({self.n_parameters},) or ({self.n_parameters}, {self.lanes})"
            raise NativeError(f"kernel {self.name}: expected parameters of shape {shapes}, got {values.shape}")
        in_lanes = aligned_zeros(self.n_parameters, self.lanes)
        in_lanes[:] = values if values.ndim == 2 else values[:, np.newaxis]
        store = aligned_zeros(self.n_store, self.lanes)
        _CALL(self.prepare_address)(in_lanes.ctypes.data, store.ctypes.data, store.ctypes.data)
        return store

    def __call__(self, inputs: ArrayLike, store: Array, outputs: Array | None = None) -> Array:
        """Evaluate once; loops in machine code call the address instead."""
        arguments = np.ascontiguousarray(inputs, dtype=np.float64)
        checked(f"kernel {self.name}, inputs", arguments, self.n_inputs, self.lanes)
        checked(f"kernel {self.name}, store", store, self.n_store, self.lanes)
        results = aligned_zeros(self.n_outputs, self.lanes) if outputs is None else outputs
        checked(f"kernel {self.name}, outputs", results, self.n_outputs, self.lanes)
        _CALL(self.address)(arguments.ctypes.data, results.ctypes.data, store.ctypes.data)
        return results

    def __reduce__(self) -> tuple[object, ...]:
        raise NativeError(f"kernel {self.name} is machine code of this process; send its key and build it there")


def _slice(problem: str, segments: Segments, name: str) -> slice:
    first = 0
    for segment, size in segments:
        if segment == name:
            return slice(first, first + size)
        first += size
    raise NativeError(f"{problem} {name}; {near(name, (segment for segment, _ in segments))}")
