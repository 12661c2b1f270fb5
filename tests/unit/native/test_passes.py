"""The passes over a listing: what depends on the parameters only is computed once; products go into sums where that
saves an operation, never where it would compute one twice; cutting changes how a list is compiled and nothing else.
"""

import casadi as ca
import numpy as np
import pytest

from kalaba.native.passes import contract, cut, hoist
from kalaba.native.program import read_program
from unit.native.evaluation import by_casadi, compiled, natively, random_function

X, P = ca.SX.sym("x", 2), ca.SX.sym("p", 3)
A, B, C, D = ca.vertsplit(FOUR := ca.SX.sym("x", 4))
STATES = np.random.default_rng(7).uniform(-1, 1, (8, 8))
PARAMETERS = np.random.default_rng(8).uniform(-1, 1, 5)


def function(*outputs: ca.SX) -> ca.Function:
    names = [f"y{k}" for k in range(len(outputs))]
    return ca.Function("f", [X, P], list(outputs), ["x", "p"], names)


def test_the_main_list_holds_no_operation_on_parameters_alone():
    hoisted = hoist(read_program(function(X[0] * ca.sin(P[0] * P[1]) + ca.exp(P[2]))).listing)
    operations = [instruction.op for instruction in hoisted.main.instructions if instruction.args]
    assert sorted(operations) == ["add", "mul"]
    assert sorted(i.op for i in hoisted.prepare.instructions if i.args) == ["exp", "mul", "sin"]


def test_only_values_that_the_main_list_reads_are_kept():
    hoisted = hoist(read_program(function(X[0] * ca.sqrt(ca.exp(P[0] + P[1])))).listing)
    assert len(hoisted.prepare.results) == 1


def test_a_parameter_used_directly_is_a_constant():
    kernel = compiled(function(X[0] * P[1]))
    assert (kernel.n_constants, kernel.n_inputs, kernel.n_parameters) == (1, 2, 3)
    assert kernel.store([5.0, 6.0, 7.0])[0, 0] == 6.0


def test_an_output_of_parameters_alone_is_delivered():
    assert natively(function(P[0] + P[1], X[0]), [[3.0], [0.0]], [1.0, 4.0, 9.0]).ravel().tolist() == [5.0, 3.0]


def test_new_parameters_need_no_new_build():
    random = random_function(13, 900)
    kernel = compiled(random)
    inputs = np.linspace(-1, 1, 8)
    for seed in range(3):
        parameters = np.random.default_rng(seed).uniform(-1, 1, 5)
        found = kernel(inputs, kernel.store(parameters))
        np.testing.assert_allclose(found, by_casadi(random, inputs[:, None], parameters), rtol=0, atol=1e-10)


def test_a_function_without_parameters_stores_nothing():
    kernel = compiled(ca.Function("g", [X], [X[0] + X[1]]))
    assert kernel.store([]).shape == (0, 1)
    assert kernel([1.0, 2.0], kernel.store(())).tolist() == [[3.0]]


def operations(*outputs: ca.SX) -> list[str]:
    listing = contract(read_program(ca.Function("f", [FOUR], list(outputs))).listing)
    return [instruction.op for instruction in listing.instructions if instruction.args]


@pytest.mark.parametrize(
    ("expression", "op"),
    [(A * B + C, "fma"), (C + A * B, "fma"), (A * B - C, "fms"), (C - A * B, "fnma"), (A * A + C, "fma")],
)
def test_a_product_used_once_goes_into_its_sum(expression, op):
    assert operations(expression) == [op]


def test_of_two_products_one_is_taken_in():
    assert operations(A * B + C * D) == ["mul", "fma"]


def test_a_product_used_twice_stays():
    product = A * B
    assert operations(product + C, product - D) == ["mul", "add", "sub"]


def test_a_product_that_is_a_result_stays():
    product = A * B
    assert operations(product, product + C) == ["mul", "add"]


@pytest.mark.parametrize("longest", [1, 7, 100, 900])
@pytest.mark.parametrize("lanes", [1, 8])
def test_a_cut_function_gives_the_same_bits(longest, lanes):
    function = random_function(9, 600)
    whole = natively(function, STATES, PARAMETERS, lanes)
    np.testing.assert_array_equal(natively(function, STATES, PARAMETERS, lanes, longest), whole)


def test_pieces_are_no_longer_than_asked():
    listing = contract(hoist(read_program(random_function(10, 2000)).listing).main)
    pieces = cut(listing, 0, 100).pieces
    operations = [sum(bool(instruction.args) for instruction in piece.instructions) for piece in pieces]
    assert max(operations) <= 100
    assert sum(operations) == listing.count_operations()


def test_work_slots_are_used_again():
    listing = contract(hoist(read_program(random_function(11, 6000)).listing).main)
    result = cut(listing, 50, 200)
    handed_over = [write.slot for piece in result.pieces for write in piece.writes if write.array == "store"]
    assert min(handed_over) == 50
    assert max(handed_over) == 50 + result.n_work - 1
    assert result.n_work < len(handed_over) / 3


def test_an_uncut_function_needs_no_work_space():
    assert compiled(random_function(12, 100)).n_work == 0
