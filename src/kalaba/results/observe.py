"""Readings of a Run: quantities evaluated at every sample, after the fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kalaba.constrain.kernels.functions import expressions
from kalaba.plant.laws import read
from kalaba.space.arrays import Array
from kalaba.units import MOMENTUM

if TYPE_CHECKING:
    from kalaba.native.backend import Evaluator
    from kalaba.plant.plant import Plant
    from kalaba.results.run import Run

CHUNK = 20_000  # samples packed at a time
MOMENTUM_WORDS = {f"momentum.{component}": index for index, component in enumerate(MOMENTUM)}


def observe(run: Run) -> dict[str, Array]:
    """Energies, momentum, power, residuals and outputs at every sample."""
    function = run.plant.standard("observe")
    values = evaluate_samples(run, function)
    return {name: values[:, part] for name, part in function.outputs.items()}


def evaluate(run: Run, text: str) -> Array:
    """An expression at every sample; names of outputs, motors, rows and `momentum.x` to `momentum.rz` are known too."""
    plant = run.plant
    if is_momentum(plant, text):
        return run.observed["momentum"][:, MOMENTUM_WORDS[text]]
    if text in plant.outputs:
        return run.observed["outputs"][:, plant.outputs.index(text)]
    if text in plant.actuators:
        return run.actuation[:, plant.actuators.index(text)]
    if text in plant.constraints:
        index = plant.constraints.index(text)
        kind = "speed_residual" if plant.machine.is_velocity_level[index] else "residual"
        return run.observed[kind][:, index]
    expression = read(plant, text, "run", named(plant))
    function = plant.function(
        "expression", lambda e: expressions(e, lambda of: [of.kinematics.value(expression)]), expression.canonical
    )
    return evaluate_samples(run, function)[:, 0]


def named(plant: Plant) -> tuple[str, ...]:
    """What a run knows by name, beside expressions."""
    return (*plant.outputs, *plant.actuators, *plant.constraints, *MOMENTUM_WORDS)


def is_momentum(plant: Plant, text: str) -> bool:
    """Whether a word is a component of the whole machine's momentum; a frame of that name comes first."""
    return text in MOMENTUM_WORDS and "momentum" not in plant.machine.frames


def evaluate_samples(run: Run, function: Evaluator) -> Array:
    """A function of the plant at every sample."""
    firsts = range(0, len(run.time), CHUNK)
    return np.concatenate([function.each(packed_samples(run, slice(first, first + CHUNK))) for first in firsts])


def packed_samples(run: Run, part: slice) -> Array:
    """Packed inputs of some samples."""
    layout = run.plant.layout
    packed = layout.pack_each(run.q[part], run.v[part], run.time[part])
    packed[:, layout.u.start : layout.u.start + run.inputs.shape[1]] = run.inputs[part]  # u, and f where it is pushed
    return packed
