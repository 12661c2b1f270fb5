"""Bringing a state back to its constraints, or its quaternions to length 1.

The formula is in `constrain/kernels/project.py`, the same in plain Python in `plant/projection.py`.
"""

from kalaba.compiled.memory import RESIDUAL, RUNNING, Memory, load
from kalaba.native.machine_code import Floats, call, compiled, floats, integers
from kalaba.tolerances import MOST_PROJECTIONS, PROJECTED, PROJECTION_LOST, SLOWEST

PROBE = 2.0**-26  # of the machine's sizes: the root of rounding, so that curvature and rounding err alike


@compiled
def activate(memory: Memory) -> None:
    """Let `settle` work on every lane that runs."""
    active, status = integers(memory.active), integers(memory.status)
    for lane in range(memory.lanes):
        active[lane] = 1 if status[lane] == RUNNING else 0


@compiled
def copy_active(memory: Memory, source: Floats, target: Floats) -> None:
    """Copy the active lanes of a state."""
    active, lanes = integers(memory.active), memory.lanes
    count = 0
    for lane in range(lanes):
        count += active[lane]
    if count == lanes:
        for i in range(memory.entries):
            target[i] = source[i]
        return
    for lane in range(lanes):
        if active[lane] == 1:
            for i in range(memory.n_y):
                target[i * lanes + lane] = source[i * lanes + lane]


@compiled
def settle(memory: Memory, state: Floats, t: float) -> None:
    """Project the active lanes of `state` in place, again while the residual found before a correction is too large.

    Too large is above PROJECTED of the rows' sizes, as long as it shrinks: a state of large numbers may not come so
    near.
    `memory.residual` holds the residual of the kept rows, in these sizes, before the last correction.
    """
    settled, active, before = floats(memory.settled), integers(memory.active), floats(memory.residual)
    mask, residual, lanes = floats(memory.mask), floats(memory.residuals), memory.lanes
    n_checked, units = memory.n_rows * memory.projecting, floats(memory.gap_units)  # normalising finds no residual
    again = memory.settle != 0
    tries = 0
    while again and tries < MOST_PROJECTIONS:
        load(memory, state, t)
        call(memory.settle, memory.inputs, memory.settled, memory.settle_store)
        copy_active(memory, settled, state)
        again = False
        for lane in range(lanes):
            if active[lane] == 1:
                worst = 0.0
                for k in range(n_checked):
                    gap = abs(residual[k * lanes + lane]) / units[k]
                    worst = max(worst, gap if mask[k * lanes + lane] > 0.0 else 0.0)
                shrinks = tries == 0 or worst < 0.5 * before[lane] or worst > PROJECTION_LOST
                before[lane] = worst
                active[lane] = 1 if worst > PROJECTED and shrinks else 0
                again |= active[lane] == 1
        tries += 1


@compiled
def keep_tangent(memory: Memory, error: Floats) -> None:
    """Leave of the error of a step only what its projection will not take away, P e with P = 1 - M⁻¹ Aᵀ G⁻¹ A.

    The kernel that projects is probed with small changes of the step's end along e: it moves q by P of the change, and
    with q as it is v likewise. Overwrites `raw`.
    """
    trial, inputs, settled, raw = (
        floats(memory.trial),
        floats(memory.inputs),
        floats(memory.settled),
        floats(memory.raw),
    )
    lanes, first_q, first_v = memory.lanes, memory.n_work, memory.n_y - memory.n_v
    load(memory, trial, memory.ahead)
    call(memory.settle, memory.inputs, memory.settled, memory.settle_store)
    for i in range(memory.entries):
        raw[i] = settled[i]
    for first, last in ((first_q, first_v), (first_v, memory.n_y)):
        load(memory, trial, memory.ahead)
        for lane in range(lanes):
            probe = _probe(memory, error, lane, first, last)
            for slot in range(first, last):
                inputs[slot * lanes + lane] += probe * error[slot * lanes + lane]
        call(memory.settle, memory.inputs, memory.settled, memory.settle_store)
        for lane in range(lanes):
            probe = _probe(memory, error, lane, first, last)
            for slot in range(first, last):
                i = slot * lanes + lane
                raw[i] = (settled[i] - raw[i]) / probe
    for i in range(first_q * lanes, memory.entries):
        error[i] = raw[i]


@compiled
def _probe(memory: Memory, error: Floats, lane: int, first: int, last: int) -> float:
    """Give the factor that makes the error of q or v in a lane a change of PROBE of the machine's sizes."""
    sizes, largest = floats(memory.sizes), 0.0
    for slot in range(first, last):
        largest = max(largest, abs(error[slot * memory.lanes + lane]) / sizes[slot])
    return PROBE / largest if largest > 0.0 else 1.0


@compiled
def keep_raw(memory: Memory, state: Floats) -> None:
    """Keep a state as it is before its projection."""
    raw = floats(memory.raw)
    for i in range(memory.entries):
        raw[i] = state[i]


@compiled
def measure_change(memory: Memory, state: Floats) -> None:
    """Find how much of each lane's speed its projection has changed: of the largest so far, as machines turn back."""
    raw, extents, lanes, per_unit = floats(memory.raw), floats(memory.extents), memory.lanes, floats(memory.per_v_unit)
    first_v = memory.n_y - memory.n_v
    for lane in range(lanes):
        change, fastest = 0.0, SLOWEST * memory.own_rate
        for j in range(memory.n_v):
            i = (first_v + j) * lanes + lane
            change = max(change, abs(state[i] - raw[i]) * per_unit[j])
            fastest = max(fastest, max(abs(raw[i]), extents[i]) * per_unit[j])
        floats(memory.speed_change)[lane] = change / fastest


@compiled
def restore(memory: Memory, state: Floats, lane: int) -> None:
    """Undo the projection of a lane."""
    raw, lanes = floats(memory.raw), memory.lanes
    for i in range(memory.n_y):
        state[i * lanes + lane] = raw[i * lanes + lane]


@compiled
def note_jolts(memory: Memory, t: float) -> None:
    """Keep on record how much of the speed a projection took, which `measure_change` has found.

    On a smooth motion it is the stepper's error; more means that the machine passed a singular position, or that rows
    came into force with a jolt.
    """
    jolt = floats(memory.jolt)
    for lane in range(memory.lanes):
        size = floats(memory.speed_change)[lane]
        if size > jolt[lane] and integers(memory.status)[lane] == RUNNING:
            jolt[lane] = size
            floats(memory.jolt_time)[lane] = t


@compiled
def note_gap(memory: Memory, lane: int, gap: float, row: int, t: float) -> None:
    """Keep the largest gap of a lane on record, of its row's size, with its row and its time."""
    if row >= 0 and gap > floats(memory.worst)[lane] * floats(memory.gap_units)[row]:
        floats(memory.worst)[lane] = gap / floats(memory.gap_units)[row]
        integers(memory.worst_row)[lane] = row
        floats(memory.worst_time)[lane] = t


@compiled
def fail_unsettled(memory: Memory) -> None:
    """Give up the lanes whose projection did not close, naming the row that stays farthest open."""
    status, row, left = integers(memory.status), integers(memory.row), floats(memory.residual)
    mask, residual, lanes = floats(memory.mask), floats(memory.residuals), memory.lanes
    units = floats(memory.gap_units)
    for lane in range(lanes):
        if status[lane] == RUNNING and left[lane] > PROJECTION_LOST:
            status[lane] = RESIDUAL
            for k in range(memory.n_rows):
                if mask[k * lanes + lane] > 0.0 and abs(residual[k * lanes + lane]) / units[k] >= left[lane]:
                    row[lane] = k
