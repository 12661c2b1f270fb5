"""How a run was made, read back from it: where it began, by which stepper, what drove it."""

import math

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError
from kalaba.plant.state import State
from kalaba.run.again import from_words, made, scenario_of
from kalaba.steppers import KINDS
from kalaba.tolerances import SAME_START


@pytest.fixture(scope="module")
def plant():
    """A cart and a rod that begin away from zero, at a speed."""
    parts = (
        kb.Body("cart", kb.Box((0.5, 0.5, 0.5), mass=2.0), joint=kb.Prismatic(kb.X)),
        kb.Body("rod", kb.Rod(2.0, mass=1.0), parent="cart", joint=kb.Revolute(kb.Y)),
        kb.Actuator("motor", "cart.travel"),
    )
    start = kb.Start(hold={"cart.travel": 3.0, "rod.angle": 0.4}, speed={"cart.travel": 5.0, "rod.angle": -2.0})
    return kb.build(kb.System("crane", parts, start=start))


def run_from(plant, q, v):
    return kb.simulate(plant, 0.01, start=State(np.array(q), np.array(v)), check=False)


def test_a_run_from_the_machines_own_start_needs_no_other(plant):
    run = kb.simulate(plant, 0.02, stepper=kb.RungeKutta4(0.004), control={"motor": "2*t"}, save_every=0.01)
    how = made(run)
    assert how.start is None
    assert how.stepper == kb.RungeKutta4(0.004)
    scenario = scenario_of(run)
    assert (scenario.duration, scenario.save_every, scenario.stepper) == (0.02, 0.01, kb.RungeKutta4(0.004))


@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("entry", [0, 1])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_start_is_another_from_a_part_of_the_machines_size_on(plant, part, entry, sign):
    scales = plant.scales
    size = (scales.places, scales.velocities * scales.rate)[part][entry]
    for share, is_own in ((0.5, True), (2.0, False)):
        state = [plant.start.q.copy(), plant.start.v.copy()]
        state[part][entry] += sign * share * SAME_START * size
        run = run_from(plant, *state)
        how = made(run)
        assert (how.start is None) == is_own
        if not is_own:
            assert how.start.q.tolist() == run.q[0].tolist()
            assert how.start.v.tolist() == run.v[0].tolist()
            with pytest.raises(ModelError, match="began elsewhere"):
                scenario_of(run)


def test_a_stepper_is_read_back_from_its_words():
    assert from_words("DormandPrince(rtol=1e-06, atol=1e-09, max_step=inf)", KINDS) == kb.DormandPrince(
        1e-6, 1e-9, max_step=math.inf
    )
    for arguments in ("(0.1)", "", "(step=open('x'))", "(", "(stp=0.1)"):
        assert from_words(f"RungeKutta4{arguments}", KINDS) is None
    assert from_words("Unknown(step=0.1)", KINDS) is None
