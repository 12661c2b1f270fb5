"""Two arms that put a keyed peg into a hole: it slides and does not turn, 7 freedoms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.cooperate.carry import Carry
from kalaba.cooperate.moves import MoveTo
from kalaba.joints import Prismatic
from kalaba.model.options import numeric
from kalaba.robots import cooperation as common
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import SERVO, digits
from kalaba.robots.published import Line, PaperPanel
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

if TYPE_CHECKING:
    from kalaba.model.system import System

HOLE = Pose((0.05, 0.01, 0.02), rpy=(0.1, 0.2, -0.1))
RIGHT_GRASP = Pose(
    (-0.15855161270360918, 0.022546979467029715, -0.0009703341236382279),
    rpy=(2.79949737621091, -0.24503057720593466, -0.13845898570176668),
)
OUT = 0.12  # m, travel of the peg at the start


def system() -> System:
    """Two arms `arm1` and `arm2`, the bodies `block` and `peg`, the travel `peg.travel`."""
    offset = common.Offset(turn=0.3, a=0.04, twist=0.2)
    objects = [common.first("block"), *common.jointed("peg", common.SECOND, "block", HOLE, Prismatic(Z), offset)]
    grasps = [("block", common.END_GRASP), ("peg_centre", RIGHT_GRASP)]
    return common.cell("two-arm-keyed-peg", objects, {"block": common.POINTING, "peg.travel": OUT}, grasps)


def scenario(*, depth: float, push_time: float, frequency: float, damping: float) -> Scenario:
    """Push the peg in."""
    joints = {"peg.travel": MoveTo(common.tidy(OUT - depth), push_time)}
    control = Carry(joints=joints, frequency=frequency, damping=damping)
    description = f"The peg goes {digits(depth)} m into the block, which is held still."
    return Scenario(system(), duration=push_time + common.REST, control=control, description=description)


ENTRY = Entry(
    name="two-arm-keyed-peg",
    source=common.SOURCE,
    build=system,
    scenario=scenario,
    numbers={
        "depth": numeric(0.1, "how far the peg goes in, m"),
        "push_time": numeric(3.0, "how long that takes, s"),
        **SERVO,
    },
    figures=common.figures(
        2,
        "a keyed peg goes into its hole",
        "block",
        2,
        (PaperPanel("(3.2): d of the peg", "m", (Line("d", "peg.travel"),)),),
    ),
    errata=(
        common.BODY_INERTIA,
        common.CHAIN,
        common.WORKLESS,
        common.ARM_RATE,
    ),
    notation=common.notation("block", "peg", peg_travel="d"),
)
