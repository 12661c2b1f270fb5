"""The delta robot: three arms carry a platform by parallelograms, so that it moves without turning. 3 freedoms.

With `rods="pairs"` each parallelogram is two real rods, universal joints at the arm and balls at the platform: the
platform is free in the tree and keeps level by the rods alone. With `rods="single"`, the usual simplification, one rod
of both masses stands for the pair and the platform cannot turn; level motions of the two are the same, but pairs
can also be put together crossed.

Each arm turns in a vertical plane through the axis, its angle counted downwards from level.
"""

from __future__ import annotations

from math import cos, pi, sin

from kalaba.joints import Planar, Prismatic, Revolute, Spherical, Universal
from kalaba.model.acting import Actuator
from kalaba.model.options import OneOf, Option
from kalaba.model.parts import Body, Connection, Frame, Parameter, Start
from kalaba.model.solids import Cylinder, Rod, Solid
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import digits, follow, spring, swinging
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, X, Y, Z

ARM, ROD = 0.30, 0.80  # m
ROD_MASS = 0.10  # kg, of each of the six
HOME = 0.4  # rad, angle of the arms at the start
HEIGHT = -0.8  # m, near the platform's height at the start
CONE = Universal(Y, X)  # free in all directions but along the parallelogram's short side
PLATE = Cylinder(radius=0.05, length=0.02, mass=0.5)
SIDES = {"pairs": {"left": "half_width", "right": "-half_width"}, "single": {"rod": "0"}}


def _arm(rods: str) -> System:
    """An arm with the rods on its elbow; rods hang down where the arm is level and their angles are zero."""
    mass = 2 * ROD_MASS / len(SIDES[rods])
    parts = [
        part
        for side, across in SIDES[rods].items()
        for part in (
            Frame(f"{side}_elbow", parent="arm.tip", at=Pose((0, across, 0))),
            Body(side, Rod(ROD, mass=mass, axis=-Z), parent=f"{side}_elbow", joint=CONE),
        )
    ]
    return System(
        "leg",
        parts=(
            Parameter("half_width", 0.05, "m", "half the short side of the parallelogram"),
            Body("arm", Rod(ARM, mass=0.8), joint=Revolute(Y)),
            *parts,
            Actuator("motor", "arm.angle", limit=40.0),
        ),
    )


def _platform(rods: str) -> tuple[Body, ...]:
    """A free platform, or one that only travels."""
    if rods == "pairs":
        return (Body("platform", PLATE),)
    carriage = Body("carriage", Solid(0.0), joint=Planar(Z, q=("x", "y", 0)))
    return carriage, Body("platform", PLATE, parent="carriage", joint=Prismatic(Z, q="z"))


def _balls(rods: str, leg: int) -> tuple[Connection, ...]:
    """The balls that join a leg's rods to the platform."""
    turn = 2 * pi / 3 * (leg - 1)
    c, s = round(cos(turn), 16), round(sin(turn), 16)
    return tuple(
        Connection(
            f"ball{leg}_{side}",
            f"leg{leg}.{side}.tip",
            parent="platform",
            at=Pose((f"platform_radius*{c} - {across}*{s}", f"platform_radius*{s} + {across}*{c}", 0)),
            joint=Spherical(),
        )
        for side, across in ((side, across.replace("half", f"leg{leg}.half")) for side, across in SIDES[rods].items())
    )


def system(*, rods: str) -> System:
    """Three placed legs at 120° and the platform below them; three rows per ball."""
    turns = [2 * pi / 3 * k for k in range(3)]
    directions = [(round(cos(turn), 16), round(sin(turn), 16)) for turn in turns]
    height: dict[str, Pose | float] = {"platform": Pose((0, 0, HEIGHT))} if rods == "pairs" else {"z": HEIGHT}
    bent = {"arm.angle": HOME}
    near = {f"{side}.angle1": -HOME + 0.5 for side in SIDES[rods]}
    return System(
        "delta",
        coordinates=() if rods == "pairs" else ("x", "y", "z"),
        parts=(
            Parameter("base_radius", 0.20, "m", "distance of the arms' hinges from the axis"),
            Parameter("platform_radius", 0.06, "m", "distance of the rods' ends from the platform's centre"),
            *(
                _arm(rods).place(
                    f"leg{i}",
                    at=Pose((f"base_radius*{c}", f"base_radius*{s}", 0), rpy=(0, 0, turn)),
                    start=Start(hold=bent, guess=near),
                )
                for i, ((c, s), turn) in enumerate(zip(directions, turns, strict=True), 1)
            ),
            *_platform(rods),
            *(ball for leg in (1, 2, 3) for ball in _balls(rods, leg)),
        ),
        start=Start(guess=height),
    )


def scenario(*, rods: str, swing: float, rate: float, stiffness: float, damping: float) -> Scenario:
    """Swing the arms a third of a period apart, so that the platform goes round."""
    turns = {i: 2 * pi / 3 * (i - 1) for i in (1, 2, 3)}
    swings = {i: f"{digits(swing)}*(cos({digits(rate)}*t - {turn}) - {cos(turn)})" for i, turn in turns.items()}
    control = {
        f"leg{i}.motor": follow(f"leg{i}.arm.angle", f"({HOME} + {target})", stiffness, damping)
        for i, target in swings.items()
    }
    return Scenario(
        system(rods=rods),
        duration=3.0,
        control=control,
        description="The arms swing a third of a period apart; the platform goes round a closed curve, always level.",
    )


ENTRY = Entry(
    name="delta",
    source="Clavel (1988), DELTA, a fast robot with parallel geometry, 18th ISIR; kalaba's own numbers",
    build=system,
    scenario=scenario,
    options={"rods": Option("pairs", OneOf(("pairs", "single")), "two rods per parallelogram, or one in their place")},
    numbers={**swinging(0.2, 4.0), **spring(400.0, 8.0)},
)
