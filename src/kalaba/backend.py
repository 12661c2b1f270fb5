"""Backends: how a machine's functions are evaluated. Native machine code, or CasADi's interpreter beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.native import Kernel

Array = NDArray[np.float64]
Trace = Callable[[], "ca.Function"]


class Evaluator(Protocol):
    """A function of a machine with its parameters put in: one packed input vector to one packed output vector."""

    @property
    def outputs(self) -> dict[str, slice]:
        """Where each output stands."""

    def __call__(self, inputs: Array) -> Array:
        """Evaluate."""


class Backend(Protocol):
    """A way to evaluate functions."""

    def evaluator(self, name: str, key: str, trace: Trace, parameters: Array) -> Evaluator:
        """Prepare a function; `key` tells functions apart, `trace` makes the CasADi function if it is needed."""


@dataclass(frozen=True)
class InterpretedFunction:
    """A CasADi function on packed vectors."""

    function: Any
    parameters: Array
    outputs: dict[str, slice]

    def __call__(self, inputs: Array) -> Array:
        """Evaluate in CasADi's virtual machine."""
        sizes = [self.function.size1_in(i) for i in range(self.function.n_in() - 1)]
        pieces = np.split(inputs, np.cumsum(sizes)[:-1])
        results = self.function.call([*pieces, self.parameters])
        return np.concatenate([np.asarray(r.full()).ravel(order="F") for r in results]) if results else np.zeros(0)


@dataclass(frozen=True, slots=True)
class Interpreted:
    """CasADi's virtual machine: slow, independent of LLVM, the oracle for native code."""

    def evaluator(self, name: str, key: str, trace: Trace, parameters: Array) -> Evaluator:  # noqa: ARG002
        """Wrap the function itself."""
        function = trace()
        sizes = {function.name_out(i): function.numel_out(i) for i in range(function.n_out())}
        return InterpretedFunction(function, parameters, slices(sizes))


@dataclass(frozen=True)
class NativeFunction:
    """A compiled kernel with its parameters put in."""

    kernel: Kernel
    store: Array
    outputs: dict[str, slice]

    def __call__(self, inputs: Array) -> Array:
        """Call the machine code."""
        return self.kernel(inputs.reshape(-1, 1), self.store)[:, 0]


@dataclass(frozen=True, slots=True)
class Native:
    """Machine code for this computer, compiled once and kept on disk."""

    def evaluator(self, name: str, key: str, trace: Trace, parameters: Array) -> Evaluator:
        """Load or compile the kernel, and prepare its constants."""
        kernel = self.kernel(name, key, trace)
        return NativeFunction(kernel, kernel.store(parameters), slices(dict(kernel.outputs)))

    def kernel(self, name: str, key: str, trace: Trace, lanes: int = 1) -> Kernel:
        """The kernel itself, for loops that call it by address."""
        from kalaba.native import kernel

        return kernel(name, key, trace, lanes)


def slices(sizes: dict[str, int]) -> dict[str, slice]:
    """Consecutive slices for named sizes."""
    found, first = {}, 0
    for name, size in sizes.items():
        found[name] = slice(first, first + size)
        first += size
    return found
