"""Reading many expressions off a run at once: one traced function for all, in the interpreter, nothing compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.constrain.kernels.functions import expressions
from kalaba.cooperate.grasp_forces import grasp_forces
from kalaba.errors import ViewError, near
from kalaba.native.backend import Interpreted
from kalaba.plant.laws import read
from kalaba.results.observe import evaluate_samples, is_momentum, named
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.results.run import Run

GRASP = ("carrying", "internal", "squeeze")  # before a grasp (or a body): what the force is of, N
FORCE = "constraint_force:"  # before a velocity: the force of the constraints on it, as tables of results name it


def values_of(run: Run, texts: Sequence[str]) -> dict[str, Array]:
    """Expressions at every sample. Outputs, motors, rows, momentum, `constraint_force:NAME` are known by name.

    So are the sizes of the forces `carrying:GRASP` and `internal:GRASP`, and the force `squeeze:BODY`, N.
    """
    values_by_text = {text: values for text in texts if (values := _recorded(run, text)) is not None}
    values_by_text |= _of_grasps(run, [text for text in texts if text.partition(":")[0] in GRASP])
    rest = [text for text in dict.fromkeys(texts) if text not in values_by_text]
    if rest:
        read_off = [read(run.plant, text, "plot", named(run.plant)) for text in rest]

        def traced(equations: Equations) -> list[ca.SX]:
            return [equations.kinematics.value(expression) for expression in read_off]

        columns = _sampled(run, traced)
        values_by_text |= dict(zip(rest, columns.T, strict=True))
    return values_by_text


def positions(run: Run, frames: Sequence[str]) -> dict[str, Array]:
    """Where frames are in the world at every sample, (N, 3) each."""
    if not frames:
        return {}

    def traced(equations: Equations) -> list[ca.SX]:
        return [equations.kinematics.frame(frame).position for frame in frames]

    columns = _sampled(run, traced)
    return {frame: columns[:, 3 * i : 3 * i + 3] for i, frame in enumerate(frames)}


def rotations(run: Run, frames: Sequence[str]) -> dict[str, Array]:
    """How frames are turned in the world at every sample, (N, 3, 3) each."""
    if not frames:
        return {}

    def traced(equations: Equations) -> list[ca.SX]:
        return [ca.vec(equations.kinematics.frame(frame).rotation.T) for frame in frames]

    columns = _sampled(run, traced)
    return {frame: columns[:, 9 * i : 9 * i + 9].reshape((-1, 3, 3)) for i, frame in enumerate(frames)}


def _recorded(run: Run, text: str) -> Array | None:
    """What a run holds under a name."""
    plant = run.plant
    if text in {*plant.outputs, *plant.actuators, *plant.constraints} or is_momentum(plant, text):
        return run[text]
    name = text.removeprefix(FORCE)
    if name != text and name in plant.velocities:
        return np.asarray(run.constraint_force[:, plant.velocities.index(name)])
    return None


def _of_grasps(run: Run, texts: Sequence[str]) -> dict[str, Array]:
    """Forces of grasps by words such as `internal:grip_arm1` and `squeeze:load`."""
    if not texts:
        return {}
    forces = grasp_forces(run)
    sizes = {word: np.linalg.norm(getattr(forces, word)[:, :, :3], axis=2) for word in GRASP[:2]}
    known = {f"{word}:{name}": size[:, i] for word, size in sizes.items() for i, name in enumerate(forces.grasps)}
    known |= {f"squeeze:{body}": values for body, values in forces.squeeze.items()}
    for text in texts:
        if text not in known:
            raise ViewError(f"plot: no force {text!r}; {near(text, known)}")
    return {text: known[text] for text in texts}


def _sampled(run: Run, traced: object) -> Array:
    plant = run.plant
    function = Interpreted().evaluator(
        "readings",
        plant.key,
        lambda: expressions(plant.equations, traced),  # type: ignore[arg-type]
        plant.parameters,
    )
    return evaluate_samples(run, function)
