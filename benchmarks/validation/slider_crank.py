"""Haug's spatial slider-crank, which is IFToMM's spatial rigid slider-crank mechanism."""

from functools import cache, partial

import numpy as np

import kalaba as kb
from benchmarks.validation.problem import Array, Figure, G, Kind, Measured, Problem, integrated, simulated

DURATION, SPEED = 5.0, 6.0  # s, rad/s
CRANK, ROD, AWAY, ABOVE = 0.08, 0.3, 0.1, 0.12  # m: lengths, and where the crank's hinge is beside and above the slide
CRANK_MASS, ROD_MASS, SLIDER_MASS = 0.12, 0.5, 2.0  # kg
CRANK_INERTIA, ROD_ALONG, ROD_ACROSS = (
    1e-4,
    4e-4,
    4e-3,
)  # kg·m², about the mass centre; of the crank about its hinge's axis
PUBLISHED = {0.5: 0.184952803, 1.0: 0.211754668, 2.0: 0.289063554, 5.0: 0.240761815}  # s: m, where the slider is
STEP = 1e-30  # of complex derivatives


def machine() -> kb.System:
    """Crank about x, upright at first; rod on a ball joint and on a universal joint whose first axis is the slide."""
    crank = kb.Solid(CRANK_MASS, com=(0, 0, CRANK / 2), inertia=(CRANK_INERTIA, CRANK_INERTIA, 1e-5), tip=(0, 0, CRANK))
    rod = kb.Solid(ROD_MASS, com=(-ROD / 2, 0, 0), inertia=(ROD_ALONG, ROD_ACROSS, ROD_ACROSS), tip=(-ROD, 0, 0))
    parts = (
        kb.Body("crank", crank, at=(0, AWAY, ABOVE), joint=kb.Revolute(kb.X)),
        kb.Body("slider", kb.Solid(SLIDER_MASS, inertia=(1e-4,) * 3), joint=kb.Prismatic(kb.X)),
        kb.Body("rod", rod, parent="slider", joint=kb.Universal(kb.X, kb.Y)),
        kb.Connection("ball", "rod.tip", parent="crank.tip", joint=kb.Spherical()),
    )
    start = kb.Start(
        hold={"crank.angle": 0.0},
        guess={"slider.travel": 0.2, "rod.angle1": -np.arcsin(1 / np.sqrt(5)), "rod.angle2": np.arccos(2 / 3)},
        speed={"crank.angle": SPEED},
    )
    return kb.System("slider-crank", parts, gravity=(0, 0, -G), start=start)


def pin(angle: Array) -> tuple[Array, Array, Array, Array]:
    """The crank's pin beside and above the slide, and their derivatives by the crank's angle θ."""
    c, s = CRANK * np.cos(angle), CRANK * np.sin(angle)
    return AWAY - s, ABOVE + c, -c, -s


def slider_at(angle: Array) -> Array:
    """x = √(ℓ² − y² − z²) with the pin at (0, y, z)."""
    y, z, _, _ = pin(angle)
    return np.sqrt(ROD**2 - y**2 - z**2)


def inertia(angle: complex) -> complex:
    """M(θ), so that the kinetic energy is ½ M θ̇².

    The rod turns by a about the slide, tan a = −y / z, then by b, sin b = √(y² + z²) / ℓ.
    """
    y, z, dy, dz = pin(angle)
    x, rho = slider_at(angle), np.sqrt(y**2 + z**2)
    d_rho = (y * dy + z * dz) / rho
    dx, da, db = -rho * d_rho / x, (y * dz - z * dy) / rho**2, d_rho / x
    rod = ROD_MASS * (dx**2 + dy**2 + dz**2) / 4
    spin = ROD_ALONG * (da * x / ROD) ** 2 + ROD_ACROSS * (db**2 + (da * rho / ROD) ** 2)
    return SLIDER_MASS * dx**2 + rod + spin + CRANK_INERTIA + CRANK_MASS * CRANK**2 / 4


@cache
def by_hand(step: float, count: int) -> Array:
    """The slider at so many times: M θ̈ + ½ M′ θ̇² + V′ = 0."""

    def rate(_, y):
        M = inertia(y[0] + 1j * STEP)
        pull = G * (CRANK_MASS + ROD_MASS) / 2 * pin(y[0])[3]
        return y[1], -(M.imag / STEP * y[1] ** 2 / 2 + pull) / M.real

    return slider_at(integrated(rate, (0.0, SPEED), step * np.arange(count))[:, 0])


def figures() -> tuple[Figure, ...]:
    """Where the slider is, and the largest distance from its path by hand."""
    reason = "the published solutions differ from each other by more"
    published = partial(Figure, unit="m", kind=Kind.PUBLISHED, tolerance=1e-4, reason=reason, is_stepped=False)
    held = partial(Figure, unit="m", kind=Kind.BY_HAND, tolerance=1e-5, reason="10⁻⁶ per step over nine turns")
    return (
        *(published(f"slider at {time:g} s", at) for time, at in PUBLISHED.items()),
        held("slider at 5 s by hand", by_hand(DURATION / 500, 501)[-1]),
        held("largest distance from its path by hand", 0.0),
    )


def measure(**options) -> Measured:
    """Simulate 5 s."""
    run, seconds = simulated(machine(), DURATION, **options)
    slider = run["slider.travel"]
    at_times = (slider[np.argmin(np.abs(run.time - time))] for time in PUBLISHED)
    apart = np.abs(slider - by_hand(DURATION / (len(slider) - 1), len(slider)))
    return Measured((*at_times, slider[-1], apart.max()), seconds, DURATION)


PROBLEM = Problem(
    "Spatial slider-crank",
    "A crank of 0.08 m at 6 rad/s about the x axis, a rod of 0.3 m with a ball joint and a universal joint, a slider "
    "of 2 kg along x, for 5 s.",
    (
        (
            "Haug (1989), Computer Aided Kinematics and Dynamics of Mechanical Systems, 12.2, and IFToMM Library of "
            "Computational Benchmark Problems, spatial rigid slider-crank mechanism: the problem and the solution of "
            "González; other solutions in the library differ from it by up to 2·10⁻² m at 5 s"
        ),
        "by hand: one equation of the crank's angle, integrated by scipy",
    ),
    figures,
    measure,
)
