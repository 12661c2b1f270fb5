"""Every operation means natively what it means in CasADi, for zero, infinity and NaN too."""

import itertools

import casadi as ca
import numpy as np
import pytest

from kalaba.errors import NativeError
from kalaba.native.operations import Lanes, templates
from kalaba.native.program import SUPPORTED
from unit.native.evaluation import by_casadi, natively, ulps_apart

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-310, -1e-20, 1e20, -1e300, np.inf, -np.inf, np.nan]
ORDINARY = np.random.default_rng(1).uniform(-5, 5, 40)
SINGLES = np.concatenate([EDGES, ORDINARY])
PAIRS = np.concatenate([np.array(list(itertools.product(EDGES, EDGES))).T, ORDINARY.reshape(2, -1)], axis=1)

EXACT_OF_ONE = ["neg", "sq", "twice", "inv", "sqrt", "fabs", "sign", "floor", "ceil", "not"]
EXACT_OF_TWO = ["add", "sub", "mul", "div", "copysign", "lt", "le", "eq", "ne", "and", "or", "if_else_zero"]
EXTREMES = ["fmin", "fmax"]  # of 0 and −0 either may be given
LIBRARY_OF_ONE = [
    *("exp", "log", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf"),
]
LIBRARY_OF_TWO = ["pow", "atan2", "fmod", "remainder", "hypot"]


def function_of(op: str, arity: int) -> ca.Function:
    x = ca.SX.sym("x", arity)
    code = getattr(ca, f"OP_{op.upper()}")
    return ca.Function(op, [x], [ca.SX.unary(code, x) if arity == 1 else ca.SX.binary(code, x[0], x[1])])


def both(op: str, arity: int, lanes: int) -> tuple[np.ndarray, np.ndarray]:
    function, inputs = function_of(op, arity), SINGLES[None] if arity == 1 else PAIRS
    return natively(function, inputs, lanes=lanes), by_casadi(function, inputs)


@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize(
    ("op", "arity"), [*((op, 1) for op in EXACT_OF_ONE), *((op, 2) for op in EXACT_OF_TWO + EXTREMES)]
)
def test_inline_operations_equal_casadi_in_every_bit(op, arity, lanes):
    found, expected = both(op, arity, lanes)
    np.testing.assert_array_equal(found, expected)
    if op not in EXTREMES:
        numbers = ~np.isnan(expected)
        assert (np.signbit(found) == np.signbit(expected))[numbers].all()


@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize(("op", "arity"), [*((op, 1) for op in LIBRARY_OF_ONE), *((op, 2) for op in LIBRARY_OF_TWO)])
def test_elementary_functions_agree_with_casadi(op, arity, lanes):
    found, expected = both(op, arity, lanes)
    assert ulps_apart(found, expected).max() <= 2  # two good libraries may differ in the last bit, and round on


@pytest.mark.parametrize("exponent", [-17, -16, -3, -1, 0, 1, 2, 3, 5, 7, 16, 17, 0.5, 2.5, -1.5])
def test_constant_powers_agree_with_casadi(exponent):
    x = ca.SX.sym("x")
    function = ca.Function("power", [x], [ca.SX.binary(ca.OP_CONSTPOW, x, exponent), x**exponent])
    inputs = np.concatenate([[0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], ORDINARY])[None]
    found, expected = natively(function, inputs, lanes=4), by_casadi(function, inputs)
    assert ulps_apart(found, expected).max() <= 8  # x¹⁶ by squaring rounds four times, each error doubling


@pytest.mark.parametrize(("op", "arity"), [("erfinv", 1), ("printme", 2)])
def test_an_operation_without_native_code_is_refused_by_name(op, arity):
    with pytest.raises(NativeError, match=f"{op}: the operation {op} has no native code"):
        natively(function_of(op, arity), np.zeros((arity, 1)))


def test_a_call_of_another_function_is_refused():
    x = ca.SX.sym("x")
    inner = ca.Function("inner", [x], [x * x, x + 1], {"never_inline": True})
    with pytest.raises(NativeError, match="outer: the operation call has no native code"):
        natively(ca.Function("outer", [x], [sum(inner(x))]), np.zeros((1, 1)))


def test_every_operation_before_the_matrix_ones_is_listed_here():
    listed = {
        *(EXACT_OF_ONE + EXACT_OF_TWO + EXTREMES + LIBRARY_OF_ONE + LIBRARY_OF_TWO),
        *("assign", "constpow", "const", "input", "output"),
    }
    codes = {name[3:].lower(): getattr(ca, name) for name in dir(ca) if name.startswith("OP_")}
    assert {name for name, code in codes.items() if code <= ca.OP_OUTPUT} - listed == set()


@pytest.mark.parametrize("fused", [True, False])
def test_whatever_is_read_can_be_written(fused):
    assert templates(Lanes(1), fused=fused).keys() >= SUPPORTED


def test_a_lifted_value_is_the_value():
    x = ca.SX.sym("x", 2)
    function = ca.Function("f", [x], [ca.SX.binary(ca.OP_LIFT, x[0], x[1]) + 1])
    assert natively(function, [[3.0], [7.0]]).tolist() == [[4.0]]


def test_nan_passes_through_sums_and_products():
    x = ca.SX.sym("x", 3)
    function = ca.Function("f", [x], [ca.vertcat(x[0] * x[1] + x[2], x[0] - x[0], 0 * x[1] + x[2])])
    inputs = np.array([[np.nan, 1.0, 2.0], [np.inf, 1.0, 2.0]]).T
    np.testing.assert_array_equal(natively(function, inputs, lanes=4), by_casadi(function, inputs))
