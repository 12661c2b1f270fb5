"""Two mobile arms that carry one load, cut at the middle of the load.

Each half has q = [x, y, delta, theta1, theta2, theta3]: a platform that does not turn, the yaw of the turret on it, and
the ABSOLUTE elevations of three links (0 is horizontal), the last of which is half the load.
"""

from __future__ import annotations

from math import pi

from kalaba.control.allocation import LeastSquares
from kalaba.control.goals import Follow
from kalaba.control.servo import Servo
from kalaba.joints import Planar, Revolute, Spherical, Weld
from kalaba.model.acting import Actuator
from kalaba.model.options import OneOf, Option, numeric
from kalaba.model.parts import Body, Connection, Constraint, Parameter, Start
from kalaba.model.solids import Solid
from kalaba.model.system import AnyPart, System
from kalaba.printing.notation import Notation
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import SERVO_ONLY, digits, follow
from kalaba.robots.papers import dong2022
from kalaba.robots.published import Claim, Line, PaperFigures, PaperPanel
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Y, Z


def _link(length: float, mass: float, inertia: float) -> Solid:
    """Make a link with the paper's inertia, the same about every axis, at mid-length."""
    return Solid(mass, com=(length / 2, 0, 0), inertia=(inertia,) * 3, tip=(length, 0, 0))


HALF = System(
    "half",
    coordinates=("x", "y", "delta", "theta1", "theta2", "theta3"),
    parts=(
        Body("platform", Solid(50.0), joint=Planar(Z, q=("x", "y", 0))),
        Body(
            "turret",
            Solid(2.0, com=(0, 0, 0.25), inertia=(0.0625,) * 3, tip=(0, 0, 0.5)),
            parent="platform",
            joint=Revolute(Z, q="delta"),
        ),
        Body("link1", _link(0.7, 3.0, 0.490), parent="turret.tip", joint=Revolute(-Y, q="theta1")),  # positive: up
        Body("link2", _link(0.8, 4.0, 0.855), parent="link1.tip", joint=Revolute(-Y, q="theta2 - theta1")),
        Body("link3", _link(0.4, 1.0, 0.080), parent="link2.tip", joint=Revolute(-Y, q="theta3 - theta2")),
        Actuator("drive_x", "x"),
        Actuator("drive_y", "y"),
        Actuator("turn", "delta"),
        Actuator("motor1", "theta1"),
        Actuator("motor2", "theta2"),
        Actuator("motor3", "theta3"),
    ),
)
POSE = {"theta1": pi / 2, "theta2": -pi / 3}

PARTS_CLOSURE: tuple[AnyPart, ...] = (  # rows 0-5 of the paper (12): gap of the cut ends, load level and straight
    Connection("cut", "left.link3.tip", parent="right.link3.tip", joint=Spherical()),
    Constraint("load", {"yaw": "left.delta - right.delta - pi", "left": "left.theta3", "right": "right.theta3"}),
)
WELD_CLOSURE: tuple[AnyPart, ...] = (  # the halves face each other: half a turn about the vertical lies between them
    Connection("cut", "left.link3.tip", parent="right.link3.tip", at=Pose(rpy=(0, 0, pi)), joint=Weld()),
)
PLATFORMS = Parameter("delta_z", 0.0, "m", "how much higher the right platform stands than the left one")
PATH_NUMBERS: tuple[AnyPart, ...] = (  # of the desired path (19): up and sideways and back, platforms on rails, no yaw
    Parameter("path_x", 0.8, "m", "where the middle of the load stays along x"),
    Parameter("path_z", 0.507179676972449, "m", "height of the middle of the load at the start"),
    Parameter("path_stroke", 0.5, "m", "half of the way that the load goes along y and z"),
    Parameter("path_frequency", 0.5, "Hz", "how often the load goes there and back"),
    Parameter("path_spacing", 1.6, "m", "where the right platform stays along x"),
)
DESIRED = {"x": "path_x + 0*t", "y": "path_stroke*(1 - cos(2*pi*path_frequency*t))"}
DESIRED["z"] = f"path_z + {DESIRED['y']}"
WISHES = {  # (19), row by row: what is to be where
    "x": ("left.link3.tip.x", "path_x"),
    "y": ("left.link3.tip.y", DESIRED["y"]),
    "z": ("left.link3.tip.z", f"({DESIRED['z']})"),
    "rail1": ("left.x", "0"),
    "rail2": ("right.x", "path_spacing"),
    "yaw": ("left.delta", "0"),
}
PATH = Constraint("path", {row: f"{what} - {where}" for row, (what, where) in WISHES.items()})
GOALS = tuple(Follow(what, where) for what, where in WISHES.values())
ALIKE = LeastSquares(weights=(1.0,) * 12)  # a newton counts as much as a newton-metre


def system(*, path: bool, closure: str, control: str) -> System:
    """Place the half twice, close the cut, and add the path as six more rows unless motors lead along it."""
    by_motors = control == "servo"
    return System(
        "dual-mobile-arm",
        gravity=(0, 0, -9.8),
        parts=(
            PLATFORMS,
            HALF.place("left", start=Start(guess=POSE)),
            HALF.place("right", at=(0, 0, PLATFORMS.name), start=Start(guess={**POSE, "x": 1.6, "delta": -pi})),
            *(WELD_CLOSURE if closure == "weld" else PARTS_CLOSURE),
            *(PATH_NUMBERS if path or by_motors else ()),
            *((PATH,) if path and not by_motors else ()),
        ),
    )


def scenario(*, path: bool, closure: str, control: str, diameter: float, frequency: float, damping: float) -> Scenario:
    """Run the paper's path, by its rows or by motors, or drive the machine round by its motors."""
    machine = system(path=path, closure=closure, control=control)
    if control == "servo":
        description = "The load goes up, sideways and back twice, led by all twelve motors; no row leads it."
        by_all_motors = Servo(GOALS, "all", ALIKE, frequency, damping)
        return Scenario(machine, duration=4.0, control=by_all_motors, description=description)
    if path:
        description = "The load goes up, sideways and back twice by the path's own force; no motor acts."
        return Scenario(machine, duration=4.0, description=description)
    by_spring = {f"left.{name}": law for name, law in _round("left", "0", "0", diameter / 2).items()}
    by_spring |= {f"right.{name}": law for name, law in _round("right", "1.6", "-pi", diameter / 2).items()}
    size = f"{digits(diameter)} m"
    description = (
        f"Both platforms drive round a circle of {size} while the arms, which carry their own weight, hold the load."
    )
    return Scenario(machine, duration=2 * pi, control=by_spring, description=description)


def _round(side: str, x: str, yaw: str, radius: float) -> dict[str, str]:
    """Drive a platform round a circle, keep the turret's yaw, carry the arm's weight and hold its pose.

    With absolute elevations the weight's torque on a link is g cos θ times its own first moment and all it carries.
    """
    first = f"{side}.link1.com.x*({side}.link1.mass + 2*{side}.link2.mass + 2*{side}.link3.mass)"
    second = f"{side}.link2.com.x*({side}.link2.mass + 2*{side}.link3.mass)"
    third = f"{side}.link3.com.x*{side}.link3.mass"
    weight = {i: f"-gravity.z*cos({side}.theta{i})*{m}" for i, m in enumerate((first, second, third), 1)}
    return {
        "drive_x": follow(f"{side}.x", f"{x} + {digits(radius)}*sin(t)", 2000.0, 400.0),
        "drive_y": follow(f"{side}.y", f"{digits(radius)}*(1 - cos(t))", 2000.0, 400.0),
        "turn": follow(f"{side}.delta", yaw, 500.0, 100.0),
        "motor1": f"{weight[1]} + {follow(f'{side}.theta1', 'pi/2', 100.0, 20.0)}",
        "motor2": f"{weight[2]} + {follow(f'{side}.theta2', '-pi/3', 100.0, 20.0)}",
        "motor3": weight[3],
    }


def _notation() -> Notation:
    """Write as the paper does: links 1 to 3 on the left, 4 to 6 on the right, ŝ = l sin θ and ĉ = l cos θ."""
    symbols = {"gravity.z": "-g", "path_stroke": "a", "path_frequency": r"\nu", "delta_z": r"\Delta z"}
    relations: dict[str, str] = {}
    short: dict[str, str] = {}
    for number, side in enumerate(("left", "right"), 1):
        symbols |= {f"{side}.{axis}": rf"\Delta {axis}_{{{number}}}" for axis in "xy"}
        symbols |= {f"{side}.delta": rf"\delta_{{{number}}}", f"{side}.turn": rf"\tau_{{{number}}}"}
        symbols |= {f"{side}.drive_{axis}": f"F_{{{axis}{number}}}" for axis in "xy"}
        symbols |= {f"{side}.platform.mass": f"m_{{v{number}}}", f"{side}.turret.mass": f"m_{{r{number}}}"}
        symbols |= {f"{side}.turret.inertia.zz": f"I_{{r{number}}}", f"{side}.turret.tip.z": f"l_{{r{number}}}"}
        for link in (1, 2, 3):
            index, path = link + 3 * (number - 1), f"{side}.link{link}"
            symbols |= {f"{side}.theta{link}": rf"\theta_{{{index}}}", f"{side}.motor{link}": f"u_{{{index}}}"}
            symbols |= {
                f"{path}.mass": f"m_{{{index}}}",
                f"{path}.tip.x": f"l_{{{index}}}",
                f"{path}.inertia.zz": f"I_{{{index}}}",
            }
            relations |= {f"{path}.com.x": f"{path}.tip.x/2"}
            relations |= {f"{path}.inertia.{axes}": f"{path}.inertia.zz" for axes in ("xx", "yy")}
            short |= {rf"\hat{{s}}_{{{index}}}": f"{path}.tip.x*sin({side}.theta{link})"}
            short |= {rf"\hat{{c}}_{{{index}}}": f"{path}.tip.x*cos({side}.theta{link})"}
    return Notation(symbols, relations, short)


SIDES = ("left", "right")
MOTORS = ("drive_x", "drive_y", "turn", "motor1", "motor2", "motor3")
ON_PATH: dict[str, bool | str] = {"path": True, "closure": "parts", "control": "rows"}
BY_MOTORS: dict[str, bool | str] = {"closure": "parts", "control": "servo"}


def _angles(letter: str, side: str) -> PaperPanel:
    names = ("delta", "theta1", "theta2", "theta3")
    lines = tuple(Line(f"{side}.{name}", f"{side}.{name}") for name in names)
    note = "the paper: periodic, without numbers"
    return PaperPanel(f"figure 6{letter}: angles, {side} half", "rad", lines, note=note, options=ON_PATH)


FIGURES = PaperFigures(
    "the load on its path (Dong et al. 2022)",
    panels=(
        PaperPanel(
            "figure 3: both ends of the cut",
            "m",
            tuple(Line(f"{side} {axis}", f"{side}.link3.tip.{axis}") for axis in "xyz" for side in SIDES),
            published=tuple(Line(f"wish (19), {axis}", text) for axis, text in DESIRED.items()),
            note="(19) with its rows 1 and 5 as corrected: = 0.8, = 1.6",
            options=ON_PATH,
        ),
        PaperPanel(
            "figure 3: gap of the cut",
            "m",
            tuple(Line(f"cut.{axis}", f"cut.{axis}") for axis in "xyz"),
            is_logarithmic=True,
            claims=(Claim("gap in x and z", 1e-13, "m", is_drawn=True),),
            note="the paper's order of magnitude in x and z; in y it has 1e-15",
            options=ON_PATH,
        ),
        PaperPanel(
            "figure 4: angles of the load",
            "rad",
            tuple(Line(f"{side}.{name}", f"{side}.{name}") for name in ("theta3", "delta") for side in SIDES),
            published=(Line("(12): 0", "0*t"), Line("(12): -π", "-pi + 0*t")),
            note="θ3, θ6 and δ1 stay at zero, δ2 at −π",
            options=ON_PATH,
        ),
        PaperPanel(
            "figure 4: errors of these angles",
            "rad",
            tuple(Line(name, name) for name in ("load.left", "load.right", "load.yaw")),
            is_logarithmic=True,
            claims=(Claim("angles 3 and 6", 1e-13, "rad", is_drawn=True),),
            note="the paper's order of magnitude; for the yaw it has 1e-15",
            options=ON_PATH,
        ),
        PaperPanel(
            "figure 5: platforms",
            "m",
            tuple(Line(f"{side}.{axis}", f"{side}.{axis}") for axis in "xy" for side in SIDES),
            published=(
                Line("rails (19): 0", "0*t"),
                Line("rails (19): 1.6", "path_spacing + 0*t"),
                Line("wish (19), y", DESIRED["y"]),
            ),
            note="the paper: still along x, to and fro along y",
            options=ON_PATH,
        ),
        _angles("a", "left"),
        _angles("b", "right"),
        PaperPanel(
            "not in the paper: torque of all rows, left half",
            "N*m",
            tuple(Line(f"left.{n}", f"constraint_force:left.{n}") for n in ("delta", "theta1", "theta2", "theta3")),
            note="where M, C and G show: the 12 rows leave no freedom, so that the motion does not test them",
            options=ON_PATH,
        ),
        PaperPanel(
            "not in the paper: force of all rows, left half",
            "N",
            tuple(Line(f"left.{name}", f"constraint_force:left.{name}") for name in "xy"),
            options=ON_PATH,
        ),
        *(
            PaperPanel(
                f"not in the paper: {what} of the motors on the path",
                unit,
                tuple(Line(f"{side}.{name}", f"{side}.{name}") for side in SIDES for name in names),
                note="least squares; six goals, twelve motors, the rows of the structure alone",
                options=BY_MOTORS,
            )
            for what, unit, names in (("forces", "N", MOTORS[:2]), ("torques", "N*m", MOTORS[2:]))
        ),
    ),
)

ENTRY = Entry(
    name="dual-mobile-arm",
    source=dong2022.CITATION.text,
    build=system,
    scenario=scenario,
    options={
        "path": Option(default=True, allowed=OneOf((True, False)), description="the paper's path as six more rows"),
        "closure": Option("parts", OneOf(("parts", "weld")), "the paper's rows, or one rigid joint"),
        "control": Option("rows", OneOf(("rows", "servo")), "what leads the load: the rows of the path, or the motors"),
    },
    numbers={
        "diameter": numeric(0.6, "circle that the platforms drive round, with path=False, m"),
        **SERVO_ONLY,
    },
    figures=FIGURES,
    errata=(
        Erratum("M33", "m1 ĉ1/4", "m1 ĉ1²/4"),
        Erratum("M45", "(m2+m3)/2", "m2/2+m3"),
        Erratum("C34, C43", "m1 ĉ1/2", "m1 ĉ1/4 (does no work: energy cannot tell)"),
        Erratum("J_v4(1), J_v5(2), J_v6(3)", "cos(δ/2), sin(δ/2)", "½cos δ, ½sin δ"),
        Erratum("(8)", "g = [0 0 9.8], which turns the sign of G", "g = [0 0 −9.8]"),
        Erratum("(12)", "six rows of structure", "a rigid load needs θ3 + θ6 = 0 only; one of the rows is a wish"),
        Erratum("(13), (20), (22)", "δ̈², δ², ẑ", "δ̇², ζ̂"),
        Erratum("(19), rows 1 and 5", "= 0", "= 0.8, = 1.6"),
        Erratum("(21), row 5", "column 8 (rank 11 and contradictory)", "column 7"),
        Erratum("after (22)", "[A A_t]ᵀ", "stacked vertically"),
        Erratum("start", "q̈(0) = 0", "no initial condition; it follows from the rows"),
        Erratum("Table 1", "I of links 1 and 2", "look like moments about the end, used as central ones"),
    ),
    notation=_notation(),
)
