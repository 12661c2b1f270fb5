"""What a run is judged by, part by part: how far two runs are apart, by which steppers, for how long."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kalaba as kb
from kalaba.results.accuracy import StateError
from kalaba.results.run import Ending
from kalaba.run import judge
from kalaba.run.task import Task
from kalaba.steppers.auto import STEPS_SHARE
from kalaba.tolerances import MOVES_LITTLE, MOVES_NOT, STATE_WRONG

NAMES, SPEEDS = ("a", "b"), ("a.rate", "b.rate")
SIZES = np.array([2.0, 0.5])


def task_of(stepper=None, *, native=True, duration=4.0):
    scales = SimpleNamespace(coordinates=SIZES, velocities=SIZES)
    machine = SimpleNamespace(velocities=[SimpleNamespace(unit="rad/s"), SimpleNamespace(unit="m/s")])
    plant = SimpleNamespace(scales=scales, coordinates=NAMES, velocities=SPEEDS, is_native=native, machine=machine)
    return SimpleNamespace(
        plant=plant, stepper=stepper or kb.RungeKutta4(0.01), save_every=1.0, duration=duration, name="machine"
    )


def run_of(time, q, v, steps=100, jolt=(0.0, 0.0), ending=Ending.DONE):
    status = SimpleNamespace(failed=ending is not Ending.DONE, ending=ending, time=float(time[-1]))
    effort = SimpleNamespace(steps=steps, jolt=jolt, wall_time=0.5)
    state = {"time": np.array(time, float), "q": np.array(q, float), "v": np.array(v, float)}
    return SimpleNamespace(**state, status=status, effort=effort)


def motion(count=5):
    """The first coordinate goes from 1 to 5, the second by a hundredth of that."""
    t = np.arange(count, dtype=float)
    return t, np.column_stack([1.0 + t, 3.0 + 0.01 * t]), np.column_stack([1.0 + 0 * t, 0.01 + 0 * t])


def test_the_largest_difference_is_found_with_its_name_and_time():
    t, q, v = motion()
    other = run_of(t, q, v)
    off = q.copy()
    off[3, 0] += 0.04
    off[2, 0] -= 0.02
    found = judge._compare(task_of(), run_of(t, off, v), other, is_part=False)
    assert found.error == StateError(pytest.approx(0.01), "a", 3.0)  # of a way of 4
    assert found.since == (2.0 if STATE_WRONG < 0.005 else 3.0 if STATE_WRONG < 0.01 else np.inf)
    fast = v.copy()
    fast[1, 1] += 0.002
    found = judge._compare(task_of(), run_of(t, q, fast), other, is_part=False)
    assert found.error == StateError(pytest.approx(0.002 / max(0.01, 0.5 * MOVES_LITTLE * 0.5)), "b.rate", 1.0)
    same = judge._compare(task_of(), other, other, is_part=False)
    assert same.error == StateError(0.0, "", 0.0)
    assert same.since == np.inf
    assert same.is_whole


def test_runs_are_compared_where_both_have_samples():
    t, q, v = motion()
    off = q + [[0.4, 0.0]] * 5
    some = run_of(t[::2] + 1e-12, q[::2], v[::2])
    found = judge._compare(task_of(), run_of(t, off, v), some, is_part=False)
    assert (found.error.size, found.since) == (pytest.approx(0.1), pytest.approx(0.0, abs=1e-9))
    apart = run_of(t + 0.5, q, v)
    nothing = judge._compare(task_of(), run_of(t, q, v), apart, is_part=False)
    assert np.isnan(nothing.error.size)
    assert not nothing.is_whole


def test_a_part_of_a_run_is_measured_by_the_motion_of_the_whole():
    t, q, v = motion()
    begun = run_of(t[:2], q[:2] + np.array([[0.0, 0.0], [0.1, 0.0]]), v[:2])
    for is_part, way in ((True, 4.0), (False, 1.1)):
        found = judge._compare(task_of(), run_of(t, q, v), begun, is_part=is_part)
        assert found.error.size == pytest.approx(0.1 / way)


def test_what_moves_little_is_measured_by_what_moves_most():
    sizes = np.array([2.0, 0.5, 1.0])
    apart = judge._relative(np.array([[0.3, -0.1, 0.2]]), np.array([4.0, 0.0, 1.5]), sizes, MOVES_NOT)
    np.testing.assert_allclose(apart, [[0.3 / 4.0, 0.1 / (MOVES_LITTLE * 2.0 * 0.5), 0.2 / 1.5]])
    still = judge._relative(np.array([[0.3]]), np.array([0.0]), np.array([2.0]), 0.01)
    assert still == pytest.approx(0.3 / 0.02)
    assert judge._relative(np.array([[np.nan]]), np.array([1.0]), np.array([1.0]), 0.01) == np.inf


@pytest.mark.parametrize(
    ("stepper", "native", "steps"),
    [
        (kb.RungeKutta4(0.01), True, (1e-6, 1e-10)),
        (kb.RungeKutta4(0.01), False, (1e-4, 1e-6)),
        (kb.DormandPrince(1e-7, 1e-9), True, (1e-6, 1e-10)),
        (kb.DormandPrince(1e-7, 1e-9), False, (1e-4, 1e-6)),
        (kb.DormandPrince(1e-12, 1e-13), True, (1e-11, 1e-13)),  # the sharpest there is
    ],
)
def test_runs_are_checked_by_a_coarse_and_a_sharp_one(stepper, native, steps):
    for checker, rtol in zip(judge._checkers(task_of(stepper, native=native)), steps, strict=True):
        assert checker.pace.rtol == pytest.approx(rtol, rel=1e-2)
        assert checker.atol == pytest.approx(1e-3 * checker.rtol, rel=1e-2)


def test_of_a_difference_a_runs_own_part_falls_with_its_tolerance():
    beside = judge.Comparison(None, StateError(0.1, "a", 1.0))
    loose, tight = kb.Auto(1e-4), kb.Auto(1e-8)
    for stepper, checker, size in (
        (kb.Auto(1e-6), loose, 0.1 / 100),
        (kb.Auto(1e-6), tight, 0.1),
        (kb.RungeKutta4(0.01), loose, 0.1),
        (kb.Kvaerno(1e-7), loose, 0.1),
    ):
        assert judge._error_of(task_of(stepper), beside, checker) == StateError(pytest.approx(size), "a", 1.0)


def test_errors_of_fixed_steps_add_up_with_the_power_of_their_order():
    """ω T (ω h)ᵖ, with p = 4 for Kutta's method and 2 for those of structures."""
    assert judge._error_of_steps(task_of(kb.RungeKutta4(0.01)), 20.0) == pytest.approx(20 * 4 * 0.2**4)
    assert judge._error_of_steps(task_of(kb.Newmark(0.01)), 20.0) == pytest.approx(20 * 4 * 0.2**2)


def test_errors_grow_where_a_sharper_run_goes_elsewhere():
    t, q, v = motion()
    checker = kb.Auto(1e-4)
    limit = judge.ERROR_GROWN * 1e-4
    assert checker.pace.rtol / STEPS_SHARE == pytest.approx(1e-4)
    for share, grows in ((0.9, False), (1.1, True)):
        off = q.copy()
        off[-1, 0] += share * limit * 4.0
        assert judge._grows(task_of(), run_of(t, off, v), run_of(t, q, v), checker) == grows
    fine, broken = run_of(t, q, v), run_of(t, q, v, ending=Ending.NOT_FINITE)
    for pair in ((None, fine), (fine, None), (broken, fine), (fine, broken)):
        assert judge._grows(task_of(), *pair, checker)


def test_a_jolt_is_that_of_the_run_beside():
    t, q, v = motion()
    for size, is_jolted in ((0.5 * judge.JOLT, False), (2 * judge.JOLT, True)):
        assert judge._is_jolted(judge.Comparison(run_of(t, q, v, jolt=(size, 1.0)))) == is_jolted
    assert judge._is_jolted(judge.Comparison(None))


def test_the_fastest_rate_is_that_of_turning_or_of_swinging(monkeypatch):
    """At the start and where the run was first off; a travel does not turn."""
    t, q, v = motion()
    v = v * [[1.0, 500.0]]
    v[3, 0] = -30.0
    task, seen = task_of(), []
    task.start = "start"
    monkeypatch.setattr(judge, "fastest_rate", lambda _plant, state: seen.append(state) or 7.0)
    for since, rate in ((2.0, 7.0), (3.0, 30.0), (np.inf, 30.0)):
        assert judge._fastest(task, judge.Comparison(run_of(t, q, v), since=since)) == rate
        assert seen[-2] == "start"
        assert seen[-1].q.tolist() == q[min(int(min(since, 9.0)), 4)].tolist()


@pytest.fixture
def beside(monkeypatch):
    """The tasks that are run beside a run of two seconds, sampled every 0.001 s; they answer nothing."""
    tasks = []
    answer = run_of([0.5, 1.5], np.zeros((2, 1)), np.zeros((2, 1)))
    monkeypatch.setattr(judge, "run_task", lambda task: tasks.append(task) or answer)
    return tasks


@pytest.mark.parametrize(
    ("samples", "every", "duration"), [(100, 20, 2.0), (3000, 1, 2.0), (900, 2, 2.0), (290, 6, 1.998)]
)
def test_a_run_beside_has_about_so_many_samples_and_more_steps(beside, samples, every, duration):
    task = task_for()
    t = np.linspace(0.0, 2.0, 2001)
    judge._beside(task, run_of(t, np.zeros((2001, 1)), np.zeros((2001, 1)), steps=5000), kb.Auto(1e-6), samples)
    (other,) = beside
    assert other.save_every == pytest.approx(every * 1e-3)
    assert other.duration == pytest.approx(duration)
    assert other.max_steps == 100_000
    assert (other.stepper, other.stop, other.progress) == (kb.Auto(1e-6), None, None)
    assert other.stabilisation == kb.Projection()
    assert other.max_time == pytest.approx(9.5)
    short = replace(task, max_time=0.1)
    judge._beside(short, run_of(t, np.zeros((2001, 1)), np.zeros((2001, 1)), steps=3), kb.Auto(1e-6), samples, 0.7)
    assert (beside[1].duration, beside[1].max_steps, beside[1].max_time) == (0.7, 500, 1e-3)


def task_for(**changes):
    """A real task, of a cart."""
    cart = kb.System("cart", (kb.Body("cart", kb.Box((1, 1, 1), mass=1.0), joint=kb.Prismatic(kb.X)),))
    plant = kb.build(cart, backend=kb.Interpreted())
    usual = {"stepper": kb.RungeKutta4(1e-3), "law": None, "samplers": (), "stabilisation": kb.NoStabilisation()}
    usual |= {"save_every": 1e-3, "stop": "t > 1", "progress": print, "max_steps": 10**9, "max_time": 10.0}
    return Task(plant, plant.start, 0.0, 2.0, **(usual | changes))
