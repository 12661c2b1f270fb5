"""How long a step is, fixed or adapted to its error, and what becomes of a lane that goes wrong."""

import numpy as np

from kalaba.compiled.memory import NAN, RUNNING, UNDERFLOW, UNSOLVED, Memory, evaluate, load
from kalaba.compiled.projection import activate
from kalaba.native.machine_code import Floats, compiled, floats, integers
from kalaba.steppers import step_length
from kalaba.steppers.step_length import FIRST_PROBE, SMALLEST_ERROR, STRETCH
from kalaba.tolerances import INFINITE, PIVOT_BESIDE, SHORTEST_STEP

next_factor = compiled(step_length.next_factor)
retry_factor = compiled(step_length.retry_factor)
_first_length = compiled(step_length.first_length)


@compiled
def aim(memory: Memory, until: float) -> None:
    """Set the length and the end of the next step, which all lanes that run will take.

    A fixed step ends on the grid origin + k·step; an end off the grid shortens the step and moves the grid. Counting
    steps instead of adding them keeps every time free of how the run was cut into chunks.
    """
    activate(memory)
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
        memory.passing = 0.0
        _keep_pivots(memory)
        if memory.next_step == 0.0:
            memory.next_step = first_step(memory, memory.time)
        _reach(memory, min(memory.next_step, memory.max_step), until)


@compiled
def _reach(memory: Memory, h: float, until: float) -> bool:
    """Let an adaptive step go so far, or a little farther to land on `until` and not just short of it.

    A step that sinks below rounding goes nowhere, and all lanes with it, since they share it; then False. A lane whose
    last stage had no finite rate, such as that of a law without a value from here on, ends as not finite.
    """
    lands = STRETCH * h >= until - memory.time
    memory.taken = until - memory.time if lands else h
    memory.ahead = until if lands else memory.time + h
    if lands or h > SHORTEST_STEP * max(abs(memory.time), memory.slack):
        return True
    memory.ahead = memory.time
    status = integers(memory.status)
    for lane in range(memory.lanes):
        if status[lane] == RUNNING:
            status[lane] = UNDERFLOW if _has_rate(memory, lane) else NAN
    return False


@compiled
def _has_rate(memory: Memory, lane: int) -> bool:
    """Say whether the motion that was last evaluated has a finite rate ẏ in a lane."""
    rates, fine = floats(memory.rates), True
    for i in range(memory.n_y):
        fine &= abs(rates[i * memory.lanes + lane]) <= INFINITE
    return fine


@compiled
def is_repeated(memory: Memory, error: float, until: float) -> bool:
    """Say whether a step is to be taken again, and set its new length, or that of the next step if it stands.

    A step with an error above 1, estimated before projection, is shortened and repeated; one that would end beside a
    singular position is halved, once, and the next one goes through it. A fixed step without a solution ends the run
    where it began, and so does one that would sink below rounding. Of the first only lane 0 is told: methods that
    solve equations run on one lane (`workspace.py` refuses more).
    """
    if memory.step > 0.0 and memory.unsolved == 1:
        memory.ahead = memory.time
        integers(memory.status)[0] = UNSOLVED if _has_rate(memory, 0) else NAN
        return False
    if memory.step > 0.0 or memory.ahead == memory.time:
        return False
    h = memory.taken
    if error <= 1.0 and memory.passing == 0.0 and memory.ahead != until and _ends_beside(memory):
        memory.passing = h
        return _reach(memory, 0.5 * h, until)
    if error <= 1.0:
        following = h * next_factor(error, memory.error, memory.exponent)
        if memory.passing > 0.0:  # cut short so that the next step goes through the singular position
            following = max(following, memory.passing)
        elif memory.rejected > 0:
            following = min(following, h)
        elif memory.ahead == until:  # cut short by the end, not by the error
            following = max(following, memory.next_step)
        memory.next_step = following
        memory.error = max(error, SMALLEST_ERROR)
        return False
    memory.rejected += 1
    memory.n_rejected += 1
    return _reach(memory, h * retry_factor(error, memory.exponent), until)


@compiled
def _keep_pivots(memory: Memory) -> None:
    """Keep the pivots where an adaptive step starts, and the largest that each kept row has had."""
    first, largest, mask = floats(memory.first_pivots), floats(memory.largest_pivots), floats(memory.mask)
    pivots = floats(memory.row_pivots)
    for k in range(memory.n_rows * memory.lanes):
        first[k] = pivots[k]
        if mask[k] > 0.0:
            largest[k] = max(largest[k], pivots[k])


@compiled
def least_pivot(memory: Memory) -> float:
    """Give the least pivot of a kept row, at the start or the last stage of a step, of the largest the row has had."""
    first, largest, mask = floats(memory.first_pivots), floats(memory.largest_pivots), floats(memory.mask)
    active, lanes = integers(memory.active), memory.lanes
    pivots = floats(memory.row_pivots)
    least = 1.0
    for k in range(memory.n_rows * lanes):
        if mask[k] > 0.0 and active[k % lanes] == 1 and largest[k] > 0.0:
            least = min(least, min(first[k], pivots[k]) / largest[k])
    return least


@compiled
def _ends_beside(memory: Memory) -> bool:
    """Say whether a row that is kept has all but vanished at the end of a step, by the pivots of its last stage.

    Beside a singular position, at a distance x, a pivot of G is as x². See `PIVOT_BESIDE`.
    """
    first, mask, active, lanes = (
        floats(memory.first_pivots),
        floats(memory.mask),
        integers(memory.active),
        memory.lanes,
    )
    pivots = floats(memory.row_pivots)
    beside = False
    for k in range(memory.n_rows * lanes):
        beside |= mask[k] > 0.0 and active[k % lanes] == 1 and pivots[k] < PIVOT_BESIDE * first[k]
    return beside


@compiled
def stays_finite(memory: Memory, values: Floats) -> bool:
    """Give up the lanes whose state or rate is not finite, and say whether a lane still runs."""
    status, lanes = integers(memory.status), memory.lanes
    all_fine = True
    for i in range(memory.entries):
        all_fine &= abs(values[i]) <= INFINITE
    running = False
    for lane in range(lanes):
        fine = all_fine
        if not all_fine:
            fine = True
            for i in range(memory.n_y):
                fine &= abs(values[i * lanes + lane]) <= INFINITE
        if status[lane] == RUNNING:
            status[lane] = RUNNING if fine else NAN
            running |= fine
    return running


@compiled
def scaled_norm(memory: Memory, values: Floats) -> float:
    """Give the root mean square of values_i / (floor_i + rtol E_i), the largest over the active lanes.

    E_i is how far coordinate i has come from where the run began, or the largest velocity i, up to the end of the
    step under way; the work has no part in it. So the norm knows no unit, no choice of the origin, and no moment at
    which a velocity passes zero.
    """
    active, floors, lanes, first = integers(memory.active), floats(memory.floors), memory.lanes, memory.n_work
    extents, origins, trial = floats(memory.extents), floats(memory.origins), floats(memory.trial)
    worst = 0.0
    for lane in range(lanes):
        total = 0.0
        for slot in range(first, memory.n_y):
            i = slot * lanes + lane
            scale = floors[slot] + memory.relative * max(extents[i], abs(trial[i] - origins[i]))
            if scale > 0.0:
                total += (values[i] / scale) ** 2
            elif values[i] != 0.0:  # nothing is allowed for what has not moved, without an absolute tolerance
                total = np.inf
        norm = np.sqrt(total / (memory.n_y - first))
        if active[lane] == 1 and not norm <= worst:  # a NaN stays
            worst = norm
    return worst


@compiled
def widen(memory: Memory) -> None:
    """Let the extents take in the state on hand."""
    y, extents, origins = floats(memory.y), floats(memory.extents), floats(memory.origins)
    for i in range(memory.entries):
        extents[i] = max(extents[i], abs(y[i] - origins[i]))


@compiled
def first_step(memory: Memory, t: float) -> float:
    """Guess the first step from the size of the rate of y (the first stage) and of the rate's change.

    The change is that over a small Euler step, a millionth of the run. Overwrites `between` and `trial`.
    """
    y, trial, between, rates, stages = (
        floats(memory.y),
        floats(memory.trial),
        floats(memory.between),
        floats(memory.rates),
        floats(memory.stages),
    )
    h0 = FIRST_PROBE * (memory.end - memory.start)
    for n in range(memory.entries):
        between[n] = y[n] + h0 * stages[n]
        trial[n] = between[n]
    load(memory, between, t + h0)
    evaluate(memory, -1)
    d1 = scaled_norm(memory, stages)
    for n in range(memory.entries):
        between[n] = rates[n] - stages[n]
    d2 = scaled_norm(memory, between) / h0
    return _first_length(d1, d2, h0, memory.exponent)
