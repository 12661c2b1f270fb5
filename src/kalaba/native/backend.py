"""Backends: how a machine's functions are evaluated. Native machine code, or CasADi's interpreter beside it."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np

from kalaba.boundary import check_whole
from kalaba.errors import NativeError
from kalaba.interruption import heard
from kalaba.native.build import Partners
from kalaba.native.build import kernel as provide
from kalaba.native.kernels import Kernel, aligned_zeros
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    import casadi as ca

Trace = Callable[[], "ca.Function"]


class Evaluator(Protocol):
    """A function of a machine with its parameters put in: one packed input vector to one packed output vector."""

    @property
    def outputs(self) -> dict[str, slice]:
        """Where each output stands."""

    def __call__(self, inputs: Array) -> Array:
        """Evaluate."""

    def each(self, inputs: Array) -> Array:
        """Evaluate on every row of inputs (N, n_inputs): results (N, n_outputs)."""


MOST_THREADS = 1024


@runtime_checkable
class Backend(Protocol):
    """A way to evaluate functions."""

    @property
    def is_native(self) -> bool:
        """Whether it makes machine code that compiled loops call by its address."""

    @property
    def threads(self) -> int:
        """How many threads a batch may use."""

    def evaluator(
        self,
        name: str,
        key: str,
        trace: Trace,
        parameters: Array,
        *,
        seldom: bool = False,
        partners: Callable[[], Partners] = dict,
    ) -> Evaluator:
        """Prepare a function; `key` tells functions apart, `trace` makes the CasADi function if it is needed.

        `seldom` says that it runs so seldom that the time to prepare it counts for more; `partners`, which of its
        inputs belong to parts that are alike.
        """

    def kernel(
        self,
        name: str,
        key: str,
        trace: Trace,
        lanes: int = 1,
        *,
        seldom: bool = False,
        partners: Callable[[], Partners] = dict,
    ) -> Kernel:
        """The machine code of a function, on `lanes` states at a time; a NativeError where it makes none."""


@dataclass(frozen=True)
class InterpretedFunction:
    """A CasADi function on packed vectors."""

    function: ca.Function
    parameters: Array
    outputs: dict[str, slice]

    def __call__(self, inputs: Array) -> Array:
        """Evaluate in CasADi's virtual machine."""
        sizes = [self.function.size1_in(i) for i in range(self.function.n_in() - 1)]
        pieces = np.split(inputs, np.cumsum(sizes)[:-1])
        results = self.function.call([*pieces, self.parameters])
        return np.concatenate([np.asarray(r.full()).ravel(order="F") for r in results]) if results else np.zeros(0)

    def each(self, inputs: Array) -> Array:
        """Evaluate row after row."""
        return np.array([self(row) for row in inputs])


@dataclass(frozen=True, slots=True)
class Interpreted:
    """CasADi's virtual machine: slow, independent of LLVM, the oracle for native code."""

    @property
    def is_native(self) -> bool:
        """It makes no machine code."""
        return False

    @property
    def threads(self) -> int:
        """One: the interpreter takes state after state."""
        return 1

    def evaluator(
        self,
        name: str,
        key: str,
        trace: Trace,
        parameters: Array,
        *,
        seldom: bool = False,
        partners: Callable[[], Partners] = dict,
    ) -> Evaluator:
        """Wrap the function itself."""
        with heard():
            function = trace()
        sizes = {function.name_out(i): function.numel_out(i) for i in range(function.n_out())}
        return InterpretedFunction(function, parameters, slices(sizes))

    def kernel(
        self,
        name: str,
        key: str,
        trace: Trace,
        lanes: int = 1,
        *,
        seldom: bool = False,
        partners: Callable[[], Partners] = dict,
    ) -> Kernel:
        """Refused."""
        raise NativeError(f"{name}: the interpreter makes no machine code. Build with backend=kb.Native().")


class Bound(NamedTuple):
    """A kernel with arrays of its own: write `inputs`, call `run`, read `outputs`. For one thread."""

    inputs: Array  # (n_inputs,)
    outputs: Array  # (n_outputs,)
    run: Callable[[], None]
    store: Array  # constants and scratch; lives as long as its address is in use


class NativeFunction:
    """A compiled kernel with its parameters put in; every thread works on arrays of its own."""

    def __init__(self, kernel: Kernel, parameters: Array) -> None:
        self.kernel = kernel
        self.store: Array = kernel.store(parameters)
        self.outputs = slices(dict(kernel.outputs))
        self._threads = threading.local()

    @property
    def bound(self) -> Bound:
        """The arrays of this thread."""
        try:
            return self._threads.bound  # type: ignore[no-any-return]
        except AttributeError:
            self._threads.bound = self.bind()
            return self._threads.bound  # type: ignore[no-any-return]

    def bind(self) -> Bound:
        """New arrays for the kernel."""
        inputs, outputs = aligned_zeros(self.kernel.n_inputs, 1)[:, 0], aligned_zeros(self.kernel.n_outputs, 1)[:, 0]
        store = self.store.copy()
        code = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(self.kernel.address)
        run = partial(code, inputs.ctypes.data, outputs.ctypes.data, store.ctypes.data)
        return Bound(inputs, outputs, run, store)

    def __call__(self, inputs: Array) -> Array:
        """Call the machine code."""
        bound = self.bound
        bound.inputs[:] = inputs
        bound.run()
        return bound.outputs.copy()

    def each(self, inputs: Array) -> Array:
        """Call the machine code on every row, in one compiled loop."""
        return run_kernel(self.kernel, self.store, inputs)


@dataclass(frozen=True, slots=True)
class Native:
    """Machine code for this computer, compiled once and kept on disk. A batch may use several threads.

    Arguments:
        threads: threads that a batch of states is worked out in
    """

    threads: int = 1

    def __post_init__(self) -> None:
        check_whole(self.threads, "Native.threads", 1, MOST_THREADS, NativeError)

    @property
    def is_native(self) -> bool:
        """It makes machine code."""
        return True

    def evaluator(
        self,
        name: str,
        key: str,
        trace: Trace,
        parameters: Array,
        *,
        seldom: bool = False,
        partners: Callable[[], Partners] = dict,
    ) -> Evaluator:
        """Load or compile the kernel, and prepare its constants."""
        return NativeFunction(self.kernel(name, key, trace, seldom=seldom, partners=partners), parameters)

    def kernel(
        self,
        name: str,
        key: str,
        trace: Trace,
        lanes: int = 1,
        *,
        seldom: bool = False,
        partners: Callable[[], Partners] = dict,
    ) -> Kernel:
        """The kernel itself, for loops that call it by address."""
        return provide(name, key, trace, lanes, seldom=seldom, partners=partners)


def machine_code(function: Evaluator) -> NativeFunction:
    """An evaluator of a native backend as what it is, for loops that call its machine code by address."""
    if not isinstance(function, NativeFunction):
        raise NativeError("expected machine code, got another evaluator. Build with backend=kb.Native().")
    return function


def run_kernel(kernel: Kernel, store: Array, packed: Array) -> Array:
    """Evaluate a kernel on every row of packed inputs."""
    from kalaba.native.batch import Code, Piece, Slots, batch  # which loads the loops

    results = np.empty((len(packed), kernel.n_outputs))
    slots = Slots(kernel.n_inputs, kernel.n_outputs, kernel.lanes)
    batch(Code(kernel.address, store, kernel), slots, [Piece(0, packed)], [Piece(0, results)])
    return results


def slices(sizes: dict[str, int]) -> dict[str, slice]:
    """Consecutive slices for named sizes."""
    parts, first = {}, 0
    for name, size in sizes.items():
        parts[name] = slice(first, first + size)
        first += size
    return parts


BACKENDS: tuple[Backend, ...] = (Native(), Interpreted())  # the first is the default
