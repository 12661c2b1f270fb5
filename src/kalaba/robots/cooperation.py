"""Arms that work on one object, or on several joined ones: what the machines of this family have in common.

The arms are PUMA 560s that stand opposite each other. Body 1 is free; its frame is at its centre of mass. Another body
sits on it by a joint along z of a frame on body 1, and where its centre of mass is off that frame, the frame
`<body>_centre` stands there. Grasps are poses of the tool in these frames; arms find their angles by assembly.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from kalaba.cooperate.grasp import Grasp
from kalaba.cooperate.hold import hold
from kalaba.joints import Joint
from kalaba.model.options import Amount, Choice, Option
from kalaba.model.parts import Body, Frame, Start
from kalaba.model.solids import Solid
from kalaba.model.system import AnyPart, System
from kalaba.printing.notation import Notation
from kalaba.robots import puma560
from kalaba.robots.entry import Erratum
from kalaba.robots.papers import sun
from kalaba.robots.published import Line, PaperFigures, PaperPanel
from kalaba.space.pose import Pose

SOURCE = (
    f"{sun.CITATION.text}, Tsinghua University, for the method and the tasks; the numbers of the objects are chosen, "
    "the paper has none"
)


class Piece(NamedTuple):
    """Mass and central inertia of an object, in its own axes."""

    mass: float  # kg
    inertia: tuple[float, float, float, float, float, float]  # kg·m²: xx, yy, zz, xy, xz, yz


class Offset(NamedTuple):
    """From a joint's moving frame to the body's centre of mass, in the paper's form Rz(turn) Tz(d) Tx(a) Rx(twist)."""

    turn: float = 0.0  # rad
    d: float = 0.0  # m
    a: float = 0.0  # m
    twist: float = 0.0  # rad


FIRST = Piece(5.0, (0.045, 0.06, 0.075, 0.003, -0.002, 0.004))
SECOND = Piece(2.0, (0.012, 0.015, 0.008, 0.001, 0.0005, -0.001))
THIRD = Piece(1.5, (0.006, 0.007, 0.004, -0.0004, 0.0003, 0.0002))
BASES = (
    Pose((0.0, 0.15, 0.0)),
    Pose((1.7, -0.15, 0.0), rpy=(0.0, 0.0, pi)),
    Pose((1.0, 0.846, 0.0), rpy=(0.0, 0.0, -pi / 2)),
)
LYING = Pose((0.85, 0.02, 0.66), rpy=(0.2, -0.3, 0.15))  # body 1 at the start, its z up
POINTING = Pose((0.85, 0.02, 0.66), rpy=(0.05, pi / 2 + 0.1, 0.08))  # its z along the world's x
SIDE_GRASP = Pose(
    (-0.12697294233651657, 0.03497446170227142, 0.030853499096172687),
    rpy=(-2.2054175652583097, 1.2497695489303315, -2.401347353020361),
)  # the first arm's tool on a body that lies
END_GRASP = Pose(
    (0.015358449024441279, 0.012151754879763377, -0.13384219200364034),
    rpy=(0.05661094021721433, -0.16662343270543012, -0.0073024829238328565),
)  # the first arm's tool on a body that points
Held = Mapping[str, float | Pose]
PITCH = 0.02  # m per turn
LEAST = "least"  # of the option squeeze
SQUEEZE = Option(
    default=LEAST,
    allowed=Amount((LEAST,)),
    description="force by which the grasps press on the load, N; least: as the least torques have it",
)
REST = 0.5  # s, held at the end of a scenario


def squeeze_of(choice: Choice) -> float | None:
    """What Carry is given for the option squeeze."""
    return None if choice == LEAST else float(choice)


def tidy(value: float) -> float:
    """An end of a move as it is said: 0.12 − 0.1 is 0.02, without the rounding of the last digit."""
    return round(value, 15)


def first(name: str) -> Body:
    """Body 1."""
    return Body(name, Solid(FIRST.mass, inertia=FIRST.inertia))


def jointed(name: str, piece: Piece, parent: str, at: Pose, joint: Joint, offset: Offset = Offset()) -> list[AnyPart]:
    """Put a body on another by a joint along z of a seat, its centre of mass off the joint by an offset.

    c = (a cos φ, a sin φ, d), I = R I_body Rᵀ with R = Rz(φ) Rx(α).
    """
    centre = (offset.a * cos(offset.turn), offset.a * sin(offset.turn), offset.d)
    solid = Solid(piece.mass, com=centre, inertia=_turned(piece, offset))
    body = Body(name, solid, parent=parent, at=at, joint=joint)
    if offset == Offset():
        return [body]
    return [body, Frame(f"{name}_centre", parent=name, at=Pose(centre, rpy=(offset.twist, 0.0, offset.turn)))]


def _turned(piece: Piece, offset: Offset) -> tuple[float, ...]:
    if offset == Offset():
        return piece.inertia
    xx, yy, zz, xy, xz, yz = piece.inertia
    central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    c, s, k, e = cos(offset.turn), sin(offset.turn), cos(offset.twist), sin(offset.twist)
    R = np.array([[c, -s * k, s * e], [s, c * k, -c * e], [0, e, k]])
    inertia = R @ central @ R.T
    return tuple(float(inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))


def cell(name: str, objects: list[AnyPart], held: Held, grasps: list[tuple[str, Pose]]) -> System:
    """Stand an arm before each grasp and hold the objects where they start; the first grasp is the first arm's."""
    arm = puma560.system()
    bases = BASES[: len(grasps)]
    arms = [arm.place(f"arm{i}", at=base) for i, base in enumerate(bases, 1)]
    holds = [Grasp(f"arm{i}", body, at) for i, (body, at) in enumerate(grasps, 1)]
    return hold(System(name, tuple(objects), start=Start(hold=held)), arms, holds, check=False)


BODY_INERTIA = Erratum("(2.6), (5.4)", "I_3×3, I_01", "I = R I_body Rᵀ, in world axes")
ARM_RATE = Erratum("(2.9), (4.39)", "J̇_i", "with J̇_iC in it: the shift from tool to C_i turns with the body")
WORKLESS = Erratum(
    "(5.8)",
    "the joint's force drops out",
    "for a joint that does no work; friction or a drive goes into the row of its p",
)
CHAIN = Erratum("4.1, inverse kinematics", "A_Ci^B = A_C1^B A_Ci^fi", "A_Ci^B = A_C1^B A_fi^C1 A_Ci^fi")
OFF_AXIS = Erratum("(4.19)", "[b; k b]", "[b + k b×r; k b], k = 2π/h; as printed only if C_i lies on the axis")
CYLINDRICAL_OFF_AXIS = Erratum(
    "(4.21)", "[[b, 0], [0, b]]", "[[b, b×r], [0, b]]; as printed only if C_i lies on the axis"
)


def notation(*bodies: str, arms: int = 3, **joints: str) -> Notation:
    """Write as the paper does: bodies C1, C2, …; joint j of arm i has the angle q_ij and the torque τ_ij.

    Arms are alike, so that their numbers are those of the first. `joints` gives the letters of joints between bodies.
    """
    symbols = {"gravity.z": "-g"}
    relations: dict[str, str] = {}
    for number, body in enumerate(bodies, 1):
        name = f"C{number}"
        symbols |= {f"{body}.mass": f"m_{{{name}}}"} | {f"{body}.{axis}": f"{axis}_{{{name}}}" for axis in "xyz"}
        symbols |= {f"{body}.inertia.{axes}": f"I_{{{axes},{name}}}" for axes in ("xx", "yy", "zz", "xy", "xz", "yz")}
        symbols |= {f"{body}.q{axis}": f"e_{{{axis},{name}}}" for axis in "wxyz"}
        symbols |= {f"{body}.v{axis}": f"v_{{{axis},{name}}}" for axis in "xyz"}
        symbols |= {f"{body}.w{axis}": rf"\omega_{{{axis},{name}}}" for axis in "xyz"}
        symbols |= {f"{body}.pitch": "h"}
    for word, letter in joints.items():
        body, _, kind = word.rpartition("_")
        symbols[f"{body}.{kind}"] = letter
    for arm in range(1, arms + 1):
        for link in range(1, 7):
            symbols |= {f"arm{arm}.link{link}.angle": f"q_{{{arm},{link}}}"}
            symbols |= {f"arm{arm}.motor{link}": rf"\tau_{{{arm},{link}}}"}
            path = f"link{link}"
            symbols |= (
                {f"arm1.{path}.{word}": letter for word, letter in _link_letters(link).items()} if arm == 1 else {}
            )
            relations |= (
                {f"arm{arm}.{path}.{word}": f"arm1.{path}.{word}" for word in _link_letters(link)} if arm > 1 else {}
            )
        relations |= {f"arm{arm}.tool.at.z": "arm1.tool.at.z"} if arm > 1 else {}
    return Notation(symbols | {"arm1.tool.at.z": "l_{T}"}, relations)


def _link_letters(link: int) -> dict[str, str]:
    letters = {"mass": f"m_{{{link}}}"}
    letters |= {f"com.{axis}": f"c_{{{axis}{link}}}" for axis in "xyz"}
    letters |= {f"at.{axis}": f"p_{{{axis}{link}}}" for axis in "xyz"}
    return letters | {f"inertia.{axes}": f"I_{{{axes}{link}}}" for axes in ("xx", "yy", "zz", "xy", "xz", "yz")}


def figures(
    number: int, task: str, first_body: str, arms: int, joints: tuple[PaperPanel, ...] = (), *, is_level: bool = False
) -> PaperFigures:
    """The task that the paper sketches, in its variables s = (C1, p), beside the arms' forces and torques.

    The paper draws each task and prints no numbers: there is nothing to lay ours over but its relations. Of a body that
    stays level all angles are zero, and not drawn.
    """
    place = tuple(Line(axis, f"{first_body}.{axis}") for axis in "xyz")
    attitude = PaperPanel(f"(3.1): attitude of {first_body}, Z-Y-X angles", "rad", _attitude(first_body))
    turned = () if is_level else (attitude,)
    arms_shown = range(1, arms + 1)
    forces = tuple(
        PaperPanel(title, "N", tuple(Line(f"arm {i}", f"{word}:grip_arm{i}") for i in arms_shown))
        for word, title in (
            ("carrying", "(2.3): F_i of the arms, the part that carries"),
            ("internal", "(2.3): F_i of the arms, the internal part"),
        )
    )
    torques = tuple(
        PaperPanel(f"τ of arm {i}", "N*m", tuple(Line(f"joint {k}", f"arm{i}.motor{k}") for k in range(1, 7)))
        for i in arms_shown
    )
    said = PaperPanel(
        f"(3.1): place of {first_body}, C1", "m", place, note="the paper sketches the task, without numbers"
    )
    return PaperFigures(f"figure {number}, {task} (Sun et al.)", (said, *turned, *joints, *forces, *torques))


def _attitude(body: str) -> tuple[Line, ...]:
    """Angles α, β, γ of R = Rz(α) Ry(β) Rx(γ) from the quaternion."""
    w, x, y, z = (f"{body}.q{axis}" for axis in "wxyz")
    return (
        Line("α", f"atan2(2*({w}*{z} + {x}*{y}), 1 - 2*({y}^2 + {z}^2))"),
        Line("β", f"asin(2*({w}*{y} - {x}*{z}))"),
        Line("γ", f"atan2(2*({w}*{x} + {y}*{z}), 1 - 2*({x}^2 + {y}^2))"),
    )


def thread(body: str, seat: str, note: str = "") -> PaperPanel:
    """The distance of the centres over what the thread makes of the angle."""
    return PaperPanel(
        f"(3.4): d from {seat} to {body}",
        "m",
        (Line("d", f"distance({seat}, {body})"),),
        published=(Line("h θ/2π", f"{body}.pitch*abs({body}.angle)/(2*pi)"),),
        options={"coordinate": "angle"},
        note=note,
    )
