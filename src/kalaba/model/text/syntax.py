"""The words of an expression as a tree of frozen nodes, and the tree as text again.

Every pass over a tree goes through `fold` or `postorder`, which use no recursion: a sum of ten thousand terms is a
deep tree, and is fine.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias, TypeVar

PRECEDENCE = MappingProxyType({"+": 1, "-": 1, "*": 2, "/": 2, "^": 4})  # of the operators between two values
UNARY = 3  # precedence of the minus sign: -x^2 is -(x^2), -x*y is (-x)*y
ATOM = 5
MAX_INTEGER_SHOWN = 1e16  # whole numbers below it are written without a point or an exponent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number, not negative: the minus sign is a node of its own."""

    value: float
    position: int = field(default=0, compare=False)  # in the text, from 0; so in every node

    @property
    def children(self) -> tuple["Node", ...]:
        """No nodes below."""
        return ()


@dataclass(frozen=True, slots=True)
class Name:
    """A dotted name, `t` or `pi`."""

    name: str
    position: int = field(default=0, compare=False)

    @property
    def children(self) -> tuple["Node", ...]:
        """No nodes below."""
        return ()


@dataclass(frozen=True, slots=True)
class Unary:
    """Minus the operand."""

    operand: "Node"
    position: int = field(default=0, compare=False)

    @property
    def children(self) -> tuple["Node", ...]:
        """The operand."""
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Binary:
    """Two values joined by + - * / or ^; its position is that of the operator."""

    operator: str
    left: "Node"
    right: "Node"
    position: int = field(default=0, compare=False)

    @property
    def children(self) -> tuple["Node", ...]:
        """Left, then right."""
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Call:
    """A listed function of one or more values."""

    function: str
    arguments: tuple["Node", ...]
    position: int = field(default=0, compare=False)

    @property
    def children(self) -> tuple["Node", ...]:
        """The arguments."""
        return self.arguments


@dataclass(frozen=True, slots=True)
class Rate:
    """The time derivative of the operand."""

    operand: "Node"
    position: int = field(default=0, compare=False)

    @property
    def children(self) -> tuple["Node", ...]:
        """The operand."""
        return (self.operand,)


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of the origins of two frames. The frames are no scalars, so they are not among the children."""

    first: Name
    second: Name
    position: int = field(default=0, compare=False)

    @property
    def children(self) -> tuple["Node", ...]:
        """No nodes below."""
        return ()


Node: TypeAlias = Number | Name | Unary | Binary | Call | Rate | Distance


def postorder(tree: Node) -> Iterator[Node]:
    """Each node after its children, from left to right."""
    order, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(node.children)
    return reversed(order)


def fold(tree: Node, visit: Callable[[Node, list[T]], T]) -> T:
    """Work a tree out from its leaves: `visit(node, results of its children)` gives the node's own result."""
    results: list[T] = []
    for node in postorder(tree):
        below = len(results) - len(node.children)
        result = visit(node, results[below:])
        del results[below:]
        results.append(result)
    return results[0]


def unparse(tree: Node) -> str:
    """Write a tree with the fewest parentheses; reading the text gives the tree back."""
    return fold(tree, _write)


def number_text(value: float) -> str:
    """Write a number so that reading it gives exactly this number back."""
    return repr(int(value)) if value.is_integer() and abs(value) < MAX_INTEGER_SHOWN else repr(value)


def _write(node: Node, below: list[str]) -> str:
    match node:
        case Number(value):
            return number_text(value)
        case Name(name):
            return name
        case Unary(operand):
            return f"-{_guard(operand, below[0], UNARY)}"
        case Binary():
            return _write_binary(node, *below)
        case Call() | Rate():
            return _write_call(node.function if isinstance(node, Call) else "rate", below)
        case Distance(first, second):
            return _write_call("distance", (first.name, second.name))


def _write_binary(node: Binary, left: str, right: str) -> str:
    strength = PRECEDENCE[node.operator]
    if node.operator == "^":  # groups to the right, and its exponent may have a sign
        return f"{_guard(node.left, left, ATOM)}^{_guard(node.right, right, UNARY)}"
    space = " " if strength == PRECEDENCE["+"] else ""
    return f"{_guard(node.left, left, strength)}{space}{node.operator}{space}{_guard(node.right, right, strength + 1)}"


def _write_call(function: str, arguments: Iterable[str]) -> str:
    return f"{function}({', '.join(arguments)})"


def _guard(node: Node, text: str, least: int) -> str:
    """Put parentheses around an operand that binds less than its place asks for."""
    match node:
        case Binary(operator):
            strength = PRECEDENCE[operator]
        case Unary():
            strength = UNARY
        case _:
            strength = ATOM
    return text if strength >= least else f"({text})"
