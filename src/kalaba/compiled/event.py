"""Stopping a lane where the event's value goes from below 0 to 0 or above."""

import numpy as np

from kalaba.compiled.memory import RUNNING, Memory
from kalaba.compiled.steps import interpolate
from kalaba.compiled.work import load
from kalaba.native.machine_code import Floats, call, compiled, floats, integers

HALVINGS = 60  # of the step: the event's time is then known to rounding


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
    """Find the time of each flagged lane's event on the step's dense output, by bisection."""
    flag, values, stop, h = integers(memory.flag), floats(memory.values), floats(memory.stop), memory.taken
    for lane in range(memory.lanes):
        if flag[lane] == 1:
            low, high = 0.0, 1.0
            for _ in range(HALVINGS):
                part = 0.5 * (low + high)
                interpolate(memory, h, part)
                load(memory, floats(memory.between), memory.time + part * h)
                call(memory.event, memory.inputs, memory.values, memory.event_store)
                if values[lane] >= 0.0:
                    high = part
                else:
                    low = part
            stop[lane] = memory.time + high * h
