"""Watching the chosen rows, and choosing again; `kalaba.constrain.rows` decides."""

from kalaba.compiled.memory import INCONSISTENT, RUNNING, SINGULAR, Memory, evaluate, load
from kalaba.compiled.pace import stays_finite
from kalaba.compiled.projection import fail_unsettled, keep_raw, measure_change, note_gap, note_jolts, restore, settle
from kalaba.constrain import rows
from kalaba.native.machine_code import Floats, call, compiled, floats, integers
from kalaba.tolerances import (
    PROJECTION_LOST,
    PROJECTION_SPEED_CHANGE,
    ROW_FADED,
    ROW_OPEN,
    ROW_PIVOT_FALLEN,
    ROW_PIVOT_GONE,
    ROW_SPEED_CLOSED,
)

_factorise = compiled(rows.factorise)
_scale_rows = compiled(rows.scale_rows)
_farthest_row = compiled(rows.farthest_row)
_take_row = compiled(rows.take_row)
_take_own_rows = compiled(rows.take_own_rows)
_give_hub_row = compiled(rows.give_hub_row)
_settle_hub_rows = compiled(rows.settle_hub_rows)


@compiled
def watch(memory: Memory) -> bool:
    """Flag the lanes that must choose again, by what the motion kernel returned; say whether there are any.

    Those where a kept pivot has fallen or a row left out has opened. The worst gap met is kept on record.
    """
    if memory.n_rows == 0:
        return False
    status, flag, rank = integers(memory.status), integers(memory.flag), integers(memory.rank)
    mask, lanes = floats(memory.mask), memory.lanes
    units = floats(memory.gap_units)
    gaps = floats(memory.gaps)
    any_turned = False
    for lane in range(lanes):
        turned = rank[lane] < 0 or has_fallen(memory, lane, ROW_PIVOT_FALLEN)
        for row in range(memory.n_rows):
            k = row * lanes + lane
            turned |= mask[k] == 0.0 and gaps[k] > ROW_OPEN * units[row] and memory.projecting == 1
            if rank[lane] >= 0 and status[lane] == RUNNING:
                note_gap(memory, lane, gaps[k], row, memory.time)
        turned &= status[lane] == RUNNING
        flag[lane] = 1 if turned else 0
        any_turned |= turned
    return any_turned


@compiled
def has_fallen(memory: Memory, lane: int, share: float) -> bool:
    """Say whether a pivot of a kept row, as last evaluated, is below that share of what it was at the last choice."""
    mask, references, lanes = floats(memory.mask), floats(memory.references), memory.lanes
    pivots = floats(memory.row_pivots)
    fallen = False
    for row in range(memory.n_rows):
        k = row * lanes + lane
        fallen |= mask[k] > 0.0 and pivots[k] < share * references[k]
    return fallen


@compiled
def choose_again(memory: Memory) -> None:
    """Choose the rows of the flagged lanes at the state on hand, project it with them and take new reference pivots.

    A row left out that stays open then contradicts the others.
    """
    y, t = floats(memory.y), memory.time
    load(memory, y, t)
    call(memory.rows, memory.inputs, memory.listed, memory.rows_store)
    for lane in range(memory.lanes):
        integers(memory.active)[lane] = 0
        if integers(memory.flag)[lane] == 1:
            _take_out(memory, lane)
            _write_down(memory, lane, _choose(memory, lane))
    if memory.projecting == 1:
        keep_raw(memory, y)
        settle(memory, y, t)
        if memory.n_steps > 0:  # a start need not obey its rows
            measure_change(memory, y)
            note_jolts(memory, t)
        fail_unsettled(memory)
        load(memory, y, t)
        call(memory.settle, memory.inputs, memory.settled, memory.settle_store)
        _judge_rows_left_out(memory)
    load(memory, y, t)
    evaluate(memory, 0)
    references = floats(memory.references)
    pivots = floats(memory.row_pivots)
    for k in range(memory.n_rows * memory.lanes):
        if integers(memory.flag)[k % memory.lanes] == 1:
            references[k] = pivots[k]


@compiled
def flag_noise(memory: Memory, state: Floats, t: float) -> bool:
    """Flag the lanes whose projection from `raw` to `state` is noise, and say whether there are any.

    It is where a kept row has all but vanished, beside a singular position, and the error of the step, divided by the
    row's size, becomes a change of the speed. That alone may be the error of a long step.
    """
    flag, any_noise, any_change = integers(memory.flag), False, False
    measure_change(memory, state)
    for lane in range(memory.lanes):
        is_running = integers(memory.status)[lane] == RUNNING and memory.projecting == 1 and memory.n_rows > 0
        flag[lane] = 1 if is_running and not floats(memory.speed_change)[lane] <= PROJECTION_SPEED_CHANGE else 0
        any_change |= flag[lane] == 1
    if any_change:
        load(memory, floats(memory.raw), t)
        evaluate(memory, -1)
        for lane in range(memory.lanes):
            flag[lane] = 1 if flag[lane] == 1 and has_fallen(memory, lane, ROW_PIVOT_GONE) else 0
            any_noise |= flag[lane] == 1
    return any_noise


@compiled
def settle_step(memory: Memory) -> None:
    """Project the end of a step, and give up lanes that it cannot close; where it changes the speed much, choose rows.

    A step that ends within rounding of a singular position finds a row that has all but vanished, and whose direction
    is noise: projecting on it throws the state about. Chosen again there, it is left out.
    """
    trial, t, flag = floats(memory.trial), memory.ahead, integers(memory.flag)
    keep_raw(memory, trial)
    settle(memory, trial, t)
    if flag_noise(memory, trial, t):
        for lane in range(memory.lanes):
            if flag[lane] == 1:
                restore(memory, trial, lane)
        load(memory, trial, t)
        call(memory.rows, memory.inputs, memory.listed, memory.rows_store)
        for lane in range(memory.lanes):
            integers(memory.active)[lane] = 0
            if flag[lane] == 1:
                _take_out(memory, lane)
                _write_down(memory, lane, _choose(memory, lane))
                integers(memory.rank)[lane] = -1  # to be chosen again, and judged, when the next step begins
        settle(memory, trial, t)
        measure_change(memory, trial)
    note_jolts(memory, t)
    stays_finite(memory, trial)
    fail_unsettled(memory)


@compiled
def _take_out(memory: Memory, lane: int) -> None:
    """Copy M and A of one lane in the machine's sizes, row by row."""
    listed, chosen, mass = floats(memory.listed_mass), floats(memory.chosen), floats(memory.mass)
    n, lanes, units = memory.n_v, memory.lanes, floats(memory.v_units)
    for i in range(n):
        for j in range(n):  # symmetric: its columns are its rows
            mass[i * n + j] = units[i] * units[j] * listed[(i * n + j) * lanes + lane]
    for k in range(memory.n_rows):
        chosen[k] = 0.0
    _copy_rows(memory, lane)


@compiled
def _copy_rows(memory: Memory, lane: int) -> None:
    """Copy A of one lane in the machine's sizes: entries per size of a velocity, of the size of their row."""
    listed, copy, n, m = floats(memory.listed_rows), floats(memory.row_copy), memory.n_v, memory.n_rows
    units, row_units = floats(memory.v_units), floats(memory.row_units)
    for k in range(m):
        for j in range(n):
            copy[k * n + j] = units[j] / row_units[k] * listed[(j * m + k) * memory.lanes + lane]


@compiled
def _choose(memory: Memory, lane: int) -> int:
    """Do what `rows.choose_rows` does on the copies of one lane; rows that have all but vanished count as nothing."""
    mass, copy, chosen = floats(memory.mass), floats(memory.row_copy), floats(memory.chosen)
    weights, m, n = floats(memory.row_weights), memory.n_rows, memory.n_v
    if not _factorise(mass, n):
        return -1
    sizes, least, nothing = floats(memory.row_sizes), floats(memory.row_least), floats(memory.row_nothing)
    for k in range(m):
        slot = k * memory.lanes + lane
        for j in range(n):
            sizes[slot] = max(sizes[slot], abs(copy[k * n + j]))
        least[k] = max(nothing[k], ROW_FADED * sizes[slot])
    _scale_rows(mass, copy, weights, least, m, n)
    rank, row = 0, _farthest_row(copy, weights, chosen, m, n)
    while row >= 0:
        _take_row(copy, chosen, m, n, row)
        rank, row = rank + 1, _farthest_row(copy, weights, chosen, m, n)
    if memory.n_limbs > 0:
        _seat(memory, lane)
    return rank


@compiled
def _seat(memory: Memory, lane: int) -> None:
    """Say which of the chosen rows the limbs hand up, from the rows as they were before they were taken."""
    copy, n, m = floats(memory.row_copy), memory.n_v, memory.n_rows
    _copy_rows(memory, lane)
    _scale_rows(floats(memory.mass), copy, floats(memory.row_weights), floats(memory.row_least), m, n)
    chosen, ends, limb_rows = floats(memory.chosen), integers(memory.limb_row_ends), integers(memory.limb_rows)
    tables = (ends, limb_rows, integers(memory.limb_column_ends), integers(memory.limb_columns))
    for limb in range(memory.n_limbs):
        _take_own_rows(copy, chosen, tables, limb, n)
    for free in range(memory.hub_rows):
        _give_hub_row(copy, chosen, tables, memory.n_limbs, n, free)
    _settle_hub_rows(chosen, limb_rows, ends[memory.n_limbs])


@compiled
def _write_down(memory: Memory, lane: int, rank: int) -> None:
    """Take a choice as the mask of its lane, and log it."""
    mask, chosen, choices = floats(memory.mask), floats(memory.chosen), floats(memory.choices)
    for k in range(memory.n_rows):
        mask[k * memory.lanes + lane] = chosen[k]
    integers(memory.rank)[lane] = rank
    if rank < 0:
        integers(memory.status)[lane] = SINGULAR
    else:
        integers(memory.active)[lane] = 1
    if memory.n_choices < memory.kept_choices:
        first = 3 * memory.n_choices
        choices[first], choices[first + 1], choices[first + 2] = memory.time, lane, rank
    memory.n_choices += 1


@compiled
def _judge_rows_left_out(memory: Memory) -> None:
    """In each flagged lane, find the row left out that is farthest open, in value or in speed.

    The last projection found the values, at a state that the kept rows hold.
    """
    y, mask, lanes = floats(memory.y), floats(memory.mask), memory.lanes
    residual, speed = floats(memory.residuals), floats(memory.residual_rates)
    status, flag, named = integers(memory.status), integers(memory.flag), integers(memory.row)
    units, v_units, first_v = floats(memory.gap_units), floats(memory.v_units), memory.n_y - memory.n_v
    for lane in range(lanes):
        fastest, worst, concerned = memory.own_rate, 1.0, flag[lane] == 1 and status[lane] == RUNNING
        for i in range(memory.n_v):
            fastest = max(fastest, abs(y[(first_v + i) * lanes + lane]) / v_units[i])
        for row in range(memory.n_rows):
            k = row * lanes + lane
            opened = max(abs(residual[k]) / PROJECTION_LOST, abs(speed[k]) / (ROW_SPEED_CLOSED * fastest)) / units[row]
            if mask[k] == 0.0 and opened > worst and concerned:
                worst = opened
                status[lane] = INCONSISTENT
                named[lane] = row
