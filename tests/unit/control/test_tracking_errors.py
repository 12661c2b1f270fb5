"""How far a run is from its goals, against what its frames say."""

import numpy as np
import pytest

import kalaba as kb

LINE = kb.path.line((0.5, 0.0, 0.3), (0.4, 0.0, 0.4), timing=kb.path.MinimumJerk(0.5))
ARM = kb.System(
    "arm",
    parts=(
        kb.Body("upper", kb.Rod(0.4, mass=2.0), joint=kb.Revolute(-kb.Y)),
        kb.Body("lower", kb.Rod(0.4, mass=1.0), parent="upper.tip", joint=kb.Revolute(-kb.Y)),
        kb.Actuator("shoulder", "upper.angle"),
        kb.Actuator("elbow", "lower.angle"),
    ),
    start=kb.Start(guess={"upper.angle": 1.2, "lower.angle": -1.3}),
)
GOAL = kb.follow("lower.tip", LINE, orientation="free")


def test_the_error_is_the_distance_of_a_frame_from_its_path():
    run = kb.simulate(ARM, 0.5, control=kb.servo(ARM, GOAL, model={"lower.mass": 0.5}))
    found = np.stack([run[f"lower.tip.{axis}"] for axis in "xyz"], axis=1)
    expected = np.linalg.norm(found - LINE.at(run.time).position, axis=1)
    assert expected.max() > 1e-4  # the law believes a wrong mass
    assert kb.control.goal_errors(run, GOAL)["m"] == pytest.approx(expected, abs=1e-12)


def test_angles_and_lengths_are_kept_apart():
    goals = (kb.follow("upper.angle", 1.0), kb.follow("lower.tip.z", 0.3))
    run = kb.simulate(ARM, 0.1, control=kb.servo(ARM, goals))
    errors = kb.control.goal_errors(run, goals)
    assert set(errors) == {"m", "rad"}
    assert errors["rad"] == pytest.approx(np.abs(run["upper.angle"] - 1.0), abs=1e-14)
    assert errors["m"] == pytest.approx(np.abs(run["lower.tip.z"] - 0.3), abs=1e-14)


def test_a_drive_passes_the_goals_on():
    control = kb.servo(ARM, GOAL)
    assert kb.Drive().around(control).goals == control.goals
    assert kb.Drive().around({"elbow": "0"}).goals == ()
