"""Two steppers written outside the package, in this one file: they run in the compiled loop, with their own order."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import IntegrationError
from kalaba.steppers import AdaptiveStepper, ButcherTableau, FixedStepper

CLOSED = 1e-9  # of a row's residual at any step: projection repeats while it finds more


@dataclass(frozen=True, slots=True)
class Ralston3(FixedStepper):
    """Ralston's method of order 3, which has the smallest bound of its error term among those of three stages.

    Reference: Ralston (1962), Mathematics of Computation 16, 431-437.
    """

    tableau: ClassVar[ButcherTableau] = ButcherTableau(
        nodes=(0.0, 1 / 2, 3 / 4),
        matrix=((), (1 / 2,), (0.0, 3 / 4)),
        weights=(2 / 9, 1 / 3, 4 / 9),
        order=3,
    )


@dataclass(frozen=True, slots=True)
class BogackiShampine(AdaptiveStepper):
    """The pair of order 3 with an error estimate of order 2.

    Reference: Bogacki and Shampine (1989), Applied Mathematics Letters 2, 321-325.
    """

    tableau: ClassVar[ButcherTableau] = ButcherTableau(
        nodes=(0.0, 1 / 2, 3 / 4, 1.0),
        matrix=((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)),
        weights=(2 / 9, 1 / 3, 4 / 9, 0.0),
        order=3,
        embedded=(7 / 24, 1 / 4, 1 / 3, 1 / 8),
        embedded_order=2,
    )


@pytest.fixture(scope="module")
def plant():
    return kb.build(kb.load("four-bar"))


@pytest.fixture(scope="module")
def exact(plant):
    return kb.simulate(plant, 0.5, stepper=kb.DormandPrince(1e-12, 1e-13), save_every=0.5).q[-1]


def error(plant, exact, stepper):
    return np.abs(kb.simulate(plant, 0.5, stepper=stepper, save_every=0.5).q[-1] - exact).max()


def test_a_fixed_step_converges_at_its_order_on_a_closed_chain(plant, exact):
    errors = [error(plant, exact, Ralston3(step)) for step in (4e-3, 2e-3, 1e-3)]
    orders = [math.log2(coarse / fine) for coarse, fine in pairwise(errors)]
    assert orders == pytest.approx([3.0, 3.0], abs=0.25)  # the next term of the error is h/L of the first


def test_adapted_steps_all_alike_converge_at_their_order(plant, exact):
    """Loose tolerances and a largest step leave a method with a fixed step."""
    alike = [BogackiShampine(1.0, 1.0, first_step=step, max_step=step) for step in (4e-3, 2e-3)]
    coarse, fine = (error(plant, exact, stepper) for stepper in alike)
    assert math.log2(coarse / fine) == pytest.approx(3.0, abs=0.25)


def test_adapted_steps_follow_the_tolerance(plant, exact):
    errors = {tol: error(plant, exact, BogackiShampine(tol, tol)) for tol in (1e-6, 1e-9)}
    assert errors[1e-9] < errors[1e-6] / 30  # a thousandth of the tolerance; errors add up over more steps
    runs = [kb.simulate(plant, 0.5, stepper=BogackiShampine(tol, tol)).effort for tol in (1e-6, 1e-9)]
    assert runs[1].steps == pytest.approx(10 * runs[0].steps, rel=0.3)  # steps go with the cube root of the tolerance


@pytest.mark.parametrize("stepper", [Ralston3(), BogackiShampine()])
def test_rows_stay_closed(plant, stepper):
    run = kb.simulate(plant, 0.5, stepper=stepper)
    assert run.worst.value < CLOSED
    assert run.effort.settings["stepper"] == repr(stepper)


def test_samples_between_steps_converge_too(plant):
    """A tableau without dense output is interpolated by the cubic through both ends."""
    steppers = (kb.DormandPrince(1e-12, 1e-13), Ralston3(4e-3), Ralston3(2e-3))
    fine, *rest = (kb.simulate(plant, 0.5, stepper=stepper, save_every=0.7e-3).q for stepper in steppers)
    errors = [np.abs(q - fine).max() for q in rest]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(3.0, abs=0.25)


@pytest.mark.parametrize("stepper", [Ralston3(), BogackiShampine(1e-6, 1e-8)])
def test_an_interpreted_machine_takes_both_too(plant, stepper):
    slow = kb.build(kb.load("four-bar"), backend=kb.Interpreted())
    runs = [kb.simulate(machine, 0.02, stepper=stepper, save_every=1.7e-3) for machine in (plant, slow)]
    assert runs[0].effort.steps == runs[1].effort.steps
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-13)  # samples lie within steps


def test_an_adaptive_stepper_needs_an_error_estimate():
    @dataclass(frozen=True, slots=True)
    class Blind(AdaptiveStepper):
        tableau: ClassVar[ButcherTableau] = Ralston3.tableau

    with pytest.raises(IntegrationError, match="Blind: to adapt its step, its tableau needs embedded weights"):
        Blind()
