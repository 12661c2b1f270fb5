"""The packed input that all kernels of a machine share: where q, v and the rest stand in it.

One vector holds all that a kernel reads, in this order; the parameters p follow in the kernel's own store::

    work | q | v | t | u | f | mask | w | p

    work   work done so far. It rides along with the state that is integrated, and nothing depends on it: a motion
           kernel writes its rate, the power, into this slot of ẏ, and a projection hands it on.
    q, v   the state; y = work | q | v is what a stepper advances.
    t      time.
    u      held actuation, one number per motor, then the values of sampled forces.
    f      further generalised force, one number per velocity.
    mask   one number per constraint row, see below.
    w      one weight per row in AᵀwA beside a mass matrix that is singular; 1 where it is not.

Values of the mask: 0 leaves a row out, because it follows from others, and 1 keeps it. Kernels that work limb by limb
(`kernels/limb_solve.py`) also read who eliminates a row that is kept: 1, the limb that it belongs to (or the hub, for
one of its own); 2 + s, the hub, to which the limb hands it up to free row s. Functions of the whole machine
take 0 and 1 only.

A kernel with lanes works on several states at a time: slot by slot, each `lanes` wide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

INPUTS = ("work", "q", "v", "t", "u", "f", "mask", "w", "p")


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand in the packed input of a machine, and how many numbers its kernels write."""

    n_q: int
    n_v: int
    n_u: int = 0  # held or computed actuation
    n_rows: int = 0  # constraint rows
    lanes: int = 1  # states that a kernel works on at a time
    pushed: bool = False  # a law computes the generalised force too: u ends with it, and f is empty
    n_work: int = 1  # 0 for kernels that do not count the work done

    q: slice = field(init=False, compare=False)
    v: slice = field(init=False, compare=False)
    t: int = field(init=False, compare=False)
    u: slice = field(init=False, compare=False)
    f: slice = field(init=False, compare=False)
    mask: slice = field(init=False, compare=False)
    w: slice = field(init=False, compare=False)
    size: int = field(init=False, compare=False)  # slots in all, without p

    def __post_init__(self) -> None:
        first = 0
        for name, size in self.sizes.items():
            is_number = name == "t"
            if name != "work":
                object.__setattr__(self, name, first if is_number else slice(first, first + size))
            first += size
        object.__setattr__(self, "size", first)

    @classmethod
    def of(cls, machine: Machine) -> Layout:
        """The layout of a machine."""
        n_u = len(machine.actuators) + len(machine.sampled_inputs)
        return cls(len(machine.coordinates), len(machine.velocities), n_u, len(machine.rows))

    @property
    def sizes(self) -> dict[str, int]:
        """How many slots each input takes, in their order; without p."""
        f = 0 if self.pushed else self.n_v
        slots = (self.n_work, self.n_q, self.n_v, 1, self.n_u, f, self.n_rows, self.n_rows)
        return dict(zip(INPUTS, slots, strict=False))

    @property
    def n_y(self) -> int:
        """Size of the state y = work | q | v."""
        return self.n_work + self.n_q + self.n_v

    @property
    def outputs(self) -> Mapping[str, int]:
        """How many slots each kernel of the compiled loop writes."""
        return {kernel: sum(parts.values()) for kernel, parts in self.parts.items()}

    @property
    def parts(self) -> Mapping[str, Mapping[str, int]]:
        """What each kernel of the compiled loop writes, in this order, and how many slots it takes."""
        return _parts(self.n_y, self.n_v, self.n_rows, self.n_u)

    def places(self, kernel: str) -> dict[str, int]:
        """The first slot of each part that a kernel writes."""
        parts = self.parts[kernel]
        return dict(zip(parts, accumulate(parts.values(), initial=0), strict=False))

    def pack(self, q: ArrayLike, v: ArrayLike = 0.0, t: float = 0.0) -> Array:
        """Pack a state as it is; all rows are kept, nothing acts, and w is 1."""
        packed = np.zeros(self.size)
        packed[self.q], packed[self.v], packed[self.t] = q, v, t
        packed[self.mask], packed[self.w] = 1.0, 1.0
        return packed

    def pack_each(self, q: Array, v: ArrayLike = 0.0, t: ArrayLike = 0.0) -> Array:
        """Pack many states, one per row of q, as `pack` does."""
        packed = np.zeros((len(q), self.size))
        packed[:, self.q], packed[:, self.v], packed[:, self.t] = q, v, t
        packed[:, self.mask], packed[:, self.w] = 1.0, 1.0
        return packed


@cache
def _parts(n_y: int, n: int, m: int, n_u: int) -> Mapping[str, Mapping[str, int]]:
    """Slots of what kernels write; matrices stand by columns."""
    square, rows = n * n, m * n
    return {
        "motion": {"y_rates": n_y, "forces": n, "row_pivots": m, "gaps": m},  # ẏ, Qc, D of G, |φ|
        "project": {"y_next": n_y, "residuals": m, "residual_rates": m},  # y corrected; φ and φ̇ before that
        "normalise": {"y_next": n_y},
        "rows": {"listed_mass": square, "listed_rows": rows},  # M, A
        "tangent": {
            "tangent_mass": square,  # M
            "tangent_damping": square,  # C
            "tangent_stiffness": square,  # K
            "tangent_rows": rows,  # A
            "tangent_values": m,  # φ
            "tangent_row_damping": rows,  # C_A
            "tangent_row_stiffness": rows,  # K_A
        },
        "control": {"u": n_u},
        "event": {"value": 1},
    }
