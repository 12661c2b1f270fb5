"""IFToMM A01: a point mass of 1 kg on a massless rod of 1 m, let go from the horizontal."""

from functools import partial

import numpy as np
from scipy.special import ellipj, ellipk

import kalaba as kb
from benchmarks.validation.problem import Array, Figure, G, Kind, Measured, Problem, simulated

LENGTH, DURATION = 1.0, 10.0  # m, s
ENERGY = 5e-5  # J


def machine() -> kb.System:
    """The mass at (−1, 0) m at rest, gravity along −y."""
    bob = kb.Solid(1.0, com=(-LENGTH, 0, 0), tip=(-LENGTH, 0, 0))
    return kb.System("pendulum", (kb.Body("bob", bob, joint=kb.Revolute(kb.Z)),), gravity=(0, -G, 0))


def exact(times: Array) -> Array:
    """Position of the mass, (N, 2): sin(θ/2) = k sn(K − ωt, k) with θ from hanging and k = sin 45°."""
    m = 0.5
    half = np.arcsin(np.sqrt(m) * ellipj(ellipk(m) - np.sqrt(G / LENGTH) * times, m)[0])
    return LENGTH * np.stack([-np.sin(2 * half), -np.cos(2 * half)], axis=1)


def figures() -> tuple[Figure, ...]:
    """Where the mass is at the end, the largest distance from the exact path, and the drift of energy."""
    x, y = exact(np.array([DURATION]))[0]
    held = partial(Figure, unit="m", kind=Kind.CLOSED_FORM, tolerance=2e-4, reason="10⁻⁶ per step over five swings")
    return (
        held("x at 10 s", x),
        held("y at 10 s", y),
        held("largest distance from the exact path", 0.0),
        Figure("largest drift of energy", ENERGY, "J", Kind.BOUND),
    )


def measure(**options) -> Measured:
    """Simulate 10 s."""
    run, seconds = simulated(machine(), DURATION, **options)
    path = np.stack([run["bob.tip.x"], run["bob.tip.y"]], axis=1)
    apart = np.linalg.norm(path - exact(run.time), axis=1)
    drift = np.abs(run.energy_balance).max()
    return Measured((*path[-1], apart.max(), drift), seconds, DURATION)


PROBLEM = Problem(
    "A01 Simple pendulum",
    "A point mass of 1 kg on a massless rod of 1 m, let go from the horizontal, for 10 s.",
    (
        (
            "IFToMM Library of Computational Benchmark Problems, A01, also in González, Dopico, Lugrís and Cuadrado "
            "(2006), A benchmarking system for MBS simulation software, Multibody System Dynamics 16, 179-190: the "
            "problem, and energy to within 5·10⁻⁵ J"
        ),
        "closed form: Jacobi's elliptic functions",
    ),
    figures,
    measure,
)
