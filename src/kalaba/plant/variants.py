"""Which form a Plant's functions take: as they are, for a singular mass matrix, or for limbs that are alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kalaba.constrain.kernels import functions
from kalaba.model.topology.partition import partition
from kalaba.native.backend import Interpreted

if TYPE_CHECKING:
    from kalaba.constrain.kernels.programs import Blocks
    from kalaba.derive.equations import Equations
    from kalaba.native.backend import Evaluator
    from kalaba.plant.plant import Plant

MANY_BODIES = 16  # in limbs that are alike: from here on they are compiled once and solved limb by limb
SOLVING = {"motion", "motion_with_slack", "project", "rows", "tangent"}  # have a form for a singular mass matrix
SELDOM = {"rows", "system_matrices", "alignments"}  # run so seldom that their compiling counts for more


class RebuildWarning(UserWarning):
    """A new value changes the structure of the equations: they are derived and compiled again."""


def parted(plant: Plant) -> Blocks | None:
    """The programs of a machine with many limbs that are alike; None for others, and for other solvers."""
    if not plant.is_native:
        return None
    found = partition(plant.machine, MANY_BODIES) if len(plant.machine.bodies) >= MANY_BODIES else None
    if found is None:
        return None
    from kalaba.constrain.kernels.programs import Blocks

    return Blocks(plant.machine, found, plant.method)


def variant(plant: Plant, name: str, lanes: int = 1) -> tuple[Callable[[Equations], Any], str]:
    """What traces a standard function, and a label that tells its form apart."""
    trace, solves = getattr(functions, name), name in SOLVING
    if solves and plant.is_singular:
        return lambda equations: trace(equations, is_singular=True), "singular"
    blocks = plant.blocks if solves else plant.parted
    if blocks is not None and hasattr(blocks, name):
        chosen = blocks if lanes == 1 else blocks.one_by_one()
        return lambda _: getattr(chosen, name)(), "blocks"
    return trace, ""


def interpreted(plant: Plant, name: str) -> Evaluator:
    """A standard function in CasADi's interpreter: for what is evaluated too seldom to be compiled."""
    trace, singular = getattr(functions, name), {"is_singular": True} if plant.is_singular else {}
    return Interpreted().evaluator(name, plant.key, lambda: trace(plant.equations, **singular), plant.parameters)
