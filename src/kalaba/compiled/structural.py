"""One step of the steppers for structures: the acceleration at its end from Newton's method, in one lane.

The equation w(x) = f(q_c, v_c, t_c) of `Scheme` is solved in the form that the tangent knows best. With M, C, K, A, and
C_A and K_A of the rows A v̇ - b, from automatic differentiation at some nearby motion, and rows that are off left out, a
correction is::

    [ μM + γs C + βs² K      -Aᵀ ] [δx]     [ M (w - f) ]
    [ μA + γs C_A + βs² K_A    0 ] [δλ] = - [ A (w - f) ]        μ = (1 - α_m)/(1 - α_f)

The residual is that of the constrained motion itself, so a tangent that is not fresh costs iterations and no accuracy.
It is kept while corrections shrink by ten and more. With rows at position level (`index_3`) λ is an unknown of its own,
M and A are those of the iterate, and the equations are M (w - f) - Aᵀ (λ - λ_f) = 0 and A δx = -φ/βs².
"""

import numpy as np

from kalaba.compiled.linear_solve import lu_factor, lu_solve
from kalaba.compiled.memory import Memory, evaluate, load
from kalaba.compiled.pace import scaled_norm
from kalaba.native.machine_code import Floats, call, compiled, floats, integers
from kalaba.tolerances import INFINITE, NEWTON_CLOSE, NEWTON_CLOSED_ROWS, NEWTON_SLOW, NEWTON_STALLED, NEWTON_STILL

MOST_ITERATIONS = 25


@compiled
def collocate(memory: Memory) -> float:
    """Write the state one step later to `trial` and give its error; the rate at the start is already the first stage.

    `unsolved` says whether Newton's method failed.
    """
    t, h, n_v, first_v = memory.time, memory.taken, memory.n_v, memory.n_y - memory.n_v
    f, a, x = floats(memory.stages + 8 * first_v), floats(memory.acceleration), floats(memory.collocated)
    before, following = floats(memory.acceleration_before), floats(memory.acceleration_next)
    rates, trial, y = floats(memory.rates), floats(memory.trial), floats(memory.y)
    _begin(memory, t)
    _shift(memory, h)
    power, s = floats(memory.stages)[0], memory.collocation * h
    forward = s / memory.step_before if memory.step_before > 0.0 and memory.explicit == 0 else 0.0
    for i in range(n_v):
        x[i] = a[i] + forward * (a[i] - before[i])
    if memory.explicit == 1:
        _place(memory, t, h)
        inputs = floats(memory.inputs)
        for i in range(n_v):
            inputs[first_v + i] = y[first_v + i] + h * f[i]
        evaluate(memory, -1)
        for i in range(n_v):
            x[i] = rates[first_v + i]
    else:
        memory.unsolved = 0 if _newton(memory, t, s) else 1
    for i in range(n_v):
        following[i] = a[i] + (x[i] - a[i]) / memory.collocation
        x[i] = following[i]
    power_next = power + (rates[0] - power) / memory.collocation
    _place(memory, t, h)
    inputs = floats(memory.inputs)
    for i in range(memory.n_y):
        trial[i] = inputs[i]
    trial[0] = y[0] + 0.5 * h * (power + power_next)
    return 0.0 if memory.step > 0.0 else _error(memory, h)


@compiled
def _begin(memory: Memory, t: float) -> None:
    """Find the acceleration that the step starts from.

    The true one, or the scheme's own. That one takes part in a jump of what is held from outside.
    """
    n_v, n_u, first_v = memory.n_v, memory.n_u, memory.n_y - memory.n_v
    f, a = floats(memory.stages + 8 * first_v), floats(memory.acceleration)
    true, u, held = floats(memory.true_acceleration), floats(memory.u), floats(memory.held)
    if memory.started == 0 or memory.carries == 0:
        for i in range(n_v):
            a[i] = f[i]
    if memory.started == 0 or memory.index_3 == 0:
        for i in range(n_v):
            true[i] = f[i]
    if jumps(memory) and memory.started == 1 and memory.control == 0 and memory.carries == 1:
        memory.step_before = 0.0
        load(memory, floats(memory.y), t)
        _exchange(u, held, n_u)
        evaluate(memory, -1)
        _exchange(u, held, n_u)
        rates = floats(memory.rates)
        for i in range(n_v):
            a[i] += f[i] - rates[first_v + i]
            true[i] += f[i] - rates[first_v + i] if memory.index_3 == 1 else 0.0
    for i in range(n_u):
        held[i] = u[i]


@compiled
def jumps(memory: Memory) -> bool:
    """Say whether what is held from outside has changed since the last step."""
    u, held = floats(memory.u), floats(memory.held)
    changed = False
    for i in range(memory.n_u):
        changed |= u[i] != held[i]
    return changed


@compiled
def _shift(memory: Memory, h: float) -> None:
    """Take the scheme's own acceleration to a step of another length, with the slope of the last step.

    Without it a change of the step by a factor would cost an order.

    Reference: Brüls and Arnold (2008), Journal of Computational and Nonlinear Dynamics 3, 031007.
    """
    a, before = floats(memory.acceleration), floats(memory.acceleration_before)
    if memory.step_before > 0.0 and memory.offset != 0.0 and memory.step_meant != h:
        part = memory.offset * (h - memory.step_meant) / memory.step_before
        for i in range(memory.n_v):
            a[i] += part * (a[i] - before[i])
    memory.step_meant = h


@compiled
def _exchange(one: Floats, other: Floats, count: int) -> None:
    for i in range(count):
        one[i], other[i] = other[i], one[i]


@compiled
def _place(memory: Memory, t: float, s: float) -> None:
    """Write the state at t + s, the acceleration there being x, where the kernels read it; overwrites `between`."""
    n_v, first_v = memory.n_v, memory.n_y - memory.n_v
    y, inputs, a, x = floats(memory.y), floats(memory.inputs), floats(memory.acceleration), floats(memory.collocated)
    beta, gamma = memory.beta, memory.gamma
    for i in range(first_v):
        inputs[i] = y[i]
    for i in range(n_v):
        inputs[first_v + i] = s * y[first_v + i] + s * s * ((0.5 - beta) * a[i] + beta * x[i])
    inputs[memory.n_y] = t + s
    call(memory.displace, memory.inputs, memory.between + 8, memory.displace_store)
    between = floats(memory.between)
    for i in range(1, first_v):
        inputs[i] = between[i]
    for i in range(n_v):
        inputs[first_v + i] = y[first_v + i] + s * ((1.0 - gamma) * a[i] + gamma * x[i])


@compiled
def _newton(memory: Memory, t: float, s: float) -> bool:
    """Solve for x, and say whether that went well."""
    x, y, size, last = floats(memory.collocated), floats(memory.y), 0.0, 0.0
    largest, first_v, units, v_units = 1.0, memory.n_y - memory.n_v, floats(memory.q_units), floats(memory.v_units)
    for i in range(memory.n_work, first_v):
        largest = max(largest, abs(y[i]) / units[i - memory.n_work])
    correction = floats(memory.correction)
    for k in range(memory.n_rows):
        floats(memory.multipliers)[k] = 0.0
    fresh = memory.index_3 == 1 or memory.tangent_step != s or memory.tangent_choice != memory.n_choices
    age, shrink = 1, 1.0
    for tries in range(MOST_ITERATIONS):
        _place(memory, t, s)
        evaluate(memory, -1)
        if fresh:
            take_tangent(memory)
            if not factor(memory, s):
                return False
            age = 0
        correct(memory, s)
        size, scale = 0.0, 0.0
        for i in range(memory.n_v):
            x[i] += correction[i]
            size = max(size, abs(correction[i]) / v_units[i])
            scale = max(scale, abs(x[i]) / v_units[i], abs(y[first_v + i]) / (s * v_units[i]))
        if not size < INFINITE:
            return False
        shrink = size / last if tries > 0 and last > 0.0 else 1.0
        ahead = shrink / (1.0 - shrink) if shrink < 0.5 else 1.0
        moved = memory.beta * s * s * size / largest
        if size * ahead <= NEWTON_CLOSE * scale or (memory.index_3 == 1 and moved <= NEWTON_CLOSED_ROWS):
            return True
        if (
            shrink > 0.5
            and (age > 0 or memory.index_3 == 1)
            and (size <= NEWTON_STALLED * scale or moved <= NEWTON_STILL)
        ):
            return True
        fresh = memory.index_3 == 1 or (shrink > NEWTON_SLOW and tries > 0 and age > 0)
        last = size
        age += 1
    return False


@compiled
def take_tangent(memory: Memory) -> None:
    """Take the tangent at the inputs."""
    call(memory.tangent, memory.inputs, memory.tangents, memory.tangent_store)
    memory.n_tangents += 1


@compiled
def factor(memory: Memory, s: float) -> bool:
    """Factor the matrix of the corrections, for the tangent on hand and the rows in use; say whether that went well."""
    n, m = memory.n_v, memory.n_rows
    size, effective, mask = n + m, floats(memory.effective), floats(memory.mask)
    mass, damping, stiffness = (
        floats(memory.tangent_mass),
        floats(memory.tangent_damping),
        floats(memory.tangent_stiffness),
    )
    rows, row_damping, row_stiffness = (
        floats(memory.tangent_rows),
        floats(memory.tangent_row_damping),
        floats(memory.tangent_row_stiffness),
    )
    for i in range(size * size):
        effective[i] = 0.0
    for j in range(n):
        for i in range(n):
            k = j * n + i
            effective[i * size + j] = (
                memory.inertia * mass[k] + memory.gamma * s * damping[k] + memory.beta * s * s * stiffness[k]
            )
        for k in range(m):
            entry, on_row, is_on = rows[j * m + k], rows[j * m + k], 1.0 if mask[k] > 0.0 else 0.0
            if memory.index_3 == 0:
                on_row = memory.inertia * entry + memory.gamma * s * row_damping[j * m + k]
                on_row += memory.beta * s * s * row_stiffness[j * m + k]
            effective[j * size + n + k] = -is_on * entry
            effective[(n + k) * size + j] = is_on * on_row
    for k in range(m):
        effective[(n + k) * size + n + k] = 0.0 if mask[k] > 0.0 else 1.0
    memory.tangent_step = s
    memory.tangent_choice = memory.n_choices
    memory.n_factors += 1
    return lu_factor(effective, integers(memory.exchanges), size)


@compiled
def correct(memory: Memory, s: float) -> None:
    """Find the next correction of x, from the motion at the inputs."""
    n, m = memory.n_v, memory.n_rows
    mass, rows = floats(memory.tangent_mass), floats(memory.tangent_rows)
    value, mask = floats(memory.tangent_values), floats(memory.mask)
    multipliers = floats(memory.multipliers)
    x, a, f = floats(memory.collocated), floats(memory.acceleration), floats(memory.true_acceleration)
    motion, excess, correction = floats(memory.v_rates), floats(memory.excess), floats(memory.correction)
    for i in range(n):
        mean = (memory.alpha_m * a[i] - memory.alpha_f * f[i]) / (1.0 - memory.alpha_f)
        excess[i] = memory.inertia * x[i] + mean - motion[i]  # w - f
    for i in range(n):
        total = 0.0
        for j in range(n):
            total -= mass[j * n + i] * excess[j]
        for k in range(m * memory.index_3):
            total += (rows[i * m + k] * multipliers[k]) if mask[k] > 0.0 else 0.0
        correction[i] = total
    for k in range(m):
        total = 0.0
        for j in range(n):
            total -= rows[j * m + k] * excess[j]
        if memory.index_3 == 1:
            total = -value[k] / (memory.beta * s * s)
        correction[n + k] = total if mask[k] > 0.0 else 0.0
    lu_solve(floats(memory.effective), integers(memory.exchanges), n + m, correction)
    for k in range(m):
        multipliers[k] += correction[n + k]


@compiled
def keep_acceleration(memory: Memory) -> None:
    """Carry the accelerations over to the next step, if this one went anywhere."""
    if memory.ahead == memory.time:
        return
    a, before = floats(memory.acceleration), floats(memory.acceleration_before)
    following, true, x = floats(memory.acceleration_next), floats(memory.true_acceleration), floats(memory.collocated)
    for i in range(memory.n_v):
        if memory.index_3 == 1:
            mean = memory.alpha_m * a[i] - memory.alpha_f * true[i]
            true[i] = memory.inertia * x[i] + mean / (1.0 - memory.alpha_f)
        before[i] = a[i]
        a[i] = following[i]
    memory.step_before = memory.taken
    memory.started = 1


@compiled
def _error(memory: Memory, h: float) -> float:
    """Give the scaled size of the error estimate; `between` is overwritten.

    In q, C h² (a⁺ - a) ≈ C h³ q⃛; in v, h³ v⃛/12, the second derivative of v̇ being that of the parabola through the
    accelerations of this step and the one before.
    """
    if memory.unsolved == 1:
        return np.inf
    n_v, n_y = memory.n_v, memory.n_y
    first_v, between, inputs = n_y - n_v, floats(memory.between), floats(memory.inputs)
    a, before, following = (
        floats(memory.acceleration),
        floats(memory.acceleration_before),
        floats(memory.acceleration_next),
    )
    for i in range(n_v):
        inputs[first_v + i] = memory.error_constant * h * h * (following[i] - a[i])
    for i in range(first_v):
        inputs[i] = floats(memory.y)[i]
    call(memory.displace, memory.inputs, memory.between + 8, memory.displace_store)
    between[0] = 0.0
    for i in range(1, first_v):
        between[i] -= inputs[i]
    for i in range(n_v):
        between[first_v + i] = 0.0
        if memory.step_before > 0.0:
            slope, slope_before = (following[i] - a[i]) / h, (a[i] - before[i]) / memory.step_before
            between[first_v + i] = h**3 / 6.0 * (slope - slope_before) / (h + memory.step_before)
    return scaled_norm(memory, between)
