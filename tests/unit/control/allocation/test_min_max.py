"""Sharing efforts from sample to sample: the same as from nothing, whatever held before."""

import numpy as np
import pytest

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
