"""A CasADi expression read instruction by instruction, into whatever algebra asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import casadi as ca

from kalaba.errors import DeriveError

Value = TypeVar("Value")

CALLS = {
    **{
        getattr(ca, f"OP_{name.upper()}"): name for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sqrt", "exp")
    },
    **{getattr(ca, f"OP_{name.upper()}"): name for name in ("log", "sinh", "cosh", "tanh", "sign", "floor", "ceil")},
    **{getattr(ca, f"OP_{name.upper()}"): name for name in ("atan2", "pow", "fmod", "hypot")},
    ca.OP_CONSTPOW: "pow",
    ca.OP_FABS: "abs",
    ca.OP_FMIN: "min",
    ca.OP_FMAX: "max",
    ca.OP_LT: "less",
    ca.OP_LE: "at_most",
    ca.OP_EQ: "equal",
    ca.OP_NE: "differs",
}
SILENT = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER, ca.OP_ASSIGN}


class Algebra(Protocol[Value]):
    """What a reader needs to know of the values that it makes."""

    def symbol(self, index: int) -> Value:
        """The symbol of a place in the input."""

    def constant(self, value: float) -> Value:
        """A number."""

    def add(self, a: Value, b: Value) -> Value:
        """Give a + b."""

    def multiply(self, a: Value, b: Value) -> Value:
        """Give a b."""

    def raised(self, a: Value, exponent: int) -> Value:
        """A whole power, negative ones too."""

    def call(self, name: str, arguments: Sequence[Value]) -> Value:
        """Any other function."""

    def keep(self, value: Value, uses: int) -> Value:
        """A value that is used so often from here on; a place to give it a name."""


def counted(expression: ca.SX, symbols: ca.SX) -> ca.Function:
    """A function of one vector whose outputs are the entries of an expression that are not zero, parts shared."""
    entries = ca.sparsify(ca.cse(expression))
    return ca.Function("printed", [symbols], [ca.vertcat(ca.SX(0, 1), *entries.nonzeros())])


def operation_count(expression: ca.SX, symbols: ca.SX) -> int:
    """Additions, multiplications and functions that an expression takes, common parts worked out once."""
    if not expression.nnz():
        return 0
    function = counted(expression, symbols)
    return sum(function.instruction_id(k) not in SILENT for k in range(function.n_instructions()))


def read(function: ca.Function, algebra: Algebra[Value]) -> list[Value]:
    """Work out every entry of a function's only output in an algebra."""
    uses = _uses(function)
    slots: dict[int, Value] = {}
    entries: list[Value] = [algebra.constant(0.0)] * function.numel_out(0)
    constants: dict[int, float] = {}
    for k in range(function.n_instructions()):
        op, inputs = function.instruction_id(k), function.instruction_input(k)
        outputs = function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            entries[outputs[1]] = slots[inputs[0]]
            continue
        constants.pop(outputs[0], None)
        if op == ca.OP_INPUT:
            slots[outputs[0]] = algebra.symbol(inputs[1])
        elif op == ca.OP_CONST:
            constants[outputs[0]] = function.instruction_constant(k)
            slots[outputs[0]] = algebra.constant(constants[outputs[0]])
        else:
            whole = _whole(op, inputs, constants)
            constants.pop(outputs[0], None)
            value = _operation(algebra, op, [slots[slot] for slot in inputs], whole)
            slots[outputs[0]] = algebra.keep(value, uses[k])
    return entries


def _uses(function: ca.Function) -> list[int]:
    """How often the value of each instruction is used."""
    made_by: dict[int, int] = {}
    uses = [0] * function.n_instructions()
    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        if op not in {ca.OP_INPUT, ca.OP_CONST}:
            for slot in function.instruction_input(k):
                uses[made_by[slot]] += 1
        if op != ca.OP_OUTPUT:
            made_by[function.instruction_output(k)[0]] = k
    return uses


def _whole(op: int, inputs: Sequence[int], constants: dict[int, float]) -> int | None:
    """The exponent of a power, if it is a whole number."""
    if op not in {ca.OP_POW, ca.OP_CONSTPOW}:
        return None
    exponent = constants.get(inputs[1])
    return int(exponent) if exponent is not None and exponent == int(exponent) else None


def _operation(algebra: Algebra[Value], op: int, given: Sequence[Value], whole: int | None) -> Value:
    a, b = given[0], given[-1]
    two, minus = 2.0, -1.0
    plain: dict[int, Callable[[], Value]] = {
        ca.OP_ASSIGN: lambda: a,
        ca.OP_ADD: lambda: algebra.add(a, b),
        ca.OP_SUB: lambda: algebra.add(a, algebra.multiply(algebra.constant(minus), b)),
        ca.OP_MUL: lambda: algebra.multiply(a, b),
        ca.OP_DIV: lambda: algebra.multiply(a, algebra.raised(b, -1)),
        ca.OP_NEG: lambda: algebra.multiply(algebra.constant(minus), a),
        ca.OP_SQ: lambda: algebra.raised(a, 2),
        ca.OP_TWICE: lambda: algebra.multiply(algebra.constant(two), a),
        ca.OP_INV: lambda: algebra.raised(a, -1),
        ca.OP_AND: lambda: algebra.multiply(a, b),  # conditions are 1 or 0
        ca.OP_IF_ELSE_ZERO: lambda: algebra.multiply(a, b),
        ca.OP_NOT: lambda: algebra.add(algebra.constant(1.0), algebra.multiply(algebra.constant(minus), a)),
        ca.OP_OR: lambda: algebra.call("max", (a, b)),
    }
    if op in plain:
        return plain[op]()
    if whole is not None:
        return algebra.raised(a, whole)
    if op not in CALLS:
        raise DeriveError(
            f"expected an operation that can be printed, got CasADi's number {op}. Write the expression otherwise."
        )
    return algebra.call(CALLS[op], given)
