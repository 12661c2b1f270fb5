"""A motion that has no value from some time on ends a run as not finite, whatever the stepper."""

import pytest

import kalaba as kb
from kalaba.results.run import Ending

PENDULUM = kb.System(
    "pendulum",
    (kb.Body("rod", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.Y)), kb.Actuator("motor", "rod.angle")),
    start=kb.Start(hold={"rod.angle": 0.3}),
)
ADAPTIVE = [kb.Auto(), kb.DormandPrince(), kb.Radau()]
NATIVE = [kb.Kvaerno(), kb.GeneralisedAlpha(rtol=1e-5)]
FIXED = [kb.RungeKutta4(1e-2), kb.Newmark(1e-2), kb.WilsonTheta(1e-2), kb.CentralDifference(1e-2)]
END = 0.505  # s: off the grid of fixed steps, so that the last whole step is the one before


@pytest.fixture(scope="module")
def native():
    return kb.build(PENDULUM)


@pytest.fixture(scope="module")
def interpreted():
    return kb.build(PENDULUM, backend=kb.Interpreted())


def ended(plant, stepper, law: str):
    return kb.simulate(plant, 1.0, stepper=stepper, control={"motor": law}, check=False).status


@pytest.mark.parametrize("law", [f"sqrt({END} - t)", f"log({END} - t)"])
@pytest.mark.parametrize("stepper", [*ADAPTIVE, *NATIVE], ids=lambda stepper: stepper.name)
def test_a_law_without_a_value_after_some_time_ends_an_adaptive_run_there(native, stepper, law):
    status = ended(native, stepper, law)
    assert status.ending is Ending.NOT_FINITE
    assert status.time == pytest.approx(END, abs=1e-11)  # steps sink below rounding there; times are known to 1e-12
    assert "the state is no longer finite" in status.message
    assert "check the control law" in status.message


@pytest.mark.parametrize("stepper", ADAPTIVE, ids=lambda stepper: stepper.name)
def test_so_it_is_in_plain_python(interpreted, stepper):
    status = ended(interpreted, stepper, f"sqrt({END} - t)")
    assert status.ending is Ending.NOT_FINITE
    assert status.time == pytest.approx(END, abs=1e-11)


@pytest.mark.parametrize("stepper", FIXED, ids=lambda stepper: stepper.name)
def test_fixed_steps_that_solve_equations_do_not_blame_newtons_method(native, stepper):
    status = ended(native, stepper, f"sqrt({END} - t)")
    assert status.ending is Ending.NOT_FINITE
    assert abs(status.time - END) <= 1e-2 + 1e-9  # within the step that meets it


@pytest.mark.parametrize("stepper", [*ADAPTIVE, *NATIVE], ids=lambda stepper: stepper.name)
def test_a_law_that_grows_beyond_every_step_still_falls_below_rounding(native, stepper):
    """1/(0.505 - t) has a finite value wherever a stage asks for it, but no step reaches its pole."""
    status = ended(native, stepper, f"1/({END} - t)")
    assert status.ending is Ending.STEP_UNDERFLOW
    assert status.time == pytest.approx(END, abs=1e-9)


def test_a_sampled_law_that_gives_no_number_is_named_with_its_time(native):
    law = kb.Sampled(lambda t, _q, _v: [float("nan") if t > 0.35 else 0.0], rate=10.0)
    with pytest.raises(kb.KalabaError, match=r"Sampled at t = 0\.4: expected 1 finite number, got \[nan\]"):
        kb.simulate(native, 1.0, control=law)
