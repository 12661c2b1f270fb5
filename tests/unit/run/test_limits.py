"""A run that takes too many steps or too long ends with a status and what it has."""

import pytest

import kalaba as kb
from kalaba.errors import IntegrationError, ModelError
from kalaba.results.run import Ending

PENDULUM = kb.System("pendulum", (kb.Body("rod", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.Y)),))


@pytest.fixture(scope="module", params=[kb.Native(), kb.Interpreted()], ids=["compiled loop", "python loop"])
def plant(request):
    return kb.build(PENDULUM, backend=request.param)


def test_after_so_many_steps_a_run_ends(plant):
    run = kb.simulate(plant, 1.0, stepper=kb.RungeKutta4(0.01), max_steps=7, check=False)
    assert run.status.ending is Ending.STEP_LIMIT
    assert run.effort.steps == 7
    assert run.status.time == pytest.approx(0.07)


def test_a_run_of_just_so_many_steps_is_done(plant):
    run = kb.simulate(plant, 1.0, stepper=kb.RungeKutta4(0.01), save_every=0.1, max_steps=100)
    assert (run.status.ending, run.effort.steps, run.time[-1]) == (Ending.DONE, 100, 1.0)
    assert len(run.time) == 11
    adaptive = kb.simulate(plant, 1.0, stepper=kb.DormandPrince())
    same = kb.simulate(plant, 1.0, stepper=kb.DormandPrince(), max_steps=adaptive.effort.steps)
    assert (same.status.ending, same.effort.steps) == (Ending.DONE, adaptive.effort.steps)
    short = kb.simulate(plant, 1.0, stepper=kb.DormandPrince(), max_steps=adaptive.effort.steps - 1, check=False)
    assert short.status.ending is Ending.STEP_LIMIT


def test_after_so_much_time_a_run_ends(plant):
    run = kb.simulate(plant, 1e9, stepper=kb.RungeKutta4(0.01), save_every=1e8, max_time=0.05, check=False)
    assert run.status.ending is Ending.TIME_LIMIT
    assert 0 < run.status.time < 1e9


@pytest.mark.parametrize("steps", [0, -1, "many", float("nan")])
def test_no_steps_at_all_are_refused(plant, steps):
    with pytest.raises(ModelError, match="pendulum: expected max_steps of at least 1, got"):
        kb.simulate(plant, 1.0, max_steps=steps)


@pytest.mark.parametrize("seconds", [0, -1.0, "long", float("nan")])
def test_no_time_at_all_is_refused(plant, seconds):
    with pytest.raises(ModelError, match="pendulum: expected max_time above 0 s of wall time, got"):
        kb.simulate(plant, 1.0, max_time=seconds)


@pytest.mark.parametrize("stepper", [kb.Kvaerno(), kb.Newmark(0.01), kb.CentralDifference(0.01)], ids=lambda s: s.name)
def test_steppers_that_only_the_compiled_loop_has_are_refused_elsewhere(stepper):
    plant = kb.build(PENDULUM, backend=kb.Interpreted())
    with pytest.raises(IntegrationError, match=rf"pendulum: {type(stepper).__name__}\(.* needs backend=Native\(\)"):
        kb.simulate(plant, 0.1, stepper=stepper)
