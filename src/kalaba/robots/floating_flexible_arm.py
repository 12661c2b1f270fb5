"""A floating carrier with an arm of two flexible links and a gripper with its load, in a plane and without weight.

q = [xc, yc, theta1..theta4, modes of link2, modes of link3]: the carrier's centre of mass, the ABSOLUTE angles of the
carrier, the links at their roots and the load, then the tip deflections of the modes. Motors work on the relative
rotation of the sections they join, so a rigid rotation of everything does no work.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin

from kalaba.joints import Planar, Revolute
from kalaba.model.beams.beam import Beam
from kalaba.model.beams.section import Rectangle
from kalaba.model.beams.shapes import ClampedFree
from kalaba.model.parts import Actuator, Body, Constraint, Force, Parameter, Start
from kalaba.model.solids import Solid
from kalaba.model.system import AnyPart, System
from kalaba.printing.notation import Notation
from kalaba.robots.entry import Entry, Erratum, OneOf, Option, Positive, Whole
from kalaba.robots.papers import liao2010
from kalaba.robots.published import Claim, Line, Measure, PaperFigures, PaperPanel
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Z
from kalaba.steppers import DormandPrince

CARRIER_MASS, CARRIER_INERTIA, CARRIER_REACH = 2000.0, 6000.0, 5.0  # kg, kg·m², m from centre of mass to joint
LENGTH, SIDE, DENSITY, YOUNG = 5.0, 0.05, 2780.0, 69e9  # m, m, kg/m³, Pa: both links
LOAD_MASS, LOAD_INERTIA, LOAD_REACH = 1.0, 2.0, 1.0  # kg, kg·m², m from joint to centre of mass
ANGLES = (0.0, pi / 4, -pi / 2, -pi / 4)  # rad, absolute, at the start
TORQUES = (800.0, 400.0, 50.0)  # N·m
TIMING = {"a": "sin(pi*t)", "b": "t^2"}
LINK_MASS = "{0}.density*{0}.section.height*{0}.section.width*{0}.length"


def system(*, modes: int, case: str, carrier: float | str, base: str, com: str, foreshortening: bool) -> System:
    """The arm on its carrier under the torques of the case; the motors are there for laws of one's own."""
    factor, base = (1.0, "fixed") if isinstance(carrier, str) else (float(carrier), base)
    x, y = _carrier_place(factor, cos), _carrier_place(factor, sin)
    angles = {f"theta{i}": angle for i, angle in enumerate(ANGLES, 1)}
    straight = {f"link{i}.mode{k}": 0.0 for i in (2, 3) for k in range(1, modes + 1)}
    place = {"xc": x, "yc": y}
    eq7 = com == "eq7" and base != "fixed"
    return System(
        "floating-flexible-arm",
        coordinates=("xc", "yc", *angles),
        gravity=(0, 0, 0),
        parts=(
            *_bodies(factor, modes, foreshortening=foreshortening),
            *_torques(TIMING[case]),
            *(_HELD[base](x, y)),
            *((_rigid_centre_of_mass(),) if eq7 else ()),
        ),
        start=Start(hold={**angles, **straight, **({} if eq7 else place)}, guess=place if eq7 else {}),
    )


def _bodies(factor: float, modes: int, *, foreshortening: bool) -> tuple[AnyPart, ...]:
    """Carrier, two links, load and three motors."""
    mass, inertia = CARRIER_MASS * factor, CARRIER_INERTIA * factor
    carrier = Solid(mass, inertia=(inertia,) * 3, tip=("reach", 0, 0))
    section, shapes = Rectangle(SIDE, SIDE), ClampedFree(modes)
    link = Beam(LENGTH, section, DENSITY, YOUNG, shapes=shapes, foreshortening=foreshortening)
    load = Solid(LOAD_MASS, com=(LOAD_REACH, 0, 0), inertia=(LOAD_INERTIA,) * 3)
    relative = {3: "theta3 - theta2 - link2.tip_slope", 4: "theta4 - theta3 - link3.tip_slope"}
    return (
        Parameter("reach", CARRIER_REACH, "m", "from the carrier's centre of mass to its joint"),
        Body("carrier", carrier, joint=Planar(Z, q=("xc", "yc", "theta1"))),
        Body("link2", link, parent="carrier.tip", joint=Revolute(Z, q="theta2 - theta1")),
        Body("link3", link, parent="link2.tip", joint=Revolute(Z, q=relative[3])),
        Body("load", load, parent="link3.tip", joint=Revolute(Z, q=relative[4])),
        Actuator("motor2", "link2.angle"),
        Actuator("motor3", "link3.angle"),
        Actuator("motor4", "load.angle"),
    )


def _torques(timing: str) -> tuple[AnyPart, ...]:
    """The torque of each joint: on its link, and back on the section that the joint sits on."""
    joints = (("link2", "carrier.tip"), ("link3", "link2.tip"), ("load", "link3.tip"))
    parts: list[AnyPart] = []
    for i, ((link, section), torque) in enumerate(zip(joints, TORQUES, strict=True), 2):
        parts.append(Force(f"torque{i}", link, torque=(0, 0, f"{torque:g}*{timing}")))
        parts.append(Force(f"reaction{i}", section, torque=(0, 0, f"-{torque:g}*{timing}")))
    return tuple(parts)


def _carrier_place(factor: float, along: Callable[[float], float]) -> float:
    """Where the carrier stands along x (cos) or y (sin) so that the whole machine's centre of mass is the origin."""
    link, carrier = DENSITY * SIDE**2 * LENGTH, CARRIER_MASS * factor
    arms = (
        (2 * link + LOAD_MASS) * CARRIER_REACH,
        (1.5 * link + LOAD_MASS) * LENGTH,
        (0.5 * link + LOAD_MASS) * LENGTH,
        LOAD_MASS * LOAD_REACH,
    )
    moment = sum(arm * along(angle) for arm, angle in zip(arms, ANGLES, strict=True))
    return -moment / (carrier + 2 * link + LOAD_MASS)


def _attitude(x: float, y: float) -> tuple[AnyPart, ...]:  # noqa: ARG001  (as its siblings take it)
    return (Constraint("attitude", "theta1"),)


def _fixed(x: float, y: float) -> tuple[AnyPart, ...]:
    return (
        Parameter("base_x", x, "m", "where the carrier is held along x"),
        Parameter("base_y", y, "m", "where the carrier is held along y"),
        Constraint("base", {"x": "xc - base_x", "y": "yc - base_y", "angle": "theta1"}),
    )


_HELD: dict[str, Callable[[float, float], tuple[AnyPart, ...]]] = {
    "free": lambda _x, _y: (),
    "attitude": _attitude,
    "fixed": _fixed,
}


def _rigid_centre_of_mass() -> Constraint:
    """The paper's (7): the centre of mass of the UNDEFORMED machine stays at the origin.

    The carrier's position is then a function of the angles alone, as if eliminated before T is formed.
    """
    two, three, load = LINK_MASS.format("link2"), LINK_MASS.format("link3"), "load.mass"
    total = f"(carrier.mass + {two} + {three} + {load})"

    def row(position: str, along: str) -> str:
        first = f"({two} + {three} + {load})*reach*{along}(theta1)"
        second = f"({two}/2 + {three} + {load})*link2.length*{along}(theta2)"
        third = f"({three}/2 + {load})*link3.length*{along}(theta3)"
        return f"{position} + ({first} + {second} + {third} + {load}*load.com.x*{along}(theta4))/{total}"

    return Constraint("rigid_com", {"x": row("xc", "cos"), "y": row("yc", "sin")})


def scenario(*, case: str, **options: object) -> Scenario:
    """One second of the paper's torques."""
    timing = TIMING[case]
    return Scenario(
        system(case=case, **options),  # type: ignore[arg-type]
        duration=1.0,
        stepper=DormandPrince(rtol=1e-9, atol=1e-11),
        description=f"From rest the joints give 800, 400 and 50 N·m times {timing}; the links bend by some 0.2 m.",
    )


def _tip(name: str, link: int, **options: float | str) -> Line:
    return Line(name, f"link{link}.tip_deflection", options)


def _carriers(title: str, link: int) -> PaperPanel:
    """Carriers of other mass and inertia, and one that is held."""
    factors: tuple[float | str, ...] = (0.1, 1.0, 10.0, 100.0, "fixed")
    lines = tuple(_tip(f"k = {factor:g}" if factor != "fixed" else "held", link, carrier=factor) for factor in factors)
    note = "the paper: the heavier the carrier, the nearer to one that is held"
    return PaperPanel(title, "mm", lines, factor=1e3, note=note, options={"case": "a"})


SCALE = Claim("peak (published: the figure's scale)", 200.0, "mm", is_drawn=True)
FIGURES = PaperFigures(
    "deflections of the tips (Liao, Li and Tang 2010)",
    panels=(
        PaperPanel(
            "figure 2a: tip of B2, torques as sin πt",
            *("mm", (_tip("1 mode", 2, modes=1), _tip("5 modes", 2))),
            factor=1e3,
            claims=(SCALE,),
            note="the paper's code and ADAMS differ by 2.5 mm at most",
            options={"case": "a"},
        ),
        PaperPanel(
            "figure 2b: tip of B2, torques as t²",
            *("mm", (_tip("1 mode", 2, modes=1), _tip("5 modes", 2))),
            factor=1e3,
            claims=(SCALE,),
            note="the paper's code and ADAMS differ by 0.1 mm at most",
            options={"case": "b"},
        ),
        PaperPanel(
            "figure 3: tip of B2 with 1, 2 and 5 modes",
            *("mm", (_tip("1 mode", 2, modes=1), _tip("2 modes", 2, modes=2), _tip("5 modes", 2))),
            factor=1e3,
            claims=(
                Claim("peaks of 1 and 5 modes differ by", 6.4, "mm", Measure.PEAK_DIFFERENCE),
                Claim("that is", 3.1, "%", Measure.PEAK_RATIO),
            ),
            note="erratum: no reading of the paper gives its numbers (see the errata of 3.1)",
            options={"case": "a"},
        ),
        _carriers("figure 4: tip of B2 by mass of the carrier", 2),
        _carriers("figure 5: tip of B3 by mass of the carrier", 3),
    ),
)

LETTERS = {
    "length": "l",
    "section.height": "a",
    "section.width": "b",
    "density": r"\rho",
    "young": "E",
    "poisson": r"\nu",
}


def _notation() -> Notation:
    """Write as the paper does: bodies 1 to 4, modal coordinates q with the link's number first."""
    symbols = {"xc": "x_{c}", "yc": "y_{c}", "reach": "l_{1}", "load.com.x": "l_{4}"}
    symbols |= {
        "carrier.mass": "m_{1}",
        "carrier.inertia.zz": "I_{1}",
        "load.mass": "m_{4}",
        "load.inertia.zz": "I_{4}",
    }
    for link in (2, 3):
        symbols |= {f"link{link}.mode{mode}": f"q_{{{link}{mode}}}" for mode in range(1, 10)}
        symbols |= {f"link{link}.{word}": f"{letter}_{{{link}}}" for word, letter in LETTERS.items()}
    return Notation(symbols | {f"motor{joint}": rf"\tau_{{{joint}}}" for joint in (2, 3, 4)})


ENTRY = Entry(
    name="floating-flexible-arm",
    summary="carrier afloat with two flexible links and a load, in a plane: 6 coordinates and the links' modes",
    source=liao2010.CITATION.text,
    build=system,
    scenario=scenario,
    options={
        "modes": Option(5, Whole(1, 20), "clamped-free modes of each link"),
        "case": Option("a", OneOf(("a", "b")), "torques that go as sin(pi t) or as t^2"),
        "carrier": Option(1.0, Positive(("fixed",)), "mass and inertia of the carrier over the paper's"),
        "base": Option(
            "free", OneOf(("free", "attitude", "fixed")), "carrier afloat, its angle held, or all of it held"
        ),
        "com": Option("full", OneOf(("full", "eq7")), "centre of mass in full, or without the deformation as in (7)"),
        "foreshortening": Option(default=False, allowed=OneOf((False, True)), description="links shorten as they bend"),
    },
    figures=FIGURES,
    errata=(
        Erratum(
            "(10), (11)",
            "Q by which a rigid rotation of everything does work (angular momentum reaches 318 N·m·s)",
            "Q = [−τ2, τ2−τ3, τ3−τ4, τ4, −τ3 φ2'(l2), −τ4 φ3'(l3)] for absolute angles",
        ),
        Erratum(
            "(7)",
            "no deformation in the centre of mass (momentum error 58 N·s, 7.28 Hz becomes 3.72 Hz)",
            "the full (6), or the carrier's position kept as coordinates; com='eq7' gives the printed one",
        ),
        Erratum("(3)", "the load's place without its own l4", "+ A40 [l4, 0]"),
        Erratum("(4)", "A20 before link 3 and before l4", "A30, A40"),
        Erratum("(9)", "(∂w/∂x)²", "(∂²w/∂x²)²"),
        Erratum("(12)", "= before ½ [∂M/∂ξ]", "minus"),
        Erratum(
            "text",
            "momentum conservation as a nonholonomic constraint to add",
            "a first integral; no differential-algebraic system arises",
        ),
        Erratum(
            "3.1, figure 3",
            "6.4 mm = 3.1 % between the peaks with 1 and 5 modes",
            "16.5 mm = 7.1 %; 6.4 mm (2.7 %) is the largest difference between 2 and 5 modes at any one time",
        ),
    ),
    notation=_notation(),
)
