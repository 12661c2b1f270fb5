"""Exported controllers: from encoders to efforts, beside the law itself, and in a closed loop."""

import ctypes
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import KalabaError
from kalaba.export.c import export_c
from kalaba.export.c.encoders import encoders_of
from sizes import scaled
from unit.export.c_programs import Library, needs_compiler, trial

OK, OPEN, NOT_FINITE = 0, 1, 2
CLOSED = 1e-14  # m, rad: what rounding leaves of a row
RATE = 1000.0  # Hz


@dataclass
class Compiled:
    """An exported controller at work; its state is t, q, v, row gap, encoder gap, last step."""

    plant: kb.Plant
    library: Library

    def __post_init__(self) -> None:
        readings = [reading.canonical for reading in encoders_of(self.plant).readings]
        self.q_read = [self.plant.coordinates.index(name) for name in readings]
        self.v_read = [self.plant.velocities.index(name) for name in readings]
        self.n_q, self.n_v = len(self.plant.coordinates), len(self.plant.velocities)
        self.state = np.zeros(1 + self.n_q + self.n_v + 3)
        self.p = self.library.numbers("ctl_parameters", len(self.plant.parameters))
        self.efforts = np.zeros(len(self.plant.actuators))

    @property
    def q(self) -> np.ndarray:
        return self.state[1 : 1 + self.n_q]

    @property
    def gaps(self) -> np.ndarray:
        """Of the rows and of the encoders."""
        return self.state[-3:-1]

    def reset(self, q: np.ndarray) -> int:
        return self.library.call("ctl_reset", 0.0, q[self.q_read].copy(), self.p, self.state, result=ctypes.c_int)

    def servo(self, t: float, encoders: np.ndarray, rates: np.ndarray) -> int:
        given = (t, np.ascontiguousarray(encoders), np.ascontiguousarray(rates), self.p, self.state, self.efforts)
        return self.library.call("ctl_servo", *given, result=ctypes.c_int)

    def sampled(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The controller as a run samples it: it sees encoders only."""
        assert self.servo(t, q[self.q_read], v[self.v_read]) == OK
        return self.efforts.copy()


def exported(scenario: kb.Scenario, place: Path, **how: object) -> Compiled:
    source = export_c(scenario, place / "ctl.c", "servo", **how)[0]
    return Compiled(kb.build(scenario.system), Library.of(source))


@pytest.fixture(scope="module")
def six_motors(tmp_path_factory) -> tuple[Compiled, kb.Scenario, Path]:
    place, scenario = tmp_path_factory.mktemp("six"), kb.scenario("pus-upu")
    return exported(scenario, place), scenario, place / "ctl.c"


@needs_compiler
def test_six_encoders_of_five_freedoms_give_the_efforts_of_the_law(six_motors):
    _, _, source = six_motors
    done = trial(source)
    assert done.returncode == 0, done.stdout
    assert "at most 1e-12" in done.stdout  # from where the machine was a millisecond before


@needs_compiler
def test_the_exported_servo_leads_the_platform_round_its_circle(six_motors):
    made, scenario, _ = six_motors
    plant, course = made.plant, scenario.control.bind(made.plant).course
    assert made.reset(course.start.q) == OK
    run = kb.simulate(plant, 1.0, start=course.start, control=kb.Sampled(made.sampled, RATE))
    errors = [
        np.abs(course.demand(kb.State(q, v), t).error).max() for t, q, v in zip(run.time, run.q, run.v, strict=True)
    ]
    assert max(errors) < 1e-5  # m, rad: efforts held for 1 ms on a path that begins with a jerk; the law itself 1e-6
    assert np.abs(made.q - run.q[-1]).max() < 1e-3  # the last sample was one period before the end
    assert made.gaps.max() < CLOSED


@needs_compiler
def test_the_exported_law_is_the_one_that_drives_a_run(six_motors):
    made, scenario, _ = six_motors
    run = kb.simulate(made.plant, 0.3, control=scenario.control)
    for t, q, v, actuation in zip(run.time, run.q, run.v, run.actuation, strict=True):
        made.library.call("ctl_law", t, q.copy(), v.copy(), made.p, made.efforts)
        # the same expressions in another order of rounding; 1e-13 was seen
        assert np.abs(made.efforts - actuation).max() < 1e-12 * np.abs(actuation).max()


@needs_compiler
def test_contradicting_encoders_share_their_errors_by_least_squares(six_motors):
    made, scenario, _ = six_motors
    start = scenario.control.start(made.plant)
    assert made.reset(start.q) == OK
    errors = 1e-4 * np.array([1.0, -2.0, 0.5, 0.0, 3.0, -1.0])  # m
    read = start.q[made.q_read] + errors
    assert made.servo(0.0, read, np.zeros(6)) == OK
    row_gap, encoder_gap = made.gaps
    assert row_gap < CLOSED  # the structure holds exactly
    assert 1e-5 < encoder_gap < 3e-4
    left = read - made.q[made.q_read]
    A = made.plant.constraint(made.q, np.zeros(made.n_v))[0]
    free = np.linalg.svd(A)[2][len(A) :].T
    assert np.abs(free[made.v_read].T @ left).max() < 1e-9  # no motion makes the squares less: normal equations, m²


@needs_compiler
def test_a_jump_of_an_encoder_is_told_and_leaves_state_and_efforts(six_motors):
    made, scenario, _ = six_motors
    start = scenario.control.start(made.plant)
    assert made.reset(start.q) == OK
    read, still = start.q[made.q_read], np.zeros(6)
    assert made.servo(0.0, read, still) == OK
    before, efforts = made.state[:-3].copy(), made.efforts.copy()
    for jump, status in ((0.5, OPEN), (np.nan, NOT_FINITE)):
        spoilt = read + jump * np.eye(6)[0]
        assert made.servo(1e-3, spoilt, still) == status
        np.testing.assert_array_equal(made.state[:-3], before)
        np.testing.assert_array_equal(made.efforts, efforts)
    assert made.servo(1e-3, read, still) == OK


@needs_compiler
def test_a_machine_is_found_where_it_is_switched_on(six_motors):
    made, scenario, _ = six_motors
    course = scenario.control.bind(made.plant).course
    elsewhere = course.at(2.5, course.at(1.2, course.start.q).q)  # half a circle away
    assert made.reset(elsewhere.q) == OK
    assert np.abs(made.q - elsewhere.q).max() < 1e-12


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("how", [kb.MinMax(), kb.Bounded((-450.0,) * 6, (450.0,) * 6)])
def test_other_allocations_of_six_motors_agree_too(how, tmp_path):
    done = trial(export_c(kb.scenario("pus-upu"), tmp_path / "ctl.c", "servo", how)[0])
    assert done.returncode == 0, done.stdout


def three_motors() -> kb.Scenario:
    """The five-bar with a third motor, its cranks led by a servo."""
    system = kb.load("five-bar", motors=3)
    goals = (
        kb.follow("left.crank.angle", "2.0 + 0.2*sin(3*t)"),
        kb.follow("right.crank.angle", "pi - 2.0 + 0.2*(cos(3*t) - 1)"),
    )
    return kb.Scenario(system, 1.0, control=kb.servo(system, goals))


@needs_compiler
@pytest.mark.parametrize(
    "how", [None, kb.LeastSquares((1.0, 2.0, 3.0)), kb.MinMax(), kb.Bounded((-6.0,) * 3, (6.0,) * 3)]
)
def test_a_system_of_ones_own_with_a_servo_agrees_for_every_allocation(how, tmp_path):
    done = trial(export_c(three_motors(), tmp_path / "ctl.c", "servo", how)[0])
    assert done.returncode == 0, done.stdout


@needs_compiler
@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_laws_in_words_are_exported_as_well(name, tmp_path):
    done = trial(export_c(kb.scenario(name), tmp_path / "ctl.c", "servo")[0])
    assert done.returncode == 0, done.stdout


@needs_compiler
def test_wheels_tell_where_a_platform_has_rolled_to(tmp_path):
    scenario = kb.scenario("differential-drive")
    made, control = exported(scenario, tmp_path), scenario.control
    course = control.bind(made.plant).course
    assert made.reset(course.start.q) == OK
    run = kb.simulate(made.plant, 2.0, start=course.start, control=kb.Sampled(made.sampled, RATE))
    errors = [
        np.abs(course.demand(kb.State(q, v), t).error).max() for t, q, v in zip(run.time, run.q, run.v, strict=True)
    ]
    assert max(errors) < 1e-4  # m: held efforts; odometry by the midpoint rule drifts by 1e-7 in this time


@needs_compiler
def test_what_no_encoder_sees_is_held_where_the_law_does_not_read_it(tmp_path):
    scenario = kb.scenario("flexible-four-bar")
    made = exported(scenario, tmp_path)
    assert "No encoder tells of coupler.mode1, coupler.mode2" in (tmp_path / "ctl.h").read_text()
    assert made.reset(made.plant.start.q) == OK
    for k in range(1, 2000):  # two turns and more of the crank: the loop stays closed, with a rigid coupler
        t = k / RATE
        assert made.servo(t, np.array([made.plant.start.q[0] + 10 * t]), np.array([10.0])) == OK
    assert made.gaps.max() < 1e-12
    modes = [made.plant.coordinates.index(f"coupler.mode{k}") for k in (1, 2)]
    assert np.abs(made.q[modes] - made.plant.start.q[modes]).max() < 1e-14  # m: rounding of 8000 steps
    assert abs(made.efforts[0]) < 1e-12  # 0.2 (10 − rate): the rate is the encoder's


@needs_compiler
def test_further_encoders_make_a_flexible_machine_known(tmp_path):
    scenario = kb.scenario("flexible-four-bar")
    plant = kb.build(scenario.system)
    more = tuple(name for name in plant.coordinates if name != "crank.angle")
    done = trial(export_c(scenario, tmp_path / "ctl.c", "servo", encoders=more)[0])
    assert done.returncode == 0, done.stdout


@needs_compiler
@pytest.mark.parametrize("length", [1.0, 1e-6, 1e4])
def test_a_state_is_refused_alike_at_any_size(length, tmp_path):
    """Cranks that turned by 0.4 rad since the last sample are too far off for four steps, at 1 µm as at 1 m."""
    system = scaled(kb.load("five-bar"), length, 1.0)
    goals = kb.follow("left.crank.angle", 2.0), kb.follow("right.crank.angle", np.pi - 2.0)
    made = exported(kb.Scenario(system, 1.0, control=kb.servo(system, goals)), tmp_path)
    start = made.plant.start.q
    statuses = []
    for turn in (1e-3, 0.1, 0.4):
        assert made.reset(start) == OK
        statuses.append(made.servo(1e-3, start[made.q_read] + turn, np.zeros(len(made.q_read))))
    assert statuses == [OK, OK, OPEN]


def weak_arm() -> kb.Scenario:
    """Two links whose motors give little; the second link is driven twice."""
    hinge = kb.Revolute(-kb.Y)
    driven = {"motor1": ("upper.angle", 4.0), "motor2": ("lower.angle", 2.0), "motor3": ("lower.angle", 1.0)}
    system = kb.System(
        "weak",
        parts=(
            kb.Body("upper", kb.Rod(0.5, mass=2.0), joint=hinge),
            kb.Body("lower", kb.Rod(0.4, mass=1.0), parent="upper.tip", joint=hinge),
            *(kb.Actuator(name, angle, limit=limit) for name, (angle, limit) in driven.items()),
        ),
        start=kb.Start(hold={"upper.angle": 0.9, "lower.angle": -1.2}),
    )
    goals = kb.follow("upper.angle", 0.9), kb.follow("lower.angle", -1.2)
    return kb.Scenario(system, 1.0, control=kb.servo(system, goals))


@needs_compiler
@pytest.mark.parametrize("how", [None, kb.MinMax(), kb.Bounded((-3.0, -9.0, -9.0), (9.0, 1.5, 9.0))])
def test_exported_efforts_stay_within_limits_and_bounds(how, tmp_path):
    """Far from where it should be the law asks for more than the motors may give, on both sides."""
    made, scenario = exported(weak_arm(), tmp_path, allocation=how), weak_arm()
    low, high = np.array([-4.0, -2.0, -1.0]), np.array([4.0, 2.0, 1.0])
    if isinstance(how, kb.Bounded):
        low[0], high[1] = -3.0, 1.5
    for sign in (-1.0, 1.0):
        q, v = scenario.control.start(made.plant).q - sign * 1.5, np.zeros(2)
        made.library.call("ctl_law", 0.0, q, v, made.p, made.efforts)
        assert made.efforts == pytest.approx(high if sign > 0 else low, abs=1e-12)


def refused(scenario: kb.Scenario, place: Path, **how: object) -> str:
    with pytest.raises(KalabaError) as error:
        export_c(scenario, place / "ctl.c", "servo", **how)
    assert list(place.iterdir()) == []
    return str(error.value)


def test_laws_that_need_a_solver_or_python_are_refused(tmp_path):
    scenario = three_motors()
    learning = replace(scenario, control=replace(scenario.control, correction=kb.Adaptive(50.0)))
    assert "Adaptive correction learns while it runs" in refused(learning, tmp_path)
    sampled = replace(scenario, control=kb.Sampled(lambda t, q, v: np.zeros(3), 100.0))
    assert "sampled Python function" in refused(sampled, tmp_path)
    assert "which alone has an allocation" in refused(kb.scenario("four-bar"), tmp_path, allocation=kb.MinMax())


def test_more_than_one_spare_motor_is_for_least_squares_only(tmp_path):
    arm = kb.load("puma560")
    doubled = kb.System(
        "doubled",
        parts=(*arm.parts, *(kb.Actuator(f"second{k}", f"link{k}.angle", limit=50.0) for k in (1, 2))),
        gravity=arm.gravity,
        start=arm.start,
    )
    control = kb.control.Servo((kb.posture(),), "all", kb.MinMax())
    message = refused(kb.Scenario(doubled, 1.0, control=control), tmp_path)
    assert "MinMax with more than one spare motor needs a solver at every sample" in message


def test_a_law_that_reads_what_no_encoder_sees_is_refused(tmp_path):
    system = kb.load("flexible-four-bar")
    reads = kb.Scenario(system, 1.0, control={"motor": "0.1*rate(coupler.mode1)"})
    assert "1 encoder of the motors and the rows do not tell how" in refused(reads, tmp_path)


def test_a_rate_is_no_encoder(tmp_path):
    scenario = three_motors()
    message = refused(scenario, tmp_path, encoders=("rate(left.rod.angle)",))
    assert "expected an expression of coordinates, got one with rates" in message
