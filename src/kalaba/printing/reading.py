"""A CasADi expression read instruction by instruction, into any algebra: here into trees with named common parts.

The polynomials of `polynomial.Ring` are the other algebra; they serve the short form of an entry. Trees serve the plain
form: every value that is used more than once and takes some writing gets a name and a line of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import casadi as ca

from kalaba.errors import DeriveError
from kalaba.printing.tree import Call, Node, Product, Sum, Symbol, number, parts, power, product, size, summed
from kalaba.space.instructions import ARITY, instructions

Value = TypeVar("Value")
LONG = 120  # operations; a value that takes more is cut off into a line of its own


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
    return sum(instruction.word in ARITY for instruction in instructions(counted(expression, symbols)))


def read(function: ca.Function, algebra: Algebra[Value]) -> list[Value]:
    """Work out every entry of a function's only output in an algebra."""
    listed = list(instructions(function))
    uses = Counter(value for instruction in listed for value in instruction.operands)
    values: list[Value] = []
    constants: dict[int, float] = {}
    entries: list[Value] = [algebra.constant(0.0)] * function.numel_out(0)
    for word, operands, (_, entry), constant in listed:
        if word == "output":
            entries[entry] = values[operands[0]]
        elif word == "input":
            values.append(algebra.symbol(entry))
        elif word == "const":
            constants[len(values)] = constant
            values.append(algebra.constant(constant))
        else:
            exponent = constants.get(operands[-1]) if word in _POWERS else None
            value = _operation(algebra, word, [values[k] for k in operands], exponent)
            values.append(algebra.keep(value, uses[len(values)]))
    return entries


def _operation(algebra: Algebra[Value], word: str, operands: Sequence[Value], exponent: float | None) -> Value:
    """One operation; `exponent` is that of a power, if it is a number."""
    if word in _ALGEBRAIC:
        result: Value = _ALGEBRAIC[word](algebra, operands[0], operands[-1])
        return result
    if exponent is not None and exponent == int(exponent):
        return algebra.raised(operands[0], int(exponent))
    if word not in _CALLS:
        raise DeriveError(f"expected an operation that can be printed, got {word}. Write the expression otherwise.")
    return algebra.call(_CALLS[word], operands)


_POWERS = frozenset({"pow", "constpow"})

# What is made of sums, products and whole powers of a, the first operand, and b, the last.
_ALGEBRAIC: dict[str, Callable[[Algebra[Any], Any, Any], Any]] = {
    "add": lambda algebra, a, b: algebra.add(a, b),
    "sub": lambda algebra, a, b: algebra.add(a, algebra.multiply(algebra.constant(-1.0), b)),
    "mul": lambda algebra, a, b: algebra.multiply(a, b),
    "div": lambda algebra, a, b: algebra.multiply(a, algebra.raised(b, -1)),
    "neg": lambda algebra, a, _: algebra.multiply(algebra.constant(-1.0), a),
    "sq": lambda algebra, a, _: algebra.raised(a, 2),
    "twice": lambda algebra, a, _: algebra.multiply(algebra.constant(2.0), a),
    "inv": lambda algebra, a, _: algebra.raised(a, -1),
    "and": lambda algebra, a, b: algebra.multiply(a, b),  # conditions are 1 or 0
    "if_else_zero": lambda algebra, a, b: algebra.multiply(a, b),
    "not": lambda algebra, a, _: algebra.add(algebra.constant(1.0), algebra.multiply(algebra.constant(-1.0), a)),
    "or": lambda algebra, a, b: algebra.call("max", (a, b)),
}

# What is printed as a function, and the name that it is printed under.
_CALLS: dict[str, str] = {
    **{word: word for word in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")},
    **{word: word for word in ("sqrt", "exp", "log", "sign", "floor", "ceil", "pow", "fmod", "hypot")},
    "constpow": "pow",
    "fabs": "abs",
    "fmin": "min",
    "fmax": "max",
    "lt": "less",
    "le": "at_most",
    "eq": "equal",
    "ne": "differs",
}


class Listing:
    """An algebra of trees that gives names to what is used again."""

    def __init__(self, names: Sequence[str], label: Callable[[int], str], first: int = 1) -> None:
        self.names, self.label, self.next = names, label, first
        self.lines: list[tuple[str, Node]] = []
        self.named: dict[Node, str] = {}

    def symbol(self, index: int) -> Node:
        """The symbol of a place in the input."""
        return Symbol(self.names[index])

    def constant(self, value: float) -> Node:
        """A number."""
        return number(value)

    def add(self, a: Node, b: Node) -> Node:
        """Give a + b."""
        return summed((a, b))

    def multiply(self, a: Node, b: Node) -> Node:
        """Give a b; a sign goes into a sum."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Sum) and parts(other) == (Fraction(-1), ()):
                return summed(product((other, term)) for term in one.terms)
        return _in_order(product((a, b)))

    def raised(self, a: Node, exponent: int) -> Node:
        """A whole power."""
        return power(a, exponent)

    def call(self, name: str, arguments: Sequence[Node]) -> Node:
        """Any other function."""
        return Call(name, tuple(arguments))

    def keep(self, value: Node, uses: int) -> Node:
        """Name what is used again, unless it is as short as its name."""
        if (uses > 1 and not is_short(value)) or size(value) > LONG:
            if value not in self.named:
                self.named[value] = self.label(self.next)
                self.next += 1
                self.lines.append((self.named[value], value))
            return Symbol(self.named[value])
        return value


def _in_order(node: Node) -> Node:
    """Factors in one order, so that a b and b a are the same: letters, then sums, then functions."""
    if not isinstance(node, Product):
        return node
    kinds = {Symbol: 0, Product: 1, Sum: 2, Call: 3}

    def place(entry: tuple[Node, int]) -> tuple[int, str]:
        base = entry[0]
        return kinds[type(base)], base.name if isinstance(base, Symbol | Call) else ""

    return Product(node.number, tuple(sorted(node.powers, key=place)))


def is_short(value: Node) -> bool:
    """Whether a tree is a symbol, a function of one, or a number times or power of such."""
    if isinstance(value, Symbol):
        return True
    if isinstance(value, Call):
        return all(isinstance(argument, Symbol) for argument in value.arguments)
    if isinstance(value, Sum):
        return False
    return len(value.powers) <= 1 and all(is_short(base) for base, _ in value.powers)


def listed(
    function: ca.Function, names: Sequence[str], label: Callable[[int], str], first: int = 1
) -> tuple[list[tuple[str, Node]], list[Node]]:
    """The named common parts of a function, in order, and its entries."""
    listing = Listing(names, label, first)
    entries = read(function, listing)
    return listing.lines, entries
