"""IFToMM A02: N four-bars in a row, which gain N freedoms for an instant whenever they lie flat."""

from functools import partial

import numpy as np
from scipy.special import ellipj, ellipk

import kalaba as kb
from benchmarks.validation.problem import Array, Figure, G, Kind, Measured, Problem, simulated

DURATION = 10.0  # s
ENERGY = 0.1  # J


def machine(count: int) -> kb.System:
    """2N + 1 rods of 1 m and 1 kg, N + 1 of them upright; the first upright's tip starts at 1 m/s along x."""
    hinge, upright, level = kb.Revolute(kb.Z), kb.Rod(1.0, mass=1.0, axis=kb.Y), kb.Rod(1.0, mass=1.0, axis=kb.X)
    uprights = [kb.Body(f"v{i}", upright, at=(float(i), 0, 0), joint=hinge) for i in range(count + 1)]
    levels = [kb.Body(f"h{i}", level, parent=f"v{i}.tip", joint=hinge) for i in range(count)]
    pins = [kb.Connection(f"pin{i}", f"h{i}.tip", parent=f"v{i + 1}.tip", joint=hinge) for i in range(count)]
    start = kb.Start(hold={"v0.angle": 0.0}, speed={"v0.angle": -1.0})
    return kb.System(f"{count}-four-bars", (*uprights, *levels, *pins), gravity=(0, -G, 0), start=start)


def exact(count: int, times: Array) -> Array:
    """Tip of the first upright, (N, 2): all move as parallelograms, one pendulum that goes over the top.

    With θ from upright θ̈ = k sin θ, θ̇(0) = 1, so that with χ = θ/2 − π/2::

        χ̇ = ½ √(1 + 4k) √(1 − m sin²χ)        m = 4k / (1 + 4k)        χ = am(½ √(1 + 4k) t − K(m), m)
    """
    k = G * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    m = 4 * k / (1 + 4 * k)
    angle = 2 * ellipj(np.sqrt(1 + 4 * k) / 2 * times - ellipk(m), m)[3] + np.pi
    return np.stack([np.sin(angle), np.cos(angle)], axis=1)


def figures(count: int) -> tuple[Figure, ...]:
    """Where the tip is at the end, the largest distance from the exact path, and the drift of energy."""
    x, y = exact(count, np.array([DURATION]))[0]
    reason = "10⁻⁶ per step, and each pass over the top makes an error grow: it starts there at 1 rad/s, slowly"
    held = partial(Figure, unit="m", kind=Kind.CLOSED_FORM, tolerance=5e-3, reason=reason)
    return (
        held("x of the first tip at 10 s", x),
        held("y of the first tip at 10 s", y),
        held("largest distance from the exact path", 0.0),
        Figure("largest drift of energy", ENERGY, "J", Kind.BOUND),
    )


def measure(count: int, **options) -> Measured:
    """Simulate 10 s."""
    run, seconds = simulated(machine(count), DURATION, **options)
    path = np.stack([run["v0.tip.x"], run["v0.tip.y"]], axis=1)
    apart = np.linalg.norm(path - exact(count, run.time), axis=1)
    drift = np.abs(run.energy_balance).max()
    return Measured((*path[-1], apart.max(), drift), seconds, DURATION)


def problem(count: int) -> Problem:
    """The chain of so many windows."""
    return Problem(
        f"A02 {count} four-bars",
        f"{2 * count + 1} rods of 1 m and 1 kg in {count} windows, upright, the first tip at 1 m/s, for 10 s. Each "
        f"time the chain lies flat it has {count + 1} freedoms instead of one.",
        (
            (
                "IFToMM Library of Computational Benchmark Problems, A02, also in González et al. (2006): the problem, "
                "and energy to within 0.1 J"
            ),
            "closed form: one pendulum that goes over the top, by Jacobi's amplitude",
        ),
        partial(figures, count),
        partial(measure, count),
        is_long=count > 10,
    )


PROBLEMS = tuple(problem(count) for count in (2, 10, 40))
