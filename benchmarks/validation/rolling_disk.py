"""A disk that rolls in circles, leaning inwards."""

from functools import partial

import numpy as np

import kalaba as kb
from benchmarks.validation.problem import Array, Figure, G, Kind, Measured, Problem, simulated

DURATION, RADIUS, MASS, LEAN, TURN = 10.0, 0.25, 1.5, 0.3, -2.0  # s, m, kg, rad from upright, rad/s
SPIN = -(5 * TURN**2 * np.sin(LEAN) * np.cos(LEAN) + 4 * G / RADIUS * np.sin(LEAN)) / (6 * TURN * np.cos(LEAN))  # rad/s


def machine() -> kb.System:
    """A frame that follows the contact in the plane, leans about the disk's heading, and carries the disk."""
    parts = (
        kb.Body("contact", kb.Solid(0.0), joint=kb.Planar(kb.Z)),
        kb.Body("lean", kb.Solid(0.0), parent="contact", joint=kb.Revolute(kb.X)),
        kb.Body("disk", kb.Cylinder(RADIUS, 0.0, MASS, axis=kb.Y), "lean", (0, 0, RADIUS), kb.Revolute(kb.Y)),
        kb.Constraint("roll", {
            "x": f"rate(contact.x) - {RADIUS}*rate(disk.angle)*cos(contact.angle)",
            "y": f"rate(contact.y) - {RADIUS}*rate(disk.angle)*sin(contact.angle)",
        }),
    )  # fmt: skip
    start = kb.Start(hold={"lean.angle": LEAN}, speed={"contact.angle": TURN, "disk.angle": SPIN, "lean.angle": 0.0})
    return kb.System("rolling-disk", parts, start=start)


def exact(times: Array) -> Array:
    """The contact on its circle, (N, 2).

    A thin disk that leans by α, turns at Ω about the vertical and spins at σ keeps to a circle of radius r σ / Ω if::

        5 Ω² sin α cos α + 6 Ω σ cos α + 4 (g / r) sin α = 0
    """
    circle = RADIUS * SPIN / TURN
    return circle * np.stack([np.sin(TURN * times), 1 - np.cos(TURN * times)], axis=1)


def figures() -> tuple[Figure, ...]:
    """Where the contact is, the largest distance from the circle's point, and how much the lean changes."""
    x, y = exact(np.array([DURATION]))[0]
    held = partial(Figure, kind=Kind.CLOSED_FORM, reason="10⁻⁶ per step over three circles")
    return (
        held("x of the contact at 10 s", x, "m", tolerance=1e-4),
        held("y of the contact at 10 s", y, "m", tolerance=1e-4),
        held("largest distance from the exact path", 0.0, "m", tolerance=1e-4),
        held("lean at 10 s", LEAN, "rad", tolerance=1e-5),
    )


def measure(**options) -> Measured:
    """Simulate 10 s."""
    run, seconds = simulated(machine(), DURATION, **options)
    path = np.stack([run["contact.x"], run["contact.y"]], axis=1)
    apart = np.linalg.norm(path - exact(run.time), axis=1)
    return Measured((*path[-1], apart.max(), run["lean.angle"][-1]), seconds, DURATION)


PROBLEM = Problem(
    "Rolling disk",
    "A thin disk of 0.25 m radius that leans by 0.3 rad and rolls in circles without slipping, for 10 s. Its rows bind "
    "velocities only.",
    ("closed form: steady rolling, in textbooks such as Ginsberg, Advanced Engineering Dynamics",),
    figures,
    measure,
)
