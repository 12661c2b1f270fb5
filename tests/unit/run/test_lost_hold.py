"""Goals that lead through a singular position of the second kind: the run says where, with σ."""

import warnings

import numpy as np
import pytest

import kalaba as kb
from kalaba.run.lost_hold import HoldWarning

HINGE = kb.Revolute(-kb.Y)


def press(*motors: kb.Actuator) -> kb.System:
    """A slider-crank: at its dead point the ram cannot turn the crank."""
    return kb.System(
        "press",
        parts=(
            kb.Body("crank", kb.Rod(0.3, mass=2.0), joint=HINGE),
            kb.Body("rod", kb.Rod(0.8, mass=1.0), parent="crank.tip", joint=HINGE),
            kb.Body("ram", kb.Solid(3.0, inertia=(1, 1, 1)), joint=kb.Prismatic(kb.X)),
            kb.Connection("pin", "rod.tip", parent="ram", joint=HINGE),
            *motors,
        ),
        start=kb.Start(hold={"crank.angle": 1.0}, guess={"rod.angle": -1.3, "ram.travel": 0.9}),
    )


def five_bar() -> kb.System:
    """Two cranks and two rods: the tip is lost where the rods lie in one line."""
    parts = (
        kb.Body("left", kb.Rod(0.5, mass=1.0), joint=HINGE),
        kb.Body("left_rod", kb.Rod(0.5, mass=1.0), parent="left.tip", joint=HINGE),
        kb.Body("right", kb.Rod(0.5, mass=1.0), at=(0.4, 0, 0), joint=HINGE),
        kb.Body("right_rod", kb.Rod(0.5, mass=1.0), parent="right.tip", joint=HINGE),
        kb.Connection("pin", "left_rod.tip", parent="right_rod.tip", joint=HINGE),
        kb.Actuator("left_motor", "left.angle"),
        kb.Actuator("right_motor", "right.angle"),
    )
    guess = {"left.angle": 1.9, "left_rod.angle": -0.9, "right.angle": 1.24, "right_rod.angle": 0.9}
    return kb.System("five-bar", parts, start=kb.Start(guess=guess))


@pytest.mark.parametrize("limit", [np.inf, 200.0])
@pytest.mark.parametrize("rate", [2.0, 1.003])
@pytest.mark.parametrize("kind", ["native", "adaptive", "driven"])
def test_a_dead_point_is_told_with_its_time_and_sigma(kind, rate, limit):
    """Whether a sample is at the dead point or on both sides of it, and whether or not the motors have limits."""
    system = press(kb.Actuator("push", "ram.travel", limit=limit))
    goal = kb.follow("crank.angle", f"1 - {rate}*t")
    control = kb.servo(system, goal, correction=kb.Adaptive(1.0) if kind == "adaptive" else None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = kb.simulate(system, 1.2, control=kb.Drive().around(control) if kind == "driven" else control, check=False)
    words = [str(one.message) for one in told if one.category is HoldWarning]
    assert len(words) == 1
    assert "press: its motors lose hold of it at t = " in words[0]
    assert "a singular position of the second kind (σ = " in words[0]
    passed = run.time[np.argmax(run["crank.angle"] <= 0)] if (run["crank.angle"] <= 0).any() else run.time[-1]
    assert run.lost_hold.time == pytest.approx(passed, abs=0.05)
    assert 0 <= run.lost_hold.sigma < 0.1
    if run.status.failed:
        assert "its motors lose hold of it" in run.status.message


def test_a_platform_is_lost_where_its_rods_lie_in_one_line():
    plant = kb.build(five_bar())
    down = kb.path.line((0, 0, 0), (0, 0, -0.55), timing=kb.path.MinimumJerk(1.0)).relative()
    control = kb.servo(plant, kb.follow("left_rod.tip", down, orientation="free"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = kb.simulate(plant, control=control, check=False)
    assert run.lost_hold is not None
    stretched = np.abs(run["left.angle + left_rod.angle - right.angle - right_rod.angle"])
    nearest = run.time[np.argmin(np.abs(np.sin(stretched)))]
    assert run.lost_hold.time == pytest.approx(nearest, abs=0.03)


def test_it_stays_in_the_file(tmp_path):
    system = press(kb.Actuator("push", "ram.travel"))
    with pytest.warns(HoldWarning):
        run = kb.simulate(system, 0.6, control=kb.servo(system, kb.follow("crank.angle", "1 - 2*t")))
    assert kb.open_run(run.save(tmp_path / "run.nc")).lost_hold == run.lost_hold


def test_a_second_motor_keeps_hold():
    system = press(kb.Actuator("push", "ram.travel", limit=100.0), kb.Actuator("turn", "crank.angle", limit=100.0))
    run = kb.simulate(system, 0.6, control=kb.servo(system, kb.follow("crank.angle", "1 - 2*t")))
    assert run.lost_hold is None


def test_motors_that_are_too_weak_or_a_sudden_start_are_no_singular_position():
    system = press(kb.Actuator("turn", "crank.angle", limit=2.0))
    with pytest.warns(kb.run.ShortfallWarning):
        run = kb.simulate(system, 0.3, control=kb.servo(system, kb.follow("crank.angle", "1 - 2*t")))
    assert run.lost_hold is None


def test_motors_that_follow_no_goal_have_nothing_to_lose():
    """A push that comes at once, through the dead point, by an expression of time."""
    system = press(kb.Actuator("push", "ram.travel"))
    run = kb.simulate(system, 0.8, control={"push": "200*exp(-(100*(t - 0.05))^2)"}, check=False)
    assert (run["crank.angle"] < 0).any()
    assert run.lost_hold is None
