"""A kernel on many states at once: rows of arrays packed into lanes, called, unpacked, without Python in between."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from kalaba.errors import NativeError
from kalaba.native import aligned_zeros
from kalaba.native.machine_code import (
    Floats,
    call,
    compiled,
    compiled_entry,
    floats,
    integers,
    record_type,
)

PIECE = 4  # entries of a piece: address, first slot, width, distance from row to row


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """A kernel's machine code with the constants of one machine.

    The store also holds the kernel's scratch space: integrations that run at the same time need a copy each.
    """

    address: int
    store: Floats  # (constants + scratch, lanes)
    owner: object = None  # whatever must live as long as the code
    instructions: int = 1  # operations of one evaluation
    prepare: int = 0  # address of what computes the constants, where parameters differ from state to state

    def __post_init__(self) -> None:
        if self.store.dtype != np.float64 or not self.store.flags.c_contiguous:
            raise NativeError(f"a kernel's store must be a contiguous float64 array, got {self.store.dtype}")


@dataclass(frozen=True, slots=True)
class Slots:
    """How wide a kernel is."""

    inputs: int
    outputs: int
    lanes: int


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Consecutive slots and the array they are read from or written to: (n, width), or (width,) for all states."""

    slot: int
    array: Floats

    def __post_init__(self) -> None:
        array = self.array
        contiguous = array.ndim < 2 or not array.size or array.shape[1] <= 1 or array.strides[1] == array.itemsize
        if array.dtype != np.float64 or array.ndim not in {1, 2} or not contiguous:
            raise NativeError(f"slot {self.slot}: expected float64 of shape (n, width) or (width,), got {array.shape}")


class Job:
    """The fields of the record a thread works on; those commented with a shape are addresses of arrays."""

    kernel: int
    store: int
    inputs: int  # (input slots, lanes)
    outputs: int  # (output slots, lanes)
    lanes: int
    first: int  # states from here ...
    end: int  # ... to here
    sources: int  # (n_sources, 4) integers: pieces
    n_sources: int
    results: int  # (n_results, 4) integers: pieces
    n_results: int
    prepare: int  # 0 where all states have the constants in the store
    parameters: int  # (parameters, lanes)
    varied: int  # (n_varied, 4) integers: pieces of parameters
    n_varied: int


JOB = record_type(Job)


@dataclass(frozen=True, slots=True, eq=False)
class Varied:
    """Parameters of which some differ from state to state, and where those are read from."""

    common: Floats  # (parameters,): the values of all others
    pieces: Sequence[Piece]


def batch(
    code: Code,
    slots: Slots,
    sources: Sequence[Piece],
    results: Sequence[Piece],
    threads: int = 1,
    varied: Varied | None = None,
) -> None:
    """Call a kernel for each of the n states in `sources` and write to the arrays of `results`, each (n, width).

    Slots without a source are 0. States are split among threads; how they fall into lanes changes no bit. With `varied`
    the constants in the store are computed anew for every block of lanes.
    """
    count = len(results[0].array)
    for piece in (*sources, *results, *(varied.pieces if varied else ())):
        if (piece.array.ndim == 2 or piece in results) and piece.array.shape[:1] != (count,):
            raise NativeError(f"slot {piece.slot}: {count} states expected, got an array of shape {piece.array.shape}")
    blocks = -(-count // slots.lanes)
    bounds = [min(count, slots.lanes * (blocks * part // threads)) for part in range(threads + 1)]
    bounds[-1] = count
    spans = [(first, end) for first, end in pairwise(bounds) if end > first]
    work = partial(_work, code, slots, (sources, results), varied)
    if len(spans) <= 1:
        for span in spans:
            work(span)
        return
    with ThreadPoolExecutor(len(spans)) as pool:
        list(pool.map(work, spans))


def _work(
    code: Code,
    slots: Slots,
    pieces: tuple[Sequence[Piece], Sequence[Piece]],
    varied: Varied | None,
    span: tuple[int, int],
) -> None:
    """Run one thread's share, with its own blocks and its own scratch; `pieces` are the sources and the results."""
    sources, results = pieces
    inputs, outputs = aligned_zeros(slots.inputs, slots.lanes), aligned_zeros(slots.outputs, slots.lanes)
    store = aligned_zeros(len(code.store), slots.lanes)
    store[:] = code.store
    for piece in sources:
        if piece.array.ndim == 1:
            inputs[piece.slot : piece.slot + piece.array.size] = piece.array[:, None]
    rows_in = _table([piece for piece in sources if piece.array.ndim == 2])
    rows_out = _table(results)
    common, chosen = (varied.common, varied.pieces) if varied else (np.zeros(0), ())
    parameters, rows_varied = aligned_zeros(len(common), slots.lanes), _table(chosen)
    parameters[:] = common[:, np.newaxis]
    job = np.zeros(1, dtype=JOB)
    job[0] = (
        *(code.address, store.ctypes.data, inputs.ctypes.data, outputs.ctypes.data, slots.lanes, *span),
        *(rows_in.ctypes.data, len(rows_in), rows_out.ctypes.data, len(rows_out)),
        *(code.prepare, parameters.ctypes.data, rows_varied.ctypes.data, len(rows_varied)),
    )
    _drive(job)


def _table(pieces: Sequence[Piece]) -> npt.NDArray[np.int64]:
    rows = [(p.array.ctypes.data, p.slot, p.array.shape[1], p.array.strides[0] // p.array.itemsize) for p in pieces]
    return np.array(rows, dtype=np.int64).reshape(-1, PIECE)


@compiled_entry
def _drive(job: Job) -> None:
    """Go through a job's states, as many at a time as there are lanes; the last state fills up the last block."""
    first = job.first
    while first < job.end:
        if job.n_varied:
            _pack(job, first, job.parameters, job.varied, job.n_varied)
            call(job.prepare, job.parameters, job.store, job.store)
        _pack(job, first, job.inputs, job.sources, job.n_sources)
        call(job.kernel, job.inputs, job.outputs, job.store)
        _unpack(job, first)
        first += job.lanes


@compiled
def _pack(job: Job, first: int, into: int, pieces: int, count: int) -> None:
    inputs, sources, lanes = floats(into), integers(pieces), job.lanes
    for piece in range(count):
        k = PIECE * piece
        address, slot, width, stride = sources[k], sources[k + 1], sources[k + 2], sources[k + 3]
        for lane in range(lanes):
            source = floats(address + 8 * min(first + lane, job.end - 1) * stride)
            for i in range(width):
                inputs[(slot + i) * lanes + lane] = source[i]


@compiled
def _unpack(job: Job, first: int) -> None:
    outputs, results, lanes = floats(job.outputs), integers(job.results), job.lanes
    for piece in range(job.n_results):
        k = PIECE * piece
        address, slot, width, stride = results[k], results[k + 1], results[k + 2], results[k + 3]
        for lane in range(min(lanes, job.end - first)):
            target = floats(address + 8 * (first + lane) * stride)
            for i in range(width):
                target[i] = outputs[(slot + i) * lanes + lane]
