"""Motors that are asked for more than they may give: named with time, motor and amount."""

import re

import numpy as np
import pytest

import kalaba as kb
from kalaba.control.servo import StartWarning
from kalaba.errors import ControlError
from kalaba.native import build as provide
from kalaba.plant.laws import MotorTexts, law_function
from kalaba.run.shortfall import ShortfallWarning, worst_shortfall

PENDULUM = kb.System(
    "pendulum",
    parts=(
        kb.Body("rod", kb.Rod(1.0, mass=2.0), joint=kb.Revolute(-kb.Y)),
        kb.Actuator("motor", "rod.angle", limit=5.0),
    ),
)
BUILD = provide.build
WEIGHT = 2.0 * 9.81 / 2  # N·m, held level
CIRCLE = kb.path.circle(diameter=0.2, speed=0.125, accel=0.25)


def test_a_law_that_asks_for_too_much_is_told_by_how_much_and_when():
    run = kb.simulate(PENDULUM, 0.1, control={"motor": f"{WEIGHT}"})
    assert re.match(r"motor falls short by 4\.81 at t = 0 s; .* at 11 samples", worst_shortfall(run.shortfalls))
    assert [short.motor for short in run.shortfalls] == ["motor"] * 11
    assert run.shortfalls[3].time == pytest.approx(0.03)
    assert run.shortfalls[0].missing == pytest.approx(WEIGHT - 5.0, rel=1e-12)
    assert np.all(run.actuation == 5.0)


def test_to_know_what_was_asked_for_no_kernel_is_built(monkeypatch):
    """The kernel that gave the efforts within their limits says what was asked for, with other limits."""
    built = []
    monkeypatch.setattr(provide, "build", lambda name, *rest, **how: built.append(name) or BUILD(name, *rest, **how))
    monkeypatch.setattr(provide, "_kernels", {})
    monkeypatch.setattr(provide.disk, "read", lambda digest: None)
    run = kb.simulate(PENDULUM, 0.05, control={"motor": "6 + t"})
    assert run.shortfalls[-1].missing == pytest.approx(1.05, rel=1e-12)
    assert built.count("control") == 1
    before = list(built)
    stronger = PENDULUM.remove("motor").add(kb.Actuator("motor", "rod.angle", limit=5.5))
    assert kb.simulate(stronger, 0.05, control={"motor": "6 + t"}).shortfalls[-1].missing == pytest.approx(
        0.55, rel=1e-12
    )
    assert "control" not in built[len(before) :]


def test_limits_make_no_number_of_what_is_none():
    """An effort that is no number stays none: a limit must not make one of it."""
    plant = kb.build(PENDULUM)
    law = MotorTexts({"motor": "sqrt(rod.angle)"}).law(plant, plant.start)
    inputs = plant.inputs([-1.0])
    for limited in (True, False):
        assert np.isnan(law_function(plant, law, limited=limited)(inputs)[0])


def test_a_sampled_law_is_heard_at_each_of_its_samples():
    run = kb.simulate(PENDULUM, 0.1, control=kb.Sampled(lambda t, q, v: [-7.0 if t > 0.045 else 1.0], rate=100))
    assert [round(short.time, 3) for short in run.shortfalls[:2]] == [0.05, 0.06]
    assert {short.missing for short in run.shortfalls} == {2.0}


def test_a_law_within_its_limits_has_none():
    assert kb.simulate(PENDULUM, 0.1, control={"motor": "4.9"}).shortfalls == ()


def test_goals_that_are_missed_for_it_are_warned_of():
    with pytest.warns(ShortfallWarning, match=r"pendulum: motor falls short by .* at 11 samples"):
        kb.simulate(PENDULUM, 0.1, control=kb.servo(PENDULUM, kb.follow("rod.angle", 0.0)))


def test_shortfalls_stay_in_the_file(tmp_path):
    run = kb.simulate(PENDULUM, 0.05, control={"motor": "6"})
    assert kb.open_run(run.save(tmp_path / "run.nc")).shortfalls == run.shortfalls


def test_bounds_that_cannot_be_kept_are_kept_and_named():
    plant = kb.build(kb.load("pus-upu"))
    narrow = kb.Bounded(lower=(-300.0,) * 6, upper=(300.0,) * 6)
    control = kb.servo(plant, kb.follow("platform", CIRCLE), allocation=narrow)
    with pytest.warns(ShortfallWarning, match=r"leg\d\.motor falls short by"):
        run = kb.simulate(plant, 0.1, control=control)
    assert np.abs(run.actuation).max() <= 300.0
    with pytest.raises(ControlError, match=r"at t = 0 s: bounds are too narrow at the least for leg4\.motor by 17\.0"):
        kb.inverse_dynamics(plant, kb.follow("platform", CIRCLE), narrow)
    enough = 300.0 + 17.1  # more than what was said to be missing at the start
    found = kb.inverse_dynamics(
        plant, kb.follow("platform", CIRCLE), kb.Bounded(lower=(-enough,) * 6, upper=(enough,) * 6), times=[0.0]
    )
    assert found.peak <= enough * (1 + 1e-9)


def test_a_start_off_the_path_is_told():
    plant = kb.build(PENDULUM.remove("motor").add(kb.Actuator("motor", "rod.angle")))
    control = kb.servo(plant, kb.follow("rod.angle", "0.5"))
    with pytest.warns(StartWarning, match=r"rod\.angle starts 0\.5 m or rad off its path\. .*run_in"):
        kb.simulate(plant, 0.01, start=plant.start, control=control)


def test_a_path_that_starts_moving_cannot_be_run_in_from_rest():
    with pytest.raises(ControlError, match=r"starts 1 m/s or rad/s too slow or fast\. Let the goals begin at rest"):
        kb.servo(PENDULUM, kb.follow("rod.angle", "t"), run_in=0.5)
