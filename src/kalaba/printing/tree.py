"""Expressions as small trees: what is printed as LaTeX or Python, counted, and put into numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

SIMPLE = 1000  # the largest denominator that is written as a fraction
PI = "pi"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A letter, by the name that its value is found under."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """A function of one or two arguments: sin, sqrt, atan2."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """A number times powers of other trees; a number alone has no powers."""

    number: Fraction
    powers: tuple[tuple[Node, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """Two or more terms."""

    terms: tuple[Node, ...]


Node = Symbol | Call | Product | Sum
ZERO, ONE = Product(Fraction(0)), Product(Fraction(1))


@cache
def exact(value: float) -> Fraction:
    """A double as the simple fraction that it rounds from (1/3), or else exactly."""
    near = Fraction(value).limit_denominator(SIMPLE)
    return near if float(near) == value else Fraction(value)


def number(value: float) -> Node:
    """A constant; simple multiples of π keep their π."""
    part = exact(value / math.pi) if value else Fraction(0)
    if part and part.denominator <= 180 and float(part) * math.pi == value:
        return Product(part, ((Symbol(PI), 1),))
    return Product(exact(value))


def parts(node: Node) -> tuple[Fraction, tuple[tuple[Node, int], ...]]:
    """Any tree as a number times powers."""
    return (node.number, node.powers) if isinstance(node, Product) else (Fraction(1), ((node, 1),))


def product(factors: Iterable[Node]) -> Node:
    """Multiply; numbers are gathered, equal factors become powers, nothing is expanded."""
    total, powers = Fraction(1), dict[Node, int]()
    for factor in factors:
        factor_number, more = parts(factor)
        total *= factor_number
        for base, exponent in more:
            powers[base] = powers.get(base, 0) + exponent
    remaining = tuple((base, exponent) for base, exponent in powers.items() if exponent)
    return _plain(total, remaining)


def _plain(total: Fraction, powers: tuple[tuple[Node, int], ...]) -> Node:
    if not total:
        return ZERO
    return powers[0][0] if total == 1 and len(powers) == 1 and powers[0][1] == 1 else Product(total, powers)


def power(base: Node, exponent: int) -> Node:
    """Raise to a whole power."""
    total, powers = parts(base)
    return _plain(total**exponent, tuple((b, e * exponent) for b, e in powers if e * exponent))


def summed(terms: Iterable[Node]) -> Node:
    """Add; sums in sums are laid flat, equal terms are gathered."""
    flat: list[Node] = []
    for term in terms:
        flat += term.terms if isinstance(term, Sum) else (term,)
    gathered = dict[tuple[tuple[Node, int], ...], Fraction]()
    for term in flat:
        coefficient, powers = parts(term)
        gathered[powers] = gathered.get(powers, Fraction(0)) + coefficient
    remaining = tuple(_plain(coefficient, powers) for powers, coefficient in gathered.items() if coefficient)
    return Sum(remaining) if len(remaining) > 1 else remaining[0] if remaining else ZERO


def negative(node: Node) -> Node:
    """Turn the sign, term by term in a sum."""
    if isinstance(node, Sum):
        return Sum(tuple(negative(term) for term in node.terms))
    coefficient, powers = parts(node)
    return _plain(-coefficient, powers)


def size(node: Node) -> int:
    """How many operations a tree takes: additions, multiplications, functions."""
    if isinstance(node, Symbol):
        return 0
    if isinstance(node, Call):
        return 1 + sum(map(size, node.arguments))
    if isinstance(node, Sum):
        return len(node.terms) - 1 + sum(map(size, node.terms))
    count = max(len(node.powers) - (abs(node.number) == 1), 0)
    return count + sum(size(base) + (exponent != 1) for base, exponent in node.powers)


def names_in(node: Node) -> set[str]:
    """Names of all symbols in a tree."""
    if isinstance(node, Symbol):
        return {node.name}
    inner = node.arguments if isinstance(node, Call) else node.terms if isinstance(node, Sum) else ()
    inner = tuple(base for base, _ in node.powers) if isinstance(node, Product) else inner
    return {name for tree in inner for name in names_in(tree)}


FUNCTIONS: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "exp")},
    **{name: getattr(math, name) for name in ("log", "sinh", "cosh", "tanh", "floor", "ceil", "fmod", "hypot")},
    "abs": abs,
    "min": min,
    "max": max,
    "pow": math.pow,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "less": lambda a, b: float(a < b),
    "at_most": lambda a, b: float(a <= b),
    "equal": lambda a, b: float(a == b),
    "differs": lambda a, b: float(a != b),
}


def evaluate(node: Node, values: Mapping[str, float]) -> float:
    """Put numbers in."""
    if isinstance(node, Symbol):
        return math.pi if node.name == PI else values[node.name]
    if isinstance(node, Call):
        return FUNCTIONS[node.name](*(evaluate(argument, values) for argument in node.arguments))
    if isinstance(node, Sum):
        return math.fsum(evaluate(term, values) for term in node.terms)
    total = float(node.number)
    for base, exponent in node.powers:
        total *= evaluate(base, values) ** exponent
    return total
