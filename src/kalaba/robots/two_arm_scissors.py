"""Two arms that hold a pair of scissors: two blades joined by a hinge, 7 freedoms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.cooperate.carry import Carry
from kalaba.cooperate.moves import MoveTo
from kalaba.joints import Revolute
from kalaba.model.options import numeric
from kalaba.robots import cooperation as common
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import SERVO, digits
from kalaba.robots.published import Line, PaperPanel
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

if TYPE_CHECKING:
    from kalaba.model.system import System

HINGE = Pose((0.1, 0.02, -0.03), rpy=(0.2, -0.3, 0.1))
RIGHT_GRASP = Pose(
    (-0.09219738792513421, -0.07757613132378915, 0.019081841268044686),
    rpy=(1.2772573695826117, 0.7359755390034596, -2.8161303838313216),
)
ANGLE = 0.5  # rad, of the blades at the start


def system() -> System:
    """Two arms `arm1` and `arm2`, the bodies `blade1` and `blade2`, the angle `blade2.angle`."""
    offset = common.Offset(d=0.02, a=0.12, twist=0.4)
    blades = [common.first("blade1"), *common.jointed("blade2", common.SECOND, "blade1", HINGE, Revolute(Z), offset)]
    grasps = [("blade1", common.SIDE_GRASP), ("blade2_centre", RIGHT_GRASP)]
    return common.cell("two-arm-scissors", blades, {"blade1": common.LYING, "blade2.angle": ANGLE}, grasps)


def scenario(
    *, opened: float, closed: float, open_time: float, cut_time: float, frequency: float, damping: float
) -> Scenario:
    """Open the blades, then cut."""
    joints = {"blade2.angle": (MoveTo(opened, open_time), MoveTo(closed, cut_time))}
    way = f"open from {ANGLE} to {digits(opened)} rad and close to {digits(closed)}"
    return Scenario(
        system(),
        duration=open_time + cut_time + common.REST,
        control=Carry(joints=joints, frequency=frequency, damping=damping),
        description=f"The blades {way}, while the first one is held still.",
    )


ENTRY = Entry(
    name="two-arm-scissors",
    source=common.SOURCE,
    build=system,
    scenario=scenario,
    numbers={
        "opened": numeric(0.9, "angle that the blades open to, rad"),
        "closed": numeric(0.1, "angle that they close to, rad"),
        "open_time": numeric(1.5, "how long opening takes, s"),
        "cut_time": numeric(1.5, "how long closing takes, s"),
        **SERVO,
    },
    figures=common.figures(
        3,
        "scissors that cut",
        "blade1",
        2,
        (PaperPanel("(3.3): angle of the blades", "rad", (Line("θ", "blade2.angle"),)),),
    ),
    errata=(
        common.BODY_INERTIA,
        common.ARM_RATE,
        common.CHAIN,
        common.WORKLESS,
        Erratum("(5.12)", "J_11", "J_1"),
    ),
    notation=common.notation("blade1", "blade2", blade2_angle=r"\theta"),
)
