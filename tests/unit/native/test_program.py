"""A CasADi function is read as it is, or refused with the reason."""

import casadi as ca
import numpy as np
import pytest

from kalaba.errors import NativeError
from kalaba.native.program import ListingWriter, read_program
from unit.native.evaluation import by_casadi, compiled, natively, random_function

X, P = ca.SX.sym("x", 2), ca.SX.sym("p", 2)


def test_every_instruction_reads_earlier_ones_only():
    instructions = read_program(random_function(14, 1000)).listing.instructions
    assert all(arg < position for position, i in enumerate(instructions) for arg in i.args)


def test_equal_operations_are_merged():
    y = ca.SX.sym("y")
    function = ca.Function("f", [X, y], [ca.sin(X[0]) * y, ca.sin(X[0]) + y])
    operations = [i.op for i in read_program(function).listing.instructions if i.args]
    assert operations.count("sin") == 1


def test_zero_and_minus_zero_stay_apart():
    writer = ListingWriter()
    assert writer.constant(0.0) == writer.constant(0.0) != writer.constant(-0.0)


def test_inputs_stand_in_order_without_the_parameters():
    y = ca.SX.sym("y", 3)
    function = ca.Function("f", [X, P, y], [X[1] + P[0] + y[2], y], ["x", "p", "y"], ["a", "b"])
    kernel = compiled(function)
    assert kernel.inputs == (("x", 2), ("y", 3))
    assert kernel.outputs == (("a", 1), ("b", 3))
    assert (kernel.input_slice("y"), kernel.output_slice("b")) == (slice(2, 5), slice(1, 4))


def test_matrices_are_delivered_dense_and_column_by_column():
    matrix = ca.SX(3, 2)
    matrix[0, 0], matrix[2, 1], matrix[1, 1] = X[0], X[1], 7
    function = ca.Function("f", [X], [matrix, ca.SX(2, 2)])
    found = natively(function, [[3.0], [5.0]])[:, 0]
    assert found.tolist() == [3, 0, 0, 0, 7, 5, 0, 0, 0, 0]
    np.testing.assert_array_equal(found, by_casadi(function, [[3.0], [5.0]])[:, 0])


def test_a_function_with_no_outputs_does_nothing():
    kernel = compiled(ca.Function("f", [X], []))
    assert kernel([0.0, 0.0], kernel.store([])).shape == (0, 1)


def test_a_function_of_matrices_is_refused():
    y = ca.MX.sym("y", 2)
    with pytest.raises(NativeError, match="expand"):
        read_program(ca.Function("f", [y], [ca.norm_2(y)]))


def test_a_free_symbol_is_refused_by_name():
    y = ca.SX.sym("stray")
    with pytest.raises(NativeError, match="stray"):
        read_program(ca.Function("f", [X], [X[0] + y], {"allow_free": True}))


def test_a_sparse_input_is_refused_by_name():
    y = ca.SX.sym("y", ca.Sparsity.lower(2))
    with pytest.raises(NativeError, match=r"f: input L .*densify"):
        read_program(ca.Function("f", [y], [ca.sum1(y)], ["L"], ["s"]))
