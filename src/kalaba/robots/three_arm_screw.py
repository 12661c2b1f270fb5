"""Three arms on three bodies: a nut, a bolt in its thread, and a sleeve that turns and slides on it, 9 freedoms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.cooperate.carry import Carry
from kalaba.cooperate.moves import MoveTo
from kalaba.joints import Cylindrical, Screw
from kalaba.model.options import numeric
from kalaba.robots import cooperation as common
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import digits
from kalaba.robots.published import Line, PaperPanel
from kalaba.robots.two_arm_screw import COORDINATE, START, TURNING, end, in_words
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

if TYPE_CHECKING:
    from kalaba.model.system import System

BOLT_GRASP = Pose(
    (-0.045438669701530654, -0.006558018254575174, 0.04292620952746029),
    rpy=(3.1225817038016515, -0.024022222152417085, -0.008947080356392701),
)
SLEEVE_GRASP = Pose(
    (0.04712492213457076, 0.10761396940778034, 0.11717223612681749),
    rpy=(1.6265535832508113, -0.20855034983375872, -0.6095151433439615),
)

SLEEVE_TRAVEL, SLEEVE_ANGLE = -0.1, 0.6  # m, rad, at the start


def system(*, coordinate: str = "angle") -> System:
    """Three arms `arm1` to `arm3`, the bodies `nut`, `bolt` and `sleeve`."""
    objects = [
        common.first("nut"),
        *common.jointed("bolt", common.SECOND, "nut", Pose(), Screw(Z, pitch=common.PITCH, by=coordinate)),
        *common.jointed("sleeve", common.THIRD, "nut", Pose(), Cylindrical(Z)),
    ]
    held: common.Held = {
        "nut": common.POINTING,
        f"bolt.{coordinate}": START[coordinate],
        "sleeve.travel": SLEEVE_TRAVEL,
        "sleeve.angle": SLEEVE_ANGLE,
    }
    grasps = [("nut", common.END_GRASP), ("bolt", BOLT_GRASP), ("sleeve", SLEEVE_GRASP)]
    return common.cell("three-arm-screw", objects, held, grasps)


def scenario(  # noqa: PLR0913  (options of the entry)
    *,
    coordinate: str,
    turns: float,
    turn_time: float,
    slide: float,
    sleeve_turn: float,
    frequency: float,
    damping: float,
) -> Scenario:
    """Turn the bolt in and slide the sleeve over it."""
    joints = {
        f"bolt.{coordinate}": MoveTo(end(coordinate, turns), turn_time),
        "sleeve.travel": MoveTo(common.tidy(SLEEVE_TRAVEL + slide), turn_time),
        "sleeve.angle": MoveTo(common.tidy(SLEEVE_ANGLE - sleeve_turn), turn_time),
    }
    way = f"goes into the nut by {in_words(turns)}, while the sleeve comes {digits(slide)} m to meet it"
    return Scenario(
        system(coordinate=coordinate),
        duration=turn_time + common.REST,
        control=Carry(joints=joints, frequency=frequency, damping=damping),
        description=f"The bolt {way}.",
    )


ENTRY = Entry(
    name="three-arm-screw",
    source=common.SOURCE,
    build=system,
    scenario=scenario,
    options={"coordinate": COORDINATE},
    numbers={
        **TURNING,
        "slide": numeric(0.05, "how far the sleeve comes to meet the bolt, m"),
        "sleeve_turn": numeric(0.4, "how far it turns on the way, rad"),
    },
    figures=common.figures(
        6,
        "a bolt and a sleeve meet in a nut",
        "nut",
        3,
        (
            common.thread("bolt", "nut"),
            PaperPanel("(3.6): d2 of the sleeve", "m", (Line("d2", "sleeve.travel"),)),
            PaperPanel("(3.6): θ of the sleeve", "rad", (Line("θ", "sleeve.angle"),)),
        ),
    ),
    errata=(
        common.BODY_INERTIA,
        common.CHAIN,
        common.WORKLESS,
        common.OFF_AXIS,
        common.CYLINDRICAL_OFF_AXIS,
        Erratum("(4.23), (4.26)", "ṡ_C2 − ṡ_C1", "ṡ_C2 − ṡ_C1 − (ω×d b; 0): C_2 lies d along the axis"),
    ),
    notation=common.notation(
        "nut",
        "bolt",
        "sleeve",
        bolt_angle=r"\theta_{1}",
        bolt_travel="d_{1}",
        sleeve_travel="d_{2}",
        sleeve_angle=r"\theta",
    ),
)
