"""The heavy top of Géradin and Cardona, spun at 150 rad/s about a horizontal axis."""

from functools import partial

import numpy as np
from scipy.special import ellipj, ellipk

import kalaba as kb
from benchmarks.validation.problem import Array, Figure, G, Kind, Measured, Problem, simulated

DURATION = 2.0  # s
MASS, ARM, ACROSS, ALONG = 15.0, 1.0, 0.234375, 0.46875  # kg, m, kg·m² about the mass centre
SPIN, TURN = 150.0, -4.61538  # rad/s, about the top's axis y and about z


def machine() -> kb.System:
    """The top's axis along y at the start, gravity along −z, its tip on a ball joint at the origin."""
    top = kb.Solid(MASS, com=(0, ARM, 0), inertia=(ACROSS, ALONG, ACROSS), tip=(0, ARM, 0))
    parts = (kb.Body("top", top), kb.Connection("pin", "top", joint=kb.Spherical()))
    return kb.System("heavy-top", parts, start=kb.Start(speed={"top": (0, 0, 0, 0, SPIN, TURN)}))


def exact(times: Array) -> Array:
    """Height of the mass centre: u = z / ℓ obeys u̇² = f(u), a cubic, which gives sn².

    With I about the pin, a = L_z / I, b = C s / I, the energy beside the spin's E and β = 2 m g ℓ / I::

        f(u) = (2E/I − β u) (1 − u²) − (a − b u)²        u = u₁ + (u₂ − u₁) sn²(½ √(β (u₃ − u₁)) t + phase)

    The top starts at u = 0 with u̇ = 0, one of the roots.
    """
    about = ACROSS + MASS * ARM**2
    a, b, energy, beta = TURN, ALONG * SPIN / about, TURN**2, 2 * MASS * G * ARM / about
    cubic = [beta, -energy - b**2, 2 * a * b - beta, energy - a**2]
    low, high, out = np.sort(np.roots(cubic).real)
    m = (high - low) / (out - low)
    phase = 0.0 if abs(low) < abs(high) else ellipk(m)
    sn = ellipj(np.sqrt(beta * (out - low)) / 2 * times + phase, m)[0]
    return ARM * (low + (high - low) * sn**2)


def figures() -> tuple[Figure, ...]:
    """How high the mass centre is, and the drift of energy."""
    held = partial(
        Figure, unit="m", kind=Kind.CLOSED_FORM, tolerance=5e-4, reason="10⁻⁶ per step over 48 turns of spin"
    )
    times = (1.0, 2.0)
    return (
        *(held(f"height at {time:g} s", z) for time, z in zip(times, exact(np.array(times)), strict=True)),
        held("largest error of the height", 0.0),
    )


def measure(**options) -> Measured:
    """Simulate 2 s."""
    run, seconds = simulated(machine(), DURATION, **options)
    z = run["top.tip.z"]
    error = np.abs(z - exact(run.time)).max()
    return Measured((z[np.argmin(np.abs(run.time - 1.0))], z[-1], error), seconds, DURATION)


PROBLEM = Problem(
    "Heavy top",
    "A top of 15 kg that spins at 150 rad/s about a horizontal axis of 1 m, held at its end, for 2 s.",
    (
        (
            "Géradin and Cardona (2001), Flexible Multibody Dynamics, with the numbers of Brüls and Cardona (2010), "
            "Journal of Computational and Nonlinear Dynamics 5, 031002: the problem"
        ),
        "closed form: the height of a symmetric top by Jacobi's elliptic functions",
    ),
    figures,
    measure,
)
