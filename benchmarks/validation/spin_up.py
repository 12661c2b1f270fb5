"""Kane's spin-up: a beam on a hub that is turned from rest to a speed above its first frequency."""

from functools import cache, partial

import numpy as np
from numpy.polynomial import Polynomial
from scipy.linalg import eigh

import kalaba as kb
from benchmarks.validation.problem import Array, Figure, Kind, Measured, Problem, integrated, simulated

DURATION, SPIN_TIME, SPEED = 20.0, 15.0, 6.0  # s, s, rad/s
LENGTH, LINE, BENDING = 10.0, 1.2, 1.4e4  # m, kg/m, N·m²
UNIT = np.sqrt(BENDING / (LINE * LENGTH**4))  # rad/s, by which frequencies and speeds are divided
WRIGHT = {(2, 1): 4.1373, (6, 1): 7.3604, (12, 1): 13.1702, (6, 2): 26.8091}  # (speed, number): flapwise frequency
SMALL = 1e-4  # m, of a deflection that shows the stiffness
BY_HAND, MODES = 7, 3  # polynomials and modes of the equations by hand


def machine() -> kb.System:
    """The catalogue's beam, which stiffens as it spins."""
    return kb.load("spinning-beam")


@cache
def matrices() -> tuple[Array, Array, Array, Array]:
    """Mass, stiffness, centrifugal stiffness and what the hub's acceleration loads, over ξ², ξ³, … ::

    M = ∫φφ      K = ∫φ″φ″      S = ∫½(1 − ξ²) φ′φ′      f = ∫ξφ        ξ from 0 to 1
    """
    shapes = [Polynomial.basis(power) for power in range(2, BY_HAND + 2)]

    def over(product: Polynomial) -> float:
        return float(product.integ()(1.0))

    tension, along = Polynomial([0.5, 0, -0.5]), Polynomial([0, 1])
    M = np.array([[over(a * b) for b in shapes] for a in shapes])
    K = np.array([[over(a.deriv(2) * b.deriv(2)) for b in shapes] for a in shapes])
    S = np.array([[over(tension * a.deriv() * b.deriv()) for b in shapes] for a in shapes])
    return M, K, S, np.array([over(along * a) for a in shapes])


@cache
def lag_by_hand() -> float:
    """The largest lag of the tip, m, of the linear beam in the turning frame, w = ℓ Σ φ a, by its first three modes::

    M ä + (K EI/ρℓ⁴ + ψ̇² (S − M)) a = −ψ̈ f
    """
    M, K, S, f = matrices()
    modes = eigh(K, M)[1][:, :MODES]
    stiff, centrifugal, push = modes.T @ K @ modes * UNIT**2, modes.T @ (S - M) @ modes, modes.T @ f

    def rate(t, y):
        begun, turn = min(t, SPIN_TIME), 2 * np.pi / SPIN_TIME
        speed = SPEED / SPIN_TIME * (begun - np.sin(turn * begun) / turn)
        speeding = SPEED / SPIN_TIME * (1 - np.cos(turn * begun))
        a, a_rate = y[:MODES], y[MODES:]
        return np.concatenate([a_rate, -stiff @ a - speed**2 * centrifugal @ a - speeding * push])

    y = integrated(rate, np.zeros(2 * MODES), np.linspace(0, 10, 1001))
    return float(LENGTH * (y[:, :MODES] @ modes.sum(axis=0)).min())


def frequencies(speed: float) -> Array:
    """Flapwise frequencies of kalaba's beam at a constant speed, both by UNIT: √(ω² + Ω²), ω that in the plane."""
    plant = kb.build(kb.load("spinning-beam", modes=8))
    q, v = np.zeros(len(plant.coordinates)), np.zeros(len(plant.velocities))
    v[plant.velocities.index("beam.angle")] = speed * UNIT
    modes = [i for i, name in enumerate(plant.velocities) if name != "beam.angle"]
    columns = []
    for mode in modes:
        there, back = q.copy(), q.copy()
        there[mode], back[mode] = SMALL, -SMALL
        ahead, behind = (plant.motion(at, v, t=0.0).acceleration[modes] for at in (there, back))
        columns.append((ahead - behind) / (2 * SMALL))
    square = np.sort(np.linalg.eigvals(-np.array(columns).T).real)
    return np.sqrt(square / UNIT**2 + speed**2)


def figures() -> tuple[Figure, ...]:
    """The largest lag of the tip, and frequencies of the beam as it spins."""
    third = "the linear beam leaves out terms of third order in a deflection of a seventeenth of the length"
    published = partial(
        Figure, unit="√(EI/ρℓ⁴)", kind=Kind.PUBLISHED, tolerance=1e-4, reason="the digits printed", is_stepped=False
    )
    return (
        Figure("largest lag of the tip", lag_by_hand(), "m", Kind.BY_HAND, 3e-3, third, is_stepped=False),
        *(published(f"flapwise frequency {number} at speed {speed}", f) for (speed, number), f in WRIGHT.items()),
    )


def measure(**options) -> Measured:
    """Simulate 20 s, and take frequencies from accelerations of a beam that spins at a constant speed."""
    run, seconds = simulated(machine(), DURATION, **options)
    spinning = {speed: frequencies(speed) for speed, _ in WRIGHT}
    values = (spinning[speed][number - 1] for speed, number in WRIGHT)
    return Measured((run["beam.tip_deflection"].min(), *values), seconds, DURATION)


PROBLEM = Problem(
    "Kane's spin-up beam",
    "A beam of 10 m on a hub that is brought to 6 rad/s in 15 s, for 20 s. Beams that do not stiffen as they spin "
    "diverge here. The catalogue has it as `spinning-beam`.",
    (
        (
            "Kane, Ryan and Banerjee (1987), Journal of Guidance, Control, and Dynamics 10, 139-151, with the numbers "
            "usual since Simo and Vu-Quoc: the problem"
        ),
        (
            "Wright, Smith, Thresher and Wang (1982), Vibration modes of centrifugally stiffened beams, Journal of "
            "Applied Mechanics 49, 197-202: frequencies at constant speed, which in the plane are √(ω² − Ω²)"
        ),
        "by hand: the linear beam in the turning frame by three modes, integrated by scipy",
    ),
    figures,
    measure,
)
