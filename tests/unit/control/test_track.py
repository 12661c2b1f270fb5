"""Curves through the knots of a plan: values, rates and accelerations there, lines of efforts, rest outside."""

import casadi as ca
import numpy as np
import pytest

from kalaba.control.plan.track import _curve, _derived, _linear, _quintic

TIME = np.array([0.5, 0.9, 1.0, 1.7])  # unequal steps, and no start at zero
RNG = np.random.default_rng(2)
Y, V, A = (RNG.normal(size=(4, 2)) for _ in range(3))


def at(pieces, *times):
    """A curve's values at some times."""
    t = ca.SX.sym("t")
    function = ca.Function("curve", [t], [_curve(TIME, pieces, t)])
    return np.array([function(time).full().ravel() for time in times])


@pytest.fixture(scope="module")
def pieces():
    return _quintic(Y, V, A, np.diff(TIME)[:, np.newaxis])


def test_a_curve_meets_values_rates_and_accelerations_from_both_sides(pieces):
    h = np.diff(TIME)
    rates = _derived(pieces, h)
    seconds = _derived(rates, h)
    near = 1e-9  # times third derivatives of up to 1e6
    for table, wanted in ((pieces, Y), (rates, V), (seconds, A)):
        np.testing.assert_allclose(at(table, *TIME), wanted, atol=1e-10)
        np.testing.assert_allclose(at(table, *(TIME[1:] - near)), wanted[1:], atol=1e-3)
        np.testing.assert_allclose(at(table, *(TIME[:-1] + near)), wanted[:-1], atol=1e-3)


def test_it_is_of_degree_five_and_its_rates_are_its_slopes(pieces):
    """Six differences of a polynomial of degree five vanish; slopes by central differences."""
    inside = np.linspace(1.05, 1.65, 13)
    values = at(pieces, *inside)
    assert np.abs(np.diff(values, 6, axis=0)).max() < 1e-11
    assert np.abs(np.diff(values, 5, axis=0)).max() > 1e-6
    rates, step = _derived(pieces, np.diff(TIME)), 1e-6
    slopes = (at(pieces, *(inside + step)) - at(pieces, *(inside - step))) / (2 * step)
    np.testing.assert_allclose(at(rates, *inside), slopes, atol=1e-7)


def test_outside_it_rests(pieces):
    np.testing.assert_array_equal(at(pieces, 0.0, 0.4), at(pieces, 0.5, 0.5))
    np.testing.assert_array_equal(at(pieces, 1.8, 9.0), at(pieces, 1.7, 1.7))


def test_efforts_are_lines():
    times = np.array([0.5, 0.7, 0.9, 0.95, 1.0, 1.35, 1.7])
    wanted = np.column_stack([np.interp(times, TIME, column) for column in Y.T])
    np.testing.assert_allclose(at(_linear(Y), *times), wanted, atol=1e-14)


def test_one_piece_has_no_knots_within():
    t = ca.SX.sym("t")
    one = ca.Function("curve", [t], [_curve(TIME[:2], _linear(Y[:2]), t)])
    np.testing.assert_allclose(one(0.6).full().ravel(), 0.75 * Y[0] + 0.25 * Y[1], atol=1e-14)
