"""Motors by displacement and by force, and the drives that they have."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ControlError
from kalaba.run.shortfall import ShortfallWarning

MASS = 3.0
LINE = kb.path.line((0, 0, 0), (0.1, 0, 0), timing=kb.path.MinimumJerk(0.5))
GOAL = (kb.follow("sled", LINE),)
POSITION, FORCE = kb.control.PID(4e3, 2e4, 200.0), kb.control.PID(0.4, 30.0)
DRIVE = kb.Drive(rate=500.0, lag=3e-3)


def sled(motors: int) -> kb.System:
    """A mass on a rail, with some motors on the same displacement."""
    body = kb.Body("sled", kb.Solid(MASS), joint=kb.Prismatic(kb.X))
    driven = (kb.Actuator(f"motor{i}", "sled.travel", limit=50.0) for i in range(1, motors + 1))
    return kb.System("rail", parts=(body, *driven))


def test_a_motor_by_position_does_as_its_difference_equations_say():
    """PID, lag and hold written out, with the mass between two samples exact: x += v h + u h²/2m, v += u h/m."""
    run = kb.simulate(sled(1), control=kb.Hybrid(GOAL, POSITION, FORCE, drive=DRIVE), save_every=0.1)
    h, kept = 1 / DRIVE.rate, np.exp(-1 / (DRIVE.rate * DRIVE.lag))
    x = v = integral = u = 0.0
    places = [0.0]
    for k in range(250):
        wanted = LINE.at(k * h)
        apart, slower = wanted.position[0] - x, wanted.velocity[0] - v
        command = integral + POSITION.proportional * apart + POSITION.derivative * slower
        integral += POSITION.integral * apart * h
        u = command + kept * (u - command)
        x, v = x + v * h + u * h * h / (2 * MASS), v + u * h / MASS
        if (k + 1) % 50 == 0:
            places.append(x)
    np.testing.assert_allclose(run["sled.travel"], places, rtol=0, atol=1e-7)  # the plan is a spline between states
    assert np.abs(np.array(places) - LINE.at(run.time).position[:, 0]).max() > 1e-4  # the law is seen at work


def test_a_motor_by_force_does_as_its_difference_equations_say():
    """Half of m ẍ_d is planned for each of two motors; the second has no eye for where the mass is."""
    control = kb.Hybrid(GOAL, POSITION, FORCE, forced=("motor2",), drive=DRIVE)
    plant = kb.build(sled(2))
    law = control.law(plant, plant.start)
    times = np.arange(250) / DRIVE.rate
    planned = np.interp(times, knots := np.linspace(0, 0.5, 51), MASS * LINE.at(knots).acceleration[:, 0] / 2)
    state, u, integral = law.state, planned[0], 0.0
    for t, wanted in zip(times, planned, strict=True):
        found, state = law.function(float(t), plant.start.q, plant.start.v, state)
        lacking = wanted - u
        command = wanted + integral + FORCE.proportional * lacking
        integral += FORCE.integral * lacking / DRIVE.rate
        u = command + np.exp(-1 / (DRIVE.rate * DRIVE.lag)) * (u - command)
        assert found[1] == pytest.approx(u, abs=1e-9)
    assert np.abs(planned).max() > 3.0


def test_a_motor_by_position_that_reaches_its_limit_is_cut_off_before_its_lag():
    """As above, with a limit of 1.5 N that the command passes; the integral goes on."""
    weak = kb.System("rail", parts=(sled(1).parts[0], kb.Actuator("motor1", "sled.travel", limit=1.5)))
    with pytest.warns(ShortfallWarning, match="motor1 falls short by"):
        run = kb.simulate(weak, control=kb.Hybrid(GOAL, POSITION, FORCE, drive=DRIVE), save_every=0.1)
    h, kept = 1 / DRIVE.rate, np.exp(-1 / (DRIVE.rate * DRIVE.lag))
    x = v = integral = u = 0.0
    places, cut = [0.0], 0
    for k in range(250):
        wanted = LINE.at(k * h)
        apart, slower = wanted.position[0] - x, wanted.velocity[0] - v
        command = integral + POSITION.proportional * apart + POSITION.derivative * slower
        integral += POSITION.integral * apart * h
        cut += abs(command) > 1.5
        command = min(1.5, max(-1.5, command))
        u = command + kept * (u - command)
        x, v = x + v * h + u * h * h / (2 * MASS), v + u * h / MASS
        if (k + 1) % 50 == 0:
            places.append(x)
    assert cut > 20
    np.testing.assert_allclose(run["sled.travel"], places, rtol=0, atol=1e-6)
    assert np.abs(run.actuation).max() <= 1.5


def test_a_motor_by_force_is_asked_for_no_more_than_its_bounds():
    """The plan needs up to 6.9 N where 1.5 N are allowed; behind its lag the motor stays at its bound of 0.5 N."""
    bounds = kb.Bounded((-1.0, -0.5), (1.0, 0.5))
    control = kb.Hybrid(GOAL, POSITION, FORCE, forced=("motor2",), allocation=bounds, drive=DRIVE)
    plant = kb.build(sled(2))
    law = control.law(plant, plant.start)
    for t, sign in ((0.1, 1.0), (0.4, -1.0)):
        assert sign * MASS * LINE.at(t).acceleration[0] > 5.0
        state = (0, np.array([0.0, 0.5 * sign]), np.zeros(2), None)
        found, (_, _, integral, _) = law.function(t, plant.start.q, plant.start.v, state)
        assert found.efforts[1] == pytest.approx(0.5 * sign, abs=1e-12)
        assert found.missing[1] > 1.0
        assert integral[1] == pytest.approx(0.0, abs=1e-12)  # what a bound forbids is not wound up


@pytest.mark.parametrize(
    ("motors", "forced", "goals", "words"),
    [
        (
            2,
            (),
            GOAL,
            "hybrid: 2 motors of rail set to follow displacements, but it has 1 freedom. Name 1 motor in forced=.",
        ),
        (1, ("motr1",), GOAL, "hybrid: rail has no actuator 'motr1'; did you mean motor1?"),
        (1, (), (kb.follow("sled.travel", "0.1*t"),), "rail: hybrid control plans ahead, and these goals have no end."),
    ],
)
def test_what_cannot_be_shared_out_is_refused(motors, forced, goals, words):
    plant = kb.build(sled(motors))
    with pytest.raises(ControlError) as caught:
        kb.Hybrid(goals, POSITION, FORCE, forced).law(plant, plant.start)
    assert str(caught.value) == words


@pytest.mark.parametrize(("actuators", "planned", "within"), [("1-6", 343.2, 380.0), ("1-5", 670.9, 700.0)])
def test_the_sixth_slider_by_force_relieves_the_others_as_in_the_experiment(actuators, planned, within):
    """Measured were about 700 N with five motors and 380 N with six; planned are the peaks of inverse dynamics."""
    scenario = kb.scenario("pus-upu", actuators=actuators, control="hybrid")
    run = kb.simulate(scenario.system, scenario.duration, control=scenario.control)
    peak = float(np.abs(run.actuation).max())
    assert peak == pytest.approx(planned, rel=0.05)
    assert peak < within
    circle = scenario.control.goals[0].path.at(run.time).position
    apart = np.linalg.norm(np.column_stack([run[f"platform.{axis}"] for axis in "xyz"]) - circle, axis=1)
    assert apart.max() < 4e-3


@pytest.mark.long
def test_friction_gaps_and_noise_of_the_sliders_cost_effort_but_not_the_circle():
    """Motors push against friction of which the plan does not know; the platform stays within 2 mm."""
    peaks = []
    for options in ({}, {"friction": 25.0, "backlash": 1e-4, "noise": 1e-6}):
        scenario = kb.scenario("pus-upu", control="hybrid", **options)
        run = kb.simulate(scenario.system, 1.0, control=scenario.control)
        circle = scenario.control.goals[0].path.at(run.time).position
        apart = np.linalg.norm(np.column_stack([run[f"platform.{axis}"] for axis in "xyz"]) - circle, axis=1)
        assert apart.max() < 2e-3
        peaks.append(np.abs(run.actuation).max())
    assert peaks[0] + 5 < peaks[1] < peaks[0] + 3 * 25  # more than one motor's own friction: it bears that of others


def test_a_plan_may_believe_other_numbers():
    """A mass taken for half as heavy has half of the effort planned; the motor by force gives no more than planned."""
    control = kb.Hybrid(GOAL, POSITION, FORCE, forced=("motor2",), model={"sled.mass": MASS / 2})
    plant = kb.build(sled(2))
    law = control.law(plant, plant.start)
    planned = np.interp(
        0.1, np.linspace(0, 0.5, 51), MASS / 2 * LINE.at(np.linspace(0, 0.5, 51)).acceleration[:, 0] / 2
    )
    state = (0, np.full(2, planned), np.zeros(2), None)
    given, _ = law.function(0.1, plant.start.q, plant.start.v, state)
    assert given[1] == pytest.approx(planned, rel=1e-9)
    assert hash(control) == hash(kb.Hybrid(GOAL, POSITION, FORCE, forced=("motor2",), model={"sled.mass": MASS / 2}))


LAW = {"motor1": "20*(0.05 - sled.travel) - 5*rate(sled.travel)"}


def test_a_drive_of_a_high_rate_does_as_the_law_itself():
    exact = kb.simulate(sled(1), 1.0, control=LAW)["sled.travel"]
    gaps = [
        np.abs(kb.simulate(sled(1), 1.0, control=kb.Drive(rate=rate).around(LAW))["sled.travel"] - exact).max()
        for rate in (100.0, 200.0)
    ]
    assert 1e-6 < gaps[1] < gaps[0]
    assert gaps[0] / gaps[1] == pytest.approx(2.0, rel=0.1)  # a hold delays by half a period


def test_a_lag_is_that_of_first_order():
    drive = kb.Drive(rate=1000.0, lag=0.02)
    u = np.zeros(1)
    for _ in range(20):
        u = drive.give(u, np.ones(1))
    assert u[0] == pytest.approx(1 - np.exp(-1), rel=1e-12)
    assert kb.Drive().give(np.zeros(1), np.ones(1))[0] == 1.0


def test_noise_has_the_size_asked_for_and_is_the_same_again():
    plant, drive = kb.build(sled(1)), kb.Drive(position_noise=2e-3, speed_noise=0.1, seed=4)
    readings = np.array([np.concatenate(drive.read(plant, k, np.zeros(1), np.ones(1))) for k in range(2000)])
    assert readings.mean(axis=0) == pytest.approx([0.0, 1.0], abs=0.01)
    assert readings.std(axis=0) == pytest.approx([2e-3, 0.1], rel=0.08)
    ends = [
        kb.simulate(sled(1), 0.5, control=kb.Drive(speed_noise=0.1, seed=seed).around(LAW))["sled.travel"][-1]
        for seed in (1, 1, 2)
    ]
    assert ends[0] == ends[1] != ends[2]


def test_noise_keeps_quaternions_of_length_one():
    body = kb.Body("ball", kb.Solid(1.0, inertia=(1, 1, 1)), joint=kb.Spherical())
    plant = kb.build(kb.System("ball", parts=(body,)))
    q, _ = kb.Drive(position_noise=0.1).read(plant, 0, plant.start.q, plant.start.v)
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-14)
    assert np.abs(q - plant.start.q).max() > 1e-3


def test_a_drive_stands_before_a_sampled_law_and_a_servo():
    made = kb.servo(sled(1), GOAL, model={"sled.mass": 2.5}, correction=kb.Adaptive(1e3))
    plain, driven = (kb.simulate(sled(1), control=control) for control in (made, kb.Drive().around(made)))
    np.testing.assert_array_equal(plain.q, driven.q)
    stateless = kb.Sampled(lambda _t, q, _v: {"motor1": 20 * (0.05 - q[0])}, 1000.0)
    runs = [kb.simulate(sled(1), 0.2, control=control) for control in (stateless, kb.Drive().around(stateless))]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    counting = kb.Sampled(lambda _t, _q, _v, n: ({"motor1": 0.1 * n}, n + 1), 1000.0, state=0)
    runs = [kb.simulate(sled(1), 0.2, control=control) for control in (counting, kb.Drive().around(counting))]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    with pytest.raises(ControlError, match="sampled at 1000 Hz, the drive at 500 Hz"):
        kb.simulate(sled(1), 0.2, control=kb.Drive(rate=500.0).around(stateless))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: kb.Drive(rate=0.0), "Drive.rate: expected a number above zero, got 0.0."),
        (lambda: kb.Drive(lag=-1.0), "Drive.lag: expected zero or more, got -1.0."),
        (lambda: kb.Drive(seed=-1), "Drive.seed: expected a whole number, zero or more, got -1."),
        (
            lambda: kb.Drive().around(3),
            "Drive.around.control: expected {a text: a text or a number}, a Sampled or a Controller, got 3.",
        ),
        (lambda: kb.control.PID(-1.0), "PID.proportional: expected zero or more, got -1.0."),
    ],
)
def test_what_is_no_drive_is_refused(made, words):
    with pytest.raises(ControlError) as caught:
        made()
    assert str(caught.value) == words
