"""A watched call runs the kernel and says whether what went in and what came out is as it must be."""

import casadi as ca
import numpy as np
import pytest

from kalaba.errors import NativeError
from kalaba.native import aligned_zeros
from kalaba.native.build import build, load
from kalaba.native.watched import Watch, watched


@pytest.fixture
def call():
    x = ca.SX.sym("x", 5)
    function = ca.Function("f", [x], [ca.vertcat(1 / x[4], ca.sqrt(x[4])), 2 * x[4]], ["x"], ["value", "health"])
    kernel = load(build("f", function, 1))
    inputs, outputs = aligned_zeros(5, 1)[:, 0], aligned_zeros(3, 1)[:, 0]
    store = kernel.store(np.zeros(0))
    watch = Watch((0,), 1e-6, 2, np.array([-1.0]), np.array([10.0]), 2)
    run, alive = watched(kernel, (inputs, outputs, store), watch)

    def evaluate(quaternion, value):
        inputs[:4], inputs[4] = quaternion, value
        outputs[:] = -7.0
        return run(), outputs.copy(), alive

    return evaluate


def test_good_inputs_and_results_give_one(call):
    good, outputs, _ = call((0.5, 0.5, -0.5, 0.5), 4.0)
    assert good == 1
    assert outputs.tolist() == [0.25, 2.0, 8.0]


def test_a_result_beyond_its_bounds_gives_zero(call):
    assert call((1, 0, 0, 0), 5.0)[0] == 1
    assert call((1, 0, 0, 0), 5.1)[0] == 0


def test_a_result_that_is_not_finite_gives_zero(call):
    assert call((1, 0, 0, 0), 0.0)[0] == 0  # 1/0
    assert call((1, 0, 0, 0), -0.1)[0] == 0  # √−0.1
    assert call((1, 0, 0, 0), np.nan)[0] == 0


def test_a_quaternion_that_is_not_unit_is_not_even_tried(call):
    good, outputs, _ = call((1, 1e-2, 0, 0), 4.0)
    assert good == 0
    assert outputs.tolist() == [-7.0] * 3
    assert call((1, 1e-4, 0, 0), 4.0)[0] == 1
    assert call((np.nan, 0, 0, 0), 4.0)[0] == 0


@pytest.mark.parametrize(
    ("units", "first", "low", "high", "finite"),
    [((2,), 2, 1, 1, 2), ((0,), 3, 1, 1, 2), ((0,), 0, 4, 4, 2), ((0,), 2, 1, 1, 4), ((0,), 0, 2, 1, 2)],
)
def test_a_watch_beyond_the_arrays_is_refused(units, first, low, high, finite):
    """Machine code would read what is not there."""
    x = ca.SX.sym("x", 5)
    kernel = load(build("f", ca.Function("f", [x], [x[:3]], ["x"], ["value"]), 1))
    arrays = aligned_zeros(5, 1)[:, 0], aligned_zeros(3, 1)[:, 0], kernel.store(np.zeros(0))
    with pytest.raises(NativeError, match="the kernel has 5 inputs and 3 outputs"):
        watched(kernel, arrays, Watch(units, 1e-6, first, np.zeros(low), np.ones(high), finite))
