"""Any number of arms in a ring that carry one disc by its rim: 6 freedoms, six motors per arm.

The disc grows with the number of arms, so that each has 0.5 m of the rim and 4 kg to carry. All arms stand alike: seen
from the base, the tool is where the nominal pose has it, so that assembly finds the nominal angles.
"""

from __future__ import annotations

from math import cos, pi, sin

from kalaba import paths as path
from kalaba.cooperate.carry import Carry
from kalaba.cooperate.grasp import Grasp
from kalaba.cooperate.hold import hold
from kalaba.model.options import Choice, Option, Whole, numeric
from kalaba.model.parts import Body, Start
from kalaba.model.solids import Cylinder
from kalaba.model.system import System
from kalaba.robots import cooperation as common
from kalaba.robots import puma560
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import SERVO, digits
from kalaba.robots.two_arm_carry import ENTRY as CARRY
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

SHARE = 0.5  # m of the rim for each arm
LEAST = 0.25  # m, radius of the smallest disc
LOAD = 4.0  # kg for each arm
THICKNESS = 0.04  # m
_UPPER, _FOREARM = puma560.ROWS[1].a, puma560.ROWS[3].d
_ELBOW = puma560.ROWS[2].a
REACH = (_UPPER + _FOREARM - _ELBOW) * cos(pi / 4) + puma560.TOOL  # m, tool before base at the nominal pose
SIDE = -puma560.ROWS[2].d  # m, tool beside the base
HEIGHT = puma560.ROWS[0].d + (_UPPER - _FOREARM - _ELBOW) * sin(pi / 4)  # m, tool above the ground


def system(*, arms: int) -> System:
    """Arms `arm1` to `arm<n>` in a ring, the body `load` in the middle; each arm looks inwards, x along (−c, −s)."""
    radius = max(LEAST, SHARE * arms / (2 * pi))
    arm = puma560.system()
    placed, grasps = [], []
    for i in range(arms):
        angle = 2 * pi * i / arms
        c, s = round(cos(angle), 15), round(sin(angle), 15)  # an exact zero where there should be one
        away = radius + REACH
        base = (away * c - SIDE * s, away * s + SIDE * c, 0.0)
        placed.append(arm.place(f"arm{i + 1}", at=Pose(base, rpy=(0.0, 0.0, angle + pi))))
        rim = Pose((radius * c, radius * s, 0.0), rpy=(0.0, pi / 2, angle + pi))
        grasps.append(Grasp(f"arm{i + 1}", "load", rim))
    load = Body("load", Cylinder(radius, THICKNESS, mass=LOAD * arms, axis=Z))
    start = Start(hold={"load": Pose((0.0, 0.0, HEIGHT))})
    return hold(load, placed, grasps, "n-arm-carry", start=start, check=False)


def scenario(  # noqa: PLR0913  (options of the entry)
    *,
    arms: int,
    squeeze: Choice,
    rise: float,
    diameter: float,
    lift_time: float,
    lap_time: float,
    frequency: float,
    damping: float,
) -> Scenario:
    """Lift the disc, then once around a small circle."""
    lift, around = _smooth(0.0, float(lift_time)), _smooth(float(lift_time), float(lap_time))
    turned, radius, duration = f"2*pi*{around}", diameter / 2, lift_time + lap_time
    way = path.expression(
        f"{radius!r}*(1 - cos({turned}))", f"{radius!r}*sin({turned})", f"{float(rise)!r}*{lift}", duration=duration
    )
    up, wide = digits(rise), digits(diameter)
    return Scenario(
        system(arms=arms),
        duration=duration + common.REST,
        control=Carry(way.relative(), frequency=frequency, damping=damping, squeeze=common.squeeze_of(squeeze)),
        description=f"The disc is lifted by {up} m, then goes once around a level circle of {wide} m.",
    )


def _smooth(begin: float, duration: float) -> str:
    """From 0 to 1 by minimum jerk: τ³ (10 − 15 τ + 6 τ²)."""
    tau = f"(min(max(t - {begin!r}, 0), {duration!r})/{duration!r})"
    return f"{tau}^3*(10 - 15*{tau} + 6*{tau}^2)"


ENTRY = Entry(
    name="n-arm-carry",
    source=common.SOURCE,
    build=system,
    scenario=scenario,
    options={
        "arms": Option(default=4, allowed=Whole(1, 64), description="how many arms carry the disc"),
    },
    numbers={
        "squeeze": common.SQUEEZE,
        "rise": numeric(0.1, "how far the disc is lifted, m"),
        "diameter": numeric(0.1, "diameter of the circle that it then goes round, m"),
        "lift_time": numeric(1.5, "how long lifting takes, s"),
        "lap_time": numeric(3.0, "time for once round the circle, s"),
        **SERVO,
    },
    figures=common.figures(1, "any number of arms carry a load; the first arm's", "load", 1, is_level=True),
    errata=CARRY.errata,
    notation=common.notation("load", arms=64),
)
