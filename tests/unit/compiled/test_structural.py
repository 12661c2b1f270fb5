"""Steps of the methods for structures by value: unequal steps, jumps, error estimates, beside formulas by hand."""

from math import cos, sin

import numpy as np
import pytest

from kalaba.compiled import Integration, Schedule
from kalaba.steppers import HHT, GeneralisedAlpha, Newmark, WilsonTheta
from unit.steppers.sample_kernels import structural_oscillator

END = 10.0  # s
FIXED = [WilsonTheta(0.1), Newmark(0.1), HHT(0.1, 0.2), GeneralisedAlpha(0.1, 0.3), GeneralisedAlpha(0.1, 0.9)]


class ByHand:
    """q̈ = -q + u by the formulas of `Scheme`; the acceleration of the scheme moves with the length of the step."""

    def __init__(self, stepper, q, v, u=0.0):
        self.scheme, self.q, self.v, self.u, self.work = stepper.scheme, q, v, u, 0.0
        self.a, self.before, self.h_before, self.meant = u - q, 0.0, 0.0, 0.0
        self.origin, self.extents, self.error_before = q, np.array([0.0, abs(v)]), 0.0

    def jump(self, u):
        """What is held changes: the acceleration takes part, and what it was before says nothing any more."""
        self.a += u - self.u
        self.u, self.h_before = u, 0.0

    def step(self, h):
        """Take a step; the errors of q and v."""
        s, a = self.scheme, self.a
        if self.h_before > 0:
            a += (s.alpha_m - s.alpha_f) * (h - self.meant) / self.h_before * (a - self.before)
        tau, true = s.collocation * h, self.u - self.q
        place = self.q + tau * self.v + tau**2 * (0.5 - s.beta) * a
        right = (1 - s.alpha_f) * (self.u - place) + s.alpha_f * true - s.alpha_m * a
        x = right / (1 - s.alpha_m + (1 - s.alpha_f) * tau**2 * s.beta)
        following = a + (x - a) / s.collocation
        q = self.q + h * self.v + h**2 * ((0.5 - s.beta) * a + s.beta * following)
        v = self.v + h * ((1 - s.gamma) * a + s.gamma * following)
        constant = abs(s.beta + (s.alpha_m - s.alpha_f) / 2 - 1 / 6)
        errors = np.array([constant * h**2 * (following - a), 0.0])
        if self.h_before > 0:
            third = ((following - a) / h - (a - self.before) / self.h_before) / ((h + self.h_before) / 2)
            errors[1] = h**3 / 12 * third
        self.q, self.v, self.before, self.a, self.h_before, self.meant = q, v, a, following, h, h
        return errors

    def scaled(self, errors, rtol, atol):
        """The root mean square of the errors in the scales of the motion so far."""
        self.extents = np.maximum(self.extents, [abs(self.q - self.origin), abs(self.v)])
        return float(np.sqrt(np.square(errors / (np.array([atol, atol / END]) + rtol * self.extents)).mean()))


def started(stepper, q=1.0, v=0.3):
    return Integration(structural_oscillator(), stepper, Schedule(END, END), (0.0, q, v))


def named(stepper):
    return repr(stepper)


@pytest.mark.parametrize("stepper", FIXED, ids=named)
def test_steps_of_unequal_length_are_those_of_the_formulas(stepper):
    """Landings shorten every second step: 0.1 and 0.04 s by turns."""
    integration, by_hand, t = started(stepper), ByHand(stepper, 1.0, 0.3), 0.0
    for _ in range(6):
        for h in (0.1, 0.04):
            t += h
            integration.advance(until=t)
            by_hand.step(h)
            assert integration.y[1:, 0] == pytest.approx([by_hand.q, by_hand.v], abs=1e-12)
    assert by_hand.q == pytest.approx(cos(t) + 0.3 * sin(t), abs=4e-3)


@pytest.mark.parametrize("stepper", FIXED, ids=named)
def test_a_jump_of_what_is_held_is_part_of_the_acceleration(stepper):
    """The step after it is of another length too, and there is no slope across the jump."""
    integration, by_hand, t = started(stepper), ByHand(stepper, 1.0, 0.3), 0.0
    for h, u in ((0.1, 0.0), (0.1, 0.0), (0.04, 2.0), (0.1, 2.0), (0.04, -1.0), (0.1, -1.0)):
        if u != by_hand.u:
            by_hand.jump(u)
            integration.actuation[:] = u
        t += h
        integration.advance(until=t)
        by_hand.step(h)
        assert integration.y[1:, 0] == pytest.approx([by_hand.q, by_hand.v], abs=1e-12)


@pytest.mark.parametrize("radius", [0.6, 0.9])
@pytest.mark.parametrize("jumps", [False, True])
def test_adapted_steps_follow_from_the_error_estimate(radius, jumps):
    """0.9 e^-(1/3 - 3β/4) e_before^β times the step before, β = 0.04, within 0.2 and 10."""
    rtol, atol, h = 1e-3, 1e-5, 0.02
    stepper = GeneralisedAlpha(h, radius, rtol=rtol, atol=atol)
    integration, by_hand, t = started(stepper), ByHand(stepper, 1.0, 0.3), 0.0
    for k in range(12):
        if jumps and k == 6:
            by_hand.jump(0.5)
            integration.actuation[:] = 0.5
        t += h
        integration.advance(steps=1)
        assert integration.time == pytest.approx(t, rel=1e-9)
        error = by_hand.scaled(by_hand.step(h), rtol, atol)
        assert error < 1.0  # or the step would be taken again
        h *= min(10.0, max(0.2, 0.9 * error ** (0.03 - 1 / 3) * max(by_hand.error_before, 1e-4) ** 0.04))
        by_hand.error_before = max(error, 1e-4)
    assert integration.trajectory().rejected == 0


def test_the_work_is_that_of_the_trapezium():
    integration = started(Newmark(0.1))
    integration.actuation[:] = 2.0
    speeds = [0.3]
    for _ in range(5):
        integration.advance(steps=1)
        speeds.append(float(integration.y[2, 0]))
    assert integration.y[0, 0] == pytest.approx(2.0 * np.trapezoid(speeds, dx=0.1), rel=1e-12)
