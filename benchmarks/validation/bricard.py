"""IFToMM A04: Bricard's mechanism, which moves although counting says that it does not."""

from functools import cache, partial

import numpy as np
from numpy.polynomial import Chebyshev

import kalaba as kb
from benchmarks.validation.problem import Array, Figure, G, Kind, Measured, Problem, integrated, simulated

DURATION = 10.0  # s
ENERGY = 1e-3  # J
CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)  # m
LINES = np.diff(CORNERS, axis=0)  # of the five rods; the world is the sixth
AXES = (kb.Y, kb.Z, kb.X, kb.Y, kb.Z, kb.X)  # of the hinges at the corners
ALONG, ACROSS = 2 * 0.1**2 / 12, (1.0 + 0.1**2) / 12  # kg·m², of 1 kg, 1 m long, 0.1 m square
INERTIA = np.where(LINES != 0, ALONG, ACROSS)
REACHED = (-0.1, np.pi + 0.1)  # rad, of the first hinge, which swings from 0 to π and back
DEGREE, STEP = 80, 1e-30  # of polynomials in that angle; of complex derivatives


def machine() -> kb.System:
    """Five rods from corner to corner."""
    parts: list[kb.Body | kb.Connection] = []
    for i, (line, inertia) in enumerate(zip(LINES, INERTIA, strict=True)):
        rod = kb.Solid(1.0, com=tuple(line / 2), inertia=tuple(inertia), tip=tuple(line))
        parts.append(kb.Body(f"rod{i}", rod, f"rod{i - 1}.tip" if i else "world", joint=kb.Revolute(AXES[i])))
    parts.append(kb.Connection("last", "rod4.tip", at=tuple(CORNERS[5]), joint=kb.Revolute(AXES[5])))
    return kb.System("bricard", tuple(parts), gravity=(0, -G, 0))


def poses(angle: complex) -> tuple[Array, Array]:
    """Tips (5, 3) and rotations (5, 3, 3) of the rods by the first hinge's angle a, which may be complex.

    The loop is threefold symmetric: hinges turn by a and b in turns, with (1 + sin a) (1 + sin b) = 1.
    """
    after = np.arcsin(1 / (1 + np.sin(angle)) - 1)
    tips, rotations, tip, R = [], [], np.zeros(3, dtype=complex), np.eye(3, dtype=complex)
    for i, line in enumerate(LINES):
        R = R @ turned((1 + i) % 3, after if i % 2 else angle)
        tip = tip + R @ line
        tips.append(tip)
        rotations.append(R)
    return np.array(tips), np.array(rotations)


def turned(axis: int, angle: complex) -> Array:
    """A rotation about x, y or z."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3, dtype=complex)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i] = np.sin(angle)
    R[i, j] = -R[j, i]
    return R


def inertia_and_height(angle: float) -> tuple[float, float]:
    """M and the sum of heights, so that the energy is ½ M ȧ² + g Σ y."""
    tips, rotations = poses(angle + 1j * STEP)
    centres = tips - np.einsum("nij,nj->ni", rotations, LINES) / 2
    turning = np.einsum("nji,njk->nik", rotations.real, rotations.imag / STEP)  # of each rod in its own axes, skew
    spin = turning[:, [2, 0, 1], [1, 2, 0]]
    M = (centres.imag**2).sum() / STEP**2 + (INERTIA * spin**2).sum()
    return float(M), float(centres.real[:, 1].sum())


@cache
def angles_at(step: float, count: int) -> Array:
    """The first hinge's angle at so many times from rest: M ä + ½ M′ ȧ² + g Σ y′ = 0."""
    centre, half = np.mean(REACHED), np.ptp(REACHED) / 2
    nodes = centre + half * np.polynomial.chebyshev.chebpts1(DEGREE + 1)
    samples = np.array([inertia_and_height(node) for node in nodes])
    M, height = (Chebyshev.fit(nodes, column, DEGREE, domain=REACHED) for column in samples.T)
    M_slope, height_slope = M.deriv(), height.deriv()

    def rate(_, y):
        return y[1], -(M_slope(y[0]) * y[1] ** 2 / 2 + G * height_slope(y[0])) / M(y[0])

    return integrated(rate, (0.0, 0.0), step * np.arange(count))[:, 0]


def exact(times: Array) -> Array:
    """Corner P3 at evenly spaced times from 0, (N, 3)."""
    angles = angles_at(float(times[-1] / (len(times) - 1)), len(times))
    return np.array([poses(angle)[0][2].real for angle in angles])


def figures() -> tuple[Figure, ...]:
    """Where the corner P3 is at the end, the largest distance from its path by hand, and the drift of energy."""
    at_end = exact(np.linspace(0, DURATION, 1001))[-1]
    held = partial(Figure, unit="m", kind=Kind.BY_HAND, tolerance=2e-4, reason="10⁻⁶ per step over two swings")
    return (
        *(held(f"{name} of P3 at 10 s", value) for name, value in zip("xyz", at_end, strict=True)),
        held("largest distance of P3 from its path by hand", 0.0),
        Figure("largest drift of energy", ENERGY, "J", Kind.BOUND),
    )


def measure(**options) -> Measured:
    """Simulate 10 s."""
    run, seconds = simulated(machine(), DURATION, **options)
    path = np.stack([run[f"rod2.tip.{name}"] for name in "xyz"], axis=1)
    apart = np.linalg.norm(path - exact(run.time), axis=1)
    drift = np.abs(run.energy_balance).max()
    return Measured((*path[-1], apart.max(), drift), seconds, DURATION)


PROBLEM = Problem(
    "A04 Bricard's mechanism",
    "Five rods of 1 m and 1 kg and six hinges along the edges of a cube, for 10 s. Thirty rows in a loop of six bodies "
    "leave no freedom by count; one row depends on the others, and it moves.",
    (
        (
            "IFToMM Library of Computational Benchmark Problems, A04, also in González et al. (2006): the problem, and "
            "energy to within 10⁻³ J"
        ),
        (
            "by hand: the hinges turn by a and b in turns with (1 + sin a)(1 + sin b) = 1, so that the motion is one "
            "equation in a, integrated by scipy"
        ),
    ),
    figures,
    measure,
)
