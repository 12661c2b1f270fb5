"""An allocation rule from outside the package: this one file is all that it costs."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.control.allocation import Allocation
from kalaba.errors import ControlError

GOALS = (kb.follow("leg1.link_b.tip.x", "0.2115 + 0.01*cos(3*t)"), kb.follow("leg1.link_b.tip.y", 0.298))


@dataclass(frozen=True)
class Alike(Allocation):
    """Two motors that give the same effort; for the rest the least squares. It takes one spare motor."""

    first: int
    second: int
    closed_form_spare = float("inf")

    def _tie(self, motors):
        row = np.zeros((1, motors))
        row[0, self.first], row[0, self.second] = 1.0, -1.0
        return row

    def allocate(self, force_map, force, limits, rows=()):
        tie = self._tie(force_map.shape[1])
        return kb.LeastSquares().allocate(np.vstack([force_map, tie]), np.append(force, 0.0), limits, (*rows, "tie"))

    def expression(self, force_map, force, limits):
        tie = ca.DM(self._tie(force_map.shape[1]))
        return kb.LeastSquares().expression(ca.vertcat(force_map, tie), ca.vertcat(force, 0), limits)

    def check(self, limits):
        if not 0 <= self.first < self.second < len(limits):
            raise ControlError(f"Alike: expected two of {len(limits)} motors, got {self.first} and {self.second}.")


@dataclass(frozen=True)
class FourNorm(Allocation):
    """The least Σ (τ_i/limit_i)⁴, by Newton's method on τ₀ + N z. It has no closed form: `allocate` is all there is."""

    def allocate(self, force_map, force, limits, rows=()):
        scale = np.where(np.isfinite(limits), limits, 1.0)
        x = kb.LeastSquares().allocate(force_map, force, limits, rows) / scale
        N = np.linalg.svd(force_map)[2][len(force_map) :].T / scale[:, None]
        for _ in range(60):  # where x is near zero a step takes but a third off the error
            x = x - N @ np.linalg.lstsq(N.T @ (3 * x[:, None] ** 2 * N), N.T @ x**3, rcond=None)[0]
        return x * scale


@pytest.fixture(scope="module")
def plant():
    return kb.build(kb.load("planar-parallel"))  # three motors, two freedoms


def missed(run):
    x, y = run["leg1.link_b.tip.x"], run["leg1.link_b.tip.y"]
    return max(np.abs(x - 0.2115 - 0.01 * np.cos(3 * run.time)).max(), np.abs(y - 0.298).max())


def test_a_rule_with_a_closed_form_is_compiled_and_keeps_its_promise_along_a_run(plant):
    control = kb.servo(plant, GOALS, allocation=Alike(0, 2))
    assert not isinstance(control.law(plant, control.start(plant)), kb.Sampled)
    run = kb.simulate(plant, 0.5, control=control, stepper=kb.DormandPrince(1e-10))
    assert missed(run) < 1e-8
    size = np.abs(run.actuation).max()
    assert np.abs(run.actuation[:, 0] - run.actuation[:, 2]).max() < 1e-12 * size
    assert np.abs(run.actuation[:, 0] - run.actuation[:, 1]).max() > 0.1 * size  # least squares would not do


def test_its_numbers_and_its_expressions_agree(plant):
    control = kb.servo(plant, GOALS, allocation=Alike(0, 2))
    run = kb.simulate(plant, 0.2, control=control, stepper=kb.DormandPrince(1e-11))
    solved = kb.inverse_dynamics(plant, GOALS, Alike(0, 2), times=run.time)
    assert np.abs(run.actuation - solved.actuation).max() < 1e-6 * solved.peak  # the run is off its course by 1e-9


def test_a_rule_that_only_solves_is_sampled_and_keeps_its_promise(plant):
    control = kb.servo(plant, GOALS, allocation=FourNorm())
    assert isinstance(control.law(plant, control.start(plant)), kb.Sampled)
    run = kb.simulate(plant, 0.1, control=control)
    assert missed(run) < 1e-5  # efforts are held for a millisecond
    four, least = (
        kb.inverse_dynamics(plant, GOALS, rule, times=[0.0, 0.1]) for rule in (FourNorm(), kb.LeastSquares())
    )
    assert ((four.actuation**4).sum(axis=1) < 0.99 * (least.actuation**4).sum(axis=1)).all()
    slope, W = four.actuation**3, four.null  # stationary: along what moves nothing the gradient is zero
    assert np.abs((slope * W).sum(axis=1)).max() < 1e-9 * np.abs(slope).max()


def test_what_a_rule_refuses_the_servo_refuses(plant):
    with pytest.raises(ControlError, match="Alike: expected two of 3 motors, got 0 and 3"):
        kb.servo(plant, GOALS, allocation=Alike(0, 3))


def test_a_rule_without_a_closed_form_is_no_c(plant, tmp_path):
    words = "FourNorm with 1 spare motors needs a solver at every sample and has no C export"
    with pytest.raises(ControlError, match=words):
        kb.export_c(plant, tmp_path / "rule.c", function="inverse-dynamics", allocation=FourNorm())


def test_what_lacks_a_member_is_no_rule(plant):
    class Half:
        def allocate(self, force_map, force, limits, rows=()):
            return np.zeros(force_map.shape[1])

    with pytest.raises(ControlError, match=r"^servo\.allocation: expected an Allocation, got .* a rule of your own"):
        kb.servo(plant, GOALS, allocation=Half())
