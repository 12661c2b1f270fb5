"""plant.step: the step of a run, from any state, without history."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ConstraintError, NotFiniteError

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
