"""The loop itself, compiled once a machine and run without Python."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kalaba.compiled.adaptive import first_step
from kalaba.compiled.choice import choose_again, settle_step, watch
from kalaba.compiled.event import locate, look
from kalaba.compiled.memory import DONE, RUNNING, Memory
from kalaba.compiled.projection import activate, copy_active, fail_unsettled
from kalaba.compiled.samples import next_time, record_inside, record_state
from kalaba.compiled.stepping import aim, fail_infinite, passes
from kalaba.compiled.steps import prepare_dense, take_step
from kalaba.compiled.structural import keep_acceleration, structural_step
from kalaba.compiled.work import evaluate, load
from kalaba.constrain import rows
from kalaba.native import machine_code
from kalaba.native.machine_code import compiled, compiled_entry, floats, integers, source_stamp

Records = npt.NDArray[np.void]


def _entry(stamp: int, structural: int) -> Callable[[Records, float, int], int]:  # noqa: C901 - one loop
    """The loop for explicit steppers (0), or for those of structures (1): each compiles only what it calls."""

    def advance(memories: Records, until: float, limit: int) -> int:  # noqa: C901, PLR0912
        """Step until `until` is reached, at most `limit` times; what is due at `until` is left to the next call.

        So a call with another held actuation finds the state unevaluated, and samples carry the actuation that begins.
        """
        memory = memories[0]
        y, trial = floats(memory.y), floats(memory.trial)
        if memory.n_steps == 0:
            look(memory, y, memory.time)
        for _ in range(limit):
            final = memory.time >= memory.end - memory.slack
            if memory.time >= until - memory.slack and not final:
                break
            load(memory, y, memory.time)
            evaluate(memory, 0)
            if memory.n_rows > 0 and watch(memory):
                choose_again(memory)
            if not fail_infinite(memory, floats(memory.stages)):
                break
            record_state(memory)
            if final:
                _finish(memory)
                break
            activate(memory)
            if memory.step == 0.0 and memory.next_step == 0.0:
                memory.next_step = first_step(memory, memory.time)
            aim(memory, until)
            while True:
                if structural:
                    structural_step(memory, memory.time, memory.taken)
                else:
                    take_step(memory, memory.time, memory.taken)
                if passes(memory, until):
                    break
            settle_step(memory)
            fail_infinite(memory, trial)
            fail_unsettled(memory)
            came = look(memory, trial, memory.ahead)
            if came or next_time(memory) < memory.ahead - memory.slack:
                prepare_dense(memory, memory.ahead, memory.taken)
                if came:
                    locate(memory)
                record_inside(memory)
            moved = memory.ahead > memory.time
            _accept(memory)
            if structural and moved:
                keep_acceleration(memory, memory.taken)
        return stamp

    return compiled_entry(advance)


@compiled
def _accept(memory: Memory) -> None:
    """Move the lanes that still run to the end of the step."""
    activate(memory)
    copy_active(memory, floats(memory.trial), floats(memory.y))
    for lane in range(memory.lanes):
        if integers(memory.active)[lane] == 1:
            floats(memory.reached)[lane] = memory.ahead
    memory.n_steps += 1 if memory.ahead > memory.time else 0
    memory.time = memory.ahead


@compiled
def _finish(memory: Memory) -> None:
    status = integers(memory.status)
    for lane in range(memory.lanes):
        if status[lane] == RUNNING:
            status[lane] = DONE


_STAMP = source_stamp(Path(__file__).parent, Path(machine_code.__file__), Path(rows.__file__))
advance, advance_structure = _entry(_STAMP, 0), _entry(_STAMP, 1)
