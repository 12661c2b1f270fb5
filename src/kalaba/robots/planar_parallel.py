"""A planar parallel robot: three legs of two links hold one point; 3 motors, 2 freedoms.

Each leg has q = [qa, qb, xa, ya]: qa the absolute angle of link a, qb the angle of link b relative to link a, (xa, ya)
the leg's base point, which is free in the tree and held by constraint. The plane is horizontal; gravity does not act.
"""

from __future__ import annotations

from collections.abc import Callable

from kalaba.control.allocation import Allocation, LeastSquares, MinMax
from kalaba.control.cascade import Cascade
from kalaba.control.goals import Follow
from kalaba.control.ideal import IdealServo
from kalaba.control.servo import Servo
from kalaba.errors import ModelError
from kalaba.joints import Planar, Revolute
from kalaba.model.acting import Actuator
from kalaba.model.options import OneOf, Option, numeric
from kalaba.model.parts import Body, Constraint, Output, Parameter, Start
from kalaba.model.solids import Solid
from kalaba.model.system import System
from kalaba.plant.laws import Controller
from kalaba.printing.notation import Notation
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import SERVO_ONLY, digits, turning
from kalaba.robots.papers import han2020
from kalaba.robots.published import Claim, Line, PaperFigures, PaperPanel
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Z

LENGTH = 0.244  # m, of every link


def _link(com: float, mass: float, inertia: float) -> Solid:
    """Make a slender link: only the moment about the plane's normal is published, and only it acts."""
    return Solid(mass, com=(com, 0, 0), inertia=(0, inertia, inertia), tip=(LENGTH, 0, 0))


LEG = System(
    "leg",
    coordinates=("qa", "qb", "xa", "ya"),
    gravity=(0, 0, 0),
    parts=(
        Parameter("base_x", 0.0, "m", "base point along x"),
        Parameter("base_y", 0.25, "m", "base point along y"),
        Body("link_a", _link(0.1150, 1.2525, 0.0124), joint=Planar(Z, q=("xa", "ya", "qa"))),
        Body("link_b", _link(0.1621, 1.0771, 0.0098), parent="link_a.tip", joint=Revolute(Z, q="qb")),
        Constraint("base", {"x": "xa - base_x", "y": "ya - base_y"}),
        Actuator("motor", "qa"),
    ),
)
LIGHT_LEG = {  # legs 2 and 3
    "link_a.com.x": 0.0657,
    "link_a.mass": 1.3663,
    "link_a.inertia.yy": 0.0122,
    "link_a.inertia.zz": 0.0122,
    "link_b.com.x": 0.1096,
    "link_b.mass": 0.4132,
    "link_b.inertia.yy": 0.0036,
    "link_b.inertia.zz": 0.0036,
}
START = (  # qa, qb, xa, ya: assembled, base points kept, least change from the printed angles
    (1.3014797402071205, -2.17516043914099, 0.0, 0.25),
    (2.910565121461108, -1.4592712101849965, 0.43, 0.0),
    (2.9809448220703607, 1.877579074224287, 0.4269, 0.5005),
)
CENTRE = (0.21157192052098645, 0.2981304133600941)  # m, (x_e1, y_e1): 0.01 m left of the assembled end point
STROKE = 0.01  # m, to either side, published
JOINED = (("join2", "leg2"), ("join3", "leg3"))
STRUCTURE = (  # the rows of the closed machine as goals of the open one
    *(Follow(f"leg{i}.{axis}a", f"leg{i}.base_{axis}") for i in (1, 2, 3) for axis in "xy"),
    *(Follow(f"leg1.link_b.tip.{axis} - {leg}.link_b.tip.{axis}", 0.0) for _, leg in JOINED for axis in "xy"),
)
ALLOCATIONS: dict[str, Allocation] = {"least-squares": LeastSquares(), "min-max": MinMax()}


def _start(number: int) -> Start:
    return Start(guess=dict(zip(LEG.coordinates, START[number - 1], strict=True)))


def system(*, tracking: bool, control: str, stroke: float, **_: str) -> System:
    """Three placed legs (rows 0-5 hold their bases), the end points joined (6-9), and the desired path (10-11).

    Under the printed law nothing but the law holds the legs: they are cut open, without any row.
    """
    servo = (
        Parameter("centre_x", CENTRE[0], "m", "centre of the motion along x"),
        Parameter("centre_y", CENTRE[1], "m", "where the end point stays along y"),
        Parameter("stroke", stroke, "m", "how far the end point goes to either side"),
        Constraint("servo", {"x": "leg1.link_b.tip.x - centre_x - stroke*cos(t)", "y": "leg1.link_b.tip.y - centre_y"}),
    )
    is_open = control == "printed"
    if tracking and control != "swing":
        raise ModelError(f"planar-parallel: tracking=True leads the end point by rows; take it or control={control!r}.")
    leg = LEG.remove("base") if is_open else LEG
    return System(
        "planar-parallel",
        gravity=(0, 0, 0),
        parts=(
            leg.place("leg1", start=_start(1)),
            leg.place("leg2", parameters={**LIGHT_LEG, "base_x": 0.43, "base_y": 0.0}, start=_start(2)),
            leg.place("leg3", parameters={**LIGHT_LEG, "base_x": 0.4269, "base_y": 0.5005}, start=_start(3)),
            *(() if is_open else (_joined(name, leg) for name, leg in JOINED)),
            *(servo if tracking else ()),
            *OUTPUTS,
        ),
    )


OUTPUTS = (
    *(Output(f"end_{axis}", f"leg1.link_b.tip.{axis}", "m") for axis in "xy"),
    *(Output(f"gap{leg[-1]}", f"distance(leg1.link_b.tip, {leg}.link_b.tip)", "m") for _, leg in JOINED),
    Output("base1_moved", "sqrt((leg1.xa - leg1.base_x)^2 + (leg1.ya - leg1.base_y)^2)", "m"),
)


def _joined(name: str, leg: str) -> Constraint:
    """Hold the end point of leg 1 on that of another leg."""
    return Constraint(name, {axis: f"leg1.link_b.tip.{axis} - {leg}.link_b.tip.{axis}" for axis in "xy"})


def _goals(stroke: float) -> tuple[Follow, ...]:
    """The desired path: to and fro along x."""
    return (
        Follow("leg1.link_b.tip.x", f"{CENTRE[0]!r} + {digits(stroke)}*cos(t)"),
        Follow("leg1.link_b.tip.y", CENTRE[1]),
    )


def scenario(  # noqa: PLR0913  (options of the entry)
    *,
    tracking: bool,
    control: str,
    allocation: str,
    stroke: float,
    torque: float,
    torque_frequency: float,
    frequency: float,
    damping: float,
) -> Scenario:
    """Track the desired path by its rows, by motors or by the paper's law, or swing one leg and see where it goes."""
    chosen = system(tracking=tracking, control=control, stroke=stroke)
    way, published = f"{digits(stroke)} m to and fro along x", PUBLISHED if stroke == STROKE else ""
    if tracking:
        needed = " Motors would need 4.7 mN·m for it." if stroke == STROKE else ""
        description = f"The end point goes {way} by the servo rows' own force; no motor acts.{needed}"
        return Scenario(chosen, duration=10.0, description=description)
    if control == "servo":
        description = f"The end point goes {way}, driven by the three motors."
        by_motors = Servo(_goals(stroke), "all", ALLOCATIONS[allocation], frequency, damping)
        return Scenario(chosen, duration=10.0, control=by_motors, description=description, published=published)
    if control in LAWS:
        words = LAWS_IN_WORDS[control] if stroke == STROKE else f"The end point is to go {way} by a law of the paper."
        law = LAWS[control](_goals(stroke))
        return Scenario(chosen, duration=10.0, control=law, description=words, published=published)
    description = "One motor of three swings leg 1 from rest; the other legs follow."
    swung = {"leg1.motor": f"{digits(torque)}*cos({turning(torque_frequency)})"}
    return Scenario(chosen, duration=5.0, control=swung, description=description)


PUBLISHED = "the end points of all three legs follow the path and coincide (figures 5 and 6)"
LAWS: dict[str, Callable[[tuple[Follow, ...]], Controller]] = {  # as the paper prints them, of goals
    "ideal": IdealServo,
    "printed": lambda goals: Cascade((STRUCTURE, goals)),
    "printed-motors": lambda goals: IdealServo(goals, motors_only=True),
}
LAWS_IN_WORDS = {
    "ideal": (
        "The end point is to go 0.01 m to and fro along x by the force of the servo rows alone, on every coordinate, "
        "as no motor can. The closed machine answers it, and the end point misses by 5.9 mm."
    ),
    "printed": (
        "The law as it is printed, (22)-(25): the force of the structure, then that of the path on top of it, each "
        "from its own rows. Leg 1 follows the path; legs 2 and 3 come 20 mm off it, and base 1 moves 5.4 mm."
    ),
    "printed-motors": (
        "Section 4.2 as it is printed: the motors give their entries of the servo rows' force. 99 % of that force "
        "sits where there is no motor, and the end point misses by 15.7 mm."
    ),
}


def _notation() -> Notation:
    """Write as the paper does: leg i has the links ai and bi, all of length L."""
    symbols = {"leg1.link_a.tip.x": "L"}
    relations: dict[str, str] = {}
    for leg in (1, 2, 3):
        symbols |= {f"leg{leg}.{name}": f"{name[0]}_{{{name[1]}{leg}}}" for name in LEG.coordinates}
        symbols |= {f"leg{leg}.base_{axis}": f"{axis}_{{A{leg}}}" for axis in "xy"}
        symbols |= {f"leg{leg}.motor": rf"\tau_{{{leg}}}"}
        for link in "ab":
            path = f"leg{leg}.link_{link}"
            symbols |= {f"{path}.mass": f"m_{{{link}{leg}}}", f"{path}.com.x": f"r_{{{link}{leg}}}"}
            symbols |= {f"{path}.inertia.zz": f"I_{{{link}{leg}}}"}
            relations |= {f"{path}.inertia.yy": f"{path}.inertia.zz", f"{path}.tip.x": "leg1.link_a.tip.x"}
    del relations["leg1.link_a.tip.x"]
    return Notation(symbols, relations)


ENDS = {f"leg {i}": f"leg{i}.link_b.tip" for i in (1, 2, 3)}
TRACKED = {"x": "centre_x + stroke*cos(t)", "y": "centre_y + 0*t"}


def _paths(title: str, note: str, **options: bool) -> PaperPanel:
    lines = tuple(Line(name, f"{end}.y") for name, end in ENDS.items())
    return PaperPanel(title, "m", lines, across=tuple(f"{end}.x" for end in ENDS.values()), note=note, options=options)


def _tracked(axis: str) -> PaperPanel:
    """Where the end points are over time, over the desired path."""
    return PaperPanel(
        f"figure 5: {axis} of the end points, tracking",
        "m",
        tuple(Line(name, f"{end}.{axis}") for name, end in ENDS.items()),
        published=(Line("desired path", TRACKED[axis]),),
        options={"tracking": True},
    )


RIGHT, PRINTED = {"control": "servo"}, {"control": "printed"}
WISH_X = f"{CENTRE[0]!r} + 0.01*cos(t)"


def _miss(end: str) -> str:
    """How far an end point is from where it is to be."""
    return f"sqrt(({end}.x - ({WISH_X}))^2 + ({end}.y - {CENTRE[1]!r})^2)"


COMPARED = (  # the law as printed, (22)-(25), beside the right one
    PaperPanel(
        "(22)-(25): end points, printed against right",
        "m",
        tuple(Line(f"{name}, printed", f"{end}.y", PRINTED) for name, end in ENDS.items()),
        published=(Line("all legs, right law", f"{ENDS['leg 1']}.y", RIGHT),),
        across=tuple(f"{end}.x" for end in ENDS.values()),
        note="under the printed law leg 1 alone moves; legs 2 and 3 stay where they are",
    ),
    PaperPanel(
        "(22)-(25): distance from the path",
        "mm",
        (
            *(Line(f"{name}, printed", _miss(end), PRINTED) for name, end in ENDS.items()),
            Line("leg 1, printed motor entries", _miss(ENDS["leg 1"]), {"control": "printed-motors"}),
            Line("leg 1, right law", _miss(ENDS["leg 1"]), RIGHT),
        ),
        factor=1e3,
        quantity="distance",
        note="of a motion of 10 mm to either side; the paper: all legs on the path",
    ),
    PaperPanel(
        "(22)-(25): gaps that must be closed",
        "mm",
        (
            *(Line(f"legs 1 and {i}, printed", f"gap{i}", PRINTED) for i in (2, 3)),
            Line("base 1, printed", "base1_moved", PRINTED),
            Line("legs 1 and 2, right law", "gap2", RIGHT),
        ),
        factor=1e3,
        quantity="gap",
        claims=(Claim("largest gap (published: the ends coincide)", 0.0, "mm"),),
    ),
)
FIGURES = PaperFigures(
    "three legs that share one point (Han et al. 2020)",
    panels=(
        _paths("figure 3: end points under 0.1 cos(πt) N·m", "the paper: all three coincide", tracking=False),
        PaperPanel(
            "figure 4: base points",
            "m",
            tuple(Line(f"leg{i}.{axis}", f"leg{i}.{axis}") for i in (1, 2, 3) for axis in ("xa", "ya")),
            note="the paper: constant",
            options={"tracking": False},
        ),
        PaperPanel(
            "not in the paper: gaps of the joined ends",
            "m",
            tuple(Line(f"{join}.{axis}", f"{join}.{axis}") for join in ("join2", "join3") for axis in "xy"),
            is_logarithmic=True,
            claims=(Claim("gap (published: of the printed start)", 3.8e-5, "m", is_drawn=True),),
            note="the printed angles miss the loops; ours are assembled",
            options={"tracking": False},
        ),
        _tracked("x"),
        _tracked("y"),
        _paths("figure 6: end points, tracking", "the paper: a line of 20 mm along x, of all three", tracking=True),
        PaperPanel(
            "not in the paper: torques that the motors need",
            "mN*m",
            tuple(Line(f"motor {i}", f"leg{i}.motor") for i in (1, 2, 3)),
            factor=1e3,
            quantity="torque",
            note="least squares; the paper takes the servo rows' force for torques (erratum 4.2)",
            options={"control": "servo"},
        ),
        *COMPARED,
    ),
)

ENTRY = Entry(
    name="planar-parallel",
    source=han2020.CITATION.text,
    build=system,
    scenario=scenario,
    options={
        "tracking": Option(
            default=False, allowed=OneOf((True, False)), description="two servo rows: to and fro along x by the stroke"
        ),
        "control": Option(
            "swing",
            OneOf(("swing", "servo", *LAWS)),
            "one leg swung; or the end point led by motors (right), or by laws as the paper prints them (wrong)",
        ),
        "allocation": Option(
            "least-squares", OneOf(tuple(ALLOCATIONS)), "how the motors share the load, with control=servo"
        ),
        "stroke": numeric(STROKE, "how far the end point goes to either side where it is led, m"),
    },
    numbers={
        "torque": numeric(0.1, "largest torque of the motor that swings leg 1, with control=swing, N·m"),
        "torque_frequency": numeric(0.5, "how often it swings, with control=swing, Hz"),
        **SERVO_ONLY,
    },
    figures=FIGURES,
    errata=(
        Erratum("(5)", "B = A M^½", "B = A M^-½"),
        Erratum("(14)", "C with Ṁ − 2C not skew", "C q̇ is right; Christoffel's C makes Ṁ − 2C skew"),
        Erratum("(19), A2", "no ±1 in the columns of xa, ya", "±1 there"),
        Erratum("(20)", "(A1 A2) side by side", "stacked vertically"),
        Erratum("(22)-(25)", "servo force from A3 alone (legs miss by 20 mm)", "all rows stacked"),
        Erratum(
            "4.2",
            "that force as motor torque (misses by 15.7 mm; with all rows stacked by 13 mm)",
            "torques of the motors that give the motion",
        ),
        Erratum("Table 1", "q_b without saying of what", "relative to link a"),
        Erratum("start", "q̈(0) = 0, and angles that miss the loops by 3.8e-5 m", "assembled angles, q̈ from the rows"),
    ),
    notation=_notation(),
)
