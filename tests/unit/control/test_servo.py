"""Servo control: what is asked is done by the motors, and what cannot be done is refused in one line."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.control import course
from kalaba.control.servo import StartWarning
from kalaba.errors import ControlError
from kalaba.plant.laws import law_function

PUT_TOGETHER = course._put_together
HINGE = kb.Revolute(-kb.Y)
ARM = kb.System(
    "arm",
    parts=(
        kb.Body("upper", kb.Rod(0.5, mass=2.0), joint=HINGE),
        kb.Body("lower", kb.Rod(0.4, mass=1.0), parent="upper.tip", joint=HINGE),
        kb.Body("hand", kb.Rod(0.2, mass=0.5), parent="lower.tip", joint=HINGE),
        *(
            kb.Actuator(f"motor{i}", f"{name}.angle", limit=60.0)
            for i, name in enumerate(("upper", "lower", "hand"), 1)
        ),
    ),
    start=kb.Start(hold={"upper.angle": 0.9, "lower.angle": -1.2, "hand.angle": 0.4}),
)


def moved(point, x, z):
    return (point[0] + x, point[1], point[2] + z)


@pytest.fixture(scope="module")
def arm():
    return kb.build(ARM)


def test_a_frame_follows_a_line_and_the_posture_holds_the_rest(arm):
    tip = arm.pose("hand.tip", arm.start.q).position
    line = kb.path.line(tuple(tip), moved(tip, -0.1, 0.05), timing=kb.path.MinimumJerk(1.0))
    made = kb.servo(arm, (kb.follow("hand.tip", line, orientation="free"), kb.posture()))
    run = kb.simulate(arm, control=made, stepper=kb.DormandPrince(1e-10))
    assert run.time[-1] == pytest.approx(1.0)
    found = np.stack([run[f"hand.tip.{axis}"] for axis in "xyz"], axis=1)
    assert np.abs(found - line.at(run.time).position).max() < 1e-8
    assert np.abs(run["upper.angle"] - 0.9).max() < 1e-8  # the motors' displacements are held first


def test_a_displacement_follows_an_expression_of_time(arm):
    goals = [kb.follow(f"{name}.angle", text) for name, text in (("upper", "0.9 + 0.2*sin(3*t)"), ("hand", "0.4 - t"))]
    made = kb.servo(arm, (*goals, kb.follow("lower.angle", -1.2)))
    run = kb.simulate(arm, 0.5, control=made, stepper=kb.DormandPrince(1e-10))
    assert np.abs(run["upper.angle"] - 0.9 - 0.2 * np.sin(3 * run.time)).max() < 1e-9
    assert np.abs(run["hand.angle"] - 0.4 + run.time).max() < 1e-9
    assert run.v[0] == pytest.approx([0.6, 0.0, -1.0], abs=1e-12)  # it starts on the path, moving


def test_feedback_brings_a_machine_back_with_the_gains_asked_for(arm):
    goals = [kb.follow(f"{name}.angle", value) for name, value in (("upper", 0.9), ("lower", -1.2), ("hand", 0.4))]
    made = kb.servo(arm, goals, frequency=5.0, damping=1.0)
    start = kb.State(arm.start.q + np.array([0.1, 0, 0]), np.zeros(3))
    with pytest.warns(StartWarning, match=r"arm: upper\.angle starts 0\.1 m or rad off its path"):
        run = kb.simulate(arm, 1.0, start=start, control=made, stepper=kb.DormandPrince(1e-10))
    expected = 0.9 + 0.1 * (1 + 5 * run.time) * np.exp(-5 * run.time)  # e'' + 2ζω e' + ω² e = 0
    assert np.abs(run["upper.angle"] - expected).max() < 1e-8


def test_a_run_in_leads_from_where_the_machine_is_to_the_path(arm):
    tip = arm.pose("hand.tip", arm.start.q).position
    away = kb.path.line(moved(tip, -0.05, 0.0), moved(tip, -0.1, 0.05), duration=1.0)
    made = kb.servo(arm, (kb.follow("hand.tip", away, orientation="free"), kb.posture()), run_in=0.5)
    run = kb.simulate(arm, control=made, stepper=kb.DormandPrince(1e-9))
    found = np.stack([run[f"hand.tip.{axis}"] for axis in "xyz"], axis=1)
    assert np.abs(found[0] - tip).max() < 1e-12
    after = run.time >= 0.5
    assert np.abs(found[after] - away.at(run.time[after]).position).max() < 1e-7


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (
            kb.follow("upper.angle", "1 + t"),
            "no goal speaks for 2 of its 3 freedoms, which move lower.angle, hand.angle",
        ),
        (kb.follow("nowhere", kb.path.circle(0.1, 0.1)), "has no frame 'nowhere'"),
        (kb.follow("hand.tip.x - 0.1*sin(t)", 0.0), "without t and rates, got 'hand.tip.x - 0.1\\*sin"),
        (kb.follow("rate(hand.tip.x)", 0.1), "without t and rates, got 'rate"),
        (kb.follow("upper.angel", "t"), "unknown word"),
        (kb.follow("upper.angle", "lower.angle"), "expected an expression of t"),
        ("upper.angle", "servo.goals: expected a Follow"),
    ],
)
def test_goals_that_make_no_sense_are_refused(arm, goal, words):
    with pytest.raises(kb.KalabaError, match=words):
        kb.servo(arm, goal)


def test_goals_beyond_the_motors_are_refused_with_the_missing_direction(arm):
    with pytest.raises(ControlError, match=r"cannot push along .*hand\.angle.*3 goals, 2 directions"):
        kb.servo(
            arm,
            [kb.follow(f"{name}.angle", 0.5) for name in ("upper", "lower", "hand")],
            actuators=("motor1", "motor2"),
        )


def test_a_path_that_leaves_the_workspace_is_refused_where_it_leaves(arm):
    tip = arm.pose("hand.tip", arm.start.q).position
    line = kb.path.line(tuple(tip), moved(tip, 2.0, 0.0), duration=2.0)
    with pytest.raises(ControlError, match=r"m along the path of hand\.tip; hand\.tip\.x misses by"):
        kb.servo(arm, (kb.follow("hand.tip", line, orientation="free"), kb.posture()))


def test_a_motor_that_does_not_exist_is_named(arm):
    with pytest.raises(ControlError, match="no actuator 'motor4'; did you mean motor"):
        kb.servo(arm, kb.posture(), actuators="motor4")


def test_what_is_no_allocation_rule_is_refused(arm):
    for wrong in ("min-max", kb.MinMax, object()):
        with pytest.raises(ControlError, match=r"^servo\.allocation: expected an Allocation"):
            kb.servo(arm, kb.posture(), allocation=wrong)


def test_the_interpreted_backend_gives_the_same_efforts():
    goals = [kb.follow("leg1.link_b.tip.x", "0.2115 + 0.01*cos(t)"), kb.follow("leg1.link_b.tip.y", 0.298)]
    system = kb.load("planar-parallel")
    found = [
        kb.inverse_dynamics(kb.build(system, backend=b), goals, times=[0.0, 0.7])
        for b in (kb.Native(), kb.Interpreted())
    ]
    assert np.abs(found[0].actuation - found[1].actuation).max() < 1e-12


def test_with_two_null_directions_a_solver_is_sampled():
    slider = kb.System(
        "slider",
        parts=(
            kb.Body("cart", kb.Box((0.1, 0.1, 0.1), mass=1.0), joint=kb.Prismatic(kb.X)),
            *(kb.Actuator(f"motor{i}", "cart.travel", limit=float(i)) for i in (1, 2, 3)),
        ),
    )
    plant = kb.build(slider)
    made = kb.servo(plant, kb.follow("cart.travel", "0.1*sin(t)"), allocation=kb.MinMax())
    assert isinstance(made.law(plant, made.start(plant)), kb.Sampled)
    run = kb.simulate(plant, 0.5, control=made)
    ratios = run.actuation[5:] / np.array([1.0, 2.0, 3.0])
    assert np.abs(ratios - ratios[:, :1]).max() < 1e-6  # all motors equally far from their limits
    assert np.abs(run["cart.travel"] - 0.1 * np.sin(run.time)).max() < 1e-4


def test_one_evaluation_of_a_servo_law_is_one_kernel():
    plant = kb.build(kb.load("planar-parallel"))
    goals = [kb.follow("leg1.link_b.tip.x", 0.22), kb.follow("leg1.link_b.tip.y", 0.298)]
    made = kb.servo(plant, goals)
    law = made.law(plant, made.start(plant))
    assert law_function(plant, law).kernel.n_outputs == 3


def test_a_ram_between_frames_holds_their_distance_on_its_course():
    crane = kb.System(
        "crane",
        parts=(
            kb.Body("boom", kb.Rod(2.0, mass=20.0), joint=HINGE),
            kb.Frame("foot", "world", (0.5, 0, -0.2)),
            kb.Frame("lug", "boom", (1.0, 0, 0)),
            kb.Actuator("ram", "distance(foot, lug)", limit=2000.0),
        ),
        start=kb.Start(hold={"boom.angle": 0.4}),
    )
    plant = kb.build(crane)
    lug, foot = (plant.pose(name, plant.start.q).position for name in ("lug", "foot"))
    length = float(np.linalg.norm(lug - foot))
    arm = (foot[0] * lug[2] - foot[2] * lug[0]) / length  # of the ram's force about the hinge
    assert plant.actuation_map(plant.start.q)[0, 0] == pytest.approx(arm, rel=1e-12)
    made = kb.servo(plant, kb.follow("distance(foot, lug)", f"{length!r} + 0.05*sin(2*t)^2"))
    run = kb.simulate(plant, 1.0, control=made, stepper=kb.DormandPrince(1e-10))
    assert np.abs(run["distance(foot, lug)"] - length - 0.05 * np.sin(2 * run.time) ** 2).max() < 1e-10


def test_a_course_is_found_once_per_machine(monkeypatch):
    """`servo` checks it, a run starts on it, the law and the errors of the run follow it: all of them the same."""
    plant, count = kb.build(ARM), []
    monkeypatch.setattr(course, "_put_together", lambda *how: count.append(how) or PUT_TOGETHER(*how))
    goals = (kb.follow("upper.angle", "0.9 + 0.1*sin(t)"), kb.posture())
    made = kb.servo(plant, goals)
    run = kb.simulate(plant, 0.05, control=made)
    assert kb.control.goal_errors(run, goals)["rad"].max() < 1e-6
    kb.inverse_dynamics(plant, goals, times=[0.0, 0.1])
    assert len(count) == 1
    kb.servo(plant, goals, run_in=None, allocation=kb.MinMax())
    assert len(count) == 1
    kb.servo(plant, kb.posture())
    kb.servo(kb.build(ARM), goals)
    assert len(count) == 3  # other goals, another machine
