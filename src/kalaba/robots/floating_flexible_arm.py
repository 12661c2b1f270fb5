"""A floating carrier with an arm of two flexible links and a gripper with its load, in a plane and without weight.

q = [xc, yc, theta1..theta4, modes of link2, modes of link3]: the carrier's centre of mass, the ABSOLUTE angles of the
carrier, the links at their roots and the load, then the tip deflections of the modes. Motors work on the relative
rotation of the sections they join, so a rigid rotation of everything does no work. With coordinates="paper" the
carrier's position is eliminated by the centre of mass, and q = [theta1..theta4, modes] as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import cos, cosh, pi, sin, sinh

from kalaba.errors import ModelError
from kalaba.joints import Planar, Revolute
from kalaba.model.acting import Actuator, Force
from kalaba.model.beams.beam import Beam
from kalaba.model.beams.section import Rectangle
from kalaba.model.beams.shapes import ClampedFree, Polynomial, Shapes, table
from kalaba.model.options import OneOf, Option, Positive, Whole
from kalaba.model.parts import Body, Constraint, Output, Parameter, Start
from kalaba.model.solids import Solid
from kalaba.model.system import AnyPart, System
from kalaba.printing.notation import Notation
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.papers import liao2010
from kalaba.robots.published import Claim, Line, Measure, PaperFigures, PaperPanel
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Z
from kalaba.steppers import DormandPrince, Stepper, WilsonTheta

CARRIER_MASS, CARRIER_INERTIA, CARRIER_REACH = 2000.0, 6000.0, 5.0  # kg, kg·m², m from centre of mass to joint
LENGTH, SIDE, DENSITY, YOUNG = 5.0, 0.05, 2780.0, 69e9  # m, m, kg/m³, Pa: both links
LOAD_MASS, LOAD_INERTIA, LOAD_REACH = 1.0, 2.0, 1.0  # kg, kg·m², m from joint to centre of mass
ANGLES = (0.0, pi / 4, -pi / 2, -pi / 4)  # rad, absolute, at the start
TORQUES = (800.0, 400.0, 50.0)  # N·m
TIMING = {"a": "sin(pi*t)", "b": "t^2"}
SHAPES: dict[str, Callable[[int], Shapes]] = {"clamped-free": ClampedFree, "polynomial": Polynomial}
NAME = "floating-flexible-arm"
PRINTED_ROOT, PRINTED_RATIO = 1.875, 1.3622  # of the mode (2)
PRINTED_TIP = sin(PRINTED_ROOT) - sinh(PRINTED_ROOT) - PRINTED_RATIO * (cos(PRINTED_ROOT) - cosh(PRINTED_ROOT))  # φ(l)
LINK_MASS = "{0}.density*{0}.section.height*{0}.section.width*{0}.length"


def system(  # noqa: PLR0913  (the options)
    *,
    modes: int,
    shapes: str,
    case: str,
    carrier: float | str,
    base: str,
    com: str,
    coordinates: str,
    torques: str,
    foreshortening: bool,
) -> System:
    """The arm on its carrier; the scenario's control drives its motors."""
    factor, base = (1.0, "fixed") if isinstance(carrier, str) else (float(carrier), base)
    x, y = _carrier_place(factor, cos), _carrier_place(factor, sin)
    functions = SHAPES[shapes](modes)
    link = Beam(LENGTH, Rectangle(SIDE, SIDE), DENSITY, YOUNG, shapes=functions, foreshortening=foreshortening)
    angles = {f"theta{i}": angle for i, angle in enumerate(ANGLES, 1)}
    straight = {f"link{i}.mode{k}": 0.0 for i in (2, 3) for k in range(1, modes + 1)}
    place = {"xc": x, "yc": y}
    parts = (*_bodies(factor, link), *_OUTSIDE[torques](TIMING[case]), *_HELD[base](x, y))
    if coordinates == "paper":
        _check_eliminated(base, foreshortening=foreshortening)
        at = tuple(_carrier_at(along, functions if com == "full" else None) for along in ("cos", "sin"))
        parts = (*(_placed(part, at) for part in parts), *_paper_modes(functions))
        return System(NAME, coordinates=tuple(angles), gravity=(0, 0, 0), parts=parts, start=Start(angles | straight))
    eq7 = com == "eq7" and base != "fixed"
    return System(
        NAME,
        coordinates=("xc", "yc", *angles),
        gravity=(0, 0, 0),
        parts=(*parts, *((_rigid_centre_of_mass(),) if eq7 else ())),
        start=Start(hold={**angles, **straight, **({} if eq7 else place)}, guess=place if eq7 else {}),
    )


def _bodies(factor: float, link: Beam) -> tuple[AnyPart, ...]:
    """Carrier, two links, load, three motors and the largest torques that the paper gives them."""
    mass, inertia = CARRIER_MASS * factor, CARRIER_INERTIA * factor
    carrier = Solid(mass, inertia=(inertia,) * 3, tip=("reach", 0, 0))
    load = Solid(LOAD_MASS, com=(LOAD_REACH, 0, 0), inertia=(LOAD_INERTIA,) * 3)
    relative = {3: "theta3 - theta2 - link2.tip_slope", 4: "theta4 - theta3 - link3.tip_slope"}
    return (
        Parameter("reach", CARRIER_REACH, "m", "from the carrier's centre of mass to its joint"),
        *(Parameter(f"torque{i}", size, "N*m", f"factor of motor{i}'s torque") for i, size in enumerate(TORQUES, 2)),
        Body("carrier", carrier, joint=Planar(Z, q=("xc", "yc", "theta1"))),
        Body("link2", link, parent="carrier.tip", joint=Revolute(Z, q="theta2 - theta1")),
        Body("link3", link, parent="link2.tip", joint=Revolute(Z, q=relative[3])),
        Body("load", load, parent="link3.tip", joint=Revolute(Z, q=relative[4])),
        Actuator("motor2", "link2.angle"),
        Actuator("motor3", "link3.angle"),
        Actuator("motor4", "load.angle"),
    )


def _printed_torques(timing: str) -> tuple[AnyPart, ...]:
    """What the printed (11) has beyond the motors: torques from outside on the carrier and on the tip of link 2."""
    return (
        Force("outside1", "carrier", torque=(0, 0, f"-(torque3 + torque4)*{timing}")),
        Force("outside2", "link2.tip", torque=(0, 0, f"-torque4*{timing}")),
    )


_OUTSIDE: dict[str, Callable[[str], tuple[AnyPart, ...]]] = {"balanced": lambda _: (), "printed": _printed_torques}


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


def _carrier_at(along: str, shapes: Shapes | None) -> str:
    """Where the carrier is along x ("cos") or y ("sin") while the machine's centre of mass stays at the origin.

    That is (6) solved for r_c. Without `shapes` it is the paper's (7): the undeformed machine's centre of mass.
    """
    two, three, load = LINK_MASS.format("link2"), LINK_MASS.format("link3"), "load.mass"
    moments = [
        f"({two} + {three} + {load})*reach*{along}(theta1)",
        f"({two}/2 + {three} + {load})*link2.length*{along}(theta2)",
        f"({three}/2 + {load})*link3.length*{along}(theta3)",
        f"{load}*load.com.x*{along}(theta4)",
    ]
    if shapes is not None:
        across = {"cos": "-sin", "sin": "cos"}[along]
        bent2 = f"{two}*({_mean_deflection(2, shapes)}) + ({three} + {load})*link2.tip_deflection"
        bent3 = f"{three}*({_mean_deflection(3, shapes)}) + {load}*link3.tip_deflection"
        moments += [f"{across}(theta2)*({bent2})", f"{across}(theta3)*({bent3})"]
    return f"-({' + '.join(moments)})/(carrier.mass + {two} + {three} + {load})"


def _mean_deflection(link: int, shapes: Shapes) -> str:
    """The deflection of a link averaged over its length, which moves its centre of mass."""
    values = table(shapes)
    means = values.value @ values.weights
    return " + ".join(f"({float(mean)!r})*link{link}.mode{k}" for k, mean in enumerate(means, 1))


def _rigid_centre_of_mass() -> Constraint:
    """The paper's (7) as rows: the centre of mass of the UNDEFORMED machine stays at the origin."""
    return Constraint(
        "rigid_com", {"x": f"xc - ({_carrier_at('cos', None)})", "y": f"yc - ({_carrier_at('sin', None)})"}
    )


def _placed(part: AnyPart, at: tuple[str, ...]) -> AnyPart:
    """A part; of the carrier, with its position by expressions of the other coordinates."""
    return replace(part, joint=Planar(Z, q=(*at, "theta1"))) if part.name == "carrier" else part  # type: ignore[arg-type]


def _paper_modes(shapes: Shapes) -> tuple[AnyPart, ...]:
    """q2 and q3 of (1) as outputs: the tips' deflections over the tip's value of the mode (2), which is not scaled."""
    return tuple(Output(f"q{i}", f"link{i}.tip_deflection/{PRINTED_TIP!r}", "m") for i in (2, 3) if shapes.count == 1)


def _check_eliminated(base: str, *, foreshortening: bool) -> None:
    """Refuse what the paper's coordinates cannot say."""
    if base == "fixed" or foreshortening:
        what = "a carrier that is held" if base == "fixed" else "foreshortening"
        raise ModelError(
            f"{NAME}.coordinates: expected 'full' with {what}, got 'paper', which eliminates the carrier's position by "
            "a centre of mass that stays and that is linear in the modes."
        )


def scenario(*, case: str, **options: object) -> Scenario:
    """One second of the paper's torques."""
    timing = TIMING[case]
    return Scenario(
        system(case=case, **options),  # type: ignore[arg-type]
        duration=1.0,
        stepper=DormandPrince(rtol=1e-9, atol=1e-11),
        control={f"motor{i}": f"torque{i}*{timing}" for i in (2, 3, 4)},
        save_every=0.001,
        description=f"From rest the joints give 800, 400 and 50 N·m times {timing}; the links bend by some 0.2 m.",
    )


WILSON = WilsonTheta(1e-3)  # the paper's method, with the usual θ = 1.4; the paper gives neither θ nor its step


def _tip(name: str, link: int, stepper: Stepper | None = None, **options: float | str | bool) -> Line:
    return Line(name, f"link{link}.tip_deflection", options, stepper)


def _torque_panel(letter: str, timing: str, published: float) -> PaperPanel:
    """Figure 2: the paper's one mode by its method first, ours of the same mode last, and what five modes say."""
    lines = (_tip("1 mode, Wilson-θ 1 ms", 2, WILSON, modes=1), _tip("5 modes", 2), _tip("1 mode, ours", 2, modes=1))
    return PaperPanel(
        f"figure 2{letter}: tip of B2, torques as {timing}",
        *("mm", lines),
        factor=1e3,
        claims=(SCALE, Claim("two codes with 1 mode differ by", published, "mm", Measure.LARGEST_DIFFERENCE)),
        note="published: the paper's code and ADAMS; ours: Wilson-θ and Dormand-Prince",
        options={"case": letter},
    )


def _carriers(title: str, link: int, modes: int, stepper: Stepper | None) -> PaperPanel:
    """Carriers of other mass and inertia, and one that is held."""
    factors: tuple[float | str, ...] = (0.1, 1.0, 10.0, 100.0, "fixed")
    names = [f"k = {factor:g}" if factor != "fixed" else "held" for factor in factors]
    lines = tuple(_tip(name, link, stepper, carrier=k, modes=modes) for name, k in zip(names, factors, strict=True))
    note = "the paper: the heavier the carrier, the nearer to one that is held"
    return PaperPanel(title, "mm", lines, factor=1e3, note=note, options={"case": "a"})


def _momentum(name: str, stepper: Stepper | None = None, **options: float | str) -> Line:
    return Line(name, "momentum.rz", options, stepper)


SCALE = Claim("peak (published: the scale)", 200.0, "mm", is_drawn=True)
FIGURES = PaperFigures(
    "deflections of the tips (Liao, Li and Tang 2010)",
    panels=(
        _torque_panel("a", "sin πt", 2.5),
        _torque_panel("b", "t²", 0.1),
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
        PaperPanel(
            "figure 3 examined: tip of B2 with 2 and 5 modes",
            *("mm", (_tip("2 modes", 2, modes=2), _tip("5 modes", 2))),
            factor=1e3,
            claims=(Claim("2 and 5 modes differ at any time by", 6.4, "mm", Measure.LARGEST_DIFFERENCE),),
            note="the printed 6.4 mm is said of the peaks of 1 and 5 modes",
            options={"case": "a"},
        ),
        _carriers("figure 4: tip of B2, Wilson-θ, 1 mode", 2, 1, WILSON),
        _carriers("figure 4: tip of B2, ours, 5 modes", 2, 5, None),
        _carriers("figure 5: tip of B3, Wilson-θ, 1 mode", 3, 1, WILSON),
        _carriers("figure 5: tip of B3, ours, 5 modes", 3, 5, None),
        PaperPanel(
            "angular momentum, zero in truth",
            "kg*m^2/s",
            (_momentum("(11) as printed", torques="printed"), _momentum("Wilson-θ 1 ms", WILSON), _momentum("ours")),
            is_logarithmic=True,
            quantity="|about the origin|",
            note="the paper: momentum is kept; with its printed torques it is not (1 mode)",
            options={"case": "a", "modes": 1},
        ),
        PaperPanel(
            "beyond the paper: foreshortening",
            *("mm", (_tip("links shorten as they bend", 2, foreshortening=True), _tip("they keep their length", 2))),
            factor=1e3,
            note="tip of B2 with 5 modes; the paper leaves it out, beams exact in geometry have 242.8 mm",
            options={"case": "a"},
        ),
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
    for joint in (2, 3, 4):
        symbols |= {f"motor{joint}": rf"\tau_{{{joint}}}", f"torque{joint}": rf"\hat{{\tau}}_{{{joint}}}"}
    return Notation(symbols)


ENTRY = Entry(
    name=NAME,
    source=liao2010.CITATION.text,
    build=system,
    scenario=scenario,
    options={
        "modes": Option(5, Whole(1, 20), "shapes of each link"),
        "shapes": Option("clamped-free", OneOf(tuple(SHAPES)), "clamped-free modes, or polynomials from x^2 on"),
        "case": Option("a", OneOf(("a", "b")), "torques that go as sin(pi t) or as t^2"),
        "carrier": Option(1.0, Positive(("fixed",)), "mass and inertia of the carrier over the paper's"),
        "base": Option(
            "free", OneOf(("free", "attitude", "fixed")), "carrier afloat, its angle held, or all of it held"
        ),
        "com": Option("full", OneOf(("full", "eq7")), "centre of mass in full, or without the deformation as in (7)"),
        "coordinates": Option(
            "full", OneOf(("full", "paper")), "with the carrier's position, or without it as the paper: 4 angles, modes"
        ),
        "torques": Option(
            "balanced", OneOf(tuple(_OUTSIDE)), "of motors alone, or with what the printed (11) adds from outside"
        ),
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
