"""The 6PUS + UPU robot: six vertical sliders push a platform by rods, a middle leg takes its yaw. 5 freedoms, 6 motors.

Frame 0 has its z axis towards the platform, which is DOWN: gravity is +9.81 along z, and a slider's force that holds
the platform up is negative. Leg i is a slider (P), a rod on a universal joint (U) and a ball on the platform (S); the
middle leg is U-P-U, its outer axes along x of the base and x of the platform.

The paper prints masses and the path but no geometry. Lengths here are FITTED: round numbers that meet both published
peak forces within 2 %, and not the only ones that do.
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, radians, sin
from typing import Any

from kalaba.control.allocation import Allocation, Bounded, LeastSquares, MinMax
from kalaba.control.drive import Drive
from kalaba.control.goals import Follow
from kalaba.control.hybrid import PID, Hybrid
from kalaba.control.servo import Servo
from kalaba.control.transmission import Backlash
from kalaba.joints import Prismatic, Spherical, Universal
from kalaba.model.acting import Actuator, Spring
from kalaba.model.options import Amount, OneOf, Option, numeric
from kalaba.model.parts import Body, Connection, Frame, Output, Parameter, Start
from kalaba.model.solids import Cylinder, Rod, Solid
from kalaba.model.system import System
from kalaba.paths.making import circle
from kalaba.paths.path import Path
from kalaba.plant.laws import Controller
from kalaba.printing.notation import Notation
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import SERVO_ONLY
from kalaba.robots.papers import dou2014
from kalaba.robots.published import Claim, Line, PaperFigures, PaperPanel
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, X, Y, Z
from kalaba.steppers import DormandPrince

GRAVITY = 9.81  # m/s²
PLATFORM, SLIDER, ROD, UPPER, LOWER = 32.65, 6.4, 5.8, 4.18, 6.15  # kg, published
BASE_RADIUS, PLATFORM_RADIUS, ROD_LENGTH, LINK = 0.40, 0.20, 0.70, 0.40  # m, fitted
BASE_SPREAD, PLATFORM_SPREAD = 30.0, 45.0  # degrees, fitted
HEIGHT = 0.6667444279529082  # m, of the platform where every slider is at 0
HUB = -0.06  # m, along the platform's z, where the middle leg ends; fitted
LIMIT = 1000.0  # N
CIRCLE = circle(diameter=0.2, speed=0.125, accel=0.25, centre=(0, 0, HEIGHT))  # m, m/s, m/s²: published
ALLOCATIONS: dict[str, Allocation] = {"least-squares": LeastSquares(), "min-max": MinMax(), "bounded": Bounded()}
POSITION = PID(1e6, 1e6, 8e3)  # N/m, N/(m s), N s/m: the sliders feel like masses from 16 to 2200 kg
FORCE = PID(0.5, 100.0)  # 1, 1/s
DRIVE = Drive(rate=1000.0, lag=5e-4)
CREEP = 0.005  # m/s, below which dry friction is viscous
ROTOR = 16.0  # kg, of a motor's side of the backlash
SPEED_NOISE = 100.0  # 1/s, noise of the speeds over that of the displacements
PLAY = {"friction": 1.0, "backlash": 2e-5, "noise": 9e-6}  # N, m, m: fitted to both measured peaks
W, X1, Y1, Z1 = (f"platform.q{letter}" for letter in "wxyz")
ANGLES = {  # Z-Y-X, as in the paper
    "alpha": f"atan2(2*({W}*{Z1} + {X1}*{Y1}), 1 - 2*({Y1}^2 + {Z1}^2))",
    "beta": f"asin(2*({W}*{Y1} - {X1}*{Z1}))",
    "gamma": f"atan2(2*({W}*{X1} + {Y1}*{Z1}), 1 - 2*({X1}^2 + {Y1}^2))",
}
BY_SERVO = (
    "The platform goes round the circle of the paper, level, on its goals' servo constraints. Peaks of six motors by "
    "least squares and of five: 343 and 671 N, published 350 and 660 N; min-max 331 N."
)
CALCULATED = "peaks of about 350 N with six motors and 660 N with five, calculated"
AS_MEASURED = (
    "The platform goes round the circle of the paper as in its experiment: sliders 1 to 5 follow planned travels, "
    "slider 6 its planned force. Peaks of five motors and of six: 667 and 357 N, measured about 700 and 380 N; with "
    "friction=1, backlash=2e-5 and noise=9e-6 698 and 384 N."
)
MEASURED = "peaks of about 380 N with six motors and 700 N with five, measured"
OTHER_CIRCLE = "The platform goes round a circle that is not the paper's, level; nothing is published of it."

Point = tuple[str, str, float]


def _directions(spread: float) -> tuple[tuple[float, float], ...]:
    """Cosine and sine of the six angles, legs 1 to 6."""
    angles = (120 + spread, 240 - spread, 240 + spread, -spread, spread, 120 - spread)
    return tuple((round(cos(radians(a)), 16), round(sin(radians(a)), 16)) for a in angles)


def _ring(radius: str, spread: float) -> list[Point]:
    """Six joint centres on a circle."""
    return [(f"{radius}*{c}", f"{radius}*{s}", 0.0) for c, s in _directions(spread)]


def _leg(*, is_driven: bool) -> System:
    motor = (Actuator("motor", "slider.travel", limit=LIMIT),) if is_driven else ()
    slider = Body("slider", Solid(SLIDER), joint=Prismatic(Z))
    rod = Body("rod", Rod(ROD_LENGTH, mass=ROD, axis=Z), parent="slider", joint=Universal(X, Y))
    return System("leg", parts=(slider, rod, *motor))


MIDDLE = System(
    "middle",
    parts=(
        Body("upper", Rod(LINK, mass=UPPER, axis=Z), joint=Universal(X, Y)),
        Body("lower", Rod(LINK, mass=LOWER, axis=-Z), parent="upper", joint=Prismatic(Z)),
    ),
)


def _driven(actuators: str) -> range:
    """The numbers of the legs that have a motor."""
    return range(1, 7 if actuators == "1-6" else 6)


def _friction(coulomb: float) -> tuple[Parameter | Spring, ...]:
    """Dry friction along each slider."""
    if not coulomb:
        return ()
    return (
        Parameter("coulomb", coulomb, "N", "dry friction along each slider"),
        *(Spring(f"rub{i}", f"leg{i}.slider.travel", friction="coulomb", creep=CREEP) for i in range(1, 7)),
    )


def system(*, actuators: str, friction: float, **_: object) -> System:
    """Six placed legs, the middle one, and the platform; rows 0-17 hold the balls, 18-21 the fork of the middle leg."""
    base, balls = _ring("base_radius", BASE_SPREAD), _ring("platform_radius", PLATFORM_SPREAD)
    legs = {i: _leg(is_driven=i in _driven(actuators)) for i in range(1, 7)}
    return System(
        "pus-upu",
        gravity=(0, 0, GRAVITY),
        parts=(
            Parameter("base_radius", BASE_RADIUS, "m", "circle of the sliders (fitted)"),
            Parameter("platform_radius", PLATFORM_RADIUS, "m", "circle of the balls (fitted)"),
            *(legs[i].place(f"leg{i}", at=Pose(point)) for i, point in enumerate(base, 1)),
            MIDDLE.place("middle"),
            Body("platform", Cylinder(radius=PLATFORM_RADIUS + 0.05, length=0.04, mass=PLATFORM)),
            Frame("hub", parent="platform", at=Pose((0, 0, HUB))),
            *(
                Connection(f"ball{i}", f"leg{i}.rod.tip", parent="platform", at=Pose(point), joint=Spherical())
                for i, point in enumerate(balls, 1)
            ),
            Connection("fork", "hub", parent="middle.lower", joint=Universal(Y, X)),
            *_friction(friction),
            *(Output(axis, f"platform.{axis}", "m") for axis in "xyz"),
            *(Output(angle, text, "rad") for angle, text in ANGLES.items()),
        ),
        start=Start(hold={"platform": Pose((0, 0, HEIGHT))}, guess={"middle.lower.travel": HEIGHT + HUB}),
    )


def _told(way: Path, words: str, published: str) -> tuple[str, str]:
    """Description and published result, both of the paper's circle alone."""
    return (words, published) if way == CIRCLE else (OTHER_CIRCLE, "")


def scenario(  # noqa: PLR0913  (options of the entry)
    *,
    control: str,
    allocation: str,
    backlash: float,
    noise: float,
    diameter: float,
    speed: float,
    accel: float,
    frequency: float,
    damping: float,
    **built: Any,  # noqa: ANN401  (options of build)
) -> Scenario:
    """Lead the platform round the circle of the paper, level, by servo control or as the paper's experiment did."""
    way = circle(diameter, speed, accel, centre=(0, 0, HEIGHT))
    machine, goals, shared = system(**built), (Follow("platform", way),), ALLOCATIONS[allocation]
    gap = Backlash(backlash, ROTOR) if backlash else None
    drive = replace(DRIVE, position_noise=noise, speed_noise=SPEED_NOISE * noise, backlash=gap)
    model = (("coulomb", 0.0),) if built["friction"] else ()  # no law knows of friction
    if control == "servo":
        law = Servo(goals, "all", shared, frequency, damping, model=model)
        led: Controller = law if drive == DRIVE else drive.around(law)
        stepper = DormandPrince(1e-10)  # the circle's timing has corners, which fixed steps would cut
        return Scenario(machine, way.duration, stepper, led, *_told(way, BY_SERVO, CALCULATED))
    forced = ("leg6.motor",) if 6 in _driven(built["actuators"]) else ()
    hybrid = Hybrid(goals, POSITION, FORCE, forced, shared, drive, model)
    description, published = _told(way, AS_MEASURED, MEASURED)
    return Scenario(
        machine, way.duration, control=hybrid, description=description, published=published, save_every=1 / drive.rate
    )


def _forces(title: str, published: float, note: str, actuators: str, **options: Any) -> PaperPanel:  # noqa: ANN401  (options of build)
    """The motors' forces round the circle, beside the largest that the paper names."""
    lines = tuple(Line(f"leg {i}", f"leg{i}.motor") for i in _driven(actuators))
    claim = Claim("largest force", published, "N", is_drawn=True)
    return PaperPanel(title, "N", lines, claims=(claim,), note=note, options={"actuators": actuators, **options})


AS_FITTED = "ours: the experiment's control, simulated; friction 1 N, play 20 µm and noise 9 µm fitted to both peaks"
FITTED = "lengths are fitted to both peaks, the paper prints none"
FIGURES = PaperFigures(
    "driving forces without and with the sixth motor (Dou et al. 2014)",
    panels=(
        _forces("figure 3: five motors, computed", 660.0, FITTED, actuators="1-5"),
        _forces("figure 4: six motors, computed", 350.0, FITTED, actuators="1-6"),
        _forces(
            "figure 7: five motors, measured",
            700.0,
            AS_FITTED,
            actuators="1-5",
            control="hybrid",
            **PLAY,
        ),
        _forces(
            "figure 8: six motors, measured",
            380.0,
            AS_FITTED,
            actuators="1-6",
            control="hybrid",
            **PLAY,
        ),
    ),
)


def _notation() -> Notation:
    """Write as the paper does: A the slider, l the rod, mu and md the middle leg's halves, d the platform."""
    symbols = {"base_radius": "R_{A}", "platform_radius": "r_{b}", "gravity.z": "g", "hub.at.z": "p_{u}"}
    symbols |= {"leg1.slider.mass": "m_{A}", "leg1.rod.mass": "m_{l}", "leg1.rod.length": "l"}
    symbols |= {"middle.upper.mass": "m_{mu}", "middle.upper.length": "l_{mu}"}
    symbols |= {"middle.lower.mass": "m_{md}", "middle.lower.length": "l_{md}", "middle.lower.travel": "s_{mid}"}
    symbols |= {f"middle.upper.angle{k}": rf"\phi_{{mid,{k}}}" for k in (1, 2)}
    symbols |= {"platform.mass": "m_{d}", "platform.radius": "r_{d}", "platform.length": "h_{d}"}
    symbols |= {f"platform.{axis}": axis for axis in "xyz"}
    symbols |= {f"platform.q{axis}": f"e_{{{axis}}}" for axis in "wxyz"}
    symbols |= {f"platform.v{axis}": f"v_{{{axis}}}" for axis in "xyz"}
    symbols |= {f"platform.w{axis}": rf"\omega_{{{axis}}}" for axis in "xyz"}
    relations: dict[str, str] = {}
    for leg in range(1, 7):
        symbols |= {f"leg{leg}.slider.travel": f"z_{{A{leg}}}", f"leg{leg}.motor": f"F_{{q{leg}}}"}
        symbols |= {f"leg{leg}.rod.angle{k}": rf"\phi_{{{leg}{k}}}" for k in (1, 2)}
        same = ("slider.mass", "rod.mass", "rod.length") if leg > 1 else ()
        relations |= {f"leg{leg}.{word}": f"leg1.{word}" for word in same}
    return Notation(symbols, relations)


ENTRY = Entry(
    name="pus-upu",
    source=(
        f"{dou2014.CITATION.text}; masses and path are published, geometry is not: lengths and angles are fitted to "
        "the published peak forces"
    ),
    build=system,
    scenario=scenario,
    options={
        "actuators": Option("1-6", OneOf(("1-6", "1-5")), "legs with a motor; with 1-5 slider 6 is idle but attached"),
        "allocation": Option("least-squares", OneOf(tuple(ALLOCATIONS)), "how the motors share the load"),
        "control": Option(
            "servo", OneOf(("servo", "hybrid")), "servo constraints, or sliders by travel and the sixth by force"
        ),
        "friction": Option(0.0, Amount(), "dry friction along each slider, N, of which the control does not know"),
        "backlash": Option(0.0, Amount(), "gap between each motor and its slider, m"),
        "noise": Option(0.0, Amount(), "standard deviation of each displacement as read, m; of speeds 100 times, m/s"),
    },
    numbers={
        "diameter": numeric(0.2, "diameter of the circle, m"),
        "speed": numeric(0.125, "mean speed along it, m/s"),
        "accel": numeric(0.25, "acceleration along it at its beginning and its end, m/s²"),
        **SERVO_ONLY,
    },
    figures=FIGURES,
    errata=(
        Erratum("(3) J_d", "an X-Y-Z matrix with a cos β missing", "Z-Y-X: [[0,−sα,cαcβ],[0,cα,sαcβ],[1,0,−sβ]]"),
        Erratum("(11), (31)", "ω·r", "ω×r"),
        Erratum("(35)", "contains the speed of the middle leg", "s(sᵀv_Pu*) + ω_mid*×s(l_mid−l_md)"),
        Erratum("(38), (41)", "rod weight with v_A* (peaks 567.6 and 293.9 N)", "v_l*, of the rod's centre"),
        Erratum("(38), (40)", "M_mid·ω_mid* (no moment of the middle leg at x = 0)", "M_mid·ω_d*"),
        Erratum("(38)", "F_qj, j = 1, 2, 3", "F_qi, j = 1 to 6"),
        Erratum("(39)", "I_mu twice", "the second is I_md"),
        Erratum("(43)", "G⁻¹ of a 6×7 matrix", "a right inverse, to be chosen"),
        Erratum("(49)", "W = 1, which adds N² and (N·m)²", "the middle leg's load stays out of the norm"),
        Erratum("3.1", "least squares as the least largest force", "they differ: 343.2 N against 330.8 N"),
    ),
    notation=_notation(),
)
