"""plant.step: the step of a run, from any state, without history."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ConstraintError, NotFiniteError
from kalaba.plant.reference import Span

H = 1e-3


@pytest.fixture(scope="module")
def plant():
    return kb.build(kb.load("four-bar"))


def states(plant, count):
    """States of a run, far apart."""
    run = kb.simulate(plant, 0.5, save_every=0.5 / count)
    return [kb.State(q, v) for q, v in zip(run.q[:count], run.v[:count], strict=True)]


def test_steps_one_by_one_are_the_steps_of_a_run(plant):
    run = kb.simulate(plant, 50 * H, stepper=kb.RungeKutta4(H), save_every=50 * H)
    state = plant.start
    for k in range(50):
        state = plant.step(state, dt=H, t=k * H)
    np.testing.assert_allclose(np.concatenate(state), np.concatenate([run.q[-1], run.v[-1]]), atol=1e-12)


def test_a_step_knows_nothing_of_the_steps_before_it(plant):
    asked = states(plant, 40)
    forward = [np.concatenate(plant.step(state, dt=H)) for state in asked]
    backward = [np.concatenate(plant.step(state, dt=H)) for state in reversed(asked)]
    np.testing.assert_array_equal(forward, backward[::-1])


def test_threads_step_on_arrays_of_their_own(plant):
    asked = states(plant, 40) * 5
    alone = [np.concatenate(plant.step(state, dt=H)) for state in asked]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda state: np.concatenate(plant.step(state, dt=H)), asked))
    np.testing.assert_array_equal(alone, together)


def test_a_step_that_is_too_long_is_refused_by_name(plant):
    with pytest.raises(ConstraintError, match=r"four-bar: .* after t = 0 s. Try a smaller dt"):
        plant.step((plant.start.q, 1e3 * np.ones(3)), dt=1.0)


def test_a_state_that_is_no_longer_finite_is_refused():
    body = kb.Body("body", kb.Box((0.1, 0.1, 0.1), mass=1.0), joint=kb.Prismatic(kb.X))
    plant = kb.build(kb.System("slider", (body,)))
    with pytest.raises(NotFiniteError, match="slider: the state is no longer finite"):
        plant.step((plant.start.q, np.array([1e300])), dt=1e9)


MACHINES = {
    "a loop": lambda: kb.load("four-bar"),
    "a weld with a dependent row": lambda: kb.load("dual-mobile-arm", path=False, closure="weld"),
    "no rows": lambda: kb.load("puma560"),
    "quaternions": lambda: kb.load("two-arm-carry"),
    "rolling wheels": lambda: kb.load("differential-drive"),
}


@pytest.mark.parametrize("name", MACHINES)
def test_a_step_in_one_call_is_the_step_looked_at_closely_to_the_last_bit(name):
    plant = kb.build(MACHINES[name]())
    random, layout = np.random.default_rng(5), plant.layout
    state, t, taken = kb.State(*plant.step(plant.start)), 0.25, 0
    for _ in range(30):
        u, dt = random.uniform(-1.0, 1.0, len(plant.actuators)), float(random.uniform(1e-4, 2e-3))
        at_once = plant.stepping.quick(state, u, dt, t)
        held = np.concatenate([u, np.zeros(layout.n_u - len(u))])
        closely = plant.stepping(state, held, Span(t, dt))
        if at_once is not None:  # it gives up where rows are chosen again, and for a quaternion that is not quite unit
            np.testing.assert_array_equal(np.concatenate(at_once), np.concatenate(closely))
            taken += 1
        state, t = closely, t + dt
    assert taken > 25


def array(*numbers):
    return np.array(numbers, dtype=float)


LOOKED_AT = {  # what a step in one call leaves to `one_step`: q, v, actuation, dt, t
    "a list as q": lambda q, v: ([*q], v, None, H, 0.0),
    "whole numbers": lambda q, v: (np.ones(3, dtype=int), v, None, H, 0.0),
    "the other byte order": lambda q, v: (q.astype(">f8"), v, None, H, 0.0),
    "a batch": lambda q, v: (q[np.newaxis], v, None, H, 0.0),
    "a column": lambda q, v: (q[:, np.newaxis], v, None, H, 0.0),
    "a column as actuation": lambda q, v: (q, v, np.zeros((1, 1)), H, 0.0),
    "an array without dimensions": lambda q, v: (np.array(1.0), v, None, H, 0.0),
    "a number as q": lambda q, v: (q[0], v, None, H, 0.0),
    "too few": lambda q, v: (q, v[:2], None, H, 0.0),
    "NaN in q": lambda q, v: (array(np.nan, 0.0, 0.0), v, None, H, 0.0),
    "infinity in v": lambda q, v: (q, array(np.inf, 0.0, 0.0), None, H, 0.0),
    "two motors of one": lambda q, v: (q, v, np.zeros(2), H, 0.0),
    "NaN as actuation": lambda q, v: (q, v, array(np.nan), H, 0.0),
    "a list as actuation": lambda q, v: (q, v, [0.1], H, 0.0),
    "a truth as dt": lambda q, v: (q, v, None, True, 0.0),
    "no time": lambda q, v: (q, v, None, 0.0, 0.0),
    "backwards": lambda q, v: (q, v, None, -H, 0.0),
    "NaN as dt": lambda q, v: (q, v, None, float("nan"), 0.0),
    "for ever": lambda q, v: (q, v, None, float("inf"), 0.0),
    "NaN as t": lambda q, v: (q, v, None, H, float("nan")),
    "a text as t": lambda q, v: (q, v, None, H, "0"),
    "a step that fails": lambda q, v: (q, 1e3 * np.ones(3), None, 1.0, 0.0),
}


@pytest.mark.parametrize("what", LOOKED_AT)
def test_a_step_in_one_call_leaves_what_is_out_of_the_ordinary_to_a_closer_look(plant, what):
    plant.step(plant.start)
    q, v, actuation, dt, t = LOOKED_AT[what](*plant.start)
    assert plant.stepping.quick((q, v), actuation, dt, t) is None


@pytest.mark.parametrize("state", [None, 5, "ab", (1.0,), np.zeros((2, 3))])
def test_a_step_in_one_call_takes_no_other_state_than_a_pair(plant, state):
    plant.step(plant.start)
    assert plant.stepping.quick(state, None, H, 0.0) is None


def test_a_quaternion_that_is_not_unit_is_made_so_before_a_step():
    plant = kb.build(kb.load("two-arm-carry"))
    q, v = plant.step(plant.start)
    ((first, _),) = plant.machine.quaternions
    stretched = q.copy()
    stretched[first : first + 4] *= 1.001
    assert plant.stepping.quick(kb.State(stretched, v), None, H, 0.0) is None
    np.testing.assert_allclose(plant.step(kb.State(stretched, v)).q, plant.step(kb.State(q, v)).q, atol=1e-12)


def test_a_step_takes_arrays_with_gaps_and_arrays_that_may_not_be_written_to(plant):
    q, v = plant.step(plant.start)
    apart, fixed = np.zeros(6), v.copy()
    apart[::2], fixed.flags.writeable = q, False
    moved = plant.stepping.quick((apart[::2], fixed), None, H, 0.0)
    np.testing.assert_array_equal(np.concatenate(moved), np.concatenate(plant.step(kb.State(q, v))))


def test_the_result_of_a_step_is_not_touched_by_the_next(plant):
    first = plant.step(plant.start)
    kept = np.concatenate(first)
    plant.step(first)
    np.testing.assert_array_equal(np.concatenate(first), kept)
