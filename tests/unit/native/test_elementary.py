"""Sine and cosine are right to about one unit in the last place, wherever a double can stand."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

from kalaba.errors import NativeError
from kalaba.native import elementary
from unit.native.evaluation import natively, ulps_apart

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
RANDOM = np.random.default_rng(2)
NEAR_MULTIPLES = np.outer(np.arange(1, 200, 7), [np.pi / 2, np.pi / 4]).ravel()
LARGE_MULTIPLES = np.array([1e3, 12345, 99999, 636619]) * np.pi / 2
ARGUMENTS = np.concatenate(
    [
        [0.0, 1e-320, 1e-300, 1e-9, 0.5, 999_999.999, 1e6],
        RANDOM.uniform(-10, 10, 300),
        RANDOM.uniform(-1e6, 1e6, 300),
        NEAR_MULTIPLES,
        np.nextafter(NEAR_MULTIPLES, 0),
        LARGE_MULTIPLES,
        np.nextafter(LARGE_MULTIPLES, np.inf),
    ]
)
TWO_ULPS = 2  # the reduction rounds twice, the polynomial once


def exact(x: float) -> tuple[float, float]:
    """Sine and cosine by their series in 90 digits."""
    with localcontext() as context:
        context.prec = 90
        turn = Decimal(x) % (2 * PI)
        terms, term = [], Decimal(1)
        for k in range(1, 100):
            terms.append(term)
            term = term * turn / k
        sine = sum(terms[1::4]) - sum(terms[3::4])
        cosine = sum(terms[0::4]) - sum(terms[2::4])
        return float(Fraction(sine)), float(Fraction(cosine))


def sine_and_cosine() -> ca.Function:
    x = ca.SX.sym("x")
    return ca.Function("sincos", [x], [ca.sin(x), ca.cos(x)])


@pytest.mark.parametrize("lanes", [1, 8])
def test_sine_and_cosine_are_right_to_two_ulps_up_to_a_million(lanes):
    expected = np.array([exact(x) for x in ARGUMENTS]).T
    found = natively(sine_and_cosine(), ARGUMENTS[None], lanes=lanes)
    assert ulps_apart(found, expected).max() <= TWO_ULPS


@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_huge_arguments_are_left_to_the_c_library(lanes):
    huge = np.concatenate([10.0 ** np.arange(6, 301, 7), -(10.0 ** np.arange(6, 301, 11))])
    found = natively(sine_and_cosine(), huge[None], lanes=lanes)
    assert ulps_apart(found, np.array([np.sin(huge), np.cos(huge)])).max() <= TWO_ULPS


@pytest.mark.parametrize("lanes", [1, 8])
def test_so_are_those_just_above_a_million(lanes):
    """To the last bit, which the reduction would miss here and there."""
    large = np.concatenate([np.round(np.geomspace(7e5, 6e8, 200)) * np.pi / 2, np.geomspace(1.00001e6, 1e9, 500)])
    found = natively(sine_and_cosine(), large[None], lanes=lanes)
    np.testing.assert_array_equal(found, [[math.sin(x) for x in large], [math.cos(x) for x in large]])
    assert ulps_apart(found, np.array([exact(x) for x in large]).T).max() <= TWO_ULPS


@pytest.mark.parametrize("lanes", [1, 8])
def test_infinity_and_nan_give_nan(lanes):
    assert np.isnan(natively(sine_and_cosine(), [[np.inf, -np.inf, np.nan]], lanes=lanes)).all()


def test_a_huge_argument_in_one_lane_leaves_the_others_unchanged():
    ordinary = RANDOM.uniform(-3, 3, (1, 8))
    mixed = ordinary.copy()
    mixed[0, 3], mixed[0, 5] = 1e200, np.nan
    alone, together = (natively(sine_and_cosine(), x, lanes=8) for x in (ordinary, mixed))
    others = [0, 1, 2, 4, 6, 7]
    np.testing.assert_array_equal(together[:, others], alone[:, others])


def test_sine_keeps_the_sign_of_zero():
    assert np.signbit(natively(sine_and_cosine(), [[-0.0, 0.0]])[0]).tolist() == [True, False]


def test_a_function_missing_in_the_c_library_is_named(monkeypatch):
    monkeypatch.setitem(elementary.FUNCTIONS, "no_such_function", 1)
    with pytest.raises(NativeError, match="no function no_such_function"):
        elementary.addresses()


def test_a_missing_library_file_is_passed_over(monkeypatch):
    monkeypatch.setattr(elementary, "_FILES", {elementary.sys.platform: ("no-such-file.so", None)})
    assert elementary.addresses().keys() == {elementary.symbol(name) for name in elementary.FUNCTIONS}
