"""A four-bar linkage in a vertical plane, closed by a hinge in space: 5 rows of rank 2, 1 freedom."""

from __future__ import annotations

from kalaba.joints import Revolute
from kalaba.model.acting import Actuator
from kalaba.model.parts import Body, Connection, Start
from kalaba.model.solids import Rod
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import RUN_UP, digits, run_up
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Y

HINGE = Revolute(-Y)  # a positive angle lifts the link


def system() -> System:
    """Crank, coupler and rocker as one tree; the pin closes it. The crank turns fully (0.15 + 0.45 < 0.40 + 0.30)."""
    return System(
        "four-bar",
        parts=(
            Body("crank", Rod(0.15, mass=0.3), parent="world", joint=HINGE),
            Body("coupler", Rod(0.40, mass=0.8), parent="crank.tip", joint=HINGE),
            Body("rocker", Rod(0.30, mass=0.6), parent="coupler.tip", joint=HINGE),
            Connection("pin", "rocker.tip", parent="world", at=Pose((0.45, 0, 0)), joint=HINGE),
            Actuator("motor", "crank.angle", limit=2.0),
        ),
        start=Start(hold={"crank.angle": 1.0}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0}),
    )


def scenario(*, speed: float, gain: float) -> Scenario:
    """Run up the crank from rest."""
    return Scenario(
        system(),
        duration=5.0,
        control={"motor": run_up("crank.angle", speed, gain)},
        description=f"The motor runs the crank up from rest towards {digits(speed)} rad/s.",
    )


ENTRY = Entry(
    name="four-bar",
    source="kalaba's own numbers; the textbook crank-rocker (Grashof)",
    build=system,
    scenario=scenario,
    numbers=RUN_UP,
)
