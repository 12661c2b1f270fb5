"""Motions that have neither inertia nor a row: which, of which body, and whether everywhere or at one position only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kalaba.constrain.solvers import in_sizes, mass_weight
from kalaba.errors import ConstraintError
from kalaba.model.text.expressions import Values, number
from kalaba.plant.assembly import weighted_step
from kalaba.space.arrays import Array
from kalaba.space.configuration import displaced
from kalaba.space.pose import Axis
from kalaba.tolerances import NO_INERTIA, NOT_UNIQUE, NOT_UNIQUE_SHOWN

if TYPE_CHECKING:
    from kalaba.constrain.solvers import Problem
    from kalaba.plant.plant import Plant

BESIDE = 0.1  # of the machine's length, rad: how far away another position is
PROBES = 4
CLOSING_STEPS = 6
ANY_AXIS = 3  # as many directions as there are


def is_unheld(plant: Plant) -> bool:
    """Tell whether some motion has no inertia, and there are no rows that could hold it."""
    return plant.is_singular and not plant.constraints


def free_motions(plant: Plant, problem: Problem) -> Array:
    """Directions (n_v, k) that have neither inertia nor a row, in units in which each velocity has inertia 1."""
    mass, _, A, _ = in_sizes(problem, plant.scales.sizes)
    metric = mass + mass_weight(mass, A) * A.T @ A
    sizes = np.sqrt(np.maximum(np.diag(metric), 0.0))
    largest = float(sizes.max(initial=0.0)) or 1.0
    scale = np.where(sizes > NO_INERTIA * largest, sizes, largest)
    values, vectors = np.linalg.eigh(metric / np.outer(scale, scale))
    return np.asarray(vectors[:, values < NOT_UNIQUE])


def without_inertia(plant: Plant, problem: Problem) -> str:
    """What to say of a motion that is not unique: what has no inertia, and what to do."""
    free = free_motions(plant, problem)
    weight = np.abs(free).max(axis=1, initial=0.0)
    names = [name for name, size in zip(plant.velocities, weight, strict=True) if size > NOT_UNIQUE_SHOWN]
    what, them = ", ".join(names) or "some motion", "it" if len(names) <= 1 else "them"
    if _is_elsewhere_unique(plant):
        return (
            f"{plant.system.name}: the motion is not unique at this position; nothing gives {what} inertia or holds "
            f"{them} here, though beside it something does: a singular position. Start elsewhere with hold= or guess=."
        )
    where, turns = _bodies(plant, free)
    remedy = (
        "Give the body mass off that axis (kb.Cylinder instead of kb.Rod, inertia= of kb.Solid), or a joint that does "
        "not turn it so."
        if turns
        else "Give the body mass, or constrain it."
    )
    return (
        f"{plant.system.name}: the motion is not unique; nothing gives {what} inertia or holds {them}{where}. {remedy}"
    )


def _bodies(plant: Plant, free: Array) -> tuple[str, bool]:
    """In words which bodies turn without inertia and about which axis, and whether these have mass."""
    values = Values({parameter.name: parameter.value for parameter in plant.machine.parameters})
    words, has_mass = [], True
    for body in plant.machine.bodies:
        own = [j for j, name in enumerate(plant.velocities) if name.rpartition(".")[0] == body.name]
        if not own or not (np.abs(free[own]) > NOT_UNIQUE_SHOWN).any():
            continue
        mass = body.solid.mass_properties(lambda entry: number(entry, values)).mass
        has_mass = has_mass and float(mass) > 0.0
        if body.joint.has_quaternion:
            last = body.v_index + body.joint.v_count
            directions, sizes, _ = np.linalg.svd(free[last - 3 : last])
            count = int((sizes > NOT_UNIQUE_SHOWN).sum())
            axes = [_axis(direction) for direction in directions.T[:count]]
            words.append(f"{body.name}, about {'any axis' if count == ANY_AXIS else ' and '.join(axes)}")
    return (f" ({'; '.join(words)})" if words and has_mass else ""), has_mass and bool(words)


def _axis(direction: Array) -> str:
    rounded = np.round(direction * np.sign(direction[np.argmax(np.abs(direction))]), 9)
    return f"its {Axis(*map(float, rounded)).words} axis"


def _is_elsewhere_unique(plant: Plant) -> bool:
    """Tell whether all motions have inertia or a row at closed configurations beside the machine's start."""
    try:
        q = plant.start.q
    except ConstraintError:
        return False
    rng = np.random.default_rng(7)
    for _ in range(PROBES):
        beside = displaced(plant.machine, q, BESIDE * plant.scales.velocities * rng.normal(size=len(plant.velocities)))
        problem = _closed(plant, beside)
        is_finite = np.isfinite(problem.mass).all() and np.isfinite(problem.matrix).all()
        if is_finite and not free_motions(plant, problem).size:
            return True
    return False


def _closed(plant: Plant, q: Array) -> Problem:
    """The problem at the configuration that a few Newton steps lead to; it need not be closed to the last digit."""
    position = ~np.array(plant.machine.is_velocity_level, dtype=bool)
    for _ in range(CLOSING_STEPS if position.any() else 0):
        problem = plant.problem(plant.inputs(q))
        sizes, gaps = plant.scales.gaps.some(position), plant.residual(q)[position]
        q = displaced(plant.machine, q, weighted_step(problem.matrix[position], problem.mass, -gaps, sizes))
    return plant.problem(plant.inputs(q))
