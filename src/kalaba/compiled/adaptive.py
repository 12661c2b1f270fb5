"""How long a step may be: the size of its error and the controller that answers it."""

import numpy as np

from kalaba.compiled.work import Work, evaluate, load
from kalaba.native.machine_code import Floats, compiled, floats, integers

SAFETY = 0.9
SHRINK, GROW = 0.2, 10.0  # limits of the change from one step to the next
MEMORY = 0.04  # β of the PI controller
SMALLEST_ERROR = 1e-4  # an error taken as smaller would let one lucky step decide the next


@compiled
def scaled_norm(work: Work, values: Floats) -> float:
    """Give the root mean square of values_i / (atol + rtol max(|y_i|, |y⁺_i|)), the largest over the active lanes."""
    y, trial, active, lanes = floats(work.y), floats(work.trial), integers(work.active), work.lanes
    worst = 0.0
    for lane in range(lanes):
        total = 0.0
        for slot in range(work.n_y):
            i = slot * lanes + lane
            scale = work.absolute + work.relative * max(abs(y[i]), abs(trial[i]))
            total += (values[i] / scale) ** 2
        norm = np.sqrt(total / work.n_y)
        if active[lane] == 1 and not norm <= worst:  # a NaN stays
            worst = norm
    return worst


@compiled
def step_error(work: Work, h: float) -> float:
    """Give the scaled size of e = h Σ_i (b_i - b̂_i) k_i; `between` is overwritten."""
    between, stages, weights = floats(work.between), floats(work.stages), floats(work.error_weights)
    size = work.entries
    for n in range(size):
        between[n] = 0.0
    for j in range(work.n_stages):
        for n in range(size):
            between[n] += h * weights[j] * stages[j * size + n]
    return scaled_norm(work, between)


@compiled
def next_factor(error: float, previous: float, exponent: int) -> float:
    """Give the factor from this accepted step to the next, by the PI controller.

    With k = `exponent`, of h in the error estimate::

        factor = 0.9 e^-(1/k - 3β/4) e_before^β        within 0.2 and 10

    Reference: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2, and their code DOPRI5.
    """
    factor: float = (
        SAFETY * max(error, 1e-10) ** (0.75 * MEMORY - 1.0 / exponent) * max(previous, SMALLEST_ERROR) ** MEMORY
    )
    return min(GROW, max(SHRINK, factor))


@compiled
def retry_factor(error: float, exponent: int) -> float:
    """Give the factor by which a rejected step is tried again; a step that ended in NaN is cut by the most."""
    if not error < np.inf:
        return SHRINK
    factor: float = SAFETY * error ** (0.75 * MEMORY - 1.0 / exponent)
    return max(SHRINK, factor)


@compiled
def first_step(work: Work, t: float) -> float:
    """Guess the first step from the size of y, of its rate (the first stage) and of the rate's change.

    The change is that over a small Euler step. Overwrites `between` and `trial`.

    Reference: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.4, "Starting Step Size".
    """
    y, trial, between, rates, stages = (
        floats(work.y),
        floats(work.trial),
        floats(work.between),
        floats(work.rates),
        floats(work.stages),
    )
    for n in range(work.entries):
        trial[n] = y[n]
    d0, d1 = scaled_norm(work, y), scaled_norm(work, stages)
    h0 = 1e-6 if min(d0, d1) < 1e-5 else 0.01 * d0 / d1
    for n in range(work.entries):
        between[n] = y[n] + h0 * stages[n]
    load(work, between, t + h0)
    evaluate(work, -1)
    for n in range(work.entries):
        between[n] = rates[n] - stages[n]
    d2 = scaled_norm(work, between) / h0
    slope = max(d1, d2)
    h1 = max(1e-6, 1e-3 * h0) if slope <= 1e-15 else (0.01 / slope) ** (1.0 / work.exponent)
    return min(100.0 * h0, h1)
