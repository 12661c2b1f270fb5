"""The Sarrus linkage: two legs of three parallel hinges, in planes at an angle, guide a platform on a straight line.

Each leg alone keeps the platform in its own plane's motions; together only the way up is left. Closed by a hinge:
5 rows of rank 4, 1 freedom, where counting joints gives none. The fifth row depends on the others on
the manifold only. With the legs flat (elevation 0) or stretched (a quarter turn) it is singular.
"""

from __future__ import annotations

from math import pi

from kalaba.joints import Revolute
from kalaba.model.acting import Actuator
from kalaba.model.parts import Body, Connection, Output, Parameter, Start
from kalaba.model.solids import Rod, Solid
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import digits, follow, spring, swinging
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Y

HINGE = Revolute(-Y)  # a positive angle lifts the link
ELEVATION = 1.0  # rad, of the lower rods at the start
LEG2 = ("radius*cos(turn)", "radius*sin(turn)")  # where leg 2 stands
DISC = (0.005, 0.005, 0.010)  # kg·m², 2 kg with a radius of 0.1 m

LEG = System(
    "leg",
    parts=(
        Body("lower", Rod(0.20, mass=0.2), joint=HINGE),
        Body("upper", Rod(0.20, mass=0.2), parent="lower.tip", joint=HINGE),
    ),
)


def system() -> System:
    """Leg 1 carries the platform in the tree, `pin` hinges leg 2 to it; elbows point outwards."""
    bent = {"lower.angle": ELEVATION, "upper.angle": pi - 2 * ELEVATION}
    return System(
        "sarrus",
        parts=(
            Parameter("radius", 0.1, "m", "distance of the hinges from the axis, on the ground and on the platform"),
            LEG.place("leg1", at=("radius", 0, 0), start=Start(guess=bent)),
            Parameter("turn", 2 * pi / 3, "rad", "angle between the planes of the legs"),
            LEG.place("leg2", at=Pose((*LEG2, 0), rpy=(0, 0, "turn")), start=Start(guess=bent)),
            Body("platform", Solid(2.0, com=("-radius", 0, 0), inertia=DISC), parent="leg1.upper.tip", joint=HINGE),
            Connection(
                "pin",
                "leg2.upper.tip",
                parent="platform",
                at=Pose((f"{LEG2[0]} - radius", LEG2[1], 0), rpy=(0, 0, "turn")),
                joint=HINGE,
            ),
            Actuator("motor", "leg1.lower.angle", limit=20.0),
            Output("height", "platform.z", "m"),
        ),
        start=Start(hold={"leg1.lower.angle": ELEVATION}, guess={"platform.angle": ELEVATION - pi}),
    )


def scenario(*, swing: float, rate: float, stiffness: float, damping: float) -> Scenario:
    """Lift and lower the platform."""
    target = f"{ELEVATION} + {digits(swing)}*sin({digits(rate)}*t)"
    return Scenario(
        system(),
        duration=5.0,
        control={"motor": follow("leg1.lower.angle", target, stiffness, damping)},
        description="One motor lifts and lowers the platform, which keeps level and goes straight.",
    )


ENTRY = Entry(
    name="sarrus",
    source=(
        "Sarrus (1853), Note sur la transformation des mouvements rectilignes alternatifs, en mouvements circulaires, "
        "et réciproquement, Comptes rendus de l'Académie des sciences 36, 1036-1038; kalaba's own numbers"
    ),
    build=system,
    scenario=scenario,
    numbers={**swinging(0.3, 2.0), **spring(80.0, 6.0)},
)
