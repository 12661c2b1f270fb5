"""The engine: one step of a run, and the loop around it, compiled once per computer and run without Python."""

from collections.abc import Callable

from kalaba.compiled.choice import choose_again, settle_step, watch
from kalaba.compiled.explicit import take_stages, watch_stiffness
from kalaba.compiled.implicit import keep_last_rate, take_implicit_stages
from kalaba.compiled.memory import DONE, RUNNING, Memory, evaluate, load
from kalaba.compiled.pace import aim, is_repeated, stays_finite, widen
from kalaba.compiled.projection import activate, copy_active
from kalaba.compiled.samples import look, record_state, record_within
from kalaba.compiled.structural import collocate, keep_acceleration
from kalaba.native.machine_code import compiled, compiled_entry, floats, integers

StagesOf = Callable[[Memory], float]
AfterStep = Callable[[Memory], None]


@compiled
def step(memory: Memory, until: float, take_stages_of: StagesOf, after_step: AfterStep) -> bool:
    """One step of the engine, numbered as in `kalaba.compiled`; False = no lane goes on."""
    start(memory)  # 1.
    if watch(memory):  # 2.
        choose_again(memory)
    if not stays_finite(memory, floats(memory.stages)):
        return False
    record_state(memory)  # 3.
    if is_over(memory):
        return False
    aim(memory, until)  # 4.
    again = True
    while again:
        error = take_stages_of(memory)
        again = is_repeated(memory, error, until)
    settle_step(memory)  # 5.
    record_within(memory)  # 6.
    after_step(memory)  # 7.
    accept(memory)
    return True


@compiled
def advance_by(memory: Memory, until: float, limit: int, take_stages_of: StagesOf, after_step: AfterStep) -> None:
    """Step until `until` is reached, at most `limit` times, by one kind of methods.

    What is due at `until` (the motion there, a sample) is left to the next call: by then the caller may hold another
    actuation, and the sample is to show the one that begins. At the end of the run that call records the last sample.
    """
    if memory.n_steps == 0:
        look(memory, floats(memory.y), memory.time)
    steps = 0
    is_end = memory.time >= memory.end - memory.slack
    while steps < limit and memory.paused == 0 and (is_end or memory.time < until - memory.slack):
        if not step(memory, until, take_stages_of, after_step):
            break
        steps += 1


@compiled
def start(memory: Memory) -> None:
    """Evaluate the motion at the state on hand: the first stage, and all that a sample needs."""
    load(memory, floats(memory.y), memory.time)
    evaluate(memory, 0)


@compiled
def is_over(memory: Memory) -> bool:
    """Say whether the end of the run is reached; the lanes that still run are then done."""
    if memory.time < memory.end - memory.slack:
        return False
    status = integers(memory.status)
    for lane in range(memory.lanes):
        if status[lane] == RUNNING:
            status[lane] = DONE
    return True


@compiled
def accept(memory: Memory) -> None:
    """Move the lanes that still run to the end of the step."""
    activate(memory)
    copy_active(memory, floats(memory.trial), floats(memory.y))
    for lane in range(memory.lanes):
        if integers(memory.active)[lane] == 1:
            floats(memory.reached)[lane] = memory.ahead
    widen(memory)
    memory.n_steps += 1 if memory.ahead > memory.time else 0
    memory.time = memory.ahead


@compiled_entry
def advance(memory: Memory, until: float, limit: int) -> None:
    """Advance by an explicit method."""
    advance_by(memory, until, limit, take_stages, watch_stiffness)


@compiled_entry
def advance_structure(memory: Memory, until: float, limit: int) -> None:
    """Advance by a method with a scheme."""
    advance_by(memory, until, limit, collocate, keep_acceleration)


@compiled_entry
def advance_implicit(memory: Memory, until: float, limit: int) -> None:
    """Advance by a diagonally implicit method."""
    advance_by(memory, until, limit, take_implicit_stages, keep_last_rate)
