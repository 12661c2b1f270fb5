"""Jacobians by elimination of vertices, against CasADi's."""

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.kernels.jacobian import jacobian
from kalaba.derive.equations import derive

x, y, p = ca.SX.sym("x", 3), ca.SX.sym("y"), ca.SX.sym("p", 2)
a, b, c = ca.vertsplit(x)
SAMPLE = ca.vertcat(a, b, c, y, p)
CASES = {
    "an argument itself": ca.vertcat(a, a, b),
    "numbers and parameters alone": ca.vertcat(3, p[0] * y, a),
    "one argument twice": ca.vertcat(a + a, a * a, a - a * b, b**3),
    "every kind of operation": ca.vertcat(
        ca.sin(a) * ca.exp(b),
        ca.atan2(a, b) / (2 + ca.cos(c)),
        ca.sqrt(1 + a**2),
        ca.fabs(b) + ca.fmax(a, c),
        -ca.tan(p[1] * c),
    ),
    "a choice": ca.if_else(a > b, a * c, b / (3 + c)),
    "shared parts": ca.vertcat(*(ca.sin(a * b + c) ** k * y for k in range(1, 5))),
    "a chain": ca.sin(ca.cos(ca.sin(ca.cos(a * y) + b) * c)),
    "nothing": ca.SX(0, 1),
}


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_agrees_with_casadi(values):
    found = ca.Function("f", [SAMPLE], [jacobian(values, x), ca.jacobian(values, x)])
    for numbers in np.random.default_rng(1).normal(size=(20, SAMPLE.shape[0])):
        ours, theirs = (np.asarray(part.full()) for part in found(numbers))
        assert ours == pytest.approx(theirs, rel=1e-13, abs=1e-13)


def test_entries_that_cannot_be_are_no_part_of_it():
    assert jacobian(ca.vertcat(a * b, c + y), x).sparsity() == ca.jacobian(ca.vertcat(a * b, c + y), x).sparsity()


@pytest.mark.parametrize("machine", ["puma560", "dual-mobile-arm", "spinning-beam"])
def test_takes_no_more_operations_than_forward_mode(machine):
    equations = derive(kb.load(machine))
    (bias,) = ca.cse([equations.bias])
    state = ca.vertcat(equations.symbols.q, equations.symbols.v)
    columns = ca.jtimes(bias, state, ca.DM.eye(state.shape[0]))
    assert ca.n_nodes(ca.cse(jacobian(bias, state))) < ca.n_nodes(ca.cse(columns))


@pytest.mark.parametrize("factor", [0.5, 1.0, -1.0, 2.0, 0.25, -0.5])
def test_slopes_that_are_numbers_are_multiplied(factor):
    """On the way from an argument, on the way to a result, and both."""
    values = ca.vertcat(ca.sin(factor * a), factor * ca.sin(b), factor * ca.sin(factor * c), factor * (factor * a))
    found = ca.Function("f", [x], [jacobian(values, x)])([0.3, 0.4, 0.5]).full()
    cos = np.cos
    expected = np.zeros((4, 3))
    expected[0, 0], expected[1, 1] = factor * cos(0.3 * factor), factor * cos(0.4)
    expected[2, 2], expected[3, 0] = factor**2 * cos(0.5 * factor), factor**2
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


def test_a_factor_of_one_is_no_operation_and_one_of_minus_one_a_sign():
    slopes = jacobian(ca.vertcat(a + ca.sin(b), a - ca.sin(b)), x)
    function = ca.Function("f", [x], [slopes])
    words = [function.instruction_id(k) for k in range(function.n_instructions())]
    assert ca.OP_MUL not in words
    assert words.count(ca.OP_NEG) == 1
