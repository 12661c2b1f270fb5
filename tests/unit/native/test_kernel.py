"""A kernel checks its arrays, runs in many threads and stays in its process."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kalaba.errors import NativeError
from kalaba.native import aligned_zeros
from unit.native.evaluation import compiled, random_function

PARAMETERS = np.linspace(-1, 1, 5)


@pytest.fixture(scope="module")
def kernel():
    return compiled(random_function(15, 900), 4, longest_piece=100)


def test_many_threads_may_run_a_kernel_at_once(kernel):
    states = [np.random.default_rng(seed).uniform(-1, 1, (8, 4)) for seed in range(200)]
    store = kernel.store(PARAMETERS)
    expected = [kernel(state, store) for state in states]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda state: kernel(state, kernel.store(PARAMETERS)), states))
    np.testing.assert_array_equal(found, expected)


def test_outputs_are_written_into_the_array_given(kernel):
    outputs = aligned_zeros(kernel.n_outputs, 4)
    assert kernel(np.ones((8, 4)), kernel.store(PARAMETERS), outputs) is outputs
    assert outputs.any()


def test_the_store_starts_at_a_cache_line(kernel):
    assert kernel.store(PARAMETERS).ctypes.data % 64 == 0
    assert kernel.store(PARAMETERS).shape == (kernel.n_store, 4)


@pytest.mark.parametrize(
    ("inputs", "store", "outputs", "what"),
    [
        (np.ones((7, 4)), None, None, "inputs"),
        (np.ones(8), None, None, "inputs"),
        (np.ones((8, 4)), np.zeros((3, 4)), None, "store"),
        (np.ones((8, 4)), None, np.zeros((1, 4)), "outputs"),
        (np.ones((8, 4)), None, np.zeros((26, 4), dtype=np.float32), "outputs: expected contiguous float64"),
        (np.ones((8, 4)), None, np.zeros((26, 4), order="F"), "outputs: expected contiguous float64"),
    ],
)
def test_arrays_of_another_shape_are_refused(kernel, inputs, store, outputs, what):
    with pytest.raises(NativeError, match=f"kernel random, {what}"):
        kernel(inputs, kernel.store(PARAMETERS) if store is None else store, outputs)


def test_parameters_of_another_shape_are_refused(kernel):
    with pytest.raises(NativeError, match=r"\(5,\) or \(5, 4\), got \(6,\)"):
        kernel.store(np.zeros(6))


def test_an_unknown_name_is_answered_with_the_known_ones(kernel):
    with pytest.raises(NativeError, match="no input u; known names: x"):
        kernel.input_slice("u")
    with pytest.raises(NativeError, match="no output u; known names: y, z"):
        kernel.output_slice("u")


def test_machine_code_is_not_pickled(kernel):
    with pytest.raises(NativeError, match="machine code of this process"):
        pickle.dumps(kernel)
