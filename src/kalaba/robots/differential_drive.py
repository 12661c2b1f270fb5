"""A platform on two driven wheels and a castor: 5 coordinates, 3 rows of rolling, 2 freedoms.

The platform's origin is the middle of the axle, and `nose` a point ahead of it. With heading h, track b and wheels of
radius r that turn by α and β on the platform, nothing slips where the wheels touch the ground::

    side    ẏ cos h − ẋ sin h = 0
    left    ẋ cos h + ẏ sin h − ½ b ḣ − r α̇ = 0
    right   ẋ cos h + ẏ sin h + ½ b ḣ − r β̇ = 0

right − left has an integral, b h = r (β − α) + const; the other two have none: the machine gets to every place with
every heading, but never sideways. The castor has no mass and slides without friction, so that it does no work.
"""

from __future__ import annotations

from kalaba import paths as path
from kalaba.control.goals import follow
from kalaba.control.servo import Servo
from kalaba.joints import Planar, Revolute
from kalaba.model.acting import Actuator
from kalaba.model.options import numeric
from kalaba.model.parts import Body, Constraint, Frame, Parameter
from kalaba.model.solids import Cylinder, Solid
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import SERVO, digits
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Y, Z

WHEEL = Cylinder(radius="wheel_radius", length=0.03, mass=0.8, axis=Y)
FORWARD = "rate(x)*cos(heading) + rate(y)*sin(heading)"  # of the middle of the axle


def system() -> System:
    """A platform `platform`, wheels `left_wheel` and `right_wheel` with a motor each, frames `nose` and `castor`."""
    turning = Revolute(Y)  # a positive angle rolls forward
    return System(
        "differential-drive",
        coordinates=("x", "y", "heading"),
        parts=(
            Parameter("track", 0.40, "m", "distance between the wheels"),
            Parameter("wheel_radius", 0.08, "m", "radius of the wheels"),
            Parameter("reach", 0.30, "m", "how far the nose is ahead of the axle"),
            Body(
                "platform",
                Solid(12.0, com=(-0.04, 0, 0.05), inertia=(0.15, 0.32, 0.40)),
                at=Pose((0, 0, "wheel_radius")),
                joint=Planar(Z, q=("x", "y", "heading")),
            ),
            Body("left_wheel", WHEEL, parent="platform", at=Pose((0, "track/2", 0)), joint=turning),
            Body("right_wheel", WHEEL, parent="platform", at=Pose((0, "-track/2", 0)), joint=turning),
            Frame("nose", parent="platform", at=Pose(("reach", 0, 0.10))),
            Frame("castor", parent="platform", at=Pose((-0.20, 0, "-wheel_radius"))),
            Constraint(
                "rolling",
                {
                    "side": "rate(y)*cos(heading) - rate(x)*sin(heading)",
                    "left": f"{FORWARD} - track/2*rate(heading) - wheel_radius*rate(left_wheel.angle)",
                    "right": f"{FORWARD} + track/2*rate(heading) - wheel_radius*rate(right_wheel.angle)",
                },
            ),
            Actuator("left_motor", "left_wheel.angle", limit=5.0),
            Actuator("right_motor", "right_wheel.angle", limit=5.0),
        ),
    )


def scenario(*, width: float, length: float, lap_time: float, frequency: float, damping: float) -> Scenario:
    """Lead the nose round an eight, from rest to rest; the heading follows from rolling."""
    part = f"(t/{float(lap_time)})"
    phase = f"2*pi*{part}^3*(10 - 15*{part} + 6*{part}^2)"
    eight = path.expression(f"{width / 2}*sin(2*{phase})", f"{length / 2}*(1 - cos({phase}))", 0, lap_time)
    goal = follow("nose", eight.relative(), orientation="free")
    size = f"{digits(width)} m by {digits(length)} m"
    return Scenario(
        system(),
        duration=lap_time,
        control=Servo((goal,), frequency=frequency, damping=damping),
        description=f"The nose, ahead of the axle, goes once round an eight of {size}; two motors see to it.",
    )


ENTRY = Entry(
    name="differential-drive",
    source="kalaba's own numbers; the textbook wheeled robot",
    build=system,
    scenario=scenario,
    numbers={
        "width": numeric(1.0, "width of the eight, m"),
        "length": numeric(2.0, "length of the eight, m"),
        "lap_time": numeric(12.0, "time for once round it, s"),
        **SERVO,
    },
)
