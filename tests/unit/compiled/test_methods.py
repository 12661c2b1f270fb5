"""Which of two methods takes the steps, decided by counts: each trial, its price, and what follows from it."""

from dataclasses import replace

import numpy as np
import pytest

from kalaba.compiled import engine
from kalaba.compiled.kernels import Kernels
from kalaba.compiled.methods import MOST_PATIENCE, PATIENCE, TRIAL_STEPS, Methods, TangentKernels
from kalaba.compiled.schedule import Schedule
from kalaba.compiled.workspace import workspace
from kalaba.constrain.layout import Layout
from kalaba.native.batch import Code
from kalaba.steppers import Auto, DormandPrince, Kvaerno, Newmark, RungeKutta4
from kalaba.tolerances import METHOD_PAYS

LAYOUT = Layout(2, 2)
MOTION, TANGENT = 30, 70  # operations
STAGES = 7  # of the explicit method


def code(operations=1):
    return Code(0, np.zeros((1, 1)), instructions=operations)


def methods_of(stepper, *, has_tangent=True):
    kernels = Kernels(LAYOUT, motion=code(MOTION))
    space = workspace(kernels, stepper, Schedule(10.0), np.zeros((5, 1)))
    asked = []

    def tangent_kernels():
        asked.append(1)
        return TangentKernels(code(), code(TANGENT))

    methods = Methods(space, kernels, stepper, tangent_kernels if has_tangent else None)
    return methods, space.memory[0], asked


def counted(memory, **changes):
    for name, value in changes.items():
        memory[name] += value


def pause(memory, h=0.01):
    """The loop waits: it is stiff, and the last step was of this length."""
    memory.paused, memory.taken, memory.stiffest = 1, h, 900.0


def tried(methods, memory, advance):
    """A trial that came so far in time."""
    counted(memory, n_steps=TRIAL_STEPS, time=advance, n_rejected=2, n_iterations=50, n_tangents=3, n_factors=4)
    assert methods.review()


def test_each_method_has_its_loop():
    assert methods_of(RungeKutta4(0.1))[0].advance is engine.advance
    kernels = Kernels(LAYOUT, motion=code(), displace=code(), tangent=code())
    for stepper, loop in ((Newmark(0.1), engine.advance_structure), (Kvaerno(), engine.advance_implicit)):
        space = workspace(kernels, stepper, Schedule(10.0), np.zeros((5, 1)))
        assert Methods(space, kernels, stepper, None).advance is loop


@pytest.mark.parametrize(("stepper", "gauges"), [(Auto(), 1), (DormandPrince(), 0), (RungeKutta4(0.1), 0)])
def test_stiffness_is_gauged_where_something_can_be_done_about_it(stepper, gauges):
    assert methods_of(stepper)[1].gauges == gauges


def test_without_another_method_a_stiff_motion_goes_on_as_it_is():
    methods, memory, _ = methods_of(Auto(), has_tangent=False)
    assert not methods.review()
    pause(memory)
    assert methods.review()
    assert (memory.paused, memory.gauges, methods.changes) == (0, 0, [])
    assert methods.advance is engine.advance


def test_the_implicit_method_is_tried_for_twenty_steps():
    methods, memory, asked = methods_of(Auto())
    assert methods.steps_to_review(1000) == 1000
    counted(memory, n_steps=40, time=0.5)
    pause(memory)
    assert methods.review()
    assert methods.advance is engine.advance_implicit
    assert (memory.paused, len(asked)) == (0, 1)
    assert (methods.steps_to_review(1000), methods.steps_to_review(5)) == (TRIAL_STEPS, 5)
    counted(memory, n_steps=TRIAL_STEPS - 1)
    assert not methods.review()


def price(steps=TRIAL_STEPS, iterations=50, rejected=2, tangents=3, factors=4):
    """Operations of implicit steps: motions, solutions of 2 n² each, tangents, and factors of n³/3."""
    return MOTION * (steps + rejected + iterations) + 2 * 2**2 * iterations + TANGENT * tangents + 2**3 / 3 * factors


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_it_stays_if_it_comes_farther_for_the_same_operations(share):
    methods, memory, _ = methods_of(Auto())
    counted(memory, n_steps=40, time=0.5, n_rejected=7, n_iterations=9)
    pause(memory, h=0.01)
    methods.review()
    tried(methods, memory, share * METHOD_PAYS * 0.01 * price() / (STAGES * MOTION))
    if share > 1:
        (change,) = methods.changes
        assert (change.time, change.stepper, change.rate) == (0.5, Auto().if_stiff.method, 900.0)
        assert methods.advance is engine.advance_implicit
        assert (methods.trials, memory.n_stiff) == (0, 0)
        assert methods.steps_to_review(10**6) == PATIENCE
    else:
        assert methods.changes == []
        assert methods.advance is engine.advance
        assert (methods.trials, memory.n_stiff) == (1, -2 * PATIENCE)
        assert methods.steps_to_review(10**6) == 10**6


def test_trials_in_vain_are_repeated_later_and_later():
    methods, memory, asked = methods_of(Auto())
    for k in range(10):
        pause(memory)
        methods.review()
        tried(methods, memory, 1e-9)
        assert memory.n_stiff == -min(2 ** (k + 1) * PATIENCE, MOST_PATIENCE)
    assert (methods.trials, len(asked)) == (10, 1)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_the_explicit_method_is_tried_again(share):
    """What it has to beat is all that the implicit one has done since it took over."""
    methods, memory, _ = methods_of(Auto())
    pause(memory)
    methods.review()
    tried(methods, memory, 1.0)
    counted(memory, n_steps=PATIENCE, time=3.0, n_rejected=1, n_iterations=200, n_tangents=5, n_factors=6)
    assert methods.review()
    assert methods.advance is engine.advance
    speed = 3.0 / price(PATIENCE, 200, 1, 5, 6)  # since the change
    work = (TRIAL_STEPS + 2) * STAGES * MOTION
    tried(methods, memory, share * METHOD_PAYS * speed * work)
    if share > 1:
        assert [change.rate for change in methods.changes] == [900.0, 0.0]
        assert methods.changes[1].time == pytest.approx(4.0)
        assert methods.advance is engine.advance
        assert memory.stiffest == 0.0
        assert methods.steps_to_review(10**6) == 10**6
    else:
        assert len(methods.changes) == 1
        assert methods.advance is engine.advance_implicit
        assert methods.steps_to_review(10**6) == 2 * PATIENCE
    assert (methods.trials, memory.n_stiff) == (0, 0)


def test_kernels_that_are_there_are_not_asked_for():
    kernels = replace(Kernels(LAYOUT, motion=code(MOTION)), displace=code(), tangent=code(TANGENT))
    space = workspace(kernels, Auto(), Schedule(10.0), np.zeros((5, 1)))
    methods = Methods(space, kernels, Auto(), lambda: pytest.fail("they are there"))
    pause(space.memory[0])
    assert methods.review()
    assert methods.advance is engine.advance_implicit
