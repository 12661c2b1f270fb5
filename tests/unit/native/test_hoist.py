"""What depends on the parameters only is computed once."""

import casadi as ca
import numpy as np

from kalaba.native.hoist import hoist
from kalaba.native.program import read_program
from unit.native.evaluation import by_casadi, compiled, natively, random_function

X, P = ca.SX.sym("x", 2), ca.SX.sym("p", 3)


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
