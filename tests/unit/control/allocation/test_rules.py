"""Sharing a force among motors: each way against its own definition."""

from itertools import product

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.control.allocation import Allocation
from kalaba.control.allocation.solutions import null_direction
from kalaba.errors import ControlError

INF = np.full(6, np.inf)


def problem(seed: int, rows: int = 3, motors: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, motors)), rng.normal(size=rows)


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 5.0, 0.1, 10.0, 3.0)])
def test_least_squares_is_its_formula(weights):
    W, F = problem(1)
    D_inv = np.diag(1 / np.array(weights or np.ones(6)))
    expected = D_inv @ W.T @ np.linalg.solve(W @ D_inv @ W.T, F)
    assert np.abs(kb.LeastSquares(weights).allocate(W, F, INF) - expected).max() < 1e-13


def test_rows_of_other_units_change_nothing():
    W, F = problem(2)
    scale = np.array([1e-6, 1.0, 1e5])
    expected = kb.LeastSquares().allocate(W, F, INF)
    assert np.abs(kb.LeastSquares().allocate(W * scale[:, None], F * scale, INF) - expected).max() < 1e-13


def test_dependent_rows_that_agree_are_no_error():
    W, F = problem(3)
    twice = kb.LeastSquares().allocate(np.vstack([W, W[0] + W[1]]), np.append(F, F[0] + F[1]), INF)
    assert np.abs(twice - kb.LeastSquares().allocate(W, F, INF)).max() < 1e-12


@pytest.mark.parametrize("share", [kb.LeastSquares(), kb.MinMax(), kb.Bounded()])
def test_a_force_that_no_motor_gives_is_named(share):
    W, F = problem(4)
    W[1] = 0.0
    with pytest.raises(ControlError, match=rf"missing {F[1]:.3g} of {F[1]:.3g} at load.centre.vy; no torque"):
        share.allocate(W, F, np.ones(6), ("load.centre.vx", "load.centre.vy", "load.centre.vz"))


@pytest.mark.parametrize("seed", range(5))
def test_min_max_is_the_best_along_the_one_free_direction(seed):
    W, F = problem(seed, rows=5)
    limits = np.array([1.0, 2.0, 3.0, 0.5, 1.0, 4.0])
    found = kb.MinMax().allocate(W, F, limits)
    least, null = np.linalg.pinv(W) @ F, np.linalg.svd(W)[2][-1]
    crossings = [  # the best ratio lies where two ratios are equal
        (s * least[j] * limits[i] - least[i] * limits[j]) / (null[i] * limits[j] - s * null[j] * limits[i])
        for i, j, s in product(range(6), range(6), (1, -1))
        if i != j
    ]
    best = min(np.abs((least + null * z) / limits).max() for z in crossings)
    assert np.abs(W @ found - F).max() < 1e-12
    assert np.abs(found / limits).max() == pytest.approx(best, rel=1e-9)


def test_min_max_without_limits_takes_the_torques_themselves():
    W, F = problem(5)
    assert np.array_equal(kb.MinMax().allocate(W, F, INF), kb.MinMax().allocate(W, F, np.ones(6)))


def test_min_max_without_choice_is_the_only_solution():
    W, F = problem(6, rows=6)
    assert np.abs(kb.MinMax().allocate(W, F, np.ones(6)) - np.linalg.solve(W, F)).max() < 1e-10


@pytest.mark.parametrize("seed", range(20))
def test_bounded_is_optimal_by_its_multipliers(seed):
    """D τ = Wᵀ λ + μ, μ ≤ 0 at an upper bound, ≥ 0 at a lower one, 0 between: a convex problem's minimum."""
    W, F = problem(seed, rows=3, motors=8)
    weights = tuple(np.random.default_rng(seed).uniform(0.5, 2.0, size=8))
    free = kb.LeastSquares(weights).allocate(W, F, np.full(8, np.inf))
    best = np.abs(kb.MinMax().allocate(W, F, np.full(8, np.inf))).max()
    limits = np.full(8, 0.5 * (best + np.abs(free).max()))  # tighter than the free solution, yet possible
    found = kb.Bounded(weights=weights).allocate(W, F, limits)
    assert np.abs(W @ found - F).max() < 1e-12
    assert (np.abs(found) <= limits * (1 + 1e-12)).all()
    inside = np.abs(found) < limits * (1 - 1e-9)
    gradient = np.array(weights) * found
    multipliers = np.linalg.lstsq(W[:, inside].T, gradient[inside], rcond=None)[0]
    slack = gradient - W.T @ multipliers
    assert not inside.all()
    assert np.abs(slack[inside]).max() < 1e-12
    assert (slack[~inside] * np.sign(found[~inside]) <= 1e-12).all()


def test_bounded_within_its_limits_is_least_squares():
    W, F = problem(7)
    assert np.array_equal(kb.Bounded().allocate(W, F, np.full(6, 1e3)), kb.LeastSquares().allocate(W, F, INF))


def test_bounds_of_one_side_replace_the_limits():
    W, F = problem(8)
    found = kb.Bounded(lower=(0.0,) * 6, upper=(np.inf,) * 6).allocate(W, F, np.full(6, 1e-9))
    assert (found >= -1e-12).all()
    assert np.abs(W @ found - F).max() < 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_bounds_that_cannot_be_kept_are_an_error_with_what_is_missing(seed):
    W, F = problem(seed)
    best = np.abs(kb.MinMax().allocate(W, F, INF)).max()
    kb.Bounded().allocate(W, F, np.full(6, best * 1.001))
    with pytest.raises(ControlError, match=r"missing .*; the motors are at their bounds"):
        kb.Bounded().allocate(W, F, np.full(6, best * 0.99))


@pytest.mark.parametrize("make", [kb.LeastSquares, lambda weights: kb.Bounded(weights=weights)])
@pytest.mark.parametrize("weights", [(1.0, -1.0), (np.nan, 1.0), ("a", "b"), 3.0])
def test_weights_are_numbers_above_zero(make, weights):
    with pytest.raises(ControlError, match="expected numbers above zero"):
        make(weights)


def test_counts_and_limits_are_checked():
    W, F = problem(9)
    with pytest.raises(ControlError, match="expected 6 numbers, one per motor, got 2"):
        kb.LeastSquares((1.0, 2.0)).allocate(W, F, INF)
    with pytest.raises(ControlError, match="1 of 6 motors has no limit"):
        kb.MinMax().allocate(W, F, np.append(np.ones(5), np.inf))
    with pytest.raises(ControlError, match="each below its upper one"):
        kb.Bounded(lower=(2.0,) * 6).allocate(W, F, np.ones(6))


@pytest.mark.parametrize("way", [kb.LeastSquares(), kb.MinMax(), kb.Bounded((-5.0,) * 3, (5.0,) * 3)])
def test_a_row_of_rounding_asks_for_nothing(way):
    W = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    noise = np.array([1e-18, -3e-18, 2e-18])
    expected = way.allocate(W, np.array([1.0, 2.0]), np.full(3, np.inf))
    found = way.allocate(np.vstack([W, noise]), np.array([1.0, 2.0, 5e-19]), np.full(3, np.inf))
    assert np.abs(found - expected).max() < 1e-12


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)])
def test_a_preload_changes_no_force_and_is_kept_as_far_as_it_moves_nothing(weights):
    (W, F), preload = problem(9), (5.0, -3.0, 2.0, 7.0, -1.0, 4.0)
    least = kb.LeastSquares(weights).allocate(W, F, INF)
    found = kb.LeastSquares(weights, preload=preload).allocate(W, F, INF)
    assert np.abs(W @ found - F).max() < 1e-13  # rounding of products of some tens
    inner = np.array(preload) - kb.LeastSquares(weights).allocate(W, W @ np.array(preload), INF)
    assert np.abs(found - least - inner).max() < 1e-12
    assert np.abs(inner).max() > 1.0  # it does something


def test_a_preload_of_the_wrong_size_is_refused():
    W, F = problem(9)
    with pytest.raises(ControlError, match=r"preload: expected 6 numbers, one per motor, got 2"):
        kb.LeastSquares(preload=(1.0, 2.0)).allocate(W, F, INF)
    with pytest.raises(ControlError, match=r"LeastSquares\.preload: expected finite numbers"):
        kb.LeastSquares(preload=(np.nan,) * 6)


def evaluated(rule, force_map, force, limits):
    W, F = ca.SX.sym("W", *force_map.shape), ca.SX.sym("F", len(force))
    torques = ca.Function("rule", [W, F], [rule.expression(W, F, limits)])(force_map, force)
    return np.asarray(torques.full()).ravel()


@pytest.mark.parametrize("size", [2, 3, 6])
def test_closed_forms_equal_the_solvers(size):
    """Enumeration with one null direction against the linear programme and the dual of Lawson and Hanson."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        S, r = rng.normal(size=(size - 1, size)), rng.normal(size=size - 1)
        limits = rng.uniform(0.5, 2.0, size=size)
        least = evaluated(kb.LeastSquares(), S, r, limits)
        assert np.abs(least - kb.LeastSquares().allocate(S, r, limits)).max() < 1e-9 * max(1, np.abs(least).max())
        peak, expected = evaluated(kb.MinMax(), S, r, limits), kb.MinMax().allocate(S, r, limits)
        assert np.abs(S @ peak - r).max() < 1e-9
        assert np.abs(peak / limits).max() == pytest.approx(np.abs(expected / limits).max(), rel=1e-9)
        room = 1.05 * np.abs(expected).max()
        bounded = kb.Bounded((-room,) * size, (room,) * size)
        within = evaluated(bounded, S, r, limits)
        assert np.abs(within - bounded.allocate(S, r, limits)).max() < 1e-8 * max(1, np.abs(within).max())


@pytest.mark.parametrize("rule", [kb.LeastSquares(), kb.MinMax(), kb.Bounded()])
def test_where_no_motor_is_spare_every_closed_form_is_the_one_solution(rule):
    rng = np.random.default_rng(9)
    W, F = rng.normal(size=(4, 4)), rng.normal(size=4)
    assert np.abs(evaluated(rule, W, F, np.full(4, 1e3)) - np.linalg.solve(W, F)).max() < 1e-11


def test_the_null_direction_moves_nothing_and_is_none_of_rounding():
    rng = np.random.default_rng(10)
    for size in (2, 3, 6):
        W = ca.SX.sym("W", size - 1, size)
        S = rng.normal(size=(size - 1, size))
        null = np.asarray(ca.Function("direction", [W], [null_direction(W)])(S).full()).ravel()
        assert np.abs(S @ null).max() < 1e-10
        assert np.abs(null).max() > 1e-3


def test_code_is_told_apart_by_all_that_it_depends_on():
    size, limits = (2, 3), np.ones(3)
    weighted = kb.LeastSquares((1.0, 1.0, 2.0))
    rules = (kb.LeastSquares(), weighted, kb.MinMax(), kb.Bounded())
    assert len({rule.label(size, limits) for rule in rules}) == len(rules)
    assert kb.MinMax().label(size, 2 * limits) != kb.MinMax().label(size, limits)
    assert kb.Bounded().label(size, 2 * limits) != kb.Bounded().label(size, limits)


def test_a_rule_of_ones_own_is_told_apart_by_its_expression():
    """Its name and numbers may stay while its code changes; a kernel of the old code must not be taken for the new."""

    def rule(exponent):
        class Mine(Allocation):
            closed_form_spare = 1

            def allocate(self, force_map, force, limits, rows=()):
                return np.zeros(force_map.shape[1])

            def expression(self, force_map, force, limits):
                return ca.mtimes(force_map.T, force**exponent)

        return Mine()

    size, limits = (2, 3), np.ones(3)
    assert rule(2).label(size, limits) == rule(2).label(size, limits)
    assert rule(2).label(size, limits) != rule(3).label(size, limits)
