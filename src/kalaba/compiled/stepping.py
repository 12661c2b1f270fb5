"""How far a step goes, fixed or adaptive, and what is left of a lane that goes wrong."""

import numpy as np

from kalaba.compiled.adaptive import SMALLEST_ERROR, next_factor, retry_factor, step_error
from kalaba.compiled.memory import NAN, RUNNING, UNDERFLOW, UNSOLVED, Memory
from kalaba.compiled.structural import structural_error
from kalaba.native.machine_code import Floats, compiled, integers

LARGEST = 1e300  # beyond it a number is as good as infinite
STRETCH = 1.01  # a step may grow by this to land on the end at once
ROUNDING = 16 * float(np.finfo(np.float64).eps)


@compiled
def aim(memory: Memory, until: float) -> None:
    """Set the length and the end of the next step.

    A fixed step ends on the grid origin + k·step; an end off the grid shortens the step and moves the grid. Counting
    steps instead of adding them keeps every time free of how the run was cut into chunks.
    """
    memory.rejected = 0
    if memory.step > 0.0:
        memory.taken = memory.step
        memory.since_origin += 1
        memory.ahead = memory.origin + memory.since_origin * memory.step
        if memory.ahead > until + memory.slack:
            memory.taken = until - memory.time
            memory.ahead = until
            memory.origin = until
            memory.since_origin = 0
    else:
        _reach(memory, min(memory.next_step, memory.max_step), until)


@compiled
def _reach(memory: Memory, h: float, until: float) -> bool:
    """Let an adaptive step go so far, or a little farther to land on `until` and not just short of it.

    A step that sinks below rounding goes nowhere, and all lanes with it, since they share it; then False.
    """
    lands = STRETCH * h >= until - memory.time
    memory.taken = until - memory.time if lands else h
    memory.ahead = until if lands else memory.time + h
    if lands or h > ROUNDING * max(abs(memory.time), memory.slack):
        return True
    memory.ahead = memory.time
    status = integers(memory.status)
    for lane in range(memory.lanes):
        status[lane] = UNDERFLOW if status[lane] == RUNNING else status[lane]
    return False


@compiled
def passes(memory: Memory, until: float) -> bool:
    """Say whether the step stands, or there is none left to take; else shorten it.

    The error is estimated before projection. A step that stands suggests the next. A fixed step without a solution
    ends the run where it began.
    """
    if memory.step > 0.0 and memory.unsolved == 1:
        memory.ahead = memory.time
        integers(memory.status)[0] = UNSOLVED
        return True
    if memory.step > 0.0 or memory.ahead == memory.time:
        return True
    h = memory.taken
    error = structural_error(memory, h) if memory.structural == 1 else step_error(memory, h)
    if error <= 1.0:
        following = h * next_factor(error, memory.error, memory.exponent)
        if memory.rejected > 0:
            following = min(following, h)
        elif memory.ahead == until:  # cut short by the end, not by the error
            following = max(following, memory.next_step)
        memory.next_step = following
        memory.error = max(error, SMALLEST_ERROR)
        return True
    memory.rejected += 1
    memory.n_rejected += 1
    return not _reach(memory, h * retry_factor(error, memory.exponent), until)


@compiled
def fail_infinite(memory: Memory, values: Floats) -> bool:
    """Give up the lanes whose state or rate is not finite, and say whether a lane still runs."""
    status, lanes = integers(memory.status), memory.lanes
    all_fine = True
    for i in range(memory.entries):
        all_fine &= abs(values[i]) <= LARGEST
    running = False
    for lane in range(lanes):
        fine = all_fine
        if not all_fine:
            fine = True
            for i in range(memory.n_y):
                fine &= abs(values[i * lanes + lane]) <= LARGEST
        if status[lane] == RUNNING:
            status[lane] = RUNNING if fine else NAN
            running |= fine
    return running
