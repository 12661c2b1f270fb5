"""One step of a diagonally implicit method, in one lane: each stage is an implicit Euler step from a base of its own.

With s = γh and the base y + h Σ_{j<i} a_ij k_j = (q̂, v̂), stage i is at::

    v = v̂ + s x        q = q̂ + s q̇(q, v)        x = f(q, v, t + c_i h)

f being the constrained acceleration, rows frozen. Newton's method solves for x with the matrix of `structural.py`, for
β = γ = 1, and q is put where the stage's own equation has it. Stages are no unit quaternions: `displace` makes them
unit, so that only the difference of two of its results is used. The tangent is kept while corrections shrink fast
enough, and its factors while the step stays the same.
"""

import numpy as np

from kalaba.compiled.explicit import combine, embedded_error
from kalaba.compiled.memory import Memory, evaluate
from kalaba.compiled.pace import scaled_norm
from kalaba.compiled.structural import correct, factor, jumps, take_tangent
from kalaba.native.machine_code import call, compiled, floats
from kalaba.tolerances import INFINITE, STAGE_CLOSE, STAGE_SLOW

MOST_CORRECTIONS = 12  # of one stage, fresh tangent included


@compiled
def take_implicit_stages(memory: Memory) -> float:
    """Write the state one step later to `trial` and give its error; infinite where Newton's method fails.

    The first stage is the rate at the start. Its acceleration is that of the last stage before, if the step goes on
    from there: evaluated anew it would carry what Newton's method left, times the stiffness.
    """
    nodes, n_stages, stages = floats(memory.nodes), memory.n_stages, floats(memory.stages)
    first_v, last = memory.n_y - memory.n_v, floats(memory.acceleration)
    t, h = memory.time, memory.taken
    if (
        memory.started == 1
        and memory.tangent_choice == memory.n_choices
        and not (memory.control == 0 and jumps(memory))
    ):
        for i in range(memory.n_v):
            stages[first_v + i] = last[i]
    u, held = floats(memory.u), floats(memory.held)
    for i in range(memory.n_u):
        held[i] = u[i]
    for i in range(1, n_stages):
        combine(memory, floats(memory.matrix + 8 * i * n_stages), i, h, floats(memory.stage_base))
        if not _solve(memory, i, t + nodes[i] * h, memory.stage_gamma * h):
            memory.tangent_step = 0.0  # the next try takes a tangent of its own
            return np.inf
    combine(memory, floats(memory.weights), n_stages, h, floats(memory.trial))
    return embedded_error(memory, h)


@compiled
def keep_last_rate(memory: Memory) -> None:
    """Carry the acceleration of the last stage over to the next step, if this one went anywhere."""
    if memory.ahead == memory.time:
        return
    stages, last = floats(memory.stages), floats(memory.acceleration)
    first = (memory.n_stages - 1) * memory.n_y + memory.n_y - memory.n_v
    for i in range(memory.n_v):
        last[i] = stages[first + i]
    memory.started = 1


@compiled
def _solve(memory: Memory, stage: int, t: float, s: float) -> bool:
    """Find one stage and keep its rate; say whether that went well."""
    is_fresh, is_changed = False, memory.tangent_step != s or memory.tangent_choice != memory.n_choices
    if memory.tangent_step != 0.0 and is_changed and not factor(memory, s):
        return False
    _guess(memory, stage, t, s)
    before, ahead = 0.0, 1.0
    for tries in range(MOST_CORRECTIONS):
        evaluate(memory, -1)
        memory.n_iterations += 1
        if memory.tangent_step == 0.0:
            take_tangent(memory)
            is_fresh = True
            if not factor(memory, s):
                return False
        size = _move(memory, s)
        if not size < INFINITE:
            return False
        if tries > 0 and before > 0.0:
            shrink = size / before
            if shrink >= 1.0 and is_fresh and size > STAGE_CLOSE:
                return False
            ahead = shrink / (1.0 - shrink) if shrink < 0.5 else 1.0
            if shrink > STAGE_SLOW and not is_fresh:
                memory.tangent_step = 0.0
        if size * ahead <= STAGE_CLOSE:
            _keep(memory, stage, s)
            return True
        before = size
    return False


@compiled
def _guess(memory: Memory, stage: int, t: float, s: float) -> None:
    """Begin with the acceleration of the stage before; overwrites `between`."""
    first_v, first_q, n_y = memory.n_y - memory.n_v, memory.n_work, memory.n_y
    base, inputs, x = floats(memory.stage_base), floats(memory.inputs), floats(memory.collocated)
    between, stages = floats(memory.between), floats(memory.stages + 8 * (stage - 1) * n_y)
    for i in range(first_v):
        inputs[i] = base[i]
    for i in range(memory.n_v):
        x[i] = stages[first_v + i]
        inputs[first_v + i] = s * (base[first_v + i] + s * x[i])
    inputs[n_y] = t
    call(memory.displace, memory.inputs, memory.between + 8 * first_q, memory.displace_store)
    for i in range(first_q, first_v):
        inputs[i] = between[i]
    for i in range(memory.n_v):
        inputs[first_v + i] = base[first_v + i] + s * x[i]


@compiled
def _move(memory: Memory, s: float) -> float:
    """Correct the stage at the inputs, and give the scaled size of the correction; overwrites `raw`.

    q⁺ = q̂ + s q̇ + (q ⊕ N s² Δx - q ⊕ 0), which is the stage's equation once the correction Δx is zero.
    """
    first_v, first_q, n_y = memory.n_y - memory.n_v, memory.n_work, memory.n_y
    base, inputs, rates = floats(memory.stage_base), floats(memory.inputs), floats(memory.rates)
    x, between, trial, correction = (
        floats(memory.collocated),
        floats(memory.between),
        floats(memory.trial),
        floats(memory.correction),
    )
    correct(memory, s)
    raw = floats(memory.raw)
    for i in range(n_y):
        trial[i] = inputs[i]
    for i in range(memory.n_v):
        inputs[first_v + i] = 0.0
    call(memory.displace, memory.inputs, memory.raw + 8 * first_q, memory.displace_store)
    for i in range(memory.n_v):
        x[i] += correction[i]
        inputs[first_v + i] = s * s * correction[i]
    call(memory.displace, memory.inputs, memory.between + 8 * first_q, memory.displace_store)
    for i in range(first_q, first_v):
        inputs[i] = base[i] + s * rates[i] + (between[i] - raw[i])
        between[i] = inputs[i] - trial[i]
    for i in range(memory.n_v):
        inputs[first_v + i] = base[first_v + i] + s * x[i]
        between[first_v + i] = s * correction[i]
    return scaled_norm(memory, between)


@compiled
def _keep(memory: Memory, stage: int, s: float) -> None:
    """Keep the rate of a stage: the power found at the last evaluation, q̇ and v̇ as the stage's equations have them."""
    first_v, n_y = memory.n_y - memory.n_v, memory.n_y
    stages, base = floats(memory.stages + 8 * stage * n_y), floats(memory.stage_base)
    inputs, rates, x = floats(memory.inputs), floats(memory.rates), floats(memory.collocated)
    for i in range(memory.n_work):
        stages[i] = rates[i]
    for i in range(memory.n_work, first_v):
        stages[i] = (inputs[i] - base[i]) / s
    for i in range(memory.n_v):
        stages[first_v + i] = x[i]
