"""Classics of mechanics as whole native runs: pendulums, tops, screws, skates and wheels.

Each against a closed form or against equations derived by hand and integrated by scipy's DOP853 at 1e-12. The runs
themselves are made at 1e-11, so errors grow to 1e-9 or so over a few seconds: tolerances are 1e-8 to 1e-9.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ellipj, ellipk

import kalaba as kb
from by_hand import SHARP, G, integrate, positions, rotations

CLOSED = 1e-14
LENGTH = 0.7
START = 2.0  # rad from hanging, so that the period is far from that of small swings
BOB = kb.Solid(1.3, inertia=(0.02, 0.03, 0.04))


def swing(times):
    """A point pendulum let go at START: sin(θ/2) = k sn(K − ωt, k)."""
    m = np.sin(START / 2) ** 2
    return 2 * np.arcsin(np.sqrt(m) * ellipj(ellipk(m) - np.sqrt(G / LENGTH) * times, m)[0])


def pendulum(kind: str) -> kb.System:
    """A point mass on a massless arm, as a tree or as a mass that a connection holds."""
    x, z = LENGTH * np.sin(START), -LENGTH * np.cos(START)
    point, away = kb.Solid(1.3), (0, 0, LENGTH)
    if kind == "tree":
        body = kb.Body("bob", kb.Solid(1.3, com=(0, 0, -LENGTH), tip=(0, 0, -LENGTH)), joint=kb.Revolute(-kb.Y))
        return kb.System("tree", (body,), start=kb.Start(hold={"bob.angle": START}))
    if kind == "distance":
        slides = (
            kb.Body("carrier", kb.Solid(0.0), joint=kb.Prismatic(kb.X)),
            kb.Body("bob", kb.Solid(1.3, tip=(0, 0, 0)), parent="carrier", joint=kb.Prismatic(kb.Z)),
        )
        rod = kb.Connection("rod", "bob", joint=kb.Distance(LENGTH))
        return kb.System("distance", (*slides, rod), start=kb.Start(hold={"carrier.travel": x, "bob.travel": z}))
    joint = kb.Spherical() if kind == "spherical" else kb.Revolute(kb.Y)
    body = kb.Body("bob", kb.Solid(1.3, inertia=(0, 0, 0), tip=(0, 0, 0)), joint=kb.Planar(-kb.Y))
    if kind == "revolute":  # a Free body, held by a hinge away from its mass
        body = kb.Body("bob", kb.Solid(point.mass, inertia=(1e-2, 0, 1e-2), tip=(0, 0, 0)))
    frame, pin = kb.Frame("eye", "bob", away), kb.Connection("pin", "eye", joint=joint)
    turned = kb.Pose((x, 0, z), rpy=(0, -START, 0))
    start = kb.Start(guess={"bob": turned}) if kind == "revolute" else kb.Start(hold={"bob.angle": START})
    return kb.System(kind, (body, frame, pin), start=start)


@pytest.mark.parametrize("kind", ["tree", "distance", "spherical", "revolute"])
def test_a_pendulum_swings_by_elliptic_functions_however_it_is_held(kind):
    period = 4 * ellipk(np.sin(START / 2) ** 2) * np.sqrt(LENGTH / G)
    run = kb.simulate(pendulum(kind), 2 * period, stepper=SHARP, save_every=period / 16)
    angle = swing(run.time)
    expected = LENGTH * np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], axis=1)
    assert_allclose(positions(run, "bob.tip"), expected, rtol=0, atol=2e-9)
    assert_allclose(positions(run, "bob.tip")[32], expected[0], rtol=0, atol=2e-9)  # two periods by ellipk
    assert np.abs(run.residual).max(initial=0.0) < CLOSED


def spherical_pendulum(inertia: float, mass: float) -> np.ndarray:
    """Polar angle and azimuth of a symmetric body without spin, by momentum about the vertical."""

    def rate(_, y):
        theta, theta_dot, _ = y
        momentum = inertia * np.sin(1.0) ** 2 * 2.0
        push = momentum**2 * np.cos(theta) / (inertia * np.sin(theta) ** 3) - mass * G * LENGTH * np.sin(theta)
        return theta_dot, push / inertia, momentum / (inertia * np.sin(theta) ** 2)

    y = integrate(rate, (1.0, 0.0, 0.0), np.linspace(0, 3, 301))
    theta, phi = y[:, 0], y[:, 2]
    return LENGTH * np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), -np.cos(theta)], axis=1)


@pytest.mark.parametrize("kind", ["tree", "free"])
def test_a_spherical_pendulum_keeps_to_its_effective_potential(kind):
    mass, spin = 1.3, 0.02
    away = (0, 0, -LENGTH)
    arm = kb.Solid(mass, com=away, inertia=(0.05, 0.05, spin), tip=away)
    at_start = kb.Pose(rpy=(0, -1.0, 0))  # rpy turns (0, 0, -1) to (sin 1, 0, -cos 1)
    turning = np.array([0, 0, 2.0])  # about the vertical, less what would be spin about the arm
    axis = np.array([np.sin(1.0), 0, -np.cos(1.0)])
    turning -= axis * (axis @ turning)
    joint = kb.Spherical() if kind == "tree" else kb.Free()
    pin = () if kind == "tree" else (kb.Connection("pin", "arm", joint=kb.Spherical()),)
    start = kb.Start(hold={"arm": at_start}, speed={"arm": (0, 0, 0, *turning)})
    run = kb.simulate(kb.System(kind, (kb.Body("arm", arm, joint=joint), *pin), start=start), 3.0, stepper=SHARP)
    expected = spherical_pendulum(0.05 + mass * LENGTH**2, mass)
    assert_allclose(positions(run, "arm.tip"), expected, rtol=0, atol=1e-9)


def test_a_torque_free_top_turns_by_jacobi_elliptic_functions():
    inertia = np.array([1.0, 2.0, 3.0])
    speed = np.array([1.2, 0.0, 2.0])  # rad/s; 2 T I2 < L², so that it circles the third axis
    body = kb.Body("top", kb.Solid(1.0, inertia=tuple(inertia)))
    system = kb.System("top", (body,), gravity=(0, 0, 0), start=kb.Start(speed={"top": (0.3, 0, 0, *speed)}))
    run = kb.simulate(system, 10.0, stepper=SHARP)
    a, b, c = inertia
    energy, momentum = inertia @ speed**2, ((inertia * speed) ** 2).sum()  # 2T and L²
    p = np.sqrt((c - b) * (momentum - a * energy) / (a * b * c))
    m = (b - a) * (c * energy - momentum) / ((c - b) * (momentum - a * energy))
    sn, cn, dn, _ = ellipj(p * run.time, m)
    found = run.v[:, 3:]
    size = np.sqrt(
        [
            (c * energy - momentum) / (a * (c - a)),
            (c * energy - momentum) / (b * (c - b)),
            (momentum - a * energy) / (c * (c - a)),
        ]
    )
    expected = size * np.stack([cn, sn, dn], axis=1)
    assert_allclose(found, expected, rtol=0, atol=2e-9)
    R = rotations(run, "top")
    assert_allclose(np.einsum("nij,nj->ni", R, inertia * found), np.tile(inertia * speed, (len(R), 1)), atol=5e-9)


def test_a_heavy_symmetric_top_precesses_steadily_on_its_pin():
    mass, arm, across, along, tilt, spin = 1.0, 0.3, 0.02, 0.01, 0.6, 150.0
    upright = mass * arm**2 + across  # about the pin
    a, b, c = (along - upright) * np.cos(tilt), along * spin, -mass * G * arm
    slow = (-b + np.sqrt(b * b - 4 * a * c)) / (2 * a)  # (C − A) cosθ Ω² + C s Ω − m g l = 0, s the spin beside Ω
    turning = np.array([0, 0, slow]) + spin * np.array([np.sin(tilt), 0, np.cos(tilt)])
    top = kb.Solid(mass, com=(0, 0, arm), inertia=(across, across, along), tip=(0, 0, arm))
    parts = (kb.Body("top", top), kb.Connection("pin", "top", joint=kb.Spherical()))
    start = kb.Start(hold={"top": kb.Pose(rpy=(0, tilt, 0))}, speed={"top": (0, 0, 0, *turning)})
    run = kb.simulate(kb.System("gyro", parts, start=start), 2.0, stepper=SHARP)
    angle = slow * run.time
    level = np.sin(tilt) * arm
    expected = np.stack([level * np.cos(angle), level * np.sin(angle), np.full(len(angle), arm * np.cos(tilt))], axis=1)
    assert_allclose(positions(run, "top.tip"), expected, rtol=0, atol=5e-8)  # 48 turns of spin at 3e-12 per step
    assert np.abs(run.residual).max() < CLOSED
    assert np.abs(np.linalg.norm(run.q[:, 3:], axis=1) - 1).max() < 1e-15 * 4


@pytest.mark.parametrize("kind", ["tree", "free", "cylindrical"])
@pytest.mark.parametrize("pitch", [0.02, -0.05])
def test_a_nut_runs_down_its_screw_for_twenty_turns(kind, pitch):
    mass, inertia, k = 0.4, 3e-4, 2 * np.pi / abs(pitch)
    nut = kb.Solid(mass, inertia=(1e-4, 2.5e-4, inertia))
    thread = kb.Screw(kb.Z, pitch=pitch)
    if kind == "tree":
        system = kb.System("nut", (kb.Body("nut", nut, joint=thread),))
    else:
        joint = kb.Free() if kind == "free" else kb.Cylindrical(kb.Z)
        system = kb.System("nut", (kb.Body("nut", nut, joint=joint), kb.Connection("thread", "nut", joint=thread)))
    fall = G / (1 + inertia * k**2 / mass)
    duration = np.sqrt(2 * 20.3 * abs(pitch) / fall)
    run = kb.simulate(system, duration, stepper=SHARP, save_every=duration / 50)
    drop = -fall * run.time**2 / 2
    assert_allclose(run["nut.z"], drop, rtol=0, atol=1e-10)
    turned = rotations(run, "nut")
    assert_allclose(turned[:, 0, 0], np.cos(2 * np.pi * drop / pitch), rtol=0, atol=2e-8)  # k times the travel's error
    assert_allclose(turned[:, 1, 0], np.sin(2 * np.pi * drop / pitch), rtol=0, atol=2e-8)
    assert np.abs(run.residual).max(initial=0.0) < CLOSED


SKATE = kb.Body("skate", kb.Solid(2.0, inertia=(1, 1, 0.5)), joint=kb.Planar(kb.Z))
BLADE = kb.Constraint("blade", "rate(skate.x)*sin(skate.angle) - rate(skate.y)*cos(skate.angle)")


def test_a_knife_edge_on_a_slope_drifts_across_it():
    slope, spin = 0.4, 1.7
    pull = G * np.sin(slope)
    gravity = (pull, 0, -G * np.cos(slope))
    system = kb.System("edge", (SKATE, BLADE), gravity=gravity, start=kb.Start(speed={"skate.angle": spin}))
    run = kb.simulate(system, 6.0, stepper=SHARP)
    t = run.time
    assert_allclose(run["skate.x"], pull / (2 * spin**2) * np.sin(spin * t) ** 2, rtol=0, atol=1e-9)
    assert_allclose(run["skate.y"], pull / (2 * spin**2) * (spin * t - np.sin(2 * spin * t) / 2), rtol=0, atol=1e-9)
    side = 2.0 * (pull * np.sin(spin * t) + pull * np.sin(spin * t))  # m (spin · speed, and weight across the blade)
    normal = np.stack([-np.sin(spin * t), np.cos(spin * t)], axis=1)
    assert_allclose((run.constraint_force[:, :2] * normal).sum(axis=1), side, rtol=0, atol=1e-8)


def test_a_chaplygin_sleigh_turns_until_it_runs_straight():
    mass, inertia, a = 2.0, 0.5, 0.3  # the mass centre is a ahead of the blade
    sleigh = kb.Body("skate", kb.Solid(mass, com=(a, 0, 0), inertia=(1, 1, inertia)), joint=kb.Planar(kb.Z))
    start = kb.Start(speed={"skate.angle": 2.0, "skate.x": 0.4})
    run = kb.simulate(kb.System("sleigh", (sleigh, BLADE), start=start), 5.0, stepper=SHARP)

    def rate(_, y):
        u, w, angle = y[:3]
        return a * w**2, -mass * a * u * w / (inertia + mass * a**2), w, u * np.cos(angle), u * np.sin(angle)

    expected = integrate(rate, (0.4, 2.0, 0, 0, 0), run.time)
    assert_allclose(run.q, expected[:, [3, 4, 2]], rtol=0, atol=1e-9)
    assert_allclose(run.energy, run.energy[0], rtol=1e-10)


def test_a_disk_that_rolls_upright_goes_in_circles():
    radius, mass = 0.25, 1.5
    parts = (
        kb.Body("hub", kb.Solid(0.0), joint=kb.Planar(kb.Z), at=(0, 0, radius)),
        kb.Body("disk", kb.Cylinder(radius, 0.0, mass, axis=kb.Y), parent="hub", joint=kb.Revolute(kb.Y)),
        kb.Constraint("roll", {
            "x": f"rate(hub.x) - {radius}*rate(disk.angle)*cos(hub.angle)",
            "y": f"rate(hub.y) - {radius}*rate(disk.angle)*sin(hub.angle)",
        }),
    )  # fmt: skip
    start = kb.Start(speed={"hub.angle": 1.1, "disk.angle": 6.0})
    run = kb.simulate(kb.System("disk", parts, start=start), 4.0, stepper=SHARP)
    circle = radius * 6.0 / 1.1
    assert_allclose(run["hub.x"], circle * np.sin(1.1 * run.time), rtol=0, atol=1e-9)
    assert_allclose(run["hub.y"], circle * (1 - np.cos(1.1 * run.time)), rtol=0, atol=1e-9)


def test_a_wheel_pair_rolls_down_a_slope_as_by_hand():
    r, b, slope = 0.1, 0.2, 0.3
    ahead = "rate(cart.x)*cos(cart.angle) + rate(cart.y)*sin(cart.angle)"
    cart = kb.Solid(3.0, com=(0.05, 0, 0), inertia=(0.1, 0.1, 0.08))
    wheel = kb.Solid(0.5, inertia=(1e-3, 2e-3, 1e-3))
    parts = (
        kb.Body("cart", cart, joint=kb.Planar(kb.Z)),
        kb.Body("left", wheel, parent="cart", at=(0, b, 0), joint=kb.Revolute(kb.Y)),
        kb.Body("right", wheel, parent="cart", at=(0, -b, 0), joint=kb.Revolute(kb.Y)),
        kb.Constraint("roll", {
            "side": "rate(cart.x)*sin(cart.angle) - rate(cart.y)*cos(cart.angle)",
            "left": f"{ahead} - {b}*rate(cart.angle) - {r}*rate(left.angle)",
            "right": f"{ahead} + {b}*rate(cart.angle) - {r}*rate(right.angle)",
        }),
    )  # fmt: skip
    pull = G * np.sin(slope)
    system = kb.System(
        "pair", parts, gravity=(pull, 0, -9.0), start=kb.Start(hold={"cart.angle": 0.6}, speed={"cart.angle": 0.5})
    )
    run = kb.simulate(system, 3.0, stepper=SHARP)
    m, a = 4.0, 0.05 * 3.0 / 4.0  # all of it, and the offset of its mass centre
    about = 0.08 + 3.0 * 0.05**2 + 2 * (1e-3 + 0.5 * b**2)  # about the axle's middle
    forward, turn = m + 2 * 2e-3 / r**2, about + 2 * 2e-3 * b**2 / r**2

    def rate(_, y):
        u, w, angle = y[:3]
        return (
            (m * a * w**2 + m * pull * np.cos(angle)) / forward,
            (-m * a * u * w - m * pull * a * np.sin(angle)) / turn,
            w,
            u * np.cos(angle),
            u * np.sin(angle),
        )

    expected = integrate(rate, (0, 0.5, 0.6, 0, 0), run.time)
    assert_allclose(run.q[:, :3], expected[:, [3, 4, 2]], rtol=0, atol=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-8


def test_a_constraint_nonlinear_in_speed_keeps_the_speed_it_asks_for():
    """Appell and Hamel's kind: a point in gravity whose speed stays the same, ẋ² + ż² = c².

    The ideal force lies along the velocity, so only its direction φ changes: φ̇ = −g cos φ / c.
    """
    parts = (
        kb.Body("x", kb.Solid(0.0), joint=kb.Prismatic(kb.X)),
        kb.Body("z", kb.Solid(1.0), parent="x", joint=kb.Prismatic(kb.Z)),
        kb.Constraint("speed", "rate(x.travel)^2 + rate(z.travel)^2 - 4"),
    )
    start = kb.Start(speed={"x.travel": 2 * np.cos(1.0), "z.travel": 2 * np.sin(1.0)})
    with pytest.raises(kb.KalabaError, match="misses by"):  # faster than the whole speed
        _ = kb.build(kb.System("hamel", parts, start=kb.Start(speed={"x.travel": 3.0}))).start
    run = kb.simulate(kb.System("hamel", parts, start=start), 1.5, stepper=SHARP)

    def rate(_, y):
        return -G * np.cos(y[0]) / 2, 2 * np.cos(y[0]), 2 * np.sin(y[0])

    expected = integrate(rate, (1.0, 0, 0), run.time)
    assert_allclose(run.q, expected[:, 1:], rtol=0, atol=1e-9)
    assert_allclose(np.linalg.norm(run.v, axis=1), 2.0, rtol=0, atol=1e-14)
