"""The Bennett linkage: four bars and four hinges in space that ought to be rigid and move all the same.

Opposite bars are alike: length a with twist α, length b with twist β between the hinges at their ends. It moves if
sin α / a = sin β / b, so β is not a number of its own here. Closed by a hinge: 5 rows, of rank 2 on the manifold only.
With hinge angles θ1 (first bar) and θ2 (second)::

    tan(θ1/2) tan(θ2/2) = sin((β + α)/2) / sin((β − α)/2),   θ3 = −θ1
"""

from __future__ import annotations

from math import asin, atan, pi, sin, tan

from kalaba.joints import Revolute
from kalaba.model.acting import Actuator
from kalaba.model.options import numeric
from kalaba.model.parts import Body, Connection, Frame, Parameter, Start
from kalaba.model.solids import Rod
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import digits
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

A, B, ALPHA = 0.30, 0.40, pi / 6
BETA = "asin(b*sin(alpha)/a)"
HINGE = Revolute(Z)
THETA1 = 1.0  # rad, at the start


def system(*, speed: float) -> System:
    """Three bars as one tree, the fourth (b, β) is the ground; `seat` is the fourth hinge."""
    return System(
        "bennett",
        parts=(
            Parameter("a", A, "m", "length of the first and third bar"),
            Parameter("b", B, "m", "length of the second bar and of the ground"),
            Parameter("alpha", ALPHA, "rad", "twist of the first and third bar; the other one follows from it"),
            Body("bar1", Rod("a", mass=0.3), joint=HINGE),
            Body("bar2", Rod("b", mass=0.4), parent="bar1.tip", at=Pose(rpy=("alpha", 0, 0)), joint=HINGE),
            Body("bar3", Rod("a", mass=0.3), parent="bar2.tip", at=Pose(rpy=(BETA, 0, 0)), joint=HINGE),
            Frame("end", parent="bar3.tip", at=Pose(rpy=("alpha", 0, 0))),
            Connection("seat", "end", at=Pose(("-b", 0, 0), rpy=(f"-{BETA}", 0, 0)), joint=HINGE),
            Actuator("motor", "bar1.angle", limit=5.0),
        ),
        start=Start(
            hold={"bar1.angle": THETA1},
            guess={"bar2.angle": _second_angle(THETA1), "bar3.angle": -THETA1},
            speed={"bar1.angle": speed},
        ),
    )


def _second_angle(theta1: float) -> float:
    beta = asin(B * sin(ALPHA) / A)
    return 2 * atan(sin((beta + ALPHA) / 2) / sin((beta - ALPHA) / 2) / tan(theta1 / 2))


def scenario(*, speed: float) -> Scenario:
    """Let it go with a push: nothing drives it, so its energy must stay."""
    pushed = f"Pushed to {digits(speed)} rad/s and left alone"
    return Scenario(
        system(speed=speed),
        duration=5.0,
        description=f"{pushed}: it swings under its own weight, and the energy stays.",
    )


ENTRY = Entry(
    name="bennett",
    source=(
        "Bennett (1903), A new mechanism, Engineering 76, 777-778; Bennett (1914), The skew isogram mechanism, "
        "Proceedings of the London Mathematical Society s2-13, 151-173; kalaba's own numbers"
    ),
    build=system,
    scenario=scenario,
    options={"speed": numeric(3.0, "speed of the first bar at the start, rad/s")},
)
