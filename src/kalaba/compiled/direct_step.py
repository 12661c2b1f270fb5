"""A single step on arrays of its own, in one call from Python; it gives up where anything is out of the ordinary.

What surrounds a step in Python (checks, copies, the rows to start with) costs several times the step, so it is compiled
too. The loop that steps is called by its address: its code is on the disk already.
"""

import numpy as np

from kalaba.compiled.memory import RUNNING, Memory
from kalaba.native.machine_code import call_loop, compiled, compiled_entry, floats, integers, record_type
from kalaba.tolerances import INFINITE, LARGEST_NUMBER, QUATERNION_UNIT


class Direct:
    """What a step needs beside the memory of the loop; fields commented with a shape are addresses of arrays."""

    loop: int  # address of the loop's code
    n_q: int
    n_driven: int  # slots of u that the actuation fills; the others stay 0
    q: int  # (n_q,)
    v: int  # (n_v,)
    u: int  # (n_driven,)
    following: int  # (n_q + n_v,): the state after the step
    is_taken: int  # 0 = look closer
    first_mask: int  # (n_rows,): the rows that every step starts with
    first_references: int  # (n_rows,): their pivots where they were chosen
    first_rank: int
    n_quaternions: int
    quaternions: int  # (n_quaternions,) integers: where in q they begin


DIRECT = record_type(Direct)


@compiled
def _is_usual(direct: Direct, memory: Memory) -> bool:
    """Say whether a state and an actuation are finite, and their quaternions unit."""
    q, v, u = floats(direct.q), floats(direct.v), floats(direct.u)
    fine = True
    for i in range(direct.n_q):
        fine &= abs(q[i]) <= INFINITE
    for i in range(memory.n_v):
        fine &= abs(v[i]) <= INFINITE
    for i in range(direct.n_driven):
        fine &= abs(u[i]) <= INFINITE
    for k in range(direct.n_quaternions):
        first, square = integers(direct.quaternions)[k], 0.0
        for i in range(first, first + 4):
            square += q[i] * q[i]
        fine &= abs(square - 1.0) <= QUATERNION_UNIT
    return fine


@compiled
def _prepare(direct: Direct, memory: Memory) -> None:
    """Write the state, the actuation and the rows to start with where the loop reads them."""
    y, held, n_q = floats(memory.y), floats(memory.u), direct.n_q
    q, v, u = floats(direct.q), floats(direct.v), floats(direct.u)
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


@compiled_entry
def take(direct: Direct, memory: Memory, t: float, h: float) -> None:
    """Step from t to t + h, unless something is out of the ordinary: `is_taken` says so."""
    direct.is_taken = 0
    if not (0.0 < h <= LARGEST_NUMBER and abs(t) <= LARGEST_NUMBER and _is_usual(direct, memory)):
        return
    _prepare(direct, memory)
    memory.time = t
    memory.origin = t
    memory.step = h
    memory.since_origin = 0
    memory.n_steps = 1
    status, n_choices = integers(memory.status), memory.n_choices
    status[0] = RUNNING
    integers(memory.row)[0] = -1
    call_loop(direct.loop, memory, np.inf, 1)
    if status[0] != RUNNING or memory.n_choices > n_choices:
        return
    y, following = floats(memory.y), floats(direct.following)
    for i in range(direct.n_q + memory.n_v):
        following[i] = y[memory.n_work + i]
    direct.is_taken = 1
