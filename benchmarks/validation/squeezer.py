"""IFToMM A03: Andrews' squeezing mechanism, seven bodies driven by a constant torque."""

from functools import partial

import numpy as np

import kalaba as kb
from benchmarks.validation.problem import Figure, Kind, Measured, Problem, simulated

DURATION, TORQUE = 0.03, 0.033  # s, N·m
A, B, C = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0), (0.014, 0.072, 0)  # m
ANGLES = {  # the seven angles of the source: name, at the start, at 0.03 s
    "β": ("k1.angle", -0.0617138900142764496, 15.81077119629904),
    "Θ": ("k2.angle", 0.0, -15.75637105984298),
    "γ": ("k3.angle", 0.455279819163070380, 0.04082224013073101),
    "Φ": ("k4.angle", 0.222668390165885885, -0.5347301163226948),
    "δ": ("k5.angle", 0.487364979543842550, 0.5244099658805304),
    "Ω": ("k6.angle", -0.222668390165885885, 0.5347301163226948),
    "ε": ("k7.angle", 1.23054744454982119, 1.048080741042263),
}


def body(
    name: str, numbers: tuple[float, float], com: tuple[float, float], tip: tuple[float, float], **seat
) -> kb.Body:
    """A flat body of a mass and an inertia about its mass centre, hinged about z."""
    mass, inertia = numbers
    solid = kb.Solid(mass, com=(*com, 0), inertia=(0.6 * inertia, 0.6 * inertia, inertia), tip=(*tip, 0))
    return kb.Body(name, solid, joint=kb.Revolute(kb.Z), **seat)


def machine() -> kb.System:
    """Three chains that meet in one pin; the joint angles are the coordinates of the source."""
    hinge = kb.Revolute(kb.Z)
    parts = (
        body("k1", (0.04325, 2.194e-6), (9.2e-4, 0), (7e-3, 0)),
        body("k2", (0.00365, 4.410e-7), (-0.0115, 0), (-0.028, 0), parent="k1.tip"),
        body("k3", (0.02373, 5.255e-6), (0.01043, -0.01874), (0, -0.035), at=B),
        body("k5", (0.07050, 1.169e-5), (0.02308, 0.00916), (0.04, 0), at=A),
        body("k4", (0.00706, 5.667e-7), (0, -(0.02 - 0.01421)), (0, -0.02), parent="k5.tip"),
        body("k7", (0.05498, 1.912e-5), (-0.00449, -0.01228), (0, -0.04), at=A),
        body("k6", (0.00706, 5.667e-7), (0.02 - 0.01421, 0), (0.02, 0), parent="k7.tip"),
        *(kb.Connection(f"pin{i}", f"k{i}.tip", parent="k2.tip", joint=hinge) for i in (3, 4, 6)),
        kb.Frame("d", "k3", (0.02, -0.018, 0)),
        kb.Frame("c", "world", C),
        kb.Spring("spring", "distance(d, c)", stiffness=4530.0, rest=0.07785),
        kb.Actuator("motor", "k1.angle"),
    )
    angles = {name: start for name, start, _ in ANGLES.values()}
    start = kb.Start(hold={"k2.angle": angles.pop("k2.angle")}, guess=angles)
    return kb.System("squeezer", parts, gravity=(0, 0, 0), start=start)


def figures() -> tuple[Figure, ...]:
    """The seven angles at 0.03 s."""
    held = partial(
        Figure, unit="rad", kind=Kind.PUBLISHED, tolerance=1e-3, reason="10⁻⁶ per step, while the crank turns by 16 rad"
    )
    return tuple(held(f"{symbol} at 0.03 s", at_end) for symbol, (_, _, at_end) in ANGLES.items())


def measure(**options) -> Measured:
    """Simulate 0.03 s under the constant torque."""
    options = {"control": {"motor": str(TORQUE)}, "save_every": DURATION / 30, **options}
    run, seconds = simulated(machine(), DURATION, **options)
    return Measured(tuple(float(np.asarray(run[name])[-1]) for name, _, _ in ANGLES.values()), seconds, DURATION)


PROBLEM = Problem(
    "A03 Andrews' squeezer",
    "Seven bodies and a spring, driven by 0.033 N·m at the crank, which turns two and a half times in 0.03 s.",
    (
        (
            "Mazzia and Magherini, Test Set for Initial Value Problem Solvers, Andrews' squeezing mechanism: the "
            "numbers of the machine and the reference solution at 0.03 s (PSIDE at 10⁻¹⁴); the machine is that of "
            "Hairer and Wanner, Solving Ordinary Differential Equations II, VII.7, and of IFToMM's A03"
        ),
    ),
    figures,
    measure,
)
