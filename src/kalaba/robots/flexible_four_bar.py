"""A four-bar linkage in a vertical plane whose coupler is a thin strip that bends: a flexible link in a closed loop.

The coupler's shapes are those of a beam pinned at both ends, seen from its tangent at the crank's pin.
"""

from __future__ import annotations

from kalaba.joints import Revolute
from kalaba.model.acting import Actuator
from kalaba.model.beams.beam import Beam
from kalaba.model.beams.section import Rectangle
from kalaba.model.beams.shapes import Pinned
from kalaba.model.options import OneOf, Option, Whole
from kalaba.model.parts import Body, Connection, Start
from kalaba.model.solids import Rod
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.robots.feedback import RUN_UP, digits, run_up
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Y, Z
from kalaba.steppers import DormandPrince

HINGE = Revolute(-Y)  # a positive angle lifts the link
STRIP = Rectangle(0.025, 0.0015)  # m, 25 mm across the plane, 1.5 mm in it


def system(*, modes: int, foreshortening: bool) -> System:
    """Crank and rocker rigid, the coupler of aluminium; it starts straight."""
    strip = Beam(0.40, STRIP, 2700.0, 70e9, shapes=Pinned(modes), foreshortening=foreshortening, bending=(Z,))
    straight = {f"coupler.mode{k}": 0.0 for k in range(1, modes + 1)}
    return System(
        "flexible-four-bar",
        parts=(
            Body("crank", Rod(0.15, mass=0.3), joint=HINGE),
            Body("coupler", strip, parent="crank.tip", joint=HINGE),
            Body("rocker", Rod(0.30, mass=0.6), parent="coupler.tip", joint=HINGE),
            Connection("pin", "rocker.tip", at=Pose((0.45, 0, 0)), joint=HINGE),
            Actuator("motor", "crank.angle", limit=2.0),
        ),
        start=Start(hold={"crank.angle": 1.0, **straight}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0}),
    )


def scenario(*, modes: int, foreshortening: bool, speed: float, gain: float) -> Scenario:
    """Run up the crank from rest."""
    words = f"The motor runs the crank up from rest towards {digits(speed)} rad/s; the coupler bends and rings."
    return Scenario(
        system(modes=modes, foreshortening=foreshortening),
        duration=2.0,
        stepper=DormandPrince(rtol=1e-8, atol=1e-10),
        control={"motor": run_up("crank.angle", speed, gain)},
        description=words,
    )


ENTRY = Entry(
    name="flexible-four-bar",
    source="kalaba's own numbers; the four-bar of this catalogue with a strip of aluminium as its coupler",
    build=system,
    scenario=scenario,
    numbers=RUN_UP,
    options={
        "modes": Option(2, Whole(1, 10), "modes of the coupler, pinned at both ends"),
        "foreshortening": Option(
            default=False, allowed=OneOf((False, True)), description="the coupler shortens as it bends"
        ),
    },
)
