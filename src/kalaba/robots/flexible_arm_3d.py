"""A space arm of six hinges with two long tubes that bend in two planes and twist, on a satellite that flies free.

Joints from the satellite on: shoulder yaw and pitch, elbow pitch, wrist pitch, yaw and roll. No weight, no thrusters:
momentum is kept, and the satellite answers every motion of the arm.
"""

from __future__ import annotations

from typing import Any

from kalaba.joints import Revolute
from kalaba.model.acting import Actuator
from kalaba.model.beams.beam import Beam
from kalaba.model.beams.section import Tube
from kalaba.model.beams.shapes import StaticTip
from kalaba.model.options import OneOf, Option, numeric
from kalaba.model.parts import Body, Start
from kalaba.model.solids import Box, Solid
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import SPRINGS, digits, follow
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, X, Y, Z
from kalaba.steppers import DormandPrince

UP = Revolute(-Y)  # a positive angle lifts the link
TUBE = Tube(0.03, 0.027)  # m
POSE = {"upper": 0.9, "fore": -1.5, "wrist": 0.6}  # rad, at the start; the other joints at zero
JOINTS = ("shoulder", "upper", "fore", "wrist", "yaw", "hand")


def _cube(mass: float, edge: float, reach: float) -> Solid:
    """A homogeneous cube on the way of the arm, which goes on at `reach`."""
    return Solid(mass, com=(reach / 2, 0, 0), inertia=(mass * edge**2 / 6,) * 3, tip=(reach, 0, 0))


def system(*, modes: int, torsion: int, foreshortening: bool) -> System:
    """Satellite of 500 kg, arm of 8 m with six motors, load of 40 kg in the hand."""
    tube = Beam(
        *(4.0, TUBE, 2700.0, 70e9),
        shapes=StaticTip(modes),
        foreshortening=foreshortening,
        bending=(Y, Z),
        torsion=torsion,
    )
    return System(
        "flexible-arm-3d",
        gravity=(0, 0, 0),
        parts=(
            Body("satellite", Box((1.5, 1.5, 1.5), mass=500.0)),
            Body("shoulder", _cube(8.0, 0.2, 0.2), parent="satellite", at=Pose((0.75, 0, 0)), joint=Revolute(Z)),
            Body("upper", tube, parent="shoulder.tip", joint=UP),
            Body("fore", tube, parent="upper.tip", joint=UP),
            Body("wrist", _cube(4.0, 0.15, 0.2), parent="fore.tip", joint=UP),
            Body("yaw", _cube(4.0, 0.15, 0.2), parent="wrist.tip", joint=Revolute(Z)),
            Body("hand", _cube(40.0, 0.5, 0.5), parent="yaw.tip", joint=Revolute(X)),
            *(Actuator(f"motor{i}", f"{name}.angle", limit=200.0) for i, name in enumerate(JOINTS, 1)),
        ),
        start=Start(hold={f"{name}.angle": angle for name, angle in POSE.items()}),
    )


def scenario(*, swing: float, swing_time: float, stiffness: float, damping: float, **built: Any) -> Scenario:  # noqa: ANN401  (options of build)
    """Swing the shoulder and the elbow through half a radian and back."""
    way = f"(1 - cos(pi*t/{digits(swing_time)}))/2"
    far, lower = digits(swing), digits(0.6 * swing)
    targets = (f"{far}*{way}", f"0.9 - {lower}*{way}", f"-1.5 + {far}*{way}", "0.6", "0", f"{far}*{way}")
    gains = ((1200.0, 800.0), (1200.0, 800.0), (600.0, 300.0), (300.0, 60.0), (300.0, 60.0), (100.0, 20.0))
    control = {
        f"motor{i}": follow(f"{name}.angle", target, k * stiffness, c * damping)
        for i, (name, target, (k, c)) in enumerate(zip(JOINTS, targets, gains, strict=True), 1)
    }
    return Scenario(
        system(**built),
        duration=swing_time,
        stepper=DormandPrince(rtol=1e-7, atol=1e-9),
        control=control,
        description="Springs and dampers at the joints swing the load; the tubes bend and the satellite turns away.",
    )


ENTRY = Entry(
    name="flexible-arm-3d",
    source="kalaba's own numbers; the layout of the shuttle's arm",
    build=system,
    scenario=scenario,
    options={
        "modes": Option(
            1, OneOf((1, 2)), "static shapes of each tube in each plane: of a force at its tip, of a moment too"
        ),
        "torsion": Option(1, OneOf((0, 1, 2)), "torsion shapes of each tube"),
        "foreshortening": Option(default=False, allowed=OneOf((False, True)), description="tubes shorten as they bend"),
    },
    numbers={
        "swing": numeric(0.5, "how far shoulder, elbow and hand swing, the upper arm 0.6 times as far, rad"),
        "swing_time": numeric(4.0, "how long the swing takes, s"),
        **SPRINGS,
    },
)
