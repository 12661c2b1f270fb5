"""Sharing efforts from sample to sample: the same as from nothing, whatever held before."""

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import linprog, minimize

import kalaba as kb
from kalaba.errors import ControlError

GOALS, MOTORS = ("a", "b", "c", "d"), 7


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e5])
@pytest.mark.parametrize("limits", [np.full(MOTORS, np.inf), np.linspace(50, 90, MOTORS)])
def test_a_warm_start_has_the_least_peak_all_along(size, limits):
    rng = np.random.default_rng(5)
    S, drift = rng.standard_normal((2, len(GOALS), MOTORS)) * size
    share, scale = kb.MinMax().solver(limits, GOALS), np.where(np.isfinite(limits), limits, 1.0)
    for k in range(40):
        W = S + 0.3 * np.sin(0.2 * k) * drift
        r = W @ (40 * np.cos(0.1 * k + np.arange(MOTORS)))
        found, expected = share(W, r), kb.MinMax().allocate(W, r, limits)
        assert np.abs(W @ found - r).max() < 1e-9 * np.abs(r).max()
        assert np.abs(found / scale).max() == pytest.approx(np.abs(expected / scale).max(), rel=1e-9)


def test_jumps_do_not_confuse_it():
    rng = np.random.default_rng(6)
    share = kb.MinMax().solver(np.full(MOTORS, np.inf), GOALS)
    for _ in range(40):
        W, r = rng.standard_normal((len(GOALS), MOTORS)), rng.standard_normal(len(GOALS)) * 10.0 ** rng.integers(-3, 4)
        expected = np.abs(kb.MinMax().allocate(W, r, np.full(MOTORS, np.inf))).max()
        assert np.abs(share(W, r)).max() == pytest.approx(expected, rel=1e-9)


def test_a_force_of_zero_takes_no_effort():
    share = kb.MinMax().solver(np.full(MOTORS, np.inf), GOALS)
    W = np.random.default_rng(7).standard_normal((len(GOALS), MOTORS))
    assert np.abs(share(W, np.zeros(len(GOALS)))).max() < 1e-12


def test_goals_out_of_reach_are_still_refused():
    share = kb.MinMax().solver(np.full(MOTORS, np.inf), GOALS)
    W = np.random.default_rng(8).standard_normal((len(GOALS), MOTORS))
    W[3] = W[2]
    with pytest.raises(ControlError, match="out of reach"):
        share(W, np.array([1.0, 2.0, 3.0, 4.0]))


def by_cutting_planes(W, r, limits):  # noqa: N803
    """By another way: the least peak by a linear programme over τ, then least squares by sequential quadratic steps."""
    m = len(limits)
    A = np.hstack([W * limits, np.zeros((len(r), 1))])
    sides = np.block([[np.eye(m), -np.ones((m, 1))], [-np.eye(m), -np.ones((m, 1))]])
    found = linprog(
        np.append(np.zeros(m), 1), sides, np.zeros(2 * m), A, r, [(None, None)] * m + [(0, None)], method="highs"
    )
    peak = found.x[-1]
    rows = {"type": "eq", "fun": lambda y: (W * limits) @ y - r, "jac": lambda _: W * limits}
    least = minimize(
        lambda y: y @ y / 2, found.x[:m], jac=lambda y: y, bounds=[(-peak, peak)] * m, constraints=rows, method="SLSQP"
    )
    return least.x * limits


@pytest.mark.parametrize("spare", [1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_of_equal_peaks_the_one_of_least_squares_is_taken(seed, spare):
    """Every other machine has a motor at the peak alone, which no null direction moves: all the others are free."""
    rng = np.random.default_rng(seed)
    W, r, limits = rng.standard_normal((3, 3 + spare)), rng.standard_normal(3), rng.uniform(0.5, 2.0, 3 + spare)
    if seed % 2:
        W[0], r[0] = 0.0, 50.0
        W[:, 0], W[0, 0] = 0.0, 1.0
    expected = by_cutting_planes(W, r, limits)
    ways = [kb.MinMax().allocate(W, r, limits), kb.MinMax().solver(limits, ("a", "b", "c"))(W, r)]
    if spare == 1:
        W_, r_ = ca.SX.sym("W", *W.shape), ca.SX.sym("r", 3)
        ways.append(ca.Function("f", [W_, r_], [kb.MinMax().expression(W_, r_, limits)])(W, r).full().ravel())
    for found in ways:
        assert np.abs(W @ found - r).max() < 1e-9 * np.abs(r).max()
        assert found / limits == pytest.approx(
            expected / limits, abs=2e-6 * np.abs(expected / limits).max()
        )  # of SLSQP


@pytest.mark.parametrize("seed", range(5))
def test_the_choice_does_not_jump(seed):
    """Along a way of the force a jump would be as large with shorter steps."""
    rng = np.random.default_rng(seed)
    limits = rng.uniform(0.5, 2.0, MOTORS)
    W, (r, later) = rng.standard_normal((len(GOALS), MOTORS)), rng.standard_normal((2, len(GOALS)))
    share = kb.MinMax().solver(limits, GOALS)
    first, last, size = 0.0, 1.0, np.inf
    for _ in range(3):
        parts = np.linspace(first, last, 51)
        efforts = np.array([share(W, r + part * later) for part in parts])
        steps = np.abs(np.diff(efforts, axis=0)).max(axis=1)
        assert steps.max() < 0.5 * size
        worst = int(steps.argmax())
        first, last, size = parts[worst], parts[worst + 1], steps[worst]


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_a_motor_without_effect_gives_nothing_whatever_the_size_of_the_force(size):
    efforts = kb.MinMax().allocate(np.array([[1.0, 1.0, 0.0]]), np.array([2.0 * size]), np.full(3, np.inf))
    assert efforts == pytest.approx([size, size, 0.0], rel=1e-9, abs=1e-9 * size)
