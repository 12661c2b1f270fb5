"""A beam spun up about its root: the classic case in which linear modes without foreshortening diverge.

The hub's angle is prescribed, ψ̇ = Ω/T (t − T/2π sin(2πt/T)) until T = 15 s and Ω = 6 rad/s from then on. At Ω the beam,
whose first frequency at rest is 3.8 rad/s, is kept straight by centrifugal stiffening alone.
"""

from __future__ import annotations

from kalaba.joints import Revolute
from kalaba.model.beams.beam import Beam
from kalaba.model.beams.section import Stiffness
from kalaba.model.beams.shapes import Polynomial
from kalaba.model.options import OneOf, Option, Whole
from kalaba.model.parts import Body, Constraint, Parameter
from kalaba.model.system import System
from kalaba.robots.entry import Entry
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Z
from kalaba.steppers import DormandPrince

LENGTH, SECTION = 10.0, Stiffness(line_density=1.2, bending_y=1.4e4)  # m, kg/m, N·m²
BEGUN = "min(t, spin_time)"  # s, of the spin-up
SPIN = (
    f"spin_speed/spin_time*({BEGUN}^2/2 + (spin_time/(2*pi))^2*(cos(2*pi*{BEGUN}/spin_time) - 1))"
    f" + spin_speed*(t - {BEGUN})"
)


def system(*, modes: int, foreshortening: bool) -> System:
    """One beam on a hub that turns as told."""
    beam = Beam(LENGTH, SECTION, shapes=Polynomial(modes), foreshortening=foreshortening)
    return System(
        "spinning-beam",
        gravity=(0, 0, 0),
        parts=(
            Parameter("spin_time", 15.0, "s", "how long the spin-up takes"),
            Parameter("spin_speed", 6.0, "rad/s", "speed of the hub after it"),
            Body("beam", beam, joint=Revolute(Z)),
            Constraint("hub", f"beam.angle - ({SPIN})"),
        ),
    )


def scenario(*, modes: int, foreshortening: bool) -> Scenario:
    """Spin up and look on for five seconds."""
    return Scenario(
        system(modes=modes, foreshortening=foreshortening),
        duration=20.0,
        stepper=DormandPrince(rtol=1e-8, atol=1e-10),
        description="The hub spins up to 6 rad/s in 15 s; the tip lags by 0.58 m at most and comes back.",
    )


ENTRY = Entry(
    name="spinning-beam",
    source=(
        "the spin-up of Kane, Ryan and Banerjee (1987), Dynamics of a cantilever beam attached to a moving base, "
        "Journal of Guidance, Control, and Dynamics 10(2), 139-151, with the numbers usual since Simo and Vu-Quoc"
    ),
    build=system,
    scenario=scenario,
    options={
        "modes": Option(4, Whole(1, 12), "polynomial shapes"),
        "foreshortening": Option(
            default=True, allowed=OneOf((True, False)), description="the beam shortens as it bends"
        ),
    },
)
