"""Programs of several functions, each called for many blocks of data in turn: what is alike is compiled once.

All numbers stand on a *board* of slots: the inputs first, then the outputs, then what the functions hand to each other.
A call reads its arguments from slots of the board and writes its results there. Slots that are added to, and the
outputs, are zero when the program begins.
"""

from dataclasses import dataclass

import casadi
import numpy as np
from numpy.typing import NDArray

from kalaba.native.arrays import Segments

Slots = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Call:
    """A function with the arguments x and p and the results y (written) and z (added), called once a row of slots.

    Its first arguments may stand together on the board already, its first results stay together there: these are used
    in place, where `kept` says, and have no slots in x and y. Behind them there must be room for the others.

    With a `width` above 1 so many calls are made at once, on as many lanes; their number is then a multiple of it, and
    what is in place stands entry by entry, lane beside lane.
    """

    function: casadi.Function
    x: Slots  # (calls, n_x)
    y: Slots  # (calls, n_y)
    z: Slots  # (calls, n_z)
    p: Slots  # (calls, n_p): entries of the program's parameters, then of its constants
    when: Slots | None = None  # (calls,): not called where this slot of the board holds zero in all lanes
    x_kept: Slots | None = None  # (groups,): first slot of the arguments in place
    y_kept: Slots | None = None  # (groups,): first slot of the results in place
    width: int = 1

    @property
    def groups(self) -> int:
        """How often the machine code is called."""
        return len(self.x) // self.width

    @property
    def n_x_kept(self) -> int:
        """Arguments in place."""
        n: int = self.function.numel_in("x") - self.x.shape[1]
        return n

    @property
    def n_y_kept(self) -> int:
        """Results in place."""
        n: int = self.function.numel_out("y") - self.y.shape[1]
        return n


@dataclass(frozen=True, eq=False)
class BlockProgram:
    """Calls in the order in which they are made."""

    name: str
    inputs: Segments
    outputs: Segments
    n_parameters: int
    constants: tuple[float, ...]  # parameters that never change
    n_zeroed: int  # slots after the outputs that begin as zero
    n_board: int  # slots in all
    calls: tuple[Call, ...]

    @property
    def n_inputs(self) -> int:
        """Slots of the inputs."""
        return sum(size for _, size in self.inputs)

    @property
    def n_outputs(self) -> int:
        """Slots of the outputs."""
        return sum(size for _, size in self.outputs)
