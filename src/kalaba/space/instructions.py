"""CasADi functions as lists of named instructions: the one place where they are read, and the one table of operations.

A CasADi function of scalars (SX) is a list of instructions on numbered registers, which are used again and again. Here
every value has its own number instead: 0 for the first input, constant or operation, 1 for the next; an instruction
names the values it reads by these numbers, so that a reader keeps one list and appends to it.

Everything above reads functions this way: models record callables as files, kernels become machine code and C,
equations become text, Jacobians are taken by elimination. So this stands on the lowest floor that knows CasADi. CasADi
itself is imported when the first function is read: the table alone costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import casadi as ca

ARITY: dict[str, int] = {
    **dict.fromkeys(("neg", "sq", "twice", "inv", "sqrt", "fabs", "sign", "floor", "ceil", "not"), 1),
    **dict.fromkeys(("exp", "log", "log1p", "expm1", "erf"), 1),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"), 1),
    **dict.fromkeys(("add", "sub", "mul", "div", "pow", "constpow", "fmod", "remainder", "hypot", "atan2"), 2),
    **dict.fromkeys(("copysign", "fmin", "fmax", "lt", "le", "eq", "ne", "and", "or", "if_else_zero"), 2),
}
"""The arithmetic operations, by CasADi's names in lower case, and the number of values that each reads.

`constpow` is a power whose exponent is a number; `if_else_zero` is its second operand where the first is not 0.
"""

_COPIES = frozenset({"assign", "lift"})  # they give the first value they read


class Instruction(NamedTuple):
    """One instruction: an `input` or a `const` makes a value, so does an operation; an `output` delivers one."""

    word: str  # CasADi's name in lower case; what is not in ARITY is no arithmetic (a call, a print)
    operands: tuple[int, ...] = ()  # numbers of the values that it reads
    place: tuple[int, int] = (0, 0)  # of an input or output: which argument or result, and which of its nonzeros
    constant: float = 0.0  # of a const


def instructions(function: ca.Function) -> Iterator[Instruction]:
    """List what a function of scalars does, one instruction after the other; copies are left out."""
    words = _words()
    values: dict[int, int] = {}  # register → number of the value that it holds now
    count = 0
    for k in range(function.n_instructions()):
        word = words[function.instruction_id(k)]
        sources, targets = function.instruction_input(k), function.instruction_output(k)
        if word == "output":
            yield Instruction(word, (values[sources[0]],), (targets[0], targets[1]))
            continue
        if word in _COPIES:
            values[targets[0]] = values[sources[0]]
            continue
        if word == "input":
            yield Instruction(word, (), (sources[0], sources[1]))
        elif word == "const":
            yield Instruction(word, constant=function.instruction_constant(k))
        else:
            yield Instruction(word, tuple([values[source] for source in sources]))
        values[targets[0]] = count
        count += 1


def applied(word: str, operands: Sequence[ca.SX]) -> ca.SX:
    """The operation itself, on one or two expressions."""
    unary, binary, codes = _makers()
    return unary(codes[word], *operands) if len(operands) == 1 else binary(codes[word], *operands)


@cache
def _codes() -> dict[str, int]:
    """CasADi's number of every operation, arithmetic or not, by its name."""
    import casadi as ca

    return {name.removeprefix("OP_").lower(): getattr(ca, name) for name in dir(ca) if name.startswith("OP_")}


@cache
def _words() -> dict[int, str]:
    return {code: word for word, code in _codes().items()}


@cache
def _makers() -> tuple[Callable[..., ca.SX], Callable[..., ca.SX], dict[str, int]]:
    """What makes an operation on one value, on two, and the numbers of the operations."""
    import casadi as ca

    return ca.SX.unary, ca.SX.binary, _codes()
