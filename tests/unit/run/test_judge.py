"""A run says how good it is, and what is the matter if it is not."""

import json
import re
import warnings

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.summary import summarise
from kalaba.results.accuracy import Verdict, energy_error
from kalaba.run import judge as judging
from kalaba.run.checks import AccuracyWarning
from kalaba.run.loops import run_task
from kalaba.view.report.motion import trust

HINGE = kb.Revolute(-kb.Y)
KINDS = [
    kb.Auto(),
    kb.RungeKutta4(1e-3),
    kb.SemiImplicitEuler(1e-4),
    kb.DormandPrince(),
    kb.Kvaerno(),
    kb.Radau(),
    kb.Newmark(1e-3),
    kb.GeneralisedAlpha(1e-3),
]


def slider(stiffness: float, damping: float = 0.0) -> kb.System:
    parts = (
        kb.Body("m", kb.Box((0.1, 0.1, 0.1), mass=1.0), joint=kb.Prismatic(kb.X)),
        kb.Spring("spring", "m.travel", stiffness=stiffness, damping=damping),
        kb.Actuator("motor", "m.travel"),
    )
    return kb.System("slider", parts, gravity=(0, 0, 0), start=kb.Start(hold={"m.travel": 0.1}))


def double_pendulum(speed: float) -> kb.System:
    links = (
        kb.Body("a", kb.Rod(0.1, mass=1.0), joint=HINGE),
        kb.Body("b", kb.Rod(0.1, mass=1.0), parent="a.tip", joint=HINGE),
    )
    start = kb.Start(hold={"b.angle": 1.0}, speed={"a.angle": speed, "b.angle": -2 * speed})
    return kb.System("double pendulum", links, start=start)


@pytest.fixture(scope="module")
def four_bar() -> kb.Plant:
    return kb.build(kb.load("four-bar"))


def said(run_it):
    """The run and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = run_it()
    return run, [(warning.category, str(warning.message)) for warning in caught]


@pytest.mark.parametrize("stepper", KINDS, ids=lambda stepper: stepper.name)
def test_every_stepper_has_its_runs_judged(four_bar, stepper):
    """The estimate is that of a sharp run beside it, within a few times."""
    run, words = said(lambda: kb.simulate(four_bar, 0.5, stepper=stepper))
    exact = kb.simulate(four_bar, 0.5, stepper=kb.DormandPrince(1e-11, 1e-13))
    extents = np.abs(exact.q - exact.q[0]).max(axis=0), np.abs(exact.v).max(axis=0)
    true = max((np.abs(run.q - exact.q) / extents[0]).max(), (np.abs(run.v - exact.v) / extents[1]).max())
    accuracy = run.accuracy
    assert words == []
    assert accuracy.verdict is Verdict.GOOD
    assert true / 10 < accuracy.error.size < max(10 * true, 2e-5)  # coarse runs beside know no better
    assert accuracy.error.name in {*run.plant.coordinates, *run.plant.velocities}
    assert accuracy.energy < 2e-3
    assert accuracy.rows < 1e-9
    assert run.judgement.checked_by.startswith("Auto(")
    assert accuracy.words.startswith("good: states within")


def test_interpreted_runs_are_judged(four_bar):
    plant = kb.build(four_bar.system, backend=kb.Interpreted())
    run, words = said(lambda: kb.simulate(plant, 0.05, stepper=kb.RungeKutta4(5e-3)))
    assert (run.accuracy.verdict, words) == (Verdict.GOOD, [])
    assert run.judgement.error.size < 1e-3
    run, words = said(lambda: kb.simulate(plant, 0.2, stepper=kb.RungeKutta4(0.1)))
    assert run.accuracy.verdict is Verdict.DOUBTFUL
    assert [kind for kind, _ in words] == [AccuracyWarning]


def test_a_sampled_run_is_judged_with_what_its_function_gave():
    """A Python function may remember: it is not called again."""
    calls = []

    def law(t, q, v):
        calls.append(t)
        return {"motor": np.sin(len(calls))}

    run, words = said(lambda: kb.simulate(slider(1e4), 1.0, control=kb.Sampled(law, 100.0)))
    assert len(calls) == 101  # at 0, 0.01 … 1 s: the last sample shows what begins there
    assert (run.accuracy.verdict, words) == (Verdict.GOOD, [])
    assert run.accuracy.error.size < 1e-5  # some times the tolerance of the default
    run, words = said(
        lambda: kb.simulate(slider(1e4), 1.0, control=kb.Sampled(law, 100.0), stepper=kb.RungeKutta4(0.01))
    )
    assert len(calls) == 202
    assert [kind for kind, _ in words] == [AccuracyWarning]
    assert "the step of 0.01 s is too long for rates up to 100 /s, ω h = 1" in words[0][1]


@pytest.mark.parametrize("backend", [kb.Native(), kb.Interpreted()], ids=["compiled loop", "python loop"])
@pytest.mark.parametrize("step", [2e-2, 5e-3])
def test_the_error_of_a_sampled_run_is_that_of_a_sharp_one_with_the_same_law(backend, step):
    plant = kb.build(slider(400.0), backend=backend)  # ω = 20 /s
    law = kb.Sampled(lambda _t, q, v: [-30.0 * q[0] - 2.0 * v[0]], 50.0)
    run = kb.simulate(plant, 1.0, control=law, stepper=kb.RungeKutta4(step), save_every=0.02)
    sharp = kb.simulate(plant, 1.0, control=law, stepper=kb.DormandPrince(1e-11, 1e-13), save_every=0.02, check=False)
    true = max(
        np.abs(run.q - sharp.q).max() / np.abs(sharp.q - sharp.q[0]).max(),
        np.abs(run.v - sharp.v).max() / np.abs(sharp.v).max(),
    )
    assert (
        true / 3 < run.accuracy.error.size < 3 * true + 2e-5
    )  # the loop is open in one, and coarse runs know no better


def test_a_sampled_law_that_holds_what_would_fall_is_not_warned_of():
    """What the law gave, given again without the law, lets the pendulum fall: nothing is said of its states."""
    parts = (kb.Body("rod", kb.Rod(0.1, mass=1.0), joint=HINGE), kb.Actuator("motor", "rod.angle"))
    upright = kb.System("upright", parts, start=kb.Start(hold={"rod.angle": np.pi / 2 + 0.1}))
    law = kb.Sampled(lambda _t, q, v: [-2.0 * (q[0] - np.pi / 2) - 0.1 * v[0]], 200.0)
    run, words = said(lambda: kb.simulate(upright, 10.0, control=law, stepper=kb.RungeKutta4(5e-3)))
    assert abs(run.q[-1, 0] - np.pi / 2) < 1e-3
    assert words == []
    assert np.isnan(run.accuracy.error.size)
    assert run.accuracy.verdict is Verdict.GOOD  # by its energy


@pytest.mark.parametrize(
    ("made", "step", "rate"),
    [
        (lambda: slider(1e6), 1e-3, 1000.0),  # √(k/m)
        (lambda: slider(1e4, 2.7e3), 1e-3, 2696.3),  # overdamped
        (lambda: double_pendulum(250.0), 1e-3, 500.0),  # turns
    ],
)
def test_a_step_that_is_too_long_is_named_with_its_rate(made, step, rate):
    run, words = said(lambda: kb.simulate(made(), 0.2, stepper=kb.RungeKutta4(step)))
    assert [kind for kind, _ in words] == [AccuracyWarning]
    found = re.search(r"the step of 0.001 s is too long for rates up to (\S+) /s, ω h = (\S+)\. Leave", words[0][1])
    assert float(found[1]) == pytest.approx(rate, rel=0.6)
    assert float(found[2]) == pytest.approx(float(found[1]) * step, rel=0.05)
    assert "singular" not in words[0][1]
    assert "law" not in words[0][1]
    assert run.accuracy.verdict is Verdict.DOUBTFUL
    assert run.accuracy.cause == words[0][1]


def test_a_long_step_on_a_loop_is_not_taken_for_a_singular_position(four_bar):
    run, words = said(lambda: kb.simulate(four_bar, 1.0, stepper=kb.RungeKutta4(0.05)))
    assert run.effort.jolt_is_felt
    assert [kind for kind, _ in words] == [AccuracyWarning]
    assert "ω h" in words[0][1]
    assert "singular" not in words[0][1]
    assert "singular" not in "".join(summarise(run).lines())


def test_a_singular_position_is_named_with_its_time():
    """Sarrus' linkage passes one at 0.258 s, whatever the step."""
    plant = kb.build(kb.load("sarrus"))
    fine = kb.simulate(plant, 0.25)
    assert fine.accuracy.verdict is Verdict.GOOD
    _, words = said(lambda: kb.simulate(plant, 0.35, stepper=kb.RungeKutta4(1e-3)))
    for _, message in words:
        assert "near a singular position at t = 0.25" in message or "singular position there" in message


def test_a_loose_tolerance_is_named_with_a_tighter_one():
    _, words = said(lambda: kb.simulate(slider(1e4), 1.0, stepper=kb.DormandPrince(1e-2, 1e-2)))
    assert [kind for kind, _ in words] == [AccuracyWarning]
    assert "the tolerance of DormandPrince(rtol=0.01" in words[0][1]
    assert "Try kb.Auto(rtol=1e-04)" in words[0][1]


def test_a_sensitive_motion_is_named():
    """A double pendulum turned upside down parts from itself."""
    links = double_pendulum(0.0)
    start = (np.array([np.pi / 2, 0.1]), np.zeros(2))
    _, words = said(lambda: kb.simulate(links, 6.0, start=start, stepper=kb.Auto(1e-5, 1e-8)))
    assert [kind for kind, _ in words] == [AccuracyWarning]
    assert "the motion is sensitive" in words[0][1]


def test_a_sensitive_motion_with_fixed_steps_is_no_long_step():
    links = double_pendulum(0.0)
    start = (np.array([np.pi / 2, 0.1]), np.zeros(2))
    _, words = said(lambda: kb.simulate(links, 10.0, start=start, stepper=kb.RungeKutta4(1e-4)))
    assert [kind for kind, _ in words] == [AccuracyWarning]
    assert "the motion is sensitive" in words[0][1]
    assert "too long" not in words[0][1]


def test_a_run_that_is_wrong_soon_is_sharply_checked_up_to_there_only(four_bar, monkeypatch):
    durations = []
    monkeypatch.setattr(judging, "run_task", lambda task: durations.append(task.duration) or run_task(task))
    _, words = said(lambda: kb.simulate(four_bar, 40.0, stepper=kb.RungeKutta4(0.1)))
    assert [kind for kind, _ in words] == [AccuracyWarning]
    assert durations[0] == pytest.approx(40.0)
    assert sum(durations[1:]) < 4.0


def test_a_method_for_structures_that_is_right_is_checked_to_its_end(monkeypatch):
    durations = []
    monkeypatch.setattr(judging, "run_task", lambda task: durations.append(task.duration) or run_task(task))
    run, words = said(lambda: kb.simulate(slider(100.0), 1.0, stepper=kb.GeneralisedAlpha(1e-4)))
    assert (run.accuracy.verdict, words) == (Verdict.GOOD, [])
    assert durations == [pytest.approx(0.1), pytest.approx(1.0)]


def test_a_stiff_run_that_breaks_off_says_what_step_is_too_long():
    with pytest.raises(kb.errors.IntegrationError) as failure:
        kb.simulate(slider(1e4, 1e5), 2.0, stepper=kb.RungeKutta4(1e-3))
    text = str(failure.value)
    assert "the step of 0.001 s is too long for rates up to 1e+05 /s, ω h = 1e+02. Leave the steps to kb.Auto()" in text
    assert "law" not in text


def test_energy_that_comes_from_nowhere_is_told_though_states_are_right():
    """Work in a damper is a quadrature beside the states; where it is off, the balance is."""
    plant = kb.build(slider(100.0, 0.5))
    run = kb.simulate(plant, 1.0)
    bent = kb.Run(**{**run.__dict__, "work": run.work + np.linspace(0, 0.05, len(run.time))})
    assert energy_error(bent) > 0.01
    assert bent.accuracy.verdict is Verdict.DOUBTFUL
    assert "energy gained and work done differ by" in bent.accuracy.cause


def test_nothing_that_moves_is_judged_by_nothing():
    run = kb.simulate(kb.System("still", slider(100.0).parts, gravity=(0, 0, 0)), 1.0)
    assert run.accuracy.words == "good: states agree to the last digit"
    assert np.isnan(run.accuracy.energy)


def test_an_event_and_a_time_limit_leave_no_doubt(four_bar):
    run, words = said(lambda: kb.simulate(four_bar, 1.0, stop="crank.angle < 0.5"))
    assert (run.accuracy.verdict, words) == (Verdict.GOOD, [])
    run, words = said(lambda: kb.simulate(four_bar, 0.5, max_time=60.0))
    assert (run.accuracy.verdict, words) == (Verdict.GOOD, [])


def test_what_a_run_says_of_itself_is_shown_and_saved(four_bar, tmp_path):
    with pytest.warns(AccuracyWarning):
        run = kb.simulate(four_bar, 1.0, stepper=kb.RungeKutta4(0.1))
    again = kb.open_run(run.save(tmp_path / "run.nc"))
    assert again.judgement == run.judgement
    assert again.accuracy == run.accuracy
    assert again.effort == run.effort
    lines = summarise(run).lines()
    assert f"accuracy: {run.accuracy.words}" in lines
    assert f"doubtful: {run.accuracy.cause}" in lines
    plain = summarise(run).plain()
    assert json.loads(json.dumps(plain))["doubt"] == run.accuracy.cause
    assert "is too long for rates up to" in trust(run).body


def test_a_change_of_method_is_shown_and_saved(tmp_path):
    run = kb.simulate(slider(1e4, 1e5), 20.0)
    again = kb.open_run(run.save(tmp_path / "run.nc"))
    assert again.effort.changes == run.effort.changes
    assert again.effort.method == run.effort.method
    assert any(line.startswith("stiff: Kvaerno from t = ") for line in summarise(run).lines())
    assert summarise(run).plain()["method"] == run.effort.method
