"""Two arms that carry one rigid load: 18 velocities, 12 rows, 6 freedoms and 12 motors."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from kalaba import paths as path
from kalaba.cooperate.carry import Carry
from kalaba.model.options import Choice, numeric
from kalaba.robots import cooperation as common
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import SERVO, digits
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Y

if TYPE_CHECKING:
    from kalaba.model.system import System

RIGHT_GRASP = Pose(
    (0.16589978433024144, -0.029916755184432105, -0.015325774925668889),
    rpy=(0.6131104782909889, 1.1439880175402066, -2.6664136402181167),
)

START = (0.85, 0.02, 0.66)  # m, of the load: where common.LYING is


def system() -> System:
    """Two arms `arm1` and `arm2`, the body `load`."""
    grasps = [("load", common.SIDE_GRASP), ("load", RIGHT_GRASP)]
    return common.cell("two-arm-carry", [common.first("load")], {"load": common.LYING}, grasps)


def scenario(*, squeeze: Choice, diameter: float, lap_time: float, frequency: float, damping: float) -> Scenario:
    """Once around an upright circle, the load kept level; it starts a radius along x from the centre."""
    x, y, z = START
    circle = path.circle(diameter, speed=pi * diameter / lap_time, centre=(x - diameter / 2, y, z), normal=Y)
    description = f"The load goes once around an upright circle of {digits(diameter)} m and keeps its attitude."
    control = Carry(circle, frequency=frequency, damping=damping, squeeze=common.squeeze_of(squeeze))
    return Scenario(system(), duration=lap_time + common.REST, control=control, description=description)


ENTRY = Entry(
    name="two-arm-carry",
    source=common.SOURCE,
    build=system,
    scenario=scenario,
    numbers={
        "squeeze": common.SQUEEZE,
        "diameter": numeric(0.2, "diameter of the circle that the load goes round, m"),
        "lap_time": numeric(4.0, "time for once round it, s"),
        **SERVO,
    },
    figures=common.figures(1, "two arms carry a load", "load", 2),
    errata=(
        common.BODY_INERTIA,
        common.ARM_RATE,
        Erratum("(5.18)-(5.20)", "H_0i in one sum with H_i*", "a sum over bodies and one over arms"),
    ),
    notation=common.notation("load"),
)
