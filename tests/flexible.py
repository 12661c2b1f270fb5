"""Machines with flexible links, for tests of steppers."""

from math import pi

import kalaba as kb

CASE_A = {"motor2": "800*sin(pi*t)", "motor3": "400*sin(pi*t)", "motor4": "50*sin(pi*t)"}


def floating_arm(modes: int = 1) -> kb.System:
    """The free-floating arm of Liao, Li and Tang (2010), absolute angles, clamped-free modes."""
    beam = kb.Beam(5.0, kb.Rectangle(0.05, 0.05), density=2780, young=69e9, shapes=kb.ClampedFree(modes))
    carrier = kb.Solid(2000, inertia=(6000,) * 3, tip=(5, 0, 0))
    load = kb.Solid(1.0, com=(1, 0, 0), inertia=(2.0,) * 3)
    after2, after3 = "theta3 - theta2 - link2.tip_slope", "theta4 - theta3 - link3.tip_slope"
    return kb.System(
        "floating-arm",
        coordinates=("xc", "yc", "theta1", "theta2", "theta3", "theta4"),
        gravity=(0, 0, 0),
        parts=(
            kb.Body("carrier", carrier, joint=kb.Planar(kb.Z, q=("xc", "yc", "theta1"))),
            kb.Body("link2", beam, parent="carrier.tip", joint=kb.Revolute(kb.Z, q="theta2 - theta1")),
            kb.Body("link3", beam, parent="link2.tip", joint=kb.Revolute(kb.Z, q=after2)),
            kb.Body("load", load, parent="link3.tip", joint=kb.Revolute(kb.Z, q=after3)),
            kb.Actuator("motor2", "link2.angle"),
            kb.Actuator("motor3", "link3.angle"),
            kb.Actuator("motor4", "load.angle"),
        ),
        start=kb.Start(hold={"theta1": 0.0, "theta2": pi / 4, "theta3": -pi / 2, "theta4": -pi / 4}),
    )
