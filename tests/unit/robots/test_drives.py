"""Wheeled machines: nothing slips, energy is kept, what is led follows its path, and headings follow from rolling."""

from functools import cache
from math import pi, sqrt

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ControlError

NAMES = ("differential-drive", "two-drive-carry")
SIDES = {"differential-drive": ("",), "two-drive-carry": ("left.", "right.")}
STEPPERS = {"fixed": kb.RungeKutta4(1e-3), "adaptive": kb.DormandPrince(1e-10)}
TRACKED = {"fixed": 1e-6, "adaptive": 1e-9}  # m, rad
RADIUS, TRACK, REACH = 0.08, 0.40, 0.30
EXPRESSED = (kb.follow("nose.x", "0.3 + 0.4*t^2"), kb.follow("nose.y", "0.1*t^2"))


@cache
def plant_of(name: str) -> kb.Plant:
    return kb.build(kb.load(name))


@cache
def run_of(name: str, stepper: str) -> kb.Run:
    chosen = kb.scenario(name)
    return kb.simulate(plant_of(name), chosen.duration, control=chosen.control, stepper=STEPPERS[stepper])


def states(name: str, every: int = 100) -> list[tuple]:
    run = run_of(name, "adaptive")
    return list(zip(run.time, run.q, run.v, run.actuation, run.acceleration, strict=True))[::every]


@pytest.mark.parametrize(("name", "size"), [(NAMES[0], (5, 3, 3, 2)), (NAMES[1], (16, 16, 13, 3))])
def test_rolling_takes_freedoms_of_the_rates(name, size):
    found = kb.check(plant_of(name))
    assert (found.velocities, len(found.rows), found.rank, found.freedoms) == size
    assert found.freedoms_nearby == found.freedoms
    assert all(f"{side}rolling.{row}" in found.unique_reactions for side in SIDES[name] for row in ("side", "left"))


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("name", NAMES)
def test_the_wheels_stand_still_where_they_touch_the_ground(name, stepper):
    """v + ω × (−r z) = 0 of every wheel, from the twist of its frame and not from the rows."""
    run = run_of(name, stepper)
    assert run.worst.value < 1e-12
    assert np.abs(run.v).max() > 1
    for side in SIDES[name]:
        for q, v in zip(run.q[::20], run.v[::20], strict=True):
            for wheel in ("left_wheel", "right_wheel"):
                twist = run.plant.velocity(f"{side}{wheel}", q, v)
                assert np.abs(twist[:3] + np.cross(twist[3:], [0, 0, -RADIUS])).max() < 1e-12


@pytest.mark.parametrize("stepper", STEPPERS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_led_follows_its_path_and_energy_is_kept(name, stepper):
    run = run_of(name, stepper)
    goal = kb.scenario(name).control.goals[0]
    poses = [run.plant.pose(goal.target, q) for q in run.q]
    found = np.array([pose.position for pose in poses])
    assert np.abs(found - goal.path.at(run.time, found[0]).position).max() < TRACKED[stepper]
    assert np.ptp(found[:, 0]) > 0.9
    assert np.abs(run.energy_balance).max() < 1e-6 * run.energy.max()
    limits = [actuator.limit for actuator in run.plant.machine.actuators]
    assert (np.abs(run.actuation).max(axis=0) < limits).all()
    if name == "two-drive-carry":
        angle = 2 * pi * goal.path.progress(run.time)[0]
        turned = np.array([np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0]) for pose in poses])
        assert np.abs(np.exp(1j * turned) - np.exp(1j * angle)).max() < TRACKED[stepper]


@pytest.mark.parametrize("name", NAMES)
def test_the_three_derivations_agree(name):
    system = kb.load(name)
    others = [kb.build(system, method=method, backend=kb.Interpreted()) for method in (kb.Lagrange(), kb.Kane())]
    for t, q, v, u, _ in states(name, 300):
        expected = plant_of(name).motion(q, v, t=t, actuation=u)
        for other in others:
            found = other.motion(q, v, t=t, actuation=u)
            assert np.abs(found.acceleration - expected.acceleration).max() < 1e-10
            assert np.abs(found.constraint_force - expected.constraint_force).max() < 1e-9


def test_the_motion_is_that_of_the_textbook():
    """Forward speed u, yaw rate w, centre of mass c ahead of the axle.

    (m + 2 m_w + 2 J/r²) u̇ = m c w² + (τ_l + τ_r)/r
    (I + m c² + 2 I_w + ½ m_w b² + ½ b² J/r²) ẇ = −m c u w + ½ b (τ_r − τ_l)/r
    """
    m, c, inertia, wheel, width = 12.0, -0.04, 0.40, 0.8, 0.03
    J, I_w = wheel * RADIUS**2 / 2, wheel * (3 * RADIUS**2 + width**2) / 12
    for t, q, v, effort, _ in states("differential-drive"):
        h = q[2]
        ahead, across = np.array([np.cos(h), np.sin(h)]), np.array([-np.sin(h), np.cos(h)])
        u, w = ahead @ v[:2], v[2]
        a = plant_of("differential-drive").motion(q, v, t=t, actuation=effort).acceleration
        mass = m + 2 * wheel + 2 * J / RADIUS**2
        turning = inertia + m * c**2 + 2 * I_w + wheel * TRACK**2 / 2 + TRACK**2 * J / (2 * RADIUS**2)
        assert mass * (ahead @ a[:2]) == pytest.approx(m * c * w**2 + effort.sum() / RADIUS, abs=1e-10)
        torque = TRACK / 2 * (effort[1] - effort[0]) / RADIUS
        assert turning * a[2] == pytest.approx(-m * c * u * w + torque, abs=1e-10)
        assert across @ a[:2] == pytest.approx(u * w, abs=1e-10)


def test_on_a_circle_the_axle_trails_the_nose_on_a_smaller_one():
    """It settles where the axle is square to its own circle: ρ² = R² − reach²."""
    plant = plant_of("differential-drive")
    circle = kb.path.circle(2.0, speed=0.5, centre=(0.3, 1.0, 0.18), phase=-pi / 2, turns=2)
    made = kb.servo(plant, kb.follow("nose", circle, orientation="free"))
    run = kb.simulate(plant, control=made, stepper=kb.DormandPrince(1e-10))
    found = np.stack([run["nose.x"], run["nose.y"], run["nose.z"]], axis=1)
    assert np.abs(found - circle.at(run.time).position).max() < 1e-9
    distance = np.hypot(run["x"] - 0.3, run["y"] - 1.0)
    assert distance[0] == pytest.approx(sqrt(1.09))
    assert distance[-1] == pytest.approx(sqrt(1 - REACH**2), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_efforts_along_the_goals_are_those_of_the_run(name):
    """Headings are not found by closing: the way there is integrated, and the run has gone the same way."""
    run = run_of(name, "adaptive")
    made = kb.inverse_dynamics(plant_of(name), kb.scenario(name).control.goals, times=run.time[::150])
    assert np.abs(made.q - run.q[::150]).max() < 1e-6
    assert np.abs(made.v - run.v[::150]).max() < 1e-6
    assert np.abs(made.actuation - run.actuation[::150]).max() < 1e-6


def test_goals_without_an_end_are_rolled_along_too():
    plant = plant_of("differential-drive")
    run = kb.simulate(plant, 1.0, control=kb.servo(plant, EXPRESSED), stepper=kb.DormandPrince(1e-10))
    assert np.abs(run["nose.x"] - 0.3 - 0.4 * run.time**2).max() < 1e-9
    assert np.abs(run["nose.y"] - 0.1 * run.time**2).max() < 1e-9
    made = kb.inverse_dynamics(plant, EXPRESSED, times=[1.0, 0.5, 0.0])
    assert np.abs(made.q - run.q[[-1, 50, 0]]).max() < 1e-8
    assert np.abs(made.q[0]).min() > 0.01


def test_a_course_ends_and_rests():
    plant, goals = plant_of("differential-drive"), kb.scenario("differential-drive").control.goals
    made = kb.inverse_dynamics(plant, goals, times=[-1.0, 0.0, 12.0, 13.0])
    assert np.abs(made.v).max() < 1e-9
    assert np.abs(made.q[[1, 3]] - made.q[[0, 2]]).max() < 1e-9
    assert made.q[2, 2] < -0.5  # the nose is back, the heading is not


def test_goals_that_ask_for_a_slip_are_refused():
    plant = plant_of("differential-drive")
    with pytest.raises(ControlError, match="no goal speaks for 1 of its 2 freedoms"):  # an axle does not go sideways
        kb.servo(plant, kb.follow("platform", kb.path.circle(1.0, 0.5).relative(), orientation="free"))
    goals = (kb.follow("x", "t"), kb.follow("heading", "t"))  # x goes on while the machine faces y
    with pytest.raises(ControlError, match=r"cannot be met at t = 1\.571 s; the speeds have no bound\..* slip"):
        kb.inverse_dynamics(plant, goals, times=[0.0, 2.0])
    aside = kb.path.line((0, 0, 0), (0, 1, 0), duration=3.0).relative()  # a place for it exists, but no way there
    with pytest.raises(ControlError, match=r"m along the path of nose; (nose\.[xy]|heading) misses by .* slip"):
        kb.servo(plant, (kb.follow("nose", aside, orientation="free"), kb.follow("heading", 0)))
    kb.servo(plant, kb.follow("nose", aside, orientation="free"))


def test_the_load_is_moved_by_the_hinges_alone():
    plant = plant_of("two-drive-carry")
    for t, q, v, u, a in states("two-drive-carry"):
        force = sum(plant.reaction(f"{side}_hinge", q, v, t=t, actuation=u).force for side in ("left", "right"))
        assert -force == pytest.approx(8.0 * (a[10:13] - np.array([0, 0, -9.81])), abs=1e-7)


def test_four_motors_share_with_the_least_squares():
    """One direction of the four efforts moves nothing; least squares leave no part in it."""
    plant, goals = plant_of("two-drive-carry"), kb.scenario("two-drive-carry").control.goals
    made = kb.inverse_dynamics(plant, goals, times=[1.0, 5.0, 9.0])
    for q, v, u, null in zip(made.q, made.v, made.actuation, made.null, strict=True):
        assert np.linalg.norm(null) == pytest.approx(1.0)
        assert abs(u @ null) < 1e-10
        pressed = plant.motion(q, v, actuation=u + null).acceleration - plant.motion(q, v, actuation=u).acceleration
        assert np.abs(pressed).max() < 1e-9


def test_other_wheels_and_lengths_roll_as_well():
    numbers = {"wheel_radius": 0.1, "track": 0.5, "reach": 0.4}
    chosen = kb.scenario("differential-drive", numbers)
    run = kb.simulate(chosen.system, 2.0, control=chosen.control)
    assert run.worst.value < 1e-12
    assert run["nose.z"] == pytest.approx(0.2)
    pair = {f"{side}.wheel_radius": 0.1 for side in ("left", "right")}
    chosen = kb.scenario("two-drive-carry", pair)
    run = kb.simulate(chosen.system, 1.0, control=chosen.control)
    assert run["load.z"] == pytest.approx(0.2)
