"""The functions that every Plant has, by name: each for the whole machine, and limb by limb where it has that form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kalaba.constrain.kernels import matrices, motion, pairs, project, slopes

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.constrain.kernels.limb_machine import LimbMachine
    from kalaba.derive.equations import Equations
    from kalaba.native.blocks import BlockProgram


@dataclass(frozen=True, slots=True)
class Standard:
    """One function in its forms."""

    whole: Callable[..., ca.Function]  # of the equations; `is_singular=True` if it solves and M is singular
    limbs: Callable[[LimbMachine], BlockProgram] | None = None
    pairs: Callable[[Equations, int], BlockProgram] | None = None  # for long trees: the equations, calls at once
    solves: bool = False  # has a form for a singular mass matrix; the limbs' cannot solve then
    is_seldom: bool = False  # runs so seldom that its compiling counts for more


STANDARD = {
    "motion": Standard(motion.motion, motion.motion_by_limbs, solves=True),
    "motion_with_slack": Standard(motion.motion_with_slack, motion.motion_with_slack_by_limbs, solves=True),
    "project": Standard(project.project, project.project_by_limbs, solves=True),
    "normalise": Standard(project.normalise, project.normalise_by_limbs),
    "displace": Standard(project.displace, project.displace_by_limbs),
    "rows": Standard(matrices.rows, matrices.rows_by_limbs, pairs.rows_by_pairs, solves=True, is_seldom=True),
    "system_matrices": Standard(
        matrices.system_matrices, matrices.system_matrices_by_limbs, pairs.system_matrices_by_pairs, is_seldom=True
    ),
    "observe": Standard(matrices.observe, matrices.observe_by_limbs),
    "alignments": Standard(matrices.alignments, matrices.alignments_by_limbs, is_seldom=True),
    "wound": Standard(matrices.wound, is_seldom=True),
    "tangent": Standard(slopes.tangent, solves=True),
    "sensitivity": Standard(slopes.sensitivity, solves=True),
}
