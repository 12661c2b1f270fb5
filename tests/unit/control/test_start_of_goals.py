"""Relative paths, kept attitudes and postures are counted from where a run starts, by every control that has goals."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.control.servo import StartWarning

SLIDE = kb.System(
    "slide",
    parts=(
        kb.Body("cart", kb.Solid(1.0, inertia=(1, 1, 1)), joint=kb.Prismatic(kb.X)),
        kb.Body("lift", kb.Solid(0.5, inertia=(1, 1, 1)), parent="cart", joint=kb.Prismatic(kb.Z)),
        kb.Actuator("drive", "cart.travel"),
        kb.Actuator("hoist", "lift.travel"),
    ),
)
METRE = kb.path.line((0, 0, 0), (1, 0, 0), timing=kb.path.MinimumJerk(1.0)).relative()
GOALS = (kb.follow("cart", METRE, orientation="free"), kb.posture())
FINE = kb.DormandPrince(1e-8)
GAINS = kb.control.PID(4000.0, 2000.0, 200.0)
CONTROLS = {
    "servo": lambda: kb.servo(SLIDE, GOALS),
    "sampled": lambda: kb.servo(SLIDE, GOALS, correction=kb.Adaptive(10.0)),
    "driven": lambda: kb.Drive(rate=2000.0).around(kb.servo(SLIDE, GOALS)),
    "hybrid": lambda: kb.Hybrid(GOALS, position=GAINS, force=GAINS, drive=kb.Drive(rate=2000.0)),
    "ideal": lambda: kb.control.IdealServo(GOALS, stacked=True, frequency=20.0),
}


@pytest.mark.parametrize("name", CONTROLS)
def test_a_second_relative_metre_goes_on_from_the_first(name):
    """The lift, which the posture holds, stays where the second run finds it, not where the machine starts."""
    stepper = kb.RungeKutta4(5e-4) if name in {"sampled", "driven", "hybrid"} else FINE
    control = CONTROLS[name]()
    first = kb.simulate(SLIDE, 1.0, control=control, stepper=stepper)
    raised = kb.State(first.end.q + np.array([0.0, 0.2]), np.zeros(2))
    second = kb.simulate(SLIDE, 1.0, start=raised, control=control, stepper=stepper)
    near = (
        2e-3 if stepper is not FINE else 1e-6
    )  # m: a held effort lags by half a sample; else the tolerance of the run
    assert second["cart.travel"][0] == pytest.approx(1.0, abs=near)
    assert second["cart.travel"].min() > 1.0 - near
    assert second["cart.travel"][-1] == pytest.approx(2.0, abs=2 * near)
    assert np.abs(second["lift.travel"] - 0.2).max() < 3 * near
    errors = kb.control.goal_errors(second, GOALS)["m"]
    assert errors.max() < 20 * near


def test_a_servo_takes_the_state_that_its_goals_count_from():
    first = kb.simulate(SLIDE, control=kb.servo(SLIDE, GOALS), stepper=FINE)
    second = kb.servo(SLIDE, GOALS, start=first.end)
    run = kb.simulate(SLIDE, control=second, stepper=FINE)
    assert run["cart.travel"][[0, -1]] == pytest.approx([1.0, 2.0], abs=1e-6)
    assert kb.control.goal_errors(run, GOALS, start=first.end)["m"].max() < 1e-6
    with pytest.warns(StartWarning, match=r"cart\.x starts 1 m or rad off its path"):
        kb.simulate(SLIDE, 0.01, start=kb.build(SLIDE).start, control=second)


def test_a_servo_made_for_other_starts_has_no_code_of_its_own():
    """What is counted from is numbers of the kernel: another start needs no other code."""
    plant = kb.build(SLIDE)
    laws = [kb.servo(plant, GOALS, start=(q, np.zeros(2))) for q in ([0.0, 0.0], [1.0, 0.3])]
    made = [law.law(plant, law.start(plant)) for law in laws]
    assert made[0].label == made[1].label
    assert made[0].numbers != made[1].numbers


def test_efforts_without_a_run_count_from_a_start_too():
    """A pendulum that turns on from where it hangs takes other efforts than from its own start."""
    rod = kb.System(
        "rod",
        parts=(
            kb.Body("rod", kb.Rod(1.0, mass=2.0), joint=kb.Revolute(-kb.Y)),
            kb.Actuator("motor", "rod.angle"),
        ),
    )
    efforts = kb.inverse_dynamics(rod, kb.posture(), times=[0.0], start=([0.8], [0.0]))
    assert efforts.actuation[0, 0] == pytest.approx(2.0 * 9.81 / 2 * np.cos(0.8), rel=1e-9)


def test_a_path_out_of_reach_from_where_a_run_starts_is_refused():
    """The servo is within reach from the machine's own start; a metre further out it is not."""
    arm = kb.System(
        "arm",
        parts=(
            kb.Body("upper", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(-kb.Y)),
            kb.Body("lower", kb.Rod(1.0, mass=1.0), parent="upper.tip", joint=kb.Revolute(-kb.Y)),
            kb.Actuator("m1", "upper.angle"),
            kb.Actuator("m2", "lower.angle"),
        ),
        start=kb.Start(hold={"upper.angle": 1.2, "lower.angle": -2.0}),
    )
    reach = kb.path.line((0, 0, 0), (0.5, 0, 0), duration=1.0).relative()
    made = kb.servo(arm, kb.follow("lower.tip", reach, orientation="free"))
    with pytest.raises(
        kb.KalabaError, match=r"arm: the goals cannot be met at t = .* Is the path inside the workspace"
    ):
        kb.simulate(arm, start=([0.2, -0.4], [0.0, 0.0]), control=made)


def test_of_goals_that_cannot_be_met_the_row_that_is_farthest_open_is_named():
    """A rocker that is to turn all the way round: the pin of its loop opens."""
    plant = kb.build(kb.load("four-bar"))
    begin = float(plant.start.q[plant.coordinates.index("rocker.angle")])
    with pytest.raises(kb.KalabaError, match=r"the goals cannot be met at t = 1 s; pin\.x misses by 0\.0147"):
        kb.inverse_dynamics(plant, kb.follow("rocker.angle", f"{begin!r} + 3*t^2"), times=[0.0, 0.5, 1.0])
