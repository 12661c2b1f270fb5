"""Two arms that carry one rigid load: 18 velocities, 12 rows, 6 freedoms and 12 motors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.model.pose import Pose
from kalaba.robots import cooperation as common
from kalaba.robots.entry import Entry, Erratum

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.scenarios import Scenario

RIGHT_GRASP = Pose(
    (0.16589978433024144, -0.029916755184432105, -0.015325774925668889),
    rpy=(0.6131104782909889, 1.1439880175402066, -2.6664136402181167),
)


def system() -> System:
    """Two arms `arm1` and `arm2`, the body `load`."""
    grasps = [("load", common.SIDE_GRASP), ("load", RIGHT_GRASP)]
    return common.cell("two-arm-carry", [common.first("load")], {"load": common.LYING}, grasps)


def scenario() -> Scenario:
    """Sink without motors."""
    return common.scenario(system())


ENTRY = Entry(
    name="two-arm-carry",
    summary="two six-hinge arms carry one rigid load: 6 freedoms, 12 motors",
    source=common.SOURCE,
    build=system,
    scenario=scenario,
    errata=(
        common.BODY_INERTIA,
        common.ARM_RATE,
        Erratum("(5.18)-(5.20)", "H_0i in one sum with H_i*", "a sum over bodies and one over arms"),
    ),
)
