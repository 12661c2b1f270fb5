"""What drives a machine, as whole native runs: springs, forces, motors, sampled control, events, placements.

Closed forms, or equations by hand under scipy's DOP853; runs are made at 3e-12 per step and held to 1e-9.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import kalaba as kb
from by_hand import SHARP, G, integrate, positions, rotations

SLIDE = kb.Body("block", kb.Solid(2.0), joint=kb.Prismatic(kb.X))
MOTOR = kb.Actuator("motor", "block.travel")


def block(*parts: object, **start: dict[str, float]) -> kb.System:
    return kb.System("block", (SLIDE, *parts), start=kb.Start(**start))


def test_a_damped_spring_rings_down():
    m, k, c, rest = 2.0, 50.0, 3.0, 0.1
    run = kb.simulate(block(kb.Spring("s", "block.travel", k, c, rest), hold={"block.travel": 0.4}), 4.0, stepper=SHARP)
    decay, ring = c / (2 * m), np.sqrt(k / m - (c / (2 * m)) ** 2)
    shape = np.cos(ring * run.time) + decay / ring * np.sin(ring * run.time)
    assert_allclose(run["block.travel"], rest + 0.3 * np.exp(-decay * run.time) * shape, rtol=0, atol=1e-10)
    assert np.abs(run.energy_balance).max() < 1e-10


def test_a_spring_on_a_moving_foot_brings_work_in():
    m, k, c, a, w = 2.0, 30.0, 0.7, 0.1, 3.0
    run = kb.simulate(block(kb.Spring("s", f"block.travel - {a}*sin({w}*t)", k, c)), 5.0, stepper=SHARP)

    def rate(t, y):
        stretch, stretching = y[0] - a * np.sin(w * t), y[1] - a * w * np.cos(w * t)
        return y[1], -(k * stretch + c * stretching) / m

    assert_allclose(run["block.travel"], integrate(rate, (0, 0), run.time)[:, 0], rtol=0, atol=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-9 * np.ptp(run.energy) + 1e-10


def test_a_spring_between_two_frames_pulls_along_their_line():
    m, k, c, rest = 0.8, 40.0, 0.5, 0.6
    parts = (
        kb.Body("ball", kb.Solid(m, inertia=(0.01,) * 3)),
        kb.Frame("hook", at=(0.2, 0, 1.0)),
        kb.Spring("s", "distance(ball, hook)", k, c, rest),
    )
    start = kb.Start(hold={"ball": kb.Pose((0.5, 0.1, 0.2))}, speed={"ball": (0.3, -0.2, 0.1, 0, 0, 0)})
    run = kb.simulate(kb.System("sling", parts, start=start), 3.0, stepper=SHARP)

    def rate(_, y):
        d = y[:3] - (0.2, 0, 1.0)
        length = np.linalg.norm(d)
        pull = k * (length - rest) + c * (d @ y[3:]) / length
        return *y[3:], *(-pull * d / length / m - np.array([0, 0, G]))

    expected = integrate(rate, (0.5, 0.1, 0.2, 0.3, -0.2, 0.1), run.time)
    assert_allclose(run.q[:, :3], expected[:, :3], rtol=0, atol=1e-9)
    assert np.abs(run.energy_balance).max() < 1e-8


@pytest.mark.parametrize("given", ["text", "callable", "sampled"])
def test_forces_push_and_turn_a_free_body(given):
    """A body with a push off its centre, in world axes at a frame that turns along; no gravity."""
    mass, inertia, arm = 2.0, np.array([0.05, 0.08, 0.1]), np.array([0.3, 0.1, -0.2])
    push = {
        "text": ("1 + t", "0.5", "-ball.vx"),
        "callable": lambda m: (1 + m["t"], 0.5, -m["ball.vx"]),
        "sampled": (1.0, 0.5, 0.0),
    }
    if given == "sampled":
        force = kb.Force("push", "grip", force=kb.Sampled(lambda t, q, v: (1.0, 0.5, 0.0), 10.0))
    else:
        force = kb.Force("push", "grip", force=push[given], torque=(0.02, "0.01*t", 0))
    parts = (kb.Body("ball", kb.Solid(mass, inertia=tuple(inertia))), kb.Frame("grip", "ball", tuple(arm)), force)
    run = kb.simulate(kb.System("pushed", parts, gravity=(0, 0, 0)), 2.0, stepper=SHARP)

    def rate(t, y):
        v, R, w = y[3:6], y[6:15].reshape(3, 3), y[15:]
        F = np.array([1.0, 0.5, 0.0] if given == "sampled" else [1 + t, 0.5, -v[0]])
        torque = np.zeros(3) if given == "sampled" else np.array([0.02, 0.01 * t, 0])
        N = R.T @ (np.cross(R @ arm, F) + torque)
        turn = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        return *v, *(F / mass), *(R @ turn).ravel(), *((N - np.cross(w, inertia * w)) / inertia)

    expected = integrate(rate, (*np.zeros(6), *np.eye(3).ravel(), *np.zeros(3)), run.time)
    assert_allclose(run.q[:, :3], expected[:, :3], rtol=0, atol=1e-9)
    assert_allclose(rotations(run, "ball").reshape(-1, 9), expected[:, 6:15], rtol=0, atol=1e-8)
    assert np.abs(run.energy_balance).max() < 1e-8


def test_a_motor_on_an_absolute_angle_pushes_the_link_and_not_the_joint():
    parts = (
        kb.Body("upper", kb.Rod(0.5, mass=1.0), joint=kb.Revolute(-kb.Y, q="a")),
        kb.Body("lower", kb.Rod(0.4, mass=0.7), parent="upper.tip", joint=kb.Revolute(-kb.Y, q="b - a")),
        kb.Actuator("shoulder", "a"),
        kb.Actuator("belt", "b"),  # a motor in the base that turns the lower link by a belt
    )
    system = kb.System("arm", parts, coordinates=("a", "b"), start=kb.Start(hold={"a": -0.4, "b": -1.0}))
    run = kb.simulate(system, 2.0, control={"shoulder": "1.5*sin(3*t)", "belt": "0.4 - 0.1*rate(b)"}, stepper=SHARP)
    m11, m22, coupling = 1.0 * 0.25 / 3 + 0.7 * 0.25, 0.7 * 0.16 / 3, 0.7 * 0.5 * 0.2

    def rate(t, y):
        a, b, da, db = y
        c, s = coupling * np.cos(a - b), coupling * np.sin(a - b)
        forces = np.array([1.5 * np.sin(3 * t), 0.4 - 0.1 * db])
        forces += (-s * db**2 - (0.5 + 0.7) * G * 0.5 * np.cos(a), s * da**2 - 0.7 * G * 0.2 * np.cos(b))
        return da, db, *np.linalg.solve([[m11, c], [c, m22]], forces)

    assert_allclose(run.q, integrate(rate, (-0.4, -1.0, 0, 0), run.time)[:, :2], rtol=0, atol=1e-8)
    assert_allclose(run.actuation[:, 0], 1.5 * np.sin(3 * run.time), rtol=0, atol=1e-14)


def test_a_row_that_moves_with_time_is_inverse_dynamics():
    """A pendulum driven along 0.8 sin 2t: the row's force is the torque I θ̈ + m g l cos θ, and it does the work."""
    parts = (
        kb.Body("arm", kb.Rod(0.6, mass=1.5), joint=kb.Revolute(-kb.Y)),
        kb.Constraint("drive", "arm.angle - 0.8*sin(2*t)"),
    )
    run = kb.simulate(kb.System("driven", parts), 3.0, stepper=SHARP)
    angle = 0.8 * np.sin(2 * run.time)
    torque = 1.5 * 0.36 / 3 * -4 * angle + 1.5 * G * 0.3 * np.cos(angle)
    assert_allclose(run["arm.angle"], angle, rtol=0, atol=1e-14)
    assert_allclose(run.constraint_force[:, 0], torque, rtol=0, atol=1e-11)
    assert np.abs(run.energy_balance).max() < 1e-9


def test_forces_and_wrenches_given_to_the_motion_are_newton_and_euler():
    mass, inertia = 2.0, np.array([0.05, 0.08, 0.1])
    parts = (kb.Body("ball", kb.Solid(mass, inertia=tuple(inertia))), kb.Frame("grip", "ball", (0.3, 0.1, -0.2)))
    plant = kb.build(kb.System("pushed", parts))
    turned = Rotation.from_euler("xyz", (0.3, -0.5, 0.9))
    q = np.array([1, 2, 3, *turned.as_quat(scalar_first=True)])
    v, R, w = np.array([0.1, 0.2, 0.3, 1.0, -2.0, 0.5]), turned.as_matrix(), np.array([1.0, -2.0, 0.5])
    F, N, extra = np.array([3.0, -1, 2]), np.array([0.1, 0.2, -0.3]), np.array([0.5, 0, -1, 0.01, 0.02, 0.03])
    found = plant.motion(q, v, force=extra, wrenches={"grip": (*F, *N)}).acceleration
    moment = R.T @ (np.cross(R @ (0.3, 0.1, -0.2), F) + N) + extra[3:] - np.cross(w, inertia * w)
    assert_allclose(found, [*((F + extra[:3]) / mass - [0, 0, G]), *(moment / inertia)], rtol=0, atol=1e-12)
    batch = plant.motion(np.tile(q, (3, 1)), np.tile(v, (3, 1)), force=extra, wrenches={"grip": (*F, *N)})
    assert_allclose(batch.acceleration, np.tile(found, (3, 1)), rtol=0, atol=1e-13)


@cache
def held_step(k: float, c: float, m: float, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact step of m ẍ + c ẋ + k x = u with held u: x⁺ = Φ x + Γ u."""
    whole = expm(np.array([[0, 1, 0], [-k / m, -c / m, 1 / m], [0, 0, 0]]) * h)
    return whole[:2, :2], whole[:2, 2]


@pytest.mark.parametrize("stepper", [SHARP, kb.RungeKutta4(1e-3)], ids=["adaptive", "fixed"])
@pytest.mark.parametrize("rate", [50.0, 37.3, 1000.0])
def test_a_sampled_pi_controller_is_its_discrete_time_model(stepper, rate):
    """At 37.3 Hz samples do not lie on the steps: a step is cut, and the next begins at the sample."""
    m, k, c, period = 2.0, 20.0, 1.0, 1 / rate
    times = []

    def law(t, q, v, integral):
        error = 0.3 - q[0]
        times.append(t)
        return [40 * error + 25 * integral - 5 * v[0]], integral + error * period

    system, control = block(kb.Spring("s", "block.travel", k, c), MOTOR), kb.Sampled(law, rate, state=0.0)
    run = kb.simulate(system, 1.0103, control=control, stepper=stepper, save_every=0.05)
    assert_allclose(times, np.arange(len(times)) * period, rtol=0, atol=1e-12)
    x, integral, knots, states = np.zeros(2), 0.0, [*np.arange(int(1.0103 * rate) + 1) * period, 9.9], {}
    for begin, end in pairwise(knots):
        error = 0.3 - x[0]
        u, integral = 40 * error + 25 * integral - 5 * x[1], integral + error * period
        for t in run.time[(run.time >= begin - 1e-12) & (run.time < end - 1e-12)]:
            phi, gamma = held_step(k, c, m, max(t - begin, 0.0))
            states[t] = (*(phi @ x + gamma * u), u)
        phi, gamma = held_step(k, c, m, period)
        x = phi @ x + gamma * u
    expected = np.array([states[t] for t in run.time])
    assert_allclose(np.column_stack([run.q, run.v, run.actuation]), expected, rtol=0, atol=1e-10)


def test_a_sample_that_falls_on_a_step_but_for_rounding_is_taken_once():
    control = kb.Sampled(lambda t, q, v: [1.0], 1 / (0.1 + 5e-11))
    run = kb.simulate(block(MOTOR), 1.0, control=control, stepper=kb.RungeKutta4(0.1))
    assert_allclose(run["block.travel"], run.time**2 / 4, rtol=0, atol=1e-14)


BALL = kb.System(
    "ball", (kb.Body("ball", kb.Solid(1.0), joint=kb.Prismatic(kb.Z)),), start=kb.Start(hold={"ball.travel": 2.0})
)


@pytest.mark.parametrize(
    "stepper", [SHARP, kb.RungeKutta4(1e-3), kb.RungeKutta4(0.07)], ids=["adaptive", "fine", "coarse"]
)
def test_a_ball_that_bounces_five_times_is_on_time_each_time(stepper):
    start, clock, rise = None, 0.0, np.sqrt(2 * 2.0 / G)
    expected, speed = rise, G * rise
    for _ in range(5):
        run = kb.simulate(BALL, 9.0, start=start, stop="ball.travel < 0", stepper=stepper, save_every=0.013)
        clock += run.time[-1]
        assert run.status.ending.value == "stopped"
        assert run.status.time == run.time[-1]
        assert np.all(np.diff(run.time) > 0)
        assert abs(clock - expected) < 1e-10
        assert abs(run.q[-1, 0]) < 1e-10
        assert abs(run.v[-1, 0] + speed) < 1e-10
        speed *= 0.8
        expected += 2 * speed / G
        start = kb.State(run.end.q, -0.8 * run.end.v)


def test_an_event_that_falls_on_a_sample_and_one_that_waits_for_its_direction():
    fall = kb.simulate(BALL, 2.0, stop="t > 0.5", stepper=kb.RungeKutta4(1e-3), save_every=0.1)
    assert_allclose(fall.time, np.arange(6) * 0.1, rtol=0, atol=1e-12)
    spring = block(kb.Spring("s", "block.travel", 2.0), hold={"block.travel": 1.0})  # cos t
    down = kb.simulate(spring, 20.0, stop="block.travel < 0", stepper=SHARP)
    up = kb.simulate(spring, 20.0, stop="block.travel > 0.5", stepper=SHARP)  # holds at the start: waits until it comes
    assert abs(down.time[-1] - np.pi / 2) < 1e-9
    assert abs(up.time[-1] - 5 * np.pi / 3) < 1e-9


@pytest.mark.parametrize("stepper", [SHARP, kb.RungeKutta4(1e-2), kb.SemiImplicitEuler(1e-2)])
def test_samples_and_the_end_lie_where_they_are_asked_for(stepper):
    system = block(kb.Spring("s", "block.travel", 2.0), hold={"block.travel": 1.0})
    run = kb.simulate(system, 1.2345, stepper=stepper, save_every=0.0173)
    assert_allclose(run.time, [*np.arange(72) * 0.0173, 1.2345], rtol=0, atol=1e-12)
    tolerance = 1e-2 if isinstance(stepper, kb.SemiImplicitEuler) else 1e-8  # of its order: 1, or 4
    assert_allclose(run["block.travel"], np.cos(run.time), rtol=0, atol=tolerance)


def test_two_placements_are_the_machine_written_by_hand_and_a_turned_world_turns_all():
    four_bar = kb.load("four-bar")
    placed = kb.System("two", (
        four_bar.place("one"),
        four_bar.place("two", at=kb.Pose((0, 1, 0), rpy=(0, 0, 0.7)), start=kb.Start(hold={"crank.angle": 2.0})),
        kb.Spring("tie", "distance(one.coupler, two.coupler)", 30.0),
    ))  # fmt: skip
    hinge = kb.Revolute(-kb.Y)
    parts = []
    for name, at in (("one", kb.Pose()), ("two", kb.Pose((0, 1, 0), rpy=(0, 0, 0.7)))):
        parts += [
            kb.Frame(name, at=at),
            kb.Body(f"{name}_crank", kb.Rod(0.15, mass=0.3), parent=name, joint=hinge),
            kb.Body(f"{name}_coupler", kb.Rod(0.40, mass=0.8), parent=f"{name}_crank.tip", joint=hinge),
            kb.Body(f"{name}_rocker", kb.Rod(0.30, mass=0.6), parent=f"{name}_coupler.tip", joint=hinge),
            kb.Connection(f"{name}_pin", f"{name}_rocker.tip", parent=name, at=(0.45, 0, 0), joint=hinge),
        ]
    parts.append(kb.Spring("tie", "distance(one_coupler, two_coupler)", 30.0))
    plant = kb.build(placed)
    run = kb.simulate(plant, 1.0, stepper=SHARP)
    by_hand = kb.simulate(kb.System("hand", tuple(parts)), 1.0, start=plant.start, stepper=SHARP)
    assert_allclose(run.q, by_hand.q, rtol=0, atol=1e-12)
    turn = Rotation.from_euler("xyz", (0.5, -0.8, 1.3))
    gravity = tuple(turn.apply((0, 0, -9.81)))
    at = kb.Pose((3, -2, 1), quaternion=tuple(turn.as_quat(scalar_first=True)))
    moved = kb.simulate(kb.System("moved", (placed.place("all", at=at),), gravity=gravity), 1.0, stepper=SHARP)
    assert_allclose(moved.q, run.q, rtol=0, atol=1e-9)
    tip = positions(run, "two.rocker.tip")
    assert_allclose(positions(moved, "all.two.rocker.tip"), turn.apply(tip) + np.array([3, -2, 1]), rtol=0, atol=1e-9)
