"""Planned motions: as good as the calculus of variations says, and the machine arrives when they are carried out."""

from dataclasses import replace

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ControlError, ModelError

END = {"left.crank.angle": 1.8, "right.crank.angle": 0.6}
SLIDE = kb.Prismatic(kb.X)
FAR, LIMIT, MASSES = 0.6, 3.0, (1.5, 0.5)


def slider(*, motors: int = 1, limit: float = LIMIT) -> kb.System:
    """Two carriages on one rail, held together: all that matters is their mass."""
    names = ("front", "rear")
    return kb.System(
        "carriages",
        gravity=(0, 0, 0),
        parts=(
            *(kb.Body(name, kb.Solid(mass), joint=SLIDE) for name, mass in zip(names, MASSES, strict=True)),
            kb.Constraint("together", {"x": "front.travel - rear.travel"}),
            *(kb.Actuator(f"motor{i}", f"{name}.travel", limit=limit) for i, name in enumerate(names[:motors])),
        ),
    )


@pytest.fixture(scope="module")
def five_bar():
    return kb.build(kb.load("five-bar"))


@pytest.fixture(scope="module")
def easy(five_bar):
    return kb.plan_motion(five_bar, end=END, duration=0.5)


@pytest.fixture(scope="module")
def fast(five_bar):
    return kb.plan_motion(five_bar, end=END, minimise="time")


@pytest.mark.parametrize("motors", [1, 2])
def test_the_least_effort_of_a_mass_is_a_line(motors):
    """∫ u² dt is least for u = 6 m d/T² (1 − 2 t/T), with 12 m² d²/T³; two motors halve it."""
    T, m = 0.8, sum(MASSES)
    found = kb.plan_motion(slider(motors=motors, limit=50.0), end={"front.travel": FAR}, duration=T, knots=9)
    line = 6 * m * FAR / T**2 * (1 - 2 * found.time / T) / motors
    assert np.abs(found.actuation - line[:, None]).max() < 1e-6 * line.max()
    assert found.cost == pytest.approx(12 * m**2 * FAR**2 / T**3 / motors, rel=1e-8)
    assert np.abs(found.q[:, 0] - found.q[:, 1]).max() < 1e-12


def test_weights_share_the_effort():
    """The least ½ uᵀ D u of two motors that push alike: u_i in proportion to 1/D_i."""
    end = {"front.travel": FAR}
    found = kb.plan_motion(slider(motors=2, limit=50.0), end=end, duration=1.0, weights=(1.0, 4.0), knots=9)
    assert np.abs(found.actuation[:, 0] - 4 * found.actuation[:, 1]).max() < 1e-6


def test_the_least_time_of_a_mass_is_full_power_and_full_brake():
    """T = 2 √(m d/limit), from above: between knots efforts are lines, so they take one interval to turn round."""
    found = kb.plan_motion(slider(), end={"front.travel": FAR}, minimise="time", knots=41)
    least = 2 * np.sqrt(sum(MASSES) * FAR / LIMIT)
    assert least < found.duration < 1.01 * least
    assert found.cost == found.duration == found.time[-1]
    assert np.sum(np.abs(found.actuation[:, 0]) > 0.999 * LIMIT) >= 39


def test_an_easy_plan_is_easier_than_minimum_jerk_and_arrives(five_bar, easy):
    assert easy.cost < 0.95 * easy.first
    power = np.trapezoid((easy.actuation**2).sum(axis=1), easy.time)
    assert easy.cost == pytest.approx(power, rel=1e-2)
    alone = kb.simulate(five_bar, control=easy.open_loop)
    assert np.abs(alone.q[-1] - easy.q[-1]).max() < 1e-3
    led = kb.simulate(five_bar, control=easy.control)
    assert led.time[-1] == pytest.approx(0.5)
    assert np.abs(led.q[-1] - easy.q[-1]).max() < 1e-6
    assert np.abs(led.v[-1]).max() < 1e-5


def test_the_reference_is_the_effort_of_inverse_dynamics(five_bar, easy):
    """`first` by another route: a servo along the same minimum jerk."""
    jerk = "(10*(2*t)^3 - 15*(2*t)^4 + 6*(2*t)^5)"
    begin = dict(zip(five_bar.coordinates, five_bar.start.q.tolist(), strict=True))
    goals = [kb.follow(name, f"{begin[name]!r} + ({end - begin[name]!r})*{jerk}") for name, end in END.items()]
    found = kb.inverse_dynamics(five_bar, goals, times=easy.time)
    u, h = found.actuation, easy.time[1]
    squares = (u[:-1] ** 2 + u[:-1] * u[1:] + u[1:] ** 2).sum() * h / 3  # of lines between knots
    assert easy.first == pytest.approx(squares, rel=1e-9)


def test_plans_close_at_every_knot_and_obey_the_dynamics(five_bar, easy, fast):
    for found in (easy, fast):
        assert max(np.abs(five_bar.residual(q)).max() for q in found.q) < 1e-8
        rates = [five_bar.velocity_residual(q, v) for q, v in zip(found.q, found.v, strict=True)]
        assert np.abs(rates).max() < 1e-8 * max(1.0, np.abs(found.v).max())
        assert np.abs(found.v[[0, -1]]).max() == 0.0
        assert np.abs(found.q[0] - five_bar.start.q).max() < 1e-12
        for i in (0, 7, 30):
            motion = five_bar.motion(found.q[i], found.v[i], actuation=found.actuation[i])
            assert motion.acceleration == pytest.approx(found.acceleration[i], rel=1e-5, abs=1e-5)


def test_more_knots_change_the_cost_little(five_bar, easy):
    coarse = kb.plan_motion(five_bar, end=END, duration=0.5, knots=21)
    assert coarse.cost == pytest.approx(easy.cost, rel=1e-3)


def test_a_motor_more_makes_it_easier(easy):
    found = kb.plan_motion(kb.load("five-bar", motors=3), end=END, duration=0.5, knots=21)
    assert found.actuation.shape == (21, 3)
    assert found.cost < 0.99 * easy.cost
    led = kb.simulate(found.plant, control=found.control)
    assert np.abs(led.q[-1] - found.q[-1]).max() < 1e-5


@pytest.mark.filterwarnings(
    "ignore::kalaba.run.shortfall.ShortfallWarning"
)  # at its limits feedback asks for a bit more
def test_the_fastest_plan_uses_the_limits_and_arrives(five_bar, fast):
    assert fast.duration < 0.9 * fast.first
    assert np.abs(fast.actuation).max() <= 10.0
    assert np.mean((np.abs(fast.actuation) > 9.99).any(axis=1)) > 0.9
    stepper = kb.DormandPrince(1e-9)
    alone = kb.simulate(five_bar, control=fast.open_loop, stepper=stepper)
    assert np.abs(alone.q[-1] - fast.q[-1]).max() < 1e-3
    led = kb.simulate(five_bar, fast.duration + 1.0, control=fast.control)  # and held there
    assert np.abs(led.q[-1] - fast.q[-1]).max() < 1e-7
    assert np.abs(led.v[-1]).max() < 1e-6


def test_the_fastest_is_the_least_duration_of_the_easiest(five_bar, fast):
    """Just above the least time there is a plan within the limits, just below it there is none."""
    found = kb.plan_motion(five_bar, end=END, duration=1.03 * fast.duration, knots=21)
    assert 9.9 < np.abs(found.actuation).max() <= 10.0
    with pytest.raises(ControlError, match="no motion in"):
        kb.plan_motion(five_bar, end=END, duration=0.97 * fast.duration, knots=21)


def test_feedback_makes_up_for_a_mass_that_is_not_as_planned(easy):
    heavy = kb.build(kb.load("five-bar").with_parameters({"left.crank.mass": 0.44}))
    alone = kb.simulate(heavy, control=easy.open_loop)
    led = kb.simulate(heavy, control=replace(easy.control, frequency=60.0))
    gaps = [np.abs(run.q[-1] - easy.q[-1]).max() for run in (alone, led)]
    assert gaps[1] < 0.1 * gaps[0]


def test_places_can_be_states_and_configurations(five_bar, easy):
    start, end = kb.State(easy.q[-1], np.zeros(4)), easy.q[0]
    back = kb.plan_motion(five_bar, start, end, duration=0.5, knots=11)
    assert back.leading == ("left.crank.angle", "right.crank.angle")
    assert np.abs(back.q[0] - easy.q[-1]).max() < 1e-9
    assert np.abs(back.q[-1] - easy.q[0]).max() < 1e-9
    named = kb.plan_motion(five_bar, END, end, duration=0.5, knots=11)
    assert named.cost == pytest.approx(back.cost, rel=1e-6)


def test_what_cannot_be_is_refused_in_one_line(five_bar, easy):
    cases = [
        ({"end": END, "duration": 0.05, "knots": 11}, r"no motion in 0.05 s within the motors' limits .* takes 0.07"),
        ({"duration": 1.0}, "expected an end, got None"),
        ({"end": END}, "duration: expected a number"),
        ({"end": END, "minimise": "time", "duration": 1.0}, "expected none for the least time"),
        ({"end": END, "minimise": "jerk"}, "expected 'effort' or 'time', got 'jerk'"),
        ({"end": END, "duration": 1.0, "knots": 2}, "knots: expected a whole number from 5 to 10000, got 2"),
        ({"end": END, "duration": 1.0, "weights": (1.0,)}, "expected 2 numbers, one per motor, got 1"),
        ({"end": five_bar.start.q, "minimise": "time"}, "start and end are one"),
        ({"end": easy.q[0] + 0.1, "duration": 1.0}, "expected a configuration that closes"),
        ({"end": {"left.crank.angle": 1.8}, "duration": 1.0}, "no goal speaks for 1 of its 2 freedoms"),
        ({"end": {**END, "left.crank.angle": "far"}, "duration": 1.0}, "plan_motion.end: expected {a text: a number}"),
    ]
    for asked, message in cases:
        with pytest.raises(ControlError, match=message) as caught:
            kb.plan_motion(five_bar, **asked)
        assert "\n" not in str(caught.value)
    with pytest.raises((ControlError, ModelError), match="crank"):
        kb.plan_motion(five_bar, end={"left.crnk.angle": 1.0, "right.crank.angle": 1.0}, duration=1.0)


def test_of_two_motors_the_one_too_weak_is_named_with_what_it_needs():
    """Two loads are lifted, of 1 and 2 kg; the second motor holds less than its load weighs."""
    lift = kb.Prismatic(kb.Z)
    system = kb.System(
        "lifts",
        (
            *(kb.Body(f"load{i}", kb.Solid(float(i)), joint=lift) for i in (1, 2)),
            *(kb.Actuator(f"motor{i}", f"load{i}.travel", limit=limit) for i, limit in ((1, 12.0), (2, 15.0))),
        ),
    )
    with pytest.raises(ControlError, match=r"lifts: motor2 needs 19\.6 to go the straight way slowly, its limit is 15"):
        kb.plan_motion(system, end={"load1.travel": 0.1, "load2.travel": 0.2}, minimise="time", knots=9)


def test_motors_without_limits_or_too_weak_have_no_least_time():
    free = slider(limit=float("inf"))
    with pytest.raises(ControlError, match="motor0 has no limit, so no time is the least"):
        kb.plan_motion(free, end={"front.travel": FAR}, minimise="time")
    parts = tuple(p if not isinstance(p, kb.Actuator) else replace(p, limit=0.1) for p in hanging().parts)
    with pytest.raises(ControlError, match=r"motor needs .* to go the straight way slowly, its limit is 0.1"):
        kb.plan_motion(replace(hanging(), parts=parts), end={"rod.angle": 1.0}, minimise="time", knots=9)


def hanging() -> kb.System:
    rod = kb.Body("rod", kb.Rod(0.5, mass=1.0), joint=kb.Revolute(-kb.Y))
    return kb.System("pendulum", parts=(rod, kb.Actuator("motor", "rod.angle", limit=5.0)))


def test_joints_keep_within_their_limits():
    """A free arm swings its hand beyond the straight way to save effort; a joint with limits may not."""
    bent = kb.Start(hold={"upper.angle": 0.0, "lower.angle": 0.0})

    def arm(limits: tuple[float, float] | None) -> kb.System:
        lower = kb.Body("lower", kb.Rod(0.4, mass=1.0), parent="upper.tip", joint=kb.Revolute(-kb.Y, limits=limits))
        upper = kb.Body("upper", kb.Rod(0.5, mass=2.0), joint=kb.Revolute(-kb.Y))
        motors = (kb.Actuator("motor1", "upper.angle"), kb.Actuator("motor2", "lower.angle"))
        return kb.System("arm", gravity=(0, 0, 0), parts=(upper, lower, *motors), start=bent)

    asked = {"end": {"upper.angle": 1.0, "lower.angle": 0.0}, "duration": 0.5, "knots": 21}
    free, limited = (kb.plan_motion(arm(limits), **asked) for limits in (None, (-0.02, 0.03)))
    assert np.abs(free.q[:, 1]).max() > 0.1
    assert limited.q[:, 1].min() > -0.02 - 1e-8
    assert limited.q[:, 1].max() < 0.03 + 1e-8
    assert limited.cost > free.cost
    with pytest.raises(ControlError, match=r"end: lower.angle is 0.5, its limits are -0.02 and 0.03"):
        kb.plan_motion(arm((-0.02, 0.03)), end={"upper.angle": 1.0, "lower.angle": 0.5}, duration=0.5)


def test_an_end_on_another_assembly_is_refused(five_bar):
    names = ("left.crank.angle", "right.crank.angle")
    held = {name: float(five_bar.start.q[five_bar.coordinates.index(name)]) for name in names}
    modes = [mode.q for mode in kb.assembly_modes(five_bar, held)]
    other = next(q for q in modes if np.abs(q - five_bar.start.q).max() > 0.1)
    with pytest.raises(ControlError, match="end is on another assembly than start"):
        kb.plan_motion(five_bar, end=other, duration=1.0)


def test_machines_that_cannot_be_planned_for_are_refused():
    with pytest.raises(ControlError, match="wheels that roll"):
        kb.plan_motion(kb.load("differential-drive"), end={}, duration=1.0)
    with pytest.raises(ControlError, match="quaternions"):
        kb.plan_motion(kb.load("stewart"), end={}, duration=1.0)
    gust = kb.Force("gust", "rod.tip", force=("sin(t)", 0, 0))
    with pytest.raises(ControlError, match="time itself"):
        kb.plan_motion(kb.System("pendulum", (*hanging().parts, gust)), end={"rod.angle": 1.0}, duration=1.0)
    idle = kb.System("pendulum", parts=(hanging().parts[0],))
    with pytest.raises(ControlError, match="0 motors for 1 freedom"):
        kb.plan_motion(idle, end={"rod.angle": 1.0}, duration=1.0)
