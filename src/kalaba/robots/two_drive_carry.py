"""Two wheeled robots that carry one load, each by a hinge on its nose: 3 freedoms, 4 motors.

Side by side, both robots face the way the load goes, so that their axles trail their noses. A nose can go anywhere, and
so the load moves in the plane and turns as it likes; the headings follow from rolling. The load is held by the hinges
alone: three of their ten rows say a second time that it keeps level.
"""

from __future__ import annotations

from math import pi

from kalaba import paths as path
from kalaba.control.goals import follow
from kalaba.control.servo import Servo
from kalaba.joints import Revolute
from kalaba.model.options import numeric
from kalaba.model.parts import Body, Connection, Start
from kalaba.model.solids import Box
from kalaba.model.system import System
from kalaba.robots import differential_drive
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import SERVO, digits
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

HALF_SPAN = 0.6  # m, from the middle of the load to a hinge
HEIGHT = 0.18  # m, of the hinges: wheel radius and nose
REACH = 0.30  # m, from axle to nose


def system() -> System:
    """Robots `left` and `right`, the body `load`, hinges `left_hinge` and `right_hinge`."""
    robot = differential_drive.system()
    return System(
        "two-drive-carry",
        parts=(
            robot.place("left", start=Start(guess={"x": -REACH, "y": HALF_SPAN})),
            robot.place("right", start=Start(guess={"x": -REACH, "y": -HALF_SPAN})),
            Body("load", Box((0.3, 2 * HALF_SPAN, 0.1), mass=8.0)),
            Connection("left_hinge", "left.nose", parent="load", at=Pose((0, HALF_SPAN, 0)), joint=Revolute(Z)),
            Connection("right_hinge", "right.nose", parent="load", at=Pose((0, -HALF_SPAN, 0)), joint=Revolute(Z)),
        ),
        start=Start(guess={"load": Pose((0, 0, HEIGHT))}),
    )


def scenario(*, diameter: float, lap_time: float, frequency: float, damping: float) -> Scenario:
    """Lead the load once round a circle, across its way all the time."""
    circle = path.circle(diameter, pi * diameter / lap_time, centre=(0, diameter / 2, 0), phase=-pi / 2).relative()
    goal = follow("load", circle, orientation=path.turn(Z, 2 * pi))
    words = f"two wheeled robots take a load once round a circle of {digits(diameter)} m; four motors share the work"
    return Scenario(
        system(),
        duration=lap_time,
        control=Servo((goal,), frequency=frequency, damping=damping),
        description=f"Side by side, {words}.",
    )


ENTRY = Entry(
    name="two-drive-carry",
    source="kalaba's own numbers",
    build=system,
    scenario=scenario,
    numbers={
        "diameter": numeric(4.0, "diameter of the circle that the load goes round, m"),
        "lap_time": numeric(16.0, "time for once round it, s"),
        **SERVO,
    },
)
