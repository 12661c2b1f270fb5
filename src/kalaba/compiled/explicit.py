"""One step of an explicit method, its error, and the states in between; the same source whatever the lanes."""

from collections.abc import Mapping
from functools import cache

import numpy as np
import numpy.typing as npt

from kalaba.compiled.memory import Memory, evaluate, load
from kalaba.compiled.pace import least_pivot, scaled_norm
from kalaba.compiled.projection import activate, keep_tangent
from kalaba.native.machine_code import Floats, compiled, floats
from kalaba.steppers.step_length import MILD_STEPS, STIFF_STEPS
from kalaba.steppers.tableau import DENSE_POWERS, ButcherTableau
from kalaba.tolerances import PIVOT_FADED, STIFF_PAYS, STIFF_STEP

# The cubic through both ends: y + h [k₀(θ - 2θ² + θ³) + D(3θ² - 2θ³) + k₁(-θ² + θ³)] with D = (y⁺ - y)/h.
_HERMITE = {0: (1.0, -2.0, 1.0), -2: (0.0, 3.0, -2.0), -1: (0.0, -1.0, 1.0)}


@cache
def coefficients(tableau: ButcherTableau) -> Mapping[str, npt.NDArray[np.float64]]:
    """Give the arrays of a method that `Memory` names; `dense` has two rows more than stages, for D and for k₁."""
    dense = np.zeros((len(tableau.nodes) + 2, DENSE_POWERS))
    for stage, row in (dict(enumerate(tableau.dense)) or _HERMITE).items():
        dense[stage, : len(row)] = row
    weights = np.array(tableau.weights)
    return {
        "nodes": np.array(tableau.nodes),
        "matrix": tableau.square_matrix(),
        "weights": weights,
        "error_weights": weights - np.array(tableau.embedded or tableau.weights),
        "dense": dense,
        "last_difference": np.diff(tableau.square_matrix(), axis=0)[-1] if len(weights) > 1 else weights,
    }


@compiled
def take_stages(memory: Memory) -> float:
    """Write the state one step later to `trial` and give its error; the rate at the start is already the first stage.

    Through the stages of a tableau, k_i = f(t + c_i h, y + h Σ a_ij k_j), then y⁺ = y + h Σ b_i k_i. If velocity goes
    first, q is stepped again with N(q) v⁺, read from the motion kernel at the old q and the new v.
    """
    inputs, nodes, n_stages = floats(memory.inputs), floats(memory.nodes), memory.n_stages
    t, h = memory.time, memory.taken
    for i in range(1, n_stages):
        combine(memory, floats(memory.matrix + 8 * i * n_stages), i, h, inputs)
        for lane in range(memory.lanes):
            inputs[memory.entries + lane] = t + nodes[i] * h
        evaluate(memory, i)
    trial = floats(memory.trial)
    combine(memory, floats(memory.weights), n_stages, h, trial)
    if memory.velocity_first == 1:
        y, rates = floats(memory.y), floats(memory.rates)
        first_v = memory.entries - memory.n_v * memory.lanes
        for n in range(memory.entries):
            inputs[n] = y[n] if n < first_v else trial[n]
        evaluate(memory, -1)
        for n in range(first_v):
            trial[n] = y[n] + h * rates[n]
    return 0.0 if memory.step > 0.0 else embedded_error(memory, h)


@compiled
def combine(memory: Memory, weights: Floats, count: int, h: float, result: Floats) -> None:
    """Write y + h Σ_j weight_j k_j, over the first `count` stages and in that order; the last pass over y ends it."""
    y, stages, size = floats(memory.y), floats(memory.stages), memory.entries
    last = count - 1
    while last > 0 and weights[last] == 0.0:
        last -= 1
    is_begun = False
    for j in range(last):
        weight = weights[j]
        if weight != 0.0:
            for n in range(size):
                result[n] = (result[n] if is_begun else 0.0) + weight * stages[j * size + n]
            is_begun = True
    weight = weights[last]
    for n in range(size):
        result[n] = y[n] + h * ((result[n] if is_begun else 0.0) + weight * stages[last * size + n])


@compiled
def prepare_dense(memory: Memory, end: float, h: float) -> None:
    """Complete the stages for `interpolate` by D and the rate at the end of the step, if they are needed."""
    if memory.needs_end == 1:
        y, trial, stages = floats(memory.y), floats(memory.trial), floats(memory.stages)
        first = memory.n_stages * memory.entries
        for n in range(memory.entries):
            stages[first + n] = (trial[n] - y[n]) / h
        load(memory, trial, end)
        evaluate(memory, memory.n_stages + 1)


@compiled
def interpolate(memory: Memory, h: float, part: float) -> None:
    """Write the state at the part θ of the step to `between`: y + h Σ_i k_i Σ_j d_ij θ^j."""
    y, between, stages, dense = floats(memory.y), floats(memory.between), floats(memory.stages), floats(memory.dense)
    size = memory.entries
    for n in range(size):
        between[n] = 0.0
    for i in range(memory.n_stages + 2):
        weight = 0.0
        for j in range(DENSE_POWERS - 1, -1, -1):
            weight = part * (weight + dense[i * DENSE_POWERS + j])
        if weight != 0.0:
            for n in range(size):
                between[n] += weight * stages[i * size + n]
    for n in range(size):
        between[n] = y[n] + h * between[n]


@compiled
def embedded_error(memory: Memory, h: float) -> float:
    """Give the scaled size of e = h Σ_i (b_i - b̂_i) k_i; `between` is overwritten.

    Near a singular position rounding in the direction of a vanishing row is most of e, and shorter steps only bring
    more of it. There only the part of e counts which projection leaves: P e, as long as what projection moves along
    the rows, of the order of e²/σ, is within the tolerance.
    """
    between, stages, weights = floats(memory.between), floats(memory.stages), floats(memory.error_weights)
    size = memory.entries
    for n in range(size):
        between[n] = 0.0
    for j in range(memory.n_stages):
        for n in range(size):
            between[n] += h * weights[j] * stages[j * size + n]
    error = scaled_norm(memory, between)
    if 1.0 < error < np.inf and memory.projecting == 1:
        faded = least_pivot(memory)  # σ²
        slot = memory.n_work
        tolerance = memory.relative + floats(memory.floors)[slot] / floats(memory.sizes)[slot]
        if faded < PIVOT_FADED and error**4 * tolerance**2 < faded:
            keep_tangent(memory, between)
            error = min(error, scaled_norm(memory, between))
    return error


@compiled
def watch_stiffness(memory: Memory) -> None:
    """Count the steps that stability may have limited, and pause the loop where another method would pay.

    The last two stages are at the same time, so that their rates differ by the motion's own slope alone::

        hλ ≈ h |k_s - k_(s-1)| / |Y_s - Y_(s-1)|

    STIFF_STEPS of them, and not MILD_STEPS others in a row among them, are a stiff motion; it pays to do something if
    many steps of that length lie ahead. Overwrites `between`.

    Reference: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2, "Automatic Stiffness Detection".
    """
    if memory.gauges == 0 or memory.ahead == memory.time:
        return
    stages, between, size = floats(memory.stages), floats(memory.between), memory.entries
    h, weights, last = memory.taken, floats(memory.last_difference), memory.n_stages - 1
    activate(memory)
    for n in range(size):
        between[n] = stages[last * size + n] - stages[(last - 1) * size + n]
    rates_apart = scaled_norm(memory, between)
    for n in range(size):
        between[n] = 0.0
    for j in range(last):
        for n in range(size):
            between[n] += h * weights[j] * stages[j * size + n]
    apart = scaled_norm(memory, between)
    rate = h * rates_apart / apart if apart > 0.0 else 0.0
    if rate > STIFF_STEP:
        memory.n_stiff += 1
        memory.n_mild = 0
        if memory.n_stiff >= STIFF_STEPS:
            memory.stiffest = max(memory.stiffest, rate / h)
    else:
        memory.n_mild += 1
        if memory.n_mild == MILD_STEPS:
            memory.n_stiff = 0
    if memory.n_stiff >= STIFF_STEPS and (memory.end - memory.ahead) > STIFF_PAYS * h:
        memory.paused = 1
