"""Which form a Plant's functions take: for the whole machine, for a singular mass matrix, or limb by limb."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kalaba.constrain.kernels.limb_machine import WIDTH, LimbMachine
from kalaba.constrain.kernels.standard import STANDARD
from kalaba.model.topology.partition import partition
from kalaba.native.backend import Interpreted

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.derive.equations import Equations
    from kalaba.native.backend import Evaluator
    from kalaba.native.blocks import BlockProgram
    from kalaba.plant.plant import Plant

MANY_BODIES = 16  # in limbs that are alike: from here on they are compiled once and solved limb by limb


def limb_machine(plant: Plant) -> LimbMachine | None:
    """The hub and the limbs of a machine with many limbs that are alike; None for others, and for other solvers."""
    if not plant.is_native or len(plant.machine.bodies) < MANY_BODIES:
        return None
    parted = partition(plant.machine, MANY_BODIES)
    return None if parted is None else LimbMachine(plant.machine, parted, plant.method)


def variant(plant: Plant, name: str, lanes: int = 1) -> tuple[Callable[[Equations], ca.Function | BlockProgram], str]:
    """What traces a standard function, and a label that tells its form apart."""
    function = STANDARD[name]
    if function.solves and plant.is_singular:
        return lambda equations: function.whole(equations, is_singular=True), "singular"
    limbs, by_limbs = plant.solved_by_limbs if function.solves else plant.limb_machine, function.limbs
    if limbs is not None and by_limbs is not None:
        chosen = limbs if lanes == 1 else limbs.one_by_one()
        return lambda _: by_limbs(chosen), "blocks"
    by_pairs = function.pairs
    if by_pairs is not None and plant.has_long_trees:
        return lambda equations: by_pairs(equations, WIDTH if lanes == 1 else 1), "pairs"
    return function.whole, ""


def interpreted(plant: Plant, name: str) -> Evaluator:
    """A standard function of the whole machine in CasADi's interpreter: for what is evaluated too seldom to compile."""
    function = STANDARD[name]
    singular = {"is_singular": True} if function.solves and plant.is_singular else {}
    return Interpreted().evaluator(
        name, plant.key, lambda: function.whole(plant.equations, **singular), plant.parameters
    )
