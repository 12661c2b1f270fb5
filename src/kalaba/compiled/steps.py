"""One step of every compiled stepper, and the states in between; the same source whatever the lanes."""

import numpy as np
import numpy.typing as npt

from kalaba.compiled.work import Work, evaluate, load
from kalaba.native.machine_code import Floats, compiled, floats
from kalaba.steppers.tableau import DENSE_POWERS, ButcherTableau

# The cubic through both ends: y + h [k₀(θ - 2θ² + θ³) + D(3θ² - 2θ³) + k₁(-θ² + θ³)] with D = (y⁺ - y)/h.
_HERMITE = {0: (1.0, -2.0, 1.0), -2: (0.0, 3.0, -2.0), -1: (0.0, -1.0, 1.0)}


def coefficients(tableau: ButcherTableau) -> dict[str, npt.NDArray[np.float64]]:
    """Give the arrays of a method that `Work` names; `dense` has two rows more than stages, for D and for k₁."""
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
    }


@compiled
def take_step(work: Work, t: float, h: float) -> None:
    """Write the state one step later to `trial`; the rate at the start is already the first stage.

    Through the stages of a tableau, k_i = f(t + c_i h, y + h Σ a_ij k_j), then y⁺ = y + h Σ b_i k_i. If velocity goes
    first, q is stepped again with N(q) v⁺, read from the motion kernel at the old q and the new v.
    """
    inputs, nodes, n_stages = floats(work.inputs), floats(work.nodes), work.n_stages
    for i in range(1, n_stages):
        _combine(work, floats(work.matrix + 8 * i * n_stages), i, h, inputs)
        for lane in range(work.lanes):
            inputs[work.entries + lane] = t + nodes[i] * h
        evaluate(work, i)
    trial = floats(work.trial)
    _combine(work, floats(work.weights), n_stages, h, trial)
    if work.velocity_first == 1:
        y, rates = floats(work.y), floats(work.rates)
        first_v = work.entries - work.n_v * work.lanes
        for n in range(work.entries):
            inputs[n] = y[n] if n < first_v else trial[n]
        evaluate(work, -1)
        for n in range(first_v):
            trial[n] = y[n] + h * rates[n]


@compiled
def _combine(work: Work, weights: Floats, count: int, h: float, result: Floats) -> None:
    """Write y + h Σ_j weight_j k_j, over the first `count` stages and in that order."""
    y, stages, size = floats(work.y), floats(work.stages), work.entries
    for n in range(size):
        result[n] = 0.0
    for j in range(count):
        weight = weights[j]
        if weight != 0.0:
            for n in range(size):
                result[n] += weight * stages[j * size + n]
    for n in range(size):
        result[n] = y[n] + h * result[n]


@compiled
def prepare_dense(work: Work, end: float, h: float) -> None:
    """Complete the stages for `interpolate` by D and the rate at the end of the step, if they are needed."""
    if work.needs_end == 1:
        y, trial, stages, first = floats(work.y), floats(work.trial), floats(work.stages), work.n_stages * work.entries
        for n in range(work.entries):
            stages[first + n] = (trial[n] - y[n]) / h
        load(work, trial, end)
        evaluate(work, work.n_stages + 1)


@compiled
def interpolate(work: Work, h: float, part: float) -> None:
    """Write the state at the part θ of the step to `between`: y + h Σ_i k_i Σ_j d_ij θ^j."""
    y, between, stages, dense = floats(work.y), floats(work.between), floats(work.stages), floats(work.dense)
    size = work.entries
    for n in range(size):
        between[n] = 0.0
    for i in range(work.n_stages + 2):
        weight = 0.0
        for j in range(DENSE_POWERS - 1, -1, -1):
            weight = part * (weight + dense[i * DENSE_POWERS + j])
        if weight != 0.0:
            for n in range(size):
                between[n] += weight * stages[i * size + n]
    for n in range(size):
        between[n] = y[n] + h * between[n]
