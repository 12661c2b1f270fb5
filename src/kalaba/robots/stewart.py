"""The Gough-Stewart platform: six legs of changing length carry a platform. 6 freedoms, 6 motors.

Leg i is a tube on a universal joint (U) at the base, a rod that slides out of it (P, the motor) and a ball (S) on the
platform; its travel is its length. For given lengths there are up to 40 positions of the platform; as both rings are
plane, they come in pairs, above and below the base.
"""

from __future__ import annotations

from math import cos, pi, radians, sin, sqrt

from kalaba.joints import Prismatic, Spherical, Universal
from kalaba.model.acting import Actuator
from kalaba.model.options import numeric
from kalaba.model.parts import Body, Connection, Parameter, Start
from kalaba.model.solids import Cylinder, Rod
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import digits, follow, turning
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, X, Y, Z

BASE_RADIUS, PLATFORM_RADIUS, HEIGHT = 0.50, 0.30, 0.60  # m
BASE_SPREAD, PLATFORM_SPREAD = 50.0, 10.0  # degrees to either side of 0, 120 and 240
LENGTH = sqrt(  # m, of a leg at the start
    HEIGHT**2
    + BASE_RADIUS**2
    + PLATFORM_RADIUS**2
    - 2 * BASE_RADIUS * PLATFORM_RADIUS * cos(radians(BASE_SPREAD - PLATFORM_SPREAD))
)

LEG = System(
    "leg",
    parts=(
        Body("tube", Rod(0.45, mass=2.0, axis=Z), joint=Universal(X, Y)),
        Body("rod", Rod(0.45, mass=1.5, axis=-Z), parent="tube", joint=Prismatic(Z)),  # its origin is the ball
        Actuator("motor", "rod.travel", limit=500.0),
    ),
)


def _ring(radius: str, spread: float) -> list[tuple[str, str, float]]:
    """Six joint centres, two at a time about 0, 120 and 240 degrees."""
    angles = [radians(middle + side) for middle in (0, 120, 240) for side in (-spread, spread)]
    return [(f"{radius}*{round(cos(a), 16)}", f"{radius}*{round(sin(a), 16)}", 0.0) for a in angles]


def system() -> System:
    """Six placed legs and the platform; three rows per ball."""
    base, balls = _ring("base_radius", BASE_SPREAD), _ring("platform_radius", PLATFORM_SPREAD)
    long = Start(guess={"rod.travel": LENGTH})
    return System(
        "stewart",
        parts=(
            Parameter("base_radius", BASE_RADIUS, "m", "circle of the joints on the base"),
            Parameter("platform_radius", PLATFORM_RADIUS, "m", "circle of the balls on the platform"),
            *(LEG.place(f"leg{i}", at=Pose(point), start=long) for i, point in enumerate(base, 1)),
            Body("platform", Cylinder(radius=0.32, length=0.03, mass=20.0)),
            *(
                Connection(f"ball{i}", f"leg{i}.rod", parent="platform", at=Pose(point), joint=Spherical())
                for i, point in enumerate(balls, 1)
            ),
        ),
        start=Start(hold={"platform": Pose((0, 0, HEIGHT))}),
    )


def scenario(*, stroke: float, frequency: float, stiffness: float, damping: float) -> Scenario:
    """Send a wave round the legs: the platform tilts and turns its tilt round."""
    phases = {i: f"{turning(frequency)} - {pi / 3 * (i - 1)}" for i in range(1, 7)}
    waves = {i: f"{digits(stroke)}*sin({phase})*(1 - exp(-4*t))" for i, phase in phases.items()}
    control = {
        f"leg{i}.motor": follow(f"leg{i}.rod.travel", f"({LENGTH} + {wave})", stiffness, damping)
        for i, wave in waves.items()
    }
    return Scenario(
        system(),
        duration=6.0,
        control=control,
        description="The legs lengthen one after the other; the platform's tilt goes round.",
    )


ENTRY = Entry(
    name="stewart",
    source="Stewart (1965), A platform with six degrees of freedom, Proc. IMechE 180, 371-386; kalaba's own numbers",
    build=system,
    scenario=scenario,
    numbers={
        "stroke": numeric(0.04, "how far each leg goes to either side of its length, m"),
        "frequency": numeric(0.5, "how often the wave goes round the legs, Hz"),
        "stiffness": numeric(3e4, "stiffness of the spring that a motor imitates, N/m"),
        "damping": numeric(600.0, "damping of the damper that a motor imitates, N·s/m"),
    },
)
