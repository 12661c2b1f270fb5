"""Products go into sums where that saves an operation, never where it would compute one twice."""

import casadi as ca
import pytest

from kalaba.native.contract import contract
from kalaba.native.program import read_program

A, B, C, D = ca.vertsplit(X := ca.SX.sym("x", 4))


def operations(*outputs: ca.SX) -> list[str]:
    listing = contract(read_program(ca.Function("f", [X], list(outputs))).listing)
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
