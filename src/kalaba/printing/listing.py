"""The plain form: every value that is used more than once and takes some writing gets a name and a line of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import casadi as ca

from kalaba.printing.reading import read
from kalaba.printing.tree import Call, Node, Product, Sum, Symbol, number, parts, power, product, size, summed

LONG = 120  # operations; a value that takes more is cut off into a line of its own


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
    ordered = sorted(node.powers, key=lambda entry: (kinds[type(entry[0])], getattr(entry[0], "name", "")))
    return Product(node.number, tuple(ordered))


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
