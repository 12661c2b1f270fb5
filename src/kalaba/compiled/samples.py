"""What is recorded: samples at the state on hand or within a step, and the event that stops a lane."""

import numpy as np

from kalaba.compiled.choice import flag_noise
from kalaba.compiled.explicit import interpolate, prepare_dense
from kalaba.compiled.memory import RUNNING, STOPPED, Memory, evaluate, load
from kalaba.compiled.projection import activate, keep_raw, note_gap, restore, settle
from kalaba.native.machine_code import Floats, call, compiled, floats, integers
from kalaba.steppers.step_length import HALVINGS


@compiled
def next_time(memory: Memory) -> float:
    """Give the time of the next sample: a multiple of save_every, at last the end, then never."""
    if memory.next_sample >= memory.n_samples:
        return np.inf
    if memory.next_sample == memory.n_samples - 1:
        return memory.end
    return memory.start + memory.next_sample * memory.save_every


@compiled
def _copy(memory: Memory, lane: int, slots: int, source: Floats, target: Floats) -> None:
    """Copy one lane of so many slots."""
    lanes = memory.lanes
    for i in range(slots):
        target[i * lanes + lane] = source[i * lanes + lane]


@compiled
def record(memory: Memory, lane: int, t: float, state: Floats) -> None:
    """Keep one lane of `state` with what the motion kernel last returned for it."""
    samples, lanes, n_v, n_u = integers(memory.samples), memory.lanes, memory.n_v, memory.n_u
    index = samples[lane]
    v_bytes, u_bytes = 8 * n_v * lanes, 8 * n_u * lanes
    _copy(memory, lane, memory.n_y, state, floats(memory.sample_y + index * 8 * memory.entries))
    _copy(memory, lane, n_v, floats(memory.v_rates), floats(memory.sample_acceleration + index * v_bytes))
    _copy(memory, lane, n_v, floats(memory.forces), floats(memory.sample_force + index * v_bytes))
    _copy(memory, lane, n_u, floats(memory.u), floats(memory.sample_actuation + index * u_bytes))
    gaps = floats(memory.gaps)
    gap, row, worst, units = 0.0, -1, 0.0, floats(memory.gap_units)
    for k in range(memory.n_rows):
        if gaps[k * lanes + lane] > worst * units[k]:
            gap, row, worst = gaps[k * lanes + lane], k, gaps[k * lanes + lane] / units[k]
    floats(memory.sample_time)[index * lanes + lane] = t
    floats(memory.sample_gap)[index * lanes + lane] = gap
    integers(memory.sample_gap_row)[index * lanes + lane] = row
    note_gap(memory, lane, gap, row, t)
    samples[lane] = index + 1


@compiled
def record_state(memory: Memory) -> None:
    """Record the state on hand, whose motion was just evaluated, if a sample is due."""
    time = next_time(memory)
    if time <= memory.time + memory.slack:
        for lane in range(memory.lanes):
            if integers(memory.status)[lane] == RUNNING:
                record(memory, lane, time, floats(memory.y))
        memory.next_sample += 1


@compiled
def _settle_between(memory: Memory, t: float) -> None:
    """Project a state between two steps, but not where that is noise."""
    between, flag = floats(memory.between), integers(memory.flag)
    keep_raw(memory, between)
    settle(memory, between, t)
    if flag_noise(memory, between, t):
        for lane in range(memory.lanes):
            if flag[lane] == 1:
                restore(memory, between, lane)


@compiled
def record_within(memory: Memory) -> None:
    """Record what lies within the step just taken: samples that are due, and the event if it came."""
    came = look(memory, floats(memory.trial), memory.ahead)
    if came or next_time(memory) < memory.ahead - memory.slack:
        prepare_dense(memory, memory.ahead, memory.taken)
        if came:
            locate(memory)
        record_inside(memory)


@compiled
def record_inside(memory: Memory) -> None:
    """Record what lies within the step, in order: samples that are due, and events, where a lane stops.

    The states come from the dense output and are projected first.
    """
    y, between, lanes = floats(memory.y), floats(memory.between), memory.lanes
    status, stop = integers(memory.status), floats(memory.stop)
    while True:
        due = next_time(memory)
        time = due if due < memory.ahead - memory.slack else np.inf
        for lane in range(lanes):
            if status[lane] == RUNNING:
                time = min(time, stop[lane])
        if time == np.inf:
            return
        interpolate(memory, memory.taken, (time - memory.time) / memory.taken)
        activate(memory)
        _settle_between(memory, time)
        load(memory, between, time)
        evaluate(memory, -1)
        for lane in range(lanes):
            stops = stop[lane] == time
            if status[lane] == RUNNING and (stops or time == due):
                record(memory, lane, time, between)
            if status[lane] == RUNNING and stops:
                status[lane] = STOPPED
                floats(memory.reached)[lane] = time
                _copy(memory, lane, memory.n_y, between, y)
        if time == due:
            memory.next_sample += 1


@compiled
def look(memory: Memory, state: Floats, t: float) -> bool:
    """Evaluate the event and say whether it came in some lane since the last look; those lanes are flagged."""
    if memory.event == 0:
        return False
    status, flag = integers(memory.status), integers(memory.flag)
    values, before, stop = floats(memory.values), floats(memory.before), floats(memory.stop)
    load(memory, state, t)
    call(memory.event, memory.inputs, memory.values, memory.event_store)
    came = False
    for lane in range(memory.lanes):
        hit = status[lane] == RUNNING and before[lane] < 0.0 and values[lane] >= 0.0
        before[lane] = values[lane]
        flag[lane] = 1 if hit else 0
        stop[lane] = np.inf
        came |= hit
    return came


@compiled
def locate(memory: Memory) -> None:
    """Find the time of each flagged lane's event by bisection, on the states that would be recorded: projected ones."""
    flag, values, stop, h = integers(memory.flag), floats(memory.values), floats(memory.stop), memory.taken
    for lane in range(memory.lanes):  # projections flag lanes of their own
        stop[lane] = memory.ahead if flag[lane] == 1 else np.inf
    for lane in range(memory.lanes):
        if stop[lane] < np.inf:
            low, high = 0.0, 1.0
            for _ in range(HALVINGS):
                part = 0.5 * (low + high)
                interpolate(memory, h, part)
                activate(memory)
                _settle_between(memory, memory.time + part * h)
                load(memory, floats(memory.between), memory.time + part * h)
                call(memory.event, memory.inputs, memory.values, memory.event_store)
                if values[lane] >= 0.0:
                    high = part
                else:
                    low = part
            stop[lane] = memory.time + high * h
