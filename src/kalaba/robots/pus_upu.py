"""The 6PUS + UPU robot: six vertical sliders push a platform by rods, a middle leg takes its yaw. 5 freedoms, 6 motors.

Frame 0 has its z axis towards the platform, which is DOWN: gravity is +9.81 along z, and a slider's force that holds
the platform up is negative. Leg i is a slider (P), a rod on a universal joint (U) and a ball on the platform (S); the
middle leg is U-P-U, its outer axes along x of the base and x of the platform.

The paper prints masses and the path but no geometry. Lengths here are FITTED: round numbers that meet both published
peak forces within 2 %, and not the only ones that do.
"""

from __future__ import annotations

from math import cos, pi, radians, sin

from kalaba.model.joint import Prismatic, Spherical, Universal
from kalaba.model.parts import Actuator, Body, Connection, Frame, Parameter, Start
from kalaba.model.pose import Pose, X, Y, Z
from kalaba.model.solid import Cylinder, Rod, Solid
from kalaba.model.system import System
from kalaba.robots.entry import Entry, Erratum, Option
from kalaba.robots.feedback import follow
from kalaba.scenarios import Scenario

GRAVITY = 9.81  # m/s²
PLATFORM, SLIDER, ROD, UPPER, LOWER = 32.65, 6.4, 5.8, 4.18, 6.15  # kg, published
BASE_RADIUS, PLATFORM_RADIUS, ROD_LENGTH, LINK = 0.40, 0.20, 0.70, 0.40  # m, fitted
BASE_SPREAD, PLATFORM_SPREAD = 30.0, 45.0  # degrees, fitted
HEIGHT = 0.6667444279529082  # m, of the platform where every slider is at 0
HUB = -0.06  # m, along the platform's z, where the middle leg ends; fitted
LIMIT = 1000.0  # N
WEIGHT = GRAVITY * (6 * (SLIDER + ROD) + PLATFORM + LOWER)  # N, what the sliders carry at the start

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


def system(*, actuators: str) -> System:
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
        ),
        start=Start(hold={"platform": Pose((0, 0, HEIGHT))}, guess={"middle.lower.travel": HEIGHT + HUB}),
    )


def _travel(leg: int, x: str, y: str) -> str:
    """Where a slider is while the platform is level at (x, y, HEIGHT): z − √(l² − reach²)."""
    (a, b), (c, d) = _directions(BASE_SPREAD)[leg - 1], _directions(PLATFORM_SPREAD)[leg - 1]
    along, across = PLATFORM_RADIUS * c - BASE_RADIUS * a, PLATFORM_RADIUS * d - BASE_RADIUS * b
    return f"({HEIGHT} - sqrt({ROD_LENGTH**2} - ({x} + {along})^2 - ({y} + {across})^2))"


def scenario(*, actuators: str) -> Scenario:
    """Lead the platform out of the middle and round the circle of the paper, each slider pulled to its place."""
    radius, angle = "(0.05*(1 - cos(pi*min(t, 1))))", "(1.25*t)"  # 0.1 m after a second; 0.125 m/s
    x, y = f"{radius}*cos{angle}", f"{radius}*sin{angle}"
    legs = _driven(actuators)
    share = {
        i: 1.0 if len(legs) == 6 else float(2 * (i % 2)) for i in legs
    }  # without slider 6 its neighbours carry all
    control = {
        f"leg{i}.motor": f"{-share[i] * WEIGHT / 6} + " + follow(f"leg{i}.slider.travel", _travel(i, x, y), 5e5, 8e3)
        for i in legs
    }
    return Scenario(
        system(actuators=actuators),
        duration=2.0 + 2 * pi / 1.25,
        control=control,
        description="The platform goes out by 0.1 m and round a circle, level, the sliders led by springs and dampers.",
    )


ENTRY = Entry(
    name="pus-upu",
    summary="six sliders and a middle leg hold a platform: 27 velocities, 22 rows, 5 freedoms, six motors or five",
    source=(
        "Dou et al. (2014), Dynamic modeling and driving force coordinate distribution of the parallel robot with "
        "redundant actuation, Trans. CSAM 45(1), 293-300, doi 10.6041/j.issn.1000-1298.2014.01.045; masses and path "
        "are published, geometry is not: lengths and angles are fitted to the published peak forces"
    ),
    build=system,
    scenario=scenario,
    options={
        "actuators": Option("1-6", ("1-6", "1-5"), "legs with a motor; with 1-5 slider 6 is idle but attached"),
    },
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
)
