"""One machine cut at two places: every joint as a closing connection against the same joint in the tree.

    world ── universal ── A ── ball ── B ── ball ── C ── joint under test ── world

Cut at the joint under test, or cut at the ball between A and B; closing-only joints stand in the tree as the massless
carriage or rod that they replace. Both runs are made at 3e-12 per step and must agree to 1e-9 after one second.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import kalaba as kb
from by_hand import SHARP, G, poses

A_TIP, B_TIP, C_TIP = np.array([0.5, 0, 0.1]), np.array([0.1, 0.4, 0.2]), np.array([0.3, -0.1, -0.2])
TURN = (0.4, -0.7, 1.1)  # how the joint under test is turned, roll pitch yaw
R = Rotation.from_euler("xyz", TURN).as_matrix()
C_COM, C_INERTIA = np.array([0.1, 0.05, -0.1]), np.array([[0.02, 2e-3, 0], [2e-3, 0.03, -1e-3], [0, -1e-3, 0.025]])
ROD = 0.6
SKEW = kb.Axis(1, 2, -2)
JOINTS = {
    "weld": kb.Weld(),
    "revolute": kb.Revolute(kb.Y),
    "revolute on a skew axis": kb.Revolute(SKEW),
    "prismatic": kb.Prismatic(kb.X),
    "prismatic on a skew axis": kb.Prismatic(SKEW),
    "screw": kb.Screw(kb.X, pitch=0.3),
    "left-handed screw on a skew axis": kb.Screw(SKEW, pitch=-0.2),
    "cylindrical": kb.Cylindrical(-kb.X),
    "universal": kb.Universal(kb.Z, kb.X),
    "universal on skew axes": kb.Universal(SKEW, kb.Axis(2, 1, 2)),
    "spherical": kb.Spherical(),
    "planar": kb.Planar(-kb.Z),
    "planar on a skew normal": kb.Planar(SKEW),
    "point on line": kb.PointOnLine(kb.Y),
    "distance": kb.Distance(ROD),
}


def trunk() -> tuple[kb.Body, kb.Solid]:
    a = kb.Solid(1.0, com=tuple(A_TIP / 2), inertia=(0.02, 0.03, 0.03), tip=tuple(A_TIP))
    return kb.Body("a", a, joint=kb.Universal(kb.Y, kb.Z)), kb.Solid(0.7, tuple(B_TIP / 3), (0.02, 0.01, 0.015))


def seat(joint: kb.Revolute) -> kb.Pose:
    """Where C ends at the start; for a distance the other end of the rod, along the seat's x."""
    back = R @ (ROD, 0, 0) if isinstance(joint, kb.Distance) else 0.0
    return kb.Pose(tuple(A_TIP + B_TIP + C_TIP - back), rpy=TURN)


def cut_at_the_joint(joint: kb.Revolute) -> kb.System:
    a, b = trunk()
    c = kb.Solid(1.2, com=tuple(C_COM), inertia=C_INERTIA.tolist())
    parts = (
        a,
        kb.Body("b", b, parent="a.tip", joint=kb.Spherical()),
        kb.Frame("middle", "b", tuple(B_TIP)),
        kb.Body("c", c, parent="middle", joint=kb.Spherical()),
        kb.Frame("end", "c", kb.Pose(tuple(C_TIP), rpy=TURN)),
        kb.Connection("joint", "end", at=seat(joint), joint=joint),
    )
    return kb.System("cut at the joint", parts)


def cut_at_the_ball(joint: kb.Revolute) -> kb.System:
    a, b = trunk()
    c = kb.Solid(1.2, com=tuple(R.T @ (C_COM - C_TIP)), inertia=(R.T @ C_INERTIA @ R).tolist())
    extra: tuple[kb.Body, ...] = ()
    parent, at, own = "world", seat(joint), joint
    if isinstance(joint, kb.PointOnLine):
        extra = (kb.Body("extra", kb.Solid(0.0), at=at, joint=kb.Prismatic(joint.axis)),)
        parent, at, own = "extra", kb.Pose(), kb.Spherical()
    if isinstance(joint, kb.Distance):
        extra = (kb.Body("extra", kb.Solid(0.0, tip=(ROD, 0, 0)), at=at, joint=kb.Universal(kb.Z, kb.Y)),)
        parent, at, own = "extra.tip", kb.Pose(), kb.Spherical()
    back = Rotation.from_matrix(R.T).as_quat(scalar_first=True)
    parts = (
        a,
        *extra,
        kb.Body("end", c, parent=parent, at=at, joint=own),
        kb.Frame("c", "end", kb.Pose(tuple(-R.T @ C_TIP), quaternion=tuple(back))),
        kb.Body(
            "middle", kb.Solid(b.mass, tuple(np.array(b.com) - B_TIP), b.inertia), parent="c", joint=kb.Spherical()
        ),
        kb.Frame("b", "middle", tuple(-B_TIP)),
        kb.Connection("ball", "b", parent="a.tip", joint=kb.Spherical()),
    )
    return kb.System("cut at the ball", parts)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long if "skew" in n else ()) for n in JOINTS])
def test_a_joint_that_closes_a_loop_is_the_joint_in_the_tree(name):
    cuts = (cut_at_the_joint, cut_at_the_ball)
    one, other = (kb.simulate(cut(JOINTS[name]), 1.0, stepper=SHARP, save_every=0.07) for cut in cuts)
    found, expected = (poses(run, ("a.tip", "b", "middle", "end")) for run in (one, other))
    assert np.abs(found[-1, 2] - found[0, 2]).max() > 0.05  # it does move
    assert_allclose(found, expected, rtol=0, atol=2e-9)
    assert np.abs(one.residual).max() < 1e-14
    assert_allclose(one.energy, one.energy[0], rtol=0, atol=1e-9)


CRANK, COUPLER, SPEED = 0.12, 0.35, 9.0


def slider_crank() -> kb.System:
    parts = (
        kb.Body("crank", kb.Rod(CRANK, mass=0.4), joint=kb.Revolute(-kb.Y)),
        kb.Body("rod", kb.Rod(COUPLER, mass=0.9), parent="crank.tip", joint=kb.Revolute(-kb.Y)),
        kb.Body("block", kb.Box((0.05, 0.05, 0.05), mass=1.5), parent="rod.tip", joint=kb.Revolute(-kb.Y)),
        kb.Connection("guide", "block", joint=kb.Prismatic(kb.X)),
        kb.Constraint("drive", f"crank.angle - {SPEED}*t - 0.3"),
    )
    return kb.System("slider-crank", parts, start=kb.Start(guess={"crank.angle": 0.3, "rod.angle": -0.4}))


def slider_energy(t: np.ndarray) -> np.ndarray:
    """Kinetic and potential energy along the driven motion, from geometry alone."""
    angle = SPEED * t + 0.3
    lean = np.arcsin(CRANK * np.sin(angle) / COUPLER)
    lean_rate = CRANK * np.cos(angle) * SPEED / (COUPLER * np.cos(lean))
    block = -CRANK * np.sin(angle) * SPEED - COUPLER * np.sin(lean) * lean_rate
    middle_x = -CRANK * np.sin(angle) * SPEED - COUPLER / 2 * np.sin(lean) * lean_rate
    middle_z = CRANK * np.cos(angle) * SPEED - COUPLER / 2 * np.cos(lean) * lean_rate
    kinetic = 0.4 * CRANK**2 / 3 * SPEED**2 + 0.9 * (middle_x**2 + middle_z**2 + COUPLER**2 / 12 * lean_rate**2)
    return (kinetic + 1.5 * block**2) / 2 + G * np.sin(angle) * (0.4 * CRANK / 2 + 0.9 * CRANK / 2)


def test_a_driven_slider_crank_moves_by_geometry_and_needs_the_torque_of_its_energy():
    run = kb.simulate(slider_crank(), 1.0, stepper=SHARP)
    angle = SPEED * run.time + 0.3
    stroke = CRANK * np.cos(angle) + np.sqrt(COUPLER**2 - (CRANK * np.sin(angle)) ** 2)
    assert_allclose(run["block.x"], stroke, rtol=0, atol=1e-12)  # rows only: nothing is left to integrate
    h = 1e-4
    e = [slider_energy(run.time + k * h) for k in (-2, -1, 1, 2)]
    power = (e[0] - 8 * e[1] + 8 * e[2] - e[3]) / (12 * h)
    found = [run.plant.motion(q, v, t=t) for q, v, t in zip(run.q, run.v, run.time, strict=True)]
    torque = [(m.constraint_force @ v) / SPEED for m, v in zip(found, run.v, strict=True)]
    assert_allclose(np.array(torque) * SPEED, power, rtol=0, atol=1e-8)  # the difference formula's error
    assert_allclose(run.work, run.energy - run.energy[0], rtol=0, atol=1e-9)


def test_a_hooke_joint_turns_unevenly():
    bend, speed = 0.5, 3.0
    shaft = kb.Solid(1.0, inertia=(0.01, 0.02, 0.02))
    bent = kb.Pose(rpy=(0, bend, 0))
    parts = (
        kb.Body("driver", shaft, joint=kb.Revolute(kb.X)),
        kb.Body("driven", shaft, at=bent, joint=kb.Revolute(kb.X)),
        kb.Frame("fork", "driven", kb.Pose()),
        kb.Connection("cross", "fork", parent="driver", joint=kb.Universal(kb.Y, kb.Z)),
        kb.Constraint("drive", f"driver.angle - {speed}*t"),
    )
    run = kb.simulate(kb.System("hooke", parts), 3.0, stepper=SHARP)
    angle = speed * run.time
    # the driver's Y and the driven Z stay at right angles: tan(out) = cos(bend) tan(in)
    assert_allclose(np.tan(run["driven.angle"]), np.tan(angle) * np.cos(bend), rtol=1e-9, atol=1e-9)
    ratio = np.cos(bend) / (1 - np.sin(bend) ** 2 * np.sin(angle) ** 2)
    assert_allclose(run["rate(driven.angle)"], speed * ratio, rtol=0, atol=1e-11)
