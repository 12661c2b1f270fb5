"""Steppers for structures on a Plant: the functions they call, and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.kernels.slopes import tangent
from kalaba.constrain.stabilisation import Baumgarte
from kalaba.errors import IntegrationError
from kalaba.plant.choice import keep_rows, rows_at
from kalaba.steppers import CentralDifference, Structural

if TYPE_CHECKING:
    from kalaba.native.backend import Evaluator
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State
    from kalaba.run.simulate import Task

Array = NDArray[np.float64]


def structural_functions(task: Task) -> dict[str, Evaluator]:
    """The functions that the task's stepper needs beside those of every stepper."""
    if not isinstance(task.stepper, Structural):
        return {}
    found = {"displace": task.plant.standard("displace")}
    if not task.stepper.scheme.explicit:
        found["tangent"] = _tangent(task)
    return found


def _tangent(task: Task) -> Evaluator:
    """Mass, damping and stiffness; those of a feedback law with it, whose limits are left to the motion.

    A stepper keeps its tangent for some hundred steps, but with rows at position level it takes two a step.
    """
    plant, law, singular = task.plant, task.law, task.plant.is_singular
    seldom = not task.stepper.scheme.index_3
    if law is None or not law.is_feedback:
        return plant.function("tangent", lambda e: tangent(e, is_singular=singular), f"{singular}", seldom=seldom)
    label = f"{law.label} {law.numbers} {singular}"
    return plant.function("tangent", lambda e: tangent(e, law.inputs(e), is_singular=singular), label, seldom=seldom)


def check_structural(task: Task) -> None:
    """Refuse what a stepper for structures cannot do, before it starts."""
    stepper, name = task.stepper, task.plant.system.name
    if not isinstance(stepper, Structural):
        return
    if task.is_pushed:
        raise IntegrationError(
            f"{name}: a law that pushes every coordinate needs a stepper such as kb.RungeKutta4, got {stepper!r}."
        )
    if stepper.scheme.index_3 and any(task.plant.machine.is_velocity_level):
        raise IntegrationError(
            f"{name}: formulation='arnold-bruls' takes rows at position level only, and this machine has rows of its "
            "velocities. Take formulation='acceleration'."
        )
    if stepper.scheme.index_3 and isinstance(task.stabilisation, Baumgarte):
        raise IntegrationError(f"{name}: formulation='arnold-bruls' closes the rows itself. Leave Baumgarte out.")
    if isinstance(stepper, CentralDifference):
        limit = largest_step(task.plant, task.start)
        if not stepper.step < limit:
            raise IntegrationError(
                f"{name}: CentralDifference(step={stepper.step:g}) is unstable: at the start the highest frequency is "
                f"{1 / (np.pi * limit):.4g} Hz and the step must be below 2/ω = {limit:.4g} s. Take a smaller step, or "
                "kb.Newmark, which is stable at any."
            )


def largest_step(plant: Plant, state: State) -> float:
    """The step at which central differences become unstable at a state, 2/ω_max; infinite where nothing swings.

    ω² are the eigenvalues of Tᵀ K T against Tᵀ M T, T spanning the motions that the rows allow and K being the
    stiffness about the motion at that state, without motors.
    """
    from scipy.linalg import eigh

    n = len(plant.velocities)
    inputs = plant.inputs(*state)
    rows = rows_at(plant, inputs)
    keep_rows(plant, inputs, rows.mask)
    function = plant.interpreted("tangent")
    values = function(inputs)
    found = {name: values[part] for name, part in function.outputs.items()}
    M, K = (found[name].reshape((n, n), order="F") for name in ("mass", "stiffness"))
    T = rows.free_directions()
    if not T.shape[1]:
        return np.inf
    highest = eigh(T.T @ (K + K.T) @ T / 2, T.T @ M @ T, eigvals_only=True)[-1]
    return float(2 / np.sqrt(highest)) if highest > 0 else np.inf
