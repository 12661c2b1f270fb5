"""One lane or eight: the same numbers, bit for bit."""

import numpy as np
import pytest

from kalaba.errors import NativeError
from unit.native.evaluation import by_casadi, compiled, natively, random_function

STATES = np.random.default_rng(3).uniform(-1, 1, (8, 24))
PARAMETERS = np.random.default_rng(4).uniform(-1, 1, 5)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_one_four_and_eight_lanes_give_the_same_bits(seed):
    function = random_function(seed, 1500)
    one, four, eight = (natively(function, STATES, PARAMETERS, lanes) for lanes in (1, 4, 8))
    np.testing.assert_array_equal(four, one)
    np.testing.assert_array_equal(eight, one)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_large_random_function_agrees_with_casadi(seed):
    function = random_function(seed, 1500)
    found, expected = natively(function, STATES, PARAMETERS, 8), by_casadi(function, STATES, PARAMETERS)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)  # values of order 1, errors grow along the chain


def test_parameters_may_differ_between_lanes():
    function = random_function(5, 200)
    kernel = compiled(function, 4)
    parameters = np.random.default_rng(6).uniform(-1, 1, (5, 4))
    found = kernel(STATES[:, :4], kernel.store(parameters))
    for lane in range(4):
        alone = natively(function, STATES[:, lane : lane + 1], parameters[:, lane])
        np.testing.assert_array_equal(found[:, lane], alone[:, 0])


def test_other_numbers_of_lanes_are_refused():
    with pytest.raises(NativeError, match=r"3 lanes.*\(1, 2, 4, 8\)"):
        compiled(random_function(0, 10), 3)
