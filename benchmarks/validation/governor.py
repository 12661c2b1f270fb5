"""IFToMM A05: a flyball governor whose coupler rods are stiff springs with dampers."""

from functools import cache, partial

import numpy as np

import kalaba as kb
from benchmarks.validation.problem import Array, Figure, G, Kind, Measured, Problem, integrated, simulated

DURATION, SPEED, TILT, RAISED = 10.0, 2 * np.pi, np.pi / 6, 0.5  # s, rad/s, rad below the horizontal, m
STIFFNESS, DAMPING, REST = 8e5, 4e4, 0.5  # N/m, N·s/m, m
ARM, HALF = 0.05, 0.5  # m: a rod's hinge and the slider's end of a spring off the axis; where the spring holds the rod
ROD, BALL, SLIDER = 0.3, 5.0, 3.0  # kg
ALONG, ACROSS = ROD * 2 * 0.01**2 / 12, ROD * (1.0 + 0.01**2) / 12  # kg·m², of a rod or the shaft, 1 m long
CUBE = SLIDER * 2 * 0.1**2 / 12  # kg·m²


def machine() -> kb.System:
    """Shaft along z, slider on it, two rods with balls that hang from its top, springs from the slider to the rods."""
    mass = ROD + BALL
    centre = (ROD * HALF + BALL) / mass
    across = ACROSS + ROD * (centre - HALF) ** 2 + BALL * (1 - centre) ** 2
    parts: list[kb.Body | kb.Frame | kb.Spring] = [
        kb.Body("shaft", kb.Solid(ROD, com=(0, 0, 0.5), inertia=(ACROSS, ACROSS, ALONG)), joint=kb.Revolute(kb.Z)),
        kb.Body("slider", kb.Box((0.1, 0.1, 0.1), SLIDER), parent="shaft", joint=kb.Prismatic(kb.Z)),
    ]
    for name, side in (("right", 1), ("left", -1)):  # a positive angle lowers the ball
        rod = kb.Solid(mass, com=(side * centre, 0, 0), inertia=(ALONG, across, across), tip=(side, 0, 0))
        hinge = kb.Revolute(kb.Y if side > 0 else -kb.Y)
        parts += [
            kb.Body(name, rod, parent="shaft", at=(side * ARM, 0, 1.0), joint=hinge),
            kb.Frame(f"{name}_held", name, (side * HALF, 0, 0)),
            kb.Frame(f"{name}_end", "slider", (side * ARM, 0, 0)),
            kb.Spring(f"{name}_spring", f"distance({name}_held, {name}_end)", STIFFNESS, DAMPING, REST),
        ]
    start = kb.Start(
        hold={"slider.travel": RAISED, "right.angle": TILT, "left.angle": TILT}, speed={"shaft.angle": SPEED}
    )
    return kb.System("governor", tuple(parts), start=start)


def turning_inertia(tilt: float) -> tuple[float, float]:
    """All that turns about the shaft at a tilt α of the rods, and its derivative by α."""
    c, s = np.cos(tilt), np.sin(tilt)
    rods = BALL * (ARM + c) ** 2 + ROD * (ARM + HALF * c) ** 2 + ACROSS * c**2 + ALONG * s**2
    slope = BALL * (ARM + c) + ROD * HALF * (ARM + HALF * c) + (ACROSS - ALONG) * c
    return ALONG + CUBE + 2 * rods, -4 * s * slope


@cache
def by_hand(step: float, count: int) -> Array:
    """Tilt α, slider s, their rates and the shaft's speed ω at so many times, one row per time.

    By Lagrange, with the momentum I(α) ω kept, F = K (d − d₀) + C ḋ in each spring and
    d² = ¼ cos²α + (1 − ½ sin α − s)²::

        J α̈ = ½ I′ ω² + 2 g (m_ball + m_rod/2) cos α − 2 F ∂d/∂α        m s̈ = −m g − 2 F ∂d/∂s
    """
    momentum = turning_inertia(TILT)[0] * SPEED
    J = 2 * (BALL + ROD * HALF**2 + ACROSS)

    def rate(_, y):
        tilt, s, tilt_rate, s_rate = y
        inertia, slope = turning_inertia(tilt)
        out, down = HALF * np.cos(tilt), 1 - HALF * np.sin(tilt) - s
        d = np.hypot(out, down)
        by_tilt, by_s = -HALF * (out * np.sin(tilt) + down * np.cos(tilt)) / d, -down / d
        force = STIFFNESS * (d - REST) + DAMPING * (by_tilt * tilt_rate + by_s * s_rate)
        lift = slope * (momentum / inertia) ** 2 / 2
        weight = 2 * G * (BALL + ROD * HALF) * np.cos(tilt)
        return tilt_rate, s_rate, (lift + weight - 2 * force * by_tilt) / J, -G - 2 * force * by_s / SLIDER

    y = integrated(rate, (TILT, RAISED, 0.0, 0.0), step * np.arange(count), "LSODA")
    return np.column_stack([y, [momentum / turning_inertia(tilt)[0] for tilt in y[:, 0]]])


def exact(times: Array) -> Array:
    """As `by_hand`, at evenly spaced times from 0."""
    return by_hand(float(times[-1] / (len(times) - 1)), len(times))


def figures() -> tuple[Figure, ...]:
    """The slider and the shaft's speed at the end, and the slider's largest distance from its path by hand."""
    _, s, _, _, speed = exact(np.linspace(0, DURATION, 1001))[-1]
    held = partial(Figure, kind=Kind.BY_HAND, reason="10⁻⁶ per step over ten swings")
    return (
        held("s at 10 s", s, "m", tolerance=1e-4),
        held("speed of the shaft at 10 s", speed, "rad/s", tolerance=1e-3),
        held("largest error of s", 0.0, "m", tolerance=1e-4),
    )


def measure(**options) -> Measured:
    """Simulate 10 s."""
    run, seconds = simulated(machine(), DURATION, **options)
    s, speed = run["slider.travel"], run["rate(shaft.angle)"]
    return Measured((s[-1], speed[-1], np.abs(s - exact(run.time)[:, 1]).max()), seconds, DURATION)


PROBLEM = Problem(
    "A05 Flyball governor",
    "A shaft at 2π rad/s, two rods with balls of 5 kg, a slider held by springs of 8·10⁵ N/m with dampers of 4·10⁴ "
    "N·s/m: a stiff machine, for 10 s.",
    (
        "IFToMM Library of Computational Benchmark Problems, A05, also in González et al. (2006): the problem",
        (
            "by hand: Lagrange's equations of tilt and slider with the momentum about the shaft kept, integrated by "
            "scipy; the published solution is a plot, which gives no digits"
        ),
    ),
    figures,
    measure,
)
