"""The PUMA 560: a serial arm of six hinges with a spherical wrist, in standard Denavit-Hartenberg (DH) form.

DH frame i follows from frame i−1 by Rz(θi) Tz(d) Tx(a) Rx(α). Here the body `link{i}` is frame i−1 turned by θi, so
that its joint stands at its origin; the constant part Tz(d) Tx(a) Rx(α) is the `at` of the next body. The published
centres of mass and inertias are those of DH frame i and are moved to the joint's axes: α is 0 or a quarter turn, which
swaps axes and keeps every zero. No motor inertia. Frame `tool` is 0.10 m along z of the last link.

Two of the published inertias belong to no body: their greatest moment exceeds the sum of the others. A moment δ about
both axes across a hinge can be moved from the link before it to the link after it without any motion or torque telling
the difference: both turn alike about these axes. So 0.004 kg·m² goes from link 2 to link 3, 0.175 from the ground to
link 1.
"""

from __future__ import annotations

from math import pi
from typing import NamedTuple

from kalaba.joints import Revolute
from kalaba.model.acting import Actuator
from kalaba.model.options import numeric
from kalaba.model.parts import Body, Frame, Start
from kalaba.model.solids import Solid
from kalaba.model.system import System
from kalaba.robots.entry import Entry, Erratum
from kalaba.robots.feedback import SPRINGS, digits, follow
from kalaba.run.scenario import Scenario
from kalaba.space.pose import Pose, Z

Triple = tuple[float, float, float]


class DHRow(NamedTuple):
    """One link: its constant part, its mass properties in DH frame i, and the limit of its motor."""

    a: float  # m
    d: float  # m
    quarters: int  # α in quarter turns
    mass: float  # kg
    com: Triple  # m
    inertia: Triple  # kg·m², about the centre of mass
    torque: float  # N·m


ROWS = (
    DHRow(0.0, 0.672, 1, 0.0, (0.0, 0.0, 0.0), (0.175, 0.35, 0.175), 97.6),
    DHRow(0.4318, 0.0, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.126, 0.520, 0.539), 186.4),
    DHRow(0.0203, 0.15005, -1, 4.8, (-0.0203, -0.0141, 0.070), (0.070, 0.086, 0.0165), 89.4),
    DHRow(0.0, 0.4318, 1, 0.82, (0.0, 0.019, 0.0), (0.0018, 0.0013, 0.0018), 24.2),
    DHRow(0.0, 0.0, -1, 0.34, (0.0, 0.0, 0.0), (0.0003, 0.0004, 0.0003), 20.1),
    DHRow(0.0, 0.0, 0, 0.09, (0.0, 0.0, 0.032), (0.00015, 0.00015, 0.00004), 21.3),
)
NOMINAL = (0.0, pi / 4, pi, 0.0, pi / 4, 0.0)  # rad, away from singular poses
TOOL = 0.10  # m


def _solid(row: DHRow) -> Solid:
    """Move a link's numbers from DH frame i to the joint's axes: c = (a, 0, d) + Rx(α) r, I = Rx(α) I Rx(α)ᵀ."""
    x, y, z = row.com
    xx, yy, zz = row.inertia
    y, z = {0: (y, z), 1: (0.0 - z, y), -1: (z, 0.0 - y)}[row.quarters]
    turned = (xx, yy, zz) if row.quarters == 0 else (xx, zz, yy)
    return Solid(row.mass, com=(row.a + x, y, row.d + z), inertia=turned)


def _end(row: DHRow) -> Pose:
    return Pose((row.a, 0, row.d), rpy=(row.quarters * pi / 2, 0, 0))


def system() -> System:
    """Six links, six motors `motor1` to `motor6`, and the frame `tool`."""
    joint = Revolute(Z)
    bodies = [Body("link1", _solid(ROWS[0]), joint=joint)]
    for number in range(2, 7):
        before, row = ROWS[number - 2], ROWS[number - 1]
        bodies.append(Body(f"link{number}", _solid(row), parent=f"link{number - 1}", at=_end(before), joint=joint))
    motors = (Actuator(f"motor{i}", f"link{i}.angle", limit=row.torque) for i, row in enumerate(ROWS, 1))
    nominal = {f"link{i}.angle": angle for i, angle in enumerate(NOMINAL, 1)}
    tool = Frame("tool", parent="link6", at=Pose((0, 0, TOOL)))
    return System("puma560", parts=(*bodies, tool, *motors), start=Start(hold=nominal))


def scenario(*, waist_swing: float, swing: float, rate: float, stiffness: float, damping: float) -> Scenario:
    """Swing the shoulder and the elbow about the nominal pose while the wrist holds."""
    wave = f"sin({digits(rate)}*t)"
    turned, bent = f"{digits(waist_swing)}*{wave}", f"{digits(swing)}*{wave}"
    targets = (turned, f"{pi / 4!r} + {bent}", f"pi - {bent}", "0", f"{pi / 4!r}", "0")
    gains = ((800.0, 80.0), (2000.0, 200.0), (600.0, 40.0), (4.0, 0.1), (4.0, 0.05), (0.04, 0.002))
    control = {
        f"motor{i}": follow(f"link{i}.angle", target, k * stiffness, c * damping)
        for i, (target, (k, c)) in enumerate(zip(targets, gains, strict=True), 1)
    }
    description = "Springs and dampers at the joints lead the arm to and fro about its nominal pose."
    return Scenario(system(), duration=5.0, control=control, description=description)


ENTRY = Entry(
    name="puma560",
    source=(
        "Armstrong, Khatib and Burdick (1986), The explicit dynamic model and inertial parameters of the PUMA 560 arm, "
        "doi 10.1109/ROBOT.1986.1087644 (torques); Corke and Armstrong-Hélouvry (1994), A search for consensus among "
        "model parameters reported for the PUMA 560 robot, doi 10.1109/ROBOT.1994.351360"
    ),
    build=system,
    scenario=scenario,
    numbers={
        "waist_swing": numeric(0.5, "how far the waist swings to either side, rad"),
        "swing": numeric(0.3, "how far the shoulder and the elbow swing to either side, rad"),
        "rate": numeric(2.0, "angular frequency of the swing, rad/s"),
        **SPRINGS,
    },
    errata=(
        Erratum(
            "inertia of link 1",
            "diag(0, 0.35, 0), which no body has",
            "diag(0.175, 0.35, 0.175): on a base that stands still only the 0.35 about its own joint acts",
        ),
        Erratum(
            "inertia of links 2 and 3",
            "diag(0.13, 0.524, 0.539) and diag(0.066, 0.086, 0.0125), the latter of no body",
            "diag(0.126, 0.520, 0.539) and diag(0.070, 0.086, 0.0165), with the same M, bias and torques",
        ),
    ),
)
