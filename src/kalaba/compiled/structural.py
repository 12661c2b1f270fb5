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

from kalaba.compiled.adaptive import scaled_norm
from kalaba.compiled.linear_solve import lu_factor, lu_solve
from kalaba.compiled.work import Work, evaluate, load
from kalaba.native.machine_code import Floats, call, compiled, floats, integers

MOST_ITERATIONS = 25
CLOSE = 1e-11  # of the largest acceleration, or of a change of speed within the step: where Newton ends
ROUNDING = 1e-7  # where it ends at the latest when corrections no longer shrink
STILL = 1e-12  # the same, of the configuration
NOTHING = 1e-15  # of the configuration: rows at position level are not known better
SLOW = 0.1  # a correction that shrinks by less asks for a fresh tangent


@compiled
def structural_step(work: Work, t: float, h: float) -> None:
    """Write the state one step later to `trial`; the rate at the start is already the first stage.

    `unsolved` says whether Newton's method failed.
    """
    n_v, first_v = work.n_v, work.n_y - work.n_v
    f, a, x = floats(work.stages + 8 * first_v), floats(work.acceleration), floats(work.collocated)
    before, following = floats(work.acceleration_before), floats(work.acceleration_next)
    rates, trial, y = floats(work.rates), floats(work.trial), floats(work.y)
    _begin(work, t)
    _shift(work, h)
    power, s = floats(work.stages)[0], work.collocation * h
    forward = s / work.step_before if work.step_before > 0.0 and work.explicit == 0 else 0.0
    for i in range(n_v):
        x[i] = a[i] + forward * (a[i] - before[i])
    if work.explicit == 1:
        _place(work, t, h)
        inputs = floats(work.inputs)
        for i in range(n_v):
            inputs[first_v + i] = y[first_v + i] + h * f[i]
        evaluate(work, -1)
        for i in range(n_v):
            x[i] = rates[first_v + i]
    else:
        work.unsolved = 0 if _newton(work, t, s) else 1
    for i in range(n_v):
        following[i] = a[i] + (x[i] - a[i]) / work.collocation
        x[i] = following[i]
    power_next = power + (rates[0] - power) / work.collocation
    _place(work, t, h)
    inputs = floats(work.inputs)
    for i in range(work.n_y):
        trial[i] = inputs[i]
    trial[0] = y[0] + 0.5 * h * (power + power_next)


@compiled
def _begin(work: Work, t: float) -> None:
    """Find the acceleration that the step starts from.

    The true one, or the scheme's own. That one takes part in a jump of what is held from outside.
    """
    n_v, n_u, first_v = work.n_v, work.n_u, work.n_y - work.n_v
    f, a = floats(work.stages + 8 * first_v), floats(work.acceleration)
    true, u, held = floats(work.true_acceleration), floats(work.inputs + 8 * (work.n_y + 1)), floats(work.held)
    if work.started == 0 or work.carries == 0:
        for i in range(n_v):
            a[i] = f[i]
    if work.started == 0 or work.index_3 == 0:
        for i in range(n_v):
            true[i] = f[i]
    jumps = False
    for i in range(n_u):
        jumps |= u[i] != held[i]
    if jumps and work.started == 1 and work.control == 0 and work.carries == 1:
        work.step_before = 0.0
        load(work, floats(work.y), t)
        _exchange(u, held, n_u)
        evaluate(work, -1)
        _exchange(u, held, n_u)
        rates = floats(work.rates)
        for i in range(n_v):
            a[i] += f[i] - rates[first_v + i]
            true[i] += f[i] - rates[first_v + i] if work.index_3 == 1 else 0.0
    for i in range(n_u):
        held[i] = u[i]


@compiled
def _shift(work: Work, h: float) -> None:
    """Take the scheme's own acceleration to a step of another length, with the slope of the last step.

    Without it a change of the step by a factor would cost an order.

    Reference: Brüls and Arnold (2008), Journal of Computational and Nonlinear Dynamics 3, 031007.
    """
    a, before = floats(work.acceleration), floats(work.acceleration_before)
    if work.step_before > 0.0 and work.offset != 0.0 and work.step_meant != h:
        part = work.offset * (h - work.step_meant) / work.step_before
        for i in range(work.n_v):
            a[i] += part * (a[i] - before[i])
    work.step_meant = h


@compiled
def _exchange(one: Floats, other: Floats, count: int) -> None:
    for i in range(count):
        one[i], other[i] = other[i], one[i]


@compiled
def _place(work: Work, t: float, s: float) -> None:
    """Write the state at t + s, the acceleration there being x, where the kernels read it; overwrites `between`."""
    n_v, first_v = work.n_v, work.n_y - work.n_v
    y, inputs, a, x = floats(work.y), floats(work.inputs), floats(work.acceleration), floats(work.collocated)
    beta, gamma = work.beta, work.gamma
    for i in range(first_v):
        inputs[i] = y[i]
    for i in range(n_v):
        inputs[first_v + i] = s * y[first_v + i] + s * s * ((0.5 - beta) * a[i] + beta * x[i])
    inputs[work.n_y] = t + s
    call(work.displace, work.inputs, work.between + 8, work.displace_store)
    between = floats(work.between)
    for i in range(1, first_v):
        inputs[i] = between[i]
    for i in range(n_v):
        inputs[first_v + i] = y[first_v + i] + s * ((1.0 - gamma) * a[i] + gamma * x[i])


@compiled
def _newton(work: Work, t: float, s: float) -> bool:
    """Solve for x, and say whether that went well."""
    x, y, size, last = floats(work.collocated), floats(work.y), 0.0, 0.0
    largest = 1.0
    for i in range(1, work.n_y - work.n_v):
        largest = max(largest, abs(y[i]))
    correction = floats(work.correction)
    for k in range(work.n_rows):
        floats(work.multipliers)[k] = 0.0
    fresh = work.index_3 == 1 or work.tangent_step != s or work.tangent_choice != work.n_choices
    age, shrink = 1, 1.0
    for tries in range(MOST_ITERATIONS):
        _place(work, t, s)
        evaluate(work, -1)
        if fresh:
            if not _linearise(work, s):
                return False
            age = 0
        _correct(work, s)
        size, scale = 0.0, 0.0
        for i in range(work.n_v):
            x[i] += correction[i]
            size = max(size, abs(correction[i]))
            scale = max(scale, abs(x[i]), abs(y[work.n_y - work.n_v + i]) / s)
        if not size < 1e300:
            return False
        shrink = size / last if tries > 0 and last > 0.0 else 1.0
        ahead = shrink / (1.0 - shrink) if shrink < 0.5 else 1.0
        moved = work.beta * s * s * size / largest
        if size * ahead <= CLOSE * scale or (work.index_3 == 1 and moved <= NOTHING):
            return True
        if shrink > 0.5 and (age > 0 or work.index_3 == 1) and (size <= ROUNDING * scale or moved <= STILL):
            return True
        fresh = work.index_3 == 1 or (shrink > SLOW and tries > 0 and age > 0)
        last = size
        age += 1
    return False


@compiled
def _linearise(work: Work, s: float) -> bool:
    """Take the tangent at the inputs and factor the matrix of the corrections."""
    n, m = work.n_v, work.n_rows
    size, effective, mask = n + m, floats(work.effective), floats(work.mask)
    call(work.tangent, work.inputs, work.tangents, work.tangent_store)
    mass, damping = floats(work.tangents), floats(work.tangents + 8 * n * n)
    stiffness, rows = floats(work.tangents + 16 * n * n), floats(work.tangents + 24 * n * n)
    row_damping = floats(work.tangents + 8 * (3 * n * n + m * n + m))
    row_stiffness = floats(work.tangents + 8 * (3 * n * n + 2 * m * n + m))
    for i in range(size * size):
        effective[i] = 0.0
    for j in range(n):
        for i in range(n):
            k = j * n + i
            effective[i * size + j] = (
                work.inertia * mass[k] + work.gamma * s * damping[k] + work.beta * s * s * stiffness[k]
            )
        for k in range(m):
            entry, on_row, kept = rows[j * m + k], rows[j * m + k], 1.0 if mask[k] > 0.0 else 0.0
            if work.index_3 == 0:
                on_row = work.inertia * entry + work.gamma * s * row_damping[j * m + k]
                on_row += work.beta * s * s * row_stiffness[j * m + k]
            effective[j * size + n + k] = -kept * entry
            effective[(n + k) * size + j] = kept * on_row
    for k in range(m):
        effective[(n + k) * size + n + k] = 0.0 if mask[k] > 0.0 else 1.0
    work.tangent_step = s
    work.tangent_choice = work.n_choices
    return lu_factor(effective, integers(work.pivots), size)


@compiled
def _correct(work: Work, s: float) -> None:
    """Find the next correction of x, from the motion at the inputs."""
    n, m, first_v = work.n_v, work.n_rows, work.n_y - work.n_v
    mass, rows = floats(work.tangents), floats(work.tangents + 24 * n * n)
    value, mask = floats(work.tangents + 8 * (3 * n * n + m * n)), floats(work.mask)
    multipliers = floats(work.multipliers)
    x, a, f = floats(work.collocated), floats(work.acceleration), floats(work.true_acceleration)
    motion, excess, correction = floats(work.rates + 8 * first_v), floats(work.excess), floats(work.correction)
    for i in range(n):
        mean = (work.alpha_m * a[i] - work.alpha_f * f[i]) / (1.0 - work.alpha_f)
        excess[i] = work.inertia * x[i] + mean - motion[i]  # w - f
    for i in range(n):
        total = 0.0
        for j in range(n):
            total -= mass[j * n + i] * excess[j]
        for k in range(m * work.index_3):
            total += (rows[i * m + k] * multipliers[k]) if mask[k] > 0.0 else 0.0
        correction[i] = total
    for k in range(m):
        total = 0.0
        for j in range(n):
            total -= rows[j * m + k] * excess[j]
        if work.index_3 == 1:
            total = -value[k] / (work.beta * s * s)
        correction[n + k] = total if mask[k] > 0.0 else 0.0
    lu_solve(floats(work.effective), integers(work.pivots), n + m, correction)
    for k in range(m):
        multipliers[k] += correction[n + k]


@compiled
def keep_acceleration(work: Work, h: float) -> None:
    """Go on from the step just taken."""
    a, before = floats(work.acceleration), floats(work.acceleration_before)
    following, true, x = floats(work.acceleration_next), floats(work.true_acceleration), floats(work.collocated)
    for i in range(work.n_v):
        if work.index_3 == 1:
            mean = work.alpha_m * a[i] - work.alpha_f * true[i]
            true[i] = work.inertia * x[i] + mean / (1.0 - work.alpha_f)
        before[i] = a[i]
        a[i] = following[i]
    work.step_before = h
    work.started = 1


@compiled
def structural_error(work: Work, h: float) -> float:
    """Give the scaled size of the error estimate; `between` is overwritten.

    In q, C h² (a⁺ - a) ≈ C h³ q⃛; in v, h³ v⃛/12, the second derivative of v̇ being that of the parabola through the
    accelerations of this step and the one before.
    """
    if work.unsolved == 1:
        return np.inf
    n_v, n_y = work.n_v, work.n_y
    first_v, between, inputs = n_y - n_v, floats(work.between), floats(work.inputs)
    a, before, following = floats(work.acceleration), floats(work.acceleration_before), floats(work.acceleration_next)
    for i in range(n_v):
        inputs[first_v + i] = work.error_constant * h * h * (following[i] - a[i])
    for i in range(first_v):
        inputs[i] = floats(work.y)[i]
    call(work.displace, work.inputs, work.between + 8, work.displace_store)
    between[0] = 0.0
    for i in range(1, first_v):
        between[i] -= inputs[i]
    for i in range(n_v):
        between[first_v + i] = 0.0
        if work.step_before > 0.0:
            slope, slope_before = (following[i] - a[i]) / h, (a[i] - before[i]) / work.step_before
            between[first_v + i] = h**3 / 6.0 * (slope - slope_before) / (h + work.step_before)
    return scaled_norm(work, between)
