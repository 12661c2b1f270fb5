"""A single step on the caller's own arrays, in one call from Python; it gives up where anything is out of the ordinary.

What surrounds a step in Python (checks, copies, the rows to start with) costs several times the step, so it is compiled
too. The loop that steps is called by its address: its code is on the disk already.
"""

from collections.abc import Callable
from functools import cache

import numpy as np

from kalaba.compiled.engine import SOURCES
from kalaba.compiled.memory import MEMORY, RUNNING, Memory
from kalaba.native.entries import NUMBER, READ, WHOLE, WRITTEN, call_loop, records_at, taking
from kalaba.native.machine_code import Floats, compiled, floats, integers, record_type, source_stamp
from kalaba.tolerances import INFINITE, LARGEST_NUMBER, QUATERNION_UNIT

# Arguments: the address of a Direct, q, v, u, where the next q and v are to be written, t and h. 0 = look closer.
Take = Callable[[int, Floats, Floats, Floats, Floats, Floats, float, float], int]


class Direct:
    """What a step needs beside the memory of the loop; fields commented with a shape are addresses of arrays."""

    memory: int  # address of the loop's record
    loop: int  # address of its code
    n_q: int
    n_driven: int  # slots of u that the actuation fills; the others stay 0
    first_mask: int  # (n_rows,): the rows that every step starts with
    first_references: int  # (n_rows,): their pivots where they were chosen
    first_rank: int
    n_quaternions: int
    quaternions: int  # (n_quaternions,) integers: where in q they begin


DIRECT = record_type(Direct)
_direct_at, _memories_at = records_at(DIRECT), records_at(MEMORY)


@compiled
def _is_usual(direct: Direct, memory: Memory, q: Floats, v: Floats, u: Floats) -> bool:
    """Say whether a state and an actuation have the machine's sizes, are finite, and their quaternions unit."""
    if len(q) != direct.n_q or len(v) != memory.n_v or len(u) != direct.n_driven:
        return False
    fine = True
    for values in (q, v, u):
        for i in range(len(values)):
            fine &= abs(values[i]) <= INFINITE
    for k in range(direct.n_quaternions):
        first, square = integers(direct.quaternions)[k], 0.0
        for i in range(first, first + 4):
            square += q[i] * q[i]
        fine &= abs(square - 1.0) <= QUATERNION_UNIT
    return fine


@compiled
def _prepare(direct: Direct, memory: Memory, q: Floats, v: Floats, u: Floats) -> None:
    """Write the state, the actuation and the rows to start with where the loop reads them."""
    y, held, n_q = floats(memory.y), floats(memory.u), direct.n_q
    mask, references, sizes = floats(memory.mask), floats(memory.references), floats(memory.row_sizes)
    for i in range(memory.n_work):
        y[i] = 0.0
    for i in range(n_q):
        y[memory.n_work + i] = q[i]
    for i in range(memory.n_v):
        y[memory.n_work + n_q + i] = v[i]
    for i in range(direct.n_driven):
        held[i] = u[i]
    for i in range(direct.n_driven, memory.n_u):
        held[i] = 0.0
    for i in range(memory.n_y):
        floats(memory.extents)[i] = 0.0
    for k in range(memory.n_rows):
        mask[k] = floats(direct.first_mask)[k]
        references[k] = floats(direct.first_references)[k]
        sizes[k] = 0.0
    integers(memory.rank)[0] = direct.first_rank


def _take(stamp: int) -> Take:
    def take(  # noqa: PLR0913, PLR0917  (an array each)
        direct_at: int, q: Floats, v: Floats, u: Floats, q_next: Floats, v_next: Floats, t: float, h: float
    ) -> int:
        direct = _direct_at(direct_at)[0]
        memories = _memories_at(direct.memory)
        memory = memories[0]
        if not (0.0 < h <= LARGEST_NUMBER and abs(t) <= LARGEST_NUMBER and _is_usual(direct, memory, q, v, u)):
            return 0
        _prepare(direct, memory, q, v, u)
        memory.time = memory.origin = t
        memory.step = h
        memory.since_origin = 0
        memory.n_steps = 1
        status, n_choices = integers(memory.status), memory.n_choices
        status[0] = RUNNING
        integers(memory.row)[0] = -1
        call_loop(direct.loop, memories, np.inf, 1)
        if status[0] != RUNNING or memory.n_choices > n_choices:
            return 0
        y = floats(memory.y)
        for i in range(direct.n_q):
            q_next[i] = y[memory.n_work + i]
        for i in range(memory.n_v):
            v_next[i] = y[memory.n_work + direct.n_q + i]
        return stamp

    return taking(take, WHOLE, READ, READ, READ, WRITTEN, WRITTEN, NUMBER, NUMBER)


@cache
def take() -> Take:
    """The compiled step."""
    return _take(source_stamp(*SOURCES))
