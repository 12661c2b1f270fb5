"""Two arms that put a round peg into a hole: a cylindrical joint between the bodies, 8 freedoms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.cooperate.carry import Carry
from kalaba.cooperate.moves import MoveTo
from kalaba.joints import Cylindrical
from kalaba.model.options import numeric
from kalaba.robots import cooperation as common
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import SERVO, digits
from kalaba.robots.published import Line, PaperPanel
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

if TYPE_CHECKING:
    from kalaba.model.system import System

HOLE = Pose((0.02, 0.01, 0.03), rpy=(0.1, 0.2, -0.1))
RIGHT_GRASP = Pose(
    (-0.08594840941104609, 0.0242371477798351, -0.0006216257969104966),
    rpy=(3.0021891778255876, -0.21275103275567317, -0.28460515337203185),
)
OUT = 0.12  # m, travel of the peg at the start
ANGLE = 0.4  # rad, of the peg at the start


def system() -> System:
    """Two arms `arm1` and `arm2`, the bodies `block` and `peg`, `peg.travel` and `peg.angle`."""
    objects = [common.first("block"), *common.jointed("peg", common.SECOND, "block", HOLE, Cylindrical(Z))]
    held: common.Held = {"block": common.POINTING, "peg.travel": OUT, "peg.angle": ANGLE}
    return common.cell("two-arm-peg", objects, held, [("block", common.END_GRASP), ("peg", RIGHT_GRASP)])


def scenario(*, depth: float, turn: float, push_time: float, frequency: float, damping: float) -> Scenario:
    """Push the peg in and turn it on the way."""
    joints = {
        "peg.travel": MoveTo(common.tidy(OUT - depth), push_time),
        "peg.angle": MoveTo(common.tidy(ANGLE + turn), push_time),
    }
    way = f"goes {digits(depth)} m into the block and turns by {digits(turn)} rad on the way"
    return Scenario(
        system(),
        duration=push_time + common.REST,
        control=Carry(joints=joints, frequency=frequency, damping=damping),
        description=f"The peg {way}, while the block is held still.",
    )


ENTRY = Entry(
    name="two-arm-peg",
    source=common.SOURCE,
    build=system,
    scenario=scenario,
    numbers={
        "depth": numeric(0.1, "how far the peg goes in, m"),
        "turn": numeric(0.8, "how far it turns on the way, rad"),
        "push_time": numeric(3.0, "how long that takes, s"),
        **SERVO,
    },
    figures=common.figures(
        5,
        "a peg goes into its hole",
        "block",
        2,
        (
            PaperPanel("(3.5): d of the peg", "m", (Line("d", "peg.travel"),)),
            PaperPanel("(3.5): θ of the peg", "rad", (Line("θ", "peg.angle"),)),
        ),
    ),
    errata=(
        common.BODY_INERTIA,
        common.CHAIN,
        common.WORKLESS,
        common.CYLINDRICAL_OFF_AXIS,
        Erratum("(4.20)", "J_fᵀ", "J_f⁺: the transpose is the inverse of orthonormal columns only"),
    ),
    notation=common.notation("block", "peg", peg_travel="d", peg_angle=r"\theta"),
)
