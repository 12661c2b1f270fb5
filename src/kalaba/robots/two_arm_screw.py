"""Two arms that turn a bolt in a nut: a thread between the bodies, 7 freedoms; its coordinate is angle or travel."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

from kalaba.cooperate.carry import Carry
from kalaba.cooperate.moves import MoveTo
from kalaba.joints import Screw
from kalaba.model.options import OneOf, Option, numeric
from kalaba.robots import cooperation as common
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import SERVO, digits
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

if TYPE_CHECKING:
    from kalaba.model.system import System

THREAD = Pose((0.02, 0.01, 0.03), rpy=(0.1, 0.2, -0.1))
RIGHT_GRASP = Pose(
    (-0.08860211731581846, -0.01114599569102525, -0.0006216257969104966),
    rpy=(3.0021891778255876, -0.21275103275567311, 0.11539484662796962),
)
ANGLE = 2 * pi * 0.12 / common.PITCH  # rad: 0.12 m up the thread
START = {"angle": ANGLE, "travel": 0.12}  # rad, m
BESIDE = "the thread begins beside the nut's centre: centres are further apart than it has travelled"
COORDINATE = Option(
    default="angle", allowed=OneOf(("angle", "travel")), description="the bolt's coordinate: the angle, or the travel d"
)
TURNING = {
    "turns": numeric(3.0, "how many turns the bolt goes in"),
    "turn_time": numeric(5.5, "how long all of them take, s"),
    **SERVO,
}


def end(coordinate: str, turns: float) -> float:
    """The bolt's coordinate after some turns, rad or m."""
    return START[coordinate] - turns * (2 * pi if coordinate == "angle" else common.PITCH)


def in_words(turns: float) -> str:
    """How far the bolt goes in."""
    return f"{digits(turns)} turns, {turns * common.PITCH:g} m"


def system(*, coordinate: str = "angle") -> System:
    """Two arms `arm1` and `arm2`, the bodies `nut` and `bolt`, the angle `bolt.angle` or the travel `bolt.travel`."""
    thread = Screw(Z, pitch=common.PITCH, by=coordinate)
    objects = [common.first("nut"), *common.jointed("bolt", common.SECOND, "nut", THREAD, thread)]
    grasps = [("nut", common.END_GRASP), ("bolt", RIGHT_GRASP)]
    return common.cell(
        "two-arm-screw", objects, {"nut": common.POINTING, f"bolt.{coordinate}": START[coordinate]}, grasps
    )


def scenario(*, coordinate: str, turns: float, turn_time: float, frequency: float, damping: float) -> Scenario:
    """Turn the bolt in."""
    joints = {f"bolt.{coordinate}": MoveTo(end(coordinate, turns), turn_time)}
    return Scenario(
        system(coordinate=coordinate),
        duration=turn_time + common.REST,
        control=Carry(joints=joints, frequency=frequency, damping=damping),
        description=f"The bolt goes into the nut by {in_words(turns)}, while the nut is held still.",
    )


ENTRY = Entry(
    name="two-arm-screw",
    source=common.SOURCE,
    build=system,
    scenario=scenario,
    options={"coordinate": COORDINATE},
    numbers=TURNING,
    figures=common.figures(4, "a bolt goes into a nut", "nut", 2, (common.thread("bolt", "nut", BESIDE),)),
    errata=(
        common.BODY_INERTIA,
        common.CHAIN,
        common.WORKLESS,
        common.OFF_AXIS,
        Erratum("(3.4)", "p = d, the travel", "right, but with θ = 2πd/h H is 140 times better conditioned"),
    ),
    notation=common.notation("nut", "bolt", bolt_angle=r"\theta", bolt_travel="d"),
)
