"""A loop in machine code that calls a kernel by its address at one state after the other, as the stepper does."""

from dataclasses import dataclass

import numpy as np

from benchmarks.machine import Array, States
from kalaba.native.backend import NativeFunction
from kalaba.native.machine_code import call, compiled_entry
from kalaba.plant.plant import Plant

PASSES = 50  # over all states in one call from Python


@compiled_entry
def _loop(  # noqa: PLR0913, PLR0917  (addresses and sizes)
    address: int, inputs: int, width: int, count: int, outputs: int, store: int, passes: int
) -> None:
    for _ in range(passes):
        for k in range(count):
            call(address, inputs + 8 * width * k, outputs, store)


@dataclass(frozen=True)
class KernelLoop:
    """The motion kernel and packed states for it."""

    function: NativeFunction
    inputs: Array
    outputs: Array

    @property
    def evaluations(self) -> int:
        """Evaluations in one call."""
        return PASSES * len(self.inputs)

    def __call__(self) -> None:
        """Evaluate every state, PASSES times."""
        kernel, count, width = self.function.kernel, *self.inputs.shape
        addresses = self.inputs.ctypes.data, self.outputs.ctypes.data, self.function.store.ctypes.data
        _loop(kernel.address, addresses[0], width, count, addresses[1], addresses[2], PASSES)


def kernel_loop(plant: Plant, states: States) -> KernelLoop:
    """Pack states with the rows chosen at the start, which hold at all of them."""
    function = plant.standard("motion")
    if not isinstance(function, NativeFunction):
        raise TypeError(f"expected native code, got {function!r}")
    packed = [plant.packed(q, v, force) for q, v, force in zip(states.q, states.v, states.force, strict=True)]
    inputs = np.array(packed)
    inputs[:, plant.layout.mask] = plant.choice.mask
    return KernelLoop(function, inputs, np.zeros(function.kernel.n_outputs))
