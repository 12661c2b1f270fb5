"""Runs side by side are the runs that each would be alone, to the bit."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import KalabaError

STEP = kb.RungeKutta4(1e-3)


def spread(plant, count, seed=1):
    """States near the start that obey the rows."""
    random = np.random.default_rng(seed)
    q = np.repeat(plant.start.q[np.newaxis], count, axis=0)
    if not plant.machine.quaternions:
        q = q + 0.02 * random.normal(size=q.shape)
    v = 0.3 * random.normal(size=(count, len(plant.velocities)))
    return plant.project(kb.State(q, v))


@pytest.fixture(scope="module")
def four_bar():
    return kb.build(kb.load("four-bar"))


@pytest.mark.parametrize("name", ["four-bar", "dual-mobile-arm", "bennett", "n-arm-carry"])
def test_runs_from_many_starts_are_those_alone(name):
    plant = kb.build(kb.load(name))
    starts = spread(plant, 11)
    runs = kb.simulate_batch(plant, 0.1, starts, stepper=STEP, save_every=0.02, threads=2)
    assert len(runs) == 11
    for k in (0, 7, 8, 10):
        alone = kb.simulate(plant, 0.1, kb.State(starts.q[k], starts.v[k]), stepper=STEP, save_every=0.02)
        np.testing.assert_array_equal(runs.q[k], alone.q)
        np.testing.assert_array_equal(runs.v[k], alone.v)
        np.testing.assert_array_equal(runs.constraint_force[k], alone.constraint_force)
        assert runs.status[k] == alone.status
    np.testing.assert_array_equal(runs.time, alone.time)


def test_threads_change_no_bit(four_bar):
    starts = spread(four_bar, 20)
    one, three = (kb.simulate_batch(four_bar, 0.05, starts, threads=count) for count in (1, 3))
    np.testing.assert_array_equal(one.end.q, three.end.q)


def test_numbers_differ_from_run_to_run(four_bar):
    masses = np.linspace(0.2, 2.0, 10)
    runs = kb.simulate_batch(four_bar, 0.2, parameters={"coupler.mass": masses}, stepper=STEP, save_every=0.1)
    for k in (0, 9):
        other = four_bar.with_parameters(runs.numbers(k))
        alone = kb.simulate(other, 0.2, four_bar.start, stepper=STEP, save_every=0.1)
        np.testing.assert_allclose(runs.q[k], alone.q, rtol=0, atol=1e-13)
    assert np.ptp(runs.end.q[:, 0]) > 1e-4


def test_lengths_that_differ_are_assembled_anew(four_bar):
    runs = kb.simulate_batch(four_bar, 0.05, parameters={"coupler.length": [0.38, 0.40, 0.42]})
    assert runs.residual.max() < 1e-12
    longer = four_bar.with_parameters({"coupler.length": 0.42})
    np.testing.assert_allclose(runs.q[2, 0], longer.start.q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("control", [{"motor": "0.2*(10 - rate(crank.angle))"}, {"motor": "sin(t)"}])
def test_laws_in_expressions(four_bar, control):
    starts = spread(four_bar, 3)
    runs = kb.simulate_batch(four_bar, 0.1, starts, control=control, stepper=STEP)
    alone = kb.simulate(four_bar, 0.1, kb.State(starts.q[2], starts.v[2]), STEP, control)
    np.testing.assert_array_equal(runs.end.q[2], alone.q[-1])


@pytest.mark.filterwarnings("ignore::kalaba.control.servo.StartWarning")
def test_servo_laws_follow_from_each_start():
    plant = kb.build(kb.load("five-bar"))
    goals = (kb.posture(),)
    starts = spread(plant, 9)
    runs = kb.simulate_batch(plant, 0.1, starts, control=kb.servo(plant, goals), stepper=STEP)
    for k in (0, 8):
        alone = kb.simulate(plant, 0.1, kb.State(starts.q[k], starts.v[k]), STEP, kb.servo(plant, goals))
        np.testing.assert_array_equal(runs.end.q[k], alone.q[-1])


def test_a_stop_ends_each_run_at_its_own_time(four_bar):
    starts = spread(four_bar, 9, seed=4)
    stop = "crank.angle > 1.05"
    runs = kb.simulate_batch(four_bar, 0.4, starts, stepper=STEP, stop=stop, save_every=0.05)
    for k in range(9):
        alone = kb.simulate(four_bar, 0.4, kb.State(starts.q[k], starts.v[k]), STEP, stop=stop, save_every=0.05)
        assert runs.status[k] == alone.status
        np.testing.assert_array_equal(runs.end.q[k], alone.q[-1])
        assert np.isnan(runs.q[k, runs.time > alone.time[-1]]).all()


def test_a_run_that_breaks_off_does_not_stop_the_others(four_bar):
    control = {"motor": "1/sqrt(0.05 - t)"}
    starts = spread(four_bar, 4)
    runs = kb.simulate_batch(four_bar, 0.1, starts, control=control, stepper=STEP)
    assert runs.failed == (0, 1, 2, 3)
    speeds = starts.v.copy()
    speeds[1] *= 1e200
    runs = kb.simulate_batch(four_bar, 0.05, kb.State(starts.q, speeds), stepper=STEP)
    assert runs.failed == (1,)
    assert np.isfinite(runs.q[[0, 2, 3]]).all()


@pytest.mark.parametrize("stepper", [kb.Auto(), kb.GeneralisedAlpha(1e-3)])
def test_other_steppers_go_one_by_one(four_bar, stepper):
    starts = spread(four_bar, 3)
    runs = kb.simulate_batch(four_bar, 0.1, starts, stepper=stepper, threads=2)
    alone = kb.simulate(four_bar, 0.1, kb.State(starts.q[1], starts.v[1]), stepper, save_every=0.1)
    np.testing.assert_array_equal(runs.end.q[1], alone.q[-1])


def test_the_data_have_names(four_bar):
    data = kb.simulate_batch(four_bar, 0.1, parameters={"crank.mass": [0.1, 0.2]}, save_every=0.05).data
    assert data["q"].dims == ("run", "time", "coordinate")
    assert data["crank.mass"].values.tolist() == [0.1, 0.2]
    assert float(data["q"].sel(run=1, time=0.05, coordinate="crank.angle")) != 0.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"parameters": {"crank.mas": [1.0]}}, "crank.mass"),
        ({"parameters": {"crank.mass": [1.0, np.nan]}}, "finite"),
        ({"parameters": {"crank.mass": [1.0, 2.0], "coupler.mass": [1.0, 2.0, 3.0]}}, r"\[2, 3\]"),
        ({"start": (np.zeros((2, 2)), np.zeros((2, 3)))}, "start q"),
        ({"threads": 0}, "threads"),
        ({"save_every": 1e-12}, "longer save_every"),
    ],
)
def test_wrong_arguments_are_refused(four_bar, arguments, words):
    with pytest.raises(KalabaError, match=words):
        kb.simulate_batch(four_bar, 0.1, **arguments)
