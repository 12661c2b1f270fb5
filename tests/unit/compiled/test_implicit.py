"""Implicit stages in the compiled loop: order, stiffness, and how Newton's method ends."""

from math import cos, exp, log2, sin

import pytest

from kalaba.compiled import Integration, Kernels, Schedule, Status
from kalaba.constrain.layout import Layout
from kalaba.steppers import Kvaerno
from unit.steppers.sample_kernels import (
    code,
    overdamped,
    overdamped_tangent,
    straight,
    structural_oscillator,
    wrong_tangent,
)


def run(stepper, kernels, end=2.0, start=(0.0, 1.0, 0.3)):
    integration = Integration(kernels, stepper, Schedule(end, end), start)
    integration.advance()
    return integration.trajectory()


def error(trajectory, end=2.0):
    return abs(trajectory.end_y[1] - cos(end) - 0.3 * sin(end))


def test_the_error_falls_with_the_fifth_power_of_the_step():
    coarse, fine = (
        error(run(Kvaerno(1.0, 1.0, first_step=h, max_step=h), structural_oscillator())) for h in (0.2, 0.1)
    )
    assert log2(coarse / fine) == pytest.approx(5.0, abs=0.4)


@pytest.mark.parametrize("rtol", [1e-5, 1e-7, 1e-9])
def test_adapted_steps_follow_the_tolerance(rtol):
    trajectory = run(Kvaerno(rtol, 1e-3 * rtol), structural_oscillator())
    assert trajectory.status is Status.DONE
    assert error(trajectory) < 10 * rtol
    assert trajectory.rejected < 5


def test_what_decays_at_once_does_not_limit_the_step():
    """q̈ = −1e6 (v + q): after 1e-6 s it creeps as e⁻ᵗ; an explicit method would need a million steps."""
    kernels = Kernels(
        Layout(1, 1, 1), motion=code(overdamped), displace=code(straight), tangent=code(overdamped_tangent)
    )
    trajectory = run(Kvaerno(1e-6, 1e-9), kernels, start=(0.0, 1.0, -1.0))
    assert trajectory.status is Status.DONE
    assert trajectory.steps < 60
    assert trajectory.end_y[1] == pytest.approx(exp(-2.0), abs=1e-5)


def test_a_tangent_that_is_wrong_ends_in_shorter_steps_and_not_in_a_wrong_result():
    kernels = Kernels(Layout(1, 1, 1), motion=code(overdamped), displace=code(straight), tangent=code(wrong_tangent))
    trajectory = run(Kvaerno(1e-6, 1e-9), kernels, end=1e-4, start=(0.0, 1.0, 0.0))
    slow = exp(-1e-4)
    assert trajectory.status is Status.DONE
    assert trajectory.end_y[1] == pytest.approx(slow, abs=1e-5)
