"""A five-bar linkage in a vertical plane: two arms of two links that hold the same point. 2 freedoms.

With three motors it has one more than it has freedoms: the third, at the left elbow, can share the work of the others.
"""

from __future__ import annotations

from math import pi

from kalaba.joints import Revolute
from kalaba.model.acting import Actuator
from kalaba.model.options import OneOf, Option
from kalaba.model.parts import Body, Connection, Start
from kalaba.model.solids import Rod
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import digits, follow, spring, swinging
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Y

HINGE = Revolute(-Y)  # a positive angle lifts the link
LEFT_CRANK = 2.2  # rad, elevation of the left crank at the start; the right one mirrors it
ELBOW = 1.44  # rad, near the turn of the elbows at which the tips meet

ARM = System(
    "arm",
    parts=(
        Body("crank", Rod(0.20, mass=0.4), joint=HINGE),
        Body("rod", Rod(0.30, mass=0.3), parent="crank.tip", joint=HINGE),
        Actuator("motor", "crank.angle", limit=10.0),
    ),
)


def system(*, motors: int) -> System:
    """Place the arm twice and join the tips. `left.motor` and `right.motor` turn the cranks, `elbow` the left elbow."""
    third = (Actuator("elbow", "left.rod.angle", limit=10.0),) if motors == 3 else ()
    left = Start(hold={"crank.angle": LEFT_CRANK}, guess={"rod.angle": -ELBOW})
    right = Start(hold={"crank.angle": pi - LEFT_CRANK}, guess={"rod.angle": ELBOW})
    return System(
        "five-bar",
        parts=(
            ARM.place("left", at=(-0.1, 0, 0), start=left),
            ARM.place("right", at=(0.1, 0, 0), start=right),
            Connection("pin", "left.rod.tip", parent="right.rod.tip", joint=HINGE),
            *third,
        ),
    )


def scenario(*, motors: int, swing: float, rate: float, stiffness: float, damping: float) -> Scenario:
    """Lead the joined tips round a closed curve."""
    far, phase = digits(swing), f"{digits(rate)}*t"
    targets = {
        "left": f"{LEFT_CRANK} + {far}*sin({phase})",
        "right": f"pi - {LEFT_CRANK} + {far}*(cos({phase}) - 1)",
    }
    control = {
        f"{side}.motor": follow(f"{side}.crank.angle", target, stiffness, damping) for side, target in targets.items()
    }
    brake = {"elbow": "-0.2*rate(left.rod.angle)"} if motors == 3 else {}
    return Scenario(
        system(motors=motors),
        duration=5.0,
        control=control | brake,
        description="The cranks swing a quarter of a period apart, so that the joined tips go round a closed curve.",
    )


ENTRY = Entry(
    name="five-bar",
    source="kalaba's own numbers; the textbook five-bar",
    build=system,
    scenario=scenario,
    options={"motors": Option(2, OneOf((2, 3)), "motors on the two cranks, and a third at the left elbow")},
    numbers={**swinging(0.3, 3.0), **spring(60.0, 3.0)},
)
