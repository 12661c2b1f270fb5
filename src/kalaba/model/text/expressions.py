"""Expressions: what a user writes as text, read once, kept as a value, worked out for any kind of number.

    text ─parse→ Expression ─evaluate→ value in an Environment

The tree is in `syntax.py`, the grammar in `grammar.py`, the arithmetic in `evaluation.py`; this module offers all of it
that others need.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from kalaba.boundary import shown
from kalaba.errors import ExpressionError, near
from kalaba.hints import is_real, is_text
from kalaba.model.text.evaluation import NUMPY_FUNCTIONS, Environment, Function, Value, Values, evaluate_tree
from kalaba.model.text.grammar import CONSTANTS, FUNCTIONS, RESERVED, TIME, is_name, read_condition, read_expression
from kalaba.model.text.syntax import (
    Binary,
    Call,
    Distance,
    Name,
    Node,
    Number,
    Rate,
    Unary,
    number_text,
    postorder,
    unparse,
)

__all__ = [
    "FUNCTIONS",
    "NUMPY_FUNCTIONS",
    "RESERVED",
    "Binary",
    "Call",
    "Condition",
    "Distance",
    "Environment",
    "Expression",
    "Function",
    "Name",
    "Node",
    "Number",
    "Rate",
    "Unary",
    "Value",
    "Values",
    "evaluate",
    "is_name",
    "number",
    "parse",
    "parse_condition",
    "unparse",
]

CACHED_TEXTS = 4096


@dataclass(frozen=True, slots=True)
class Expression:
    """A text that was read. Made by `parse`; equal to another if both say the same, whatever the spaces."""

    text: str = field(compare=False)  # as written
    tree: Node = field(compare=False, repr=False)  # positions count in `text`
    canonical: str = field(init=False, repr=False)  # the tree with the fewest parentheses; equality and hash

    def __post_init__(self) -> None:
        """Write the canonical text."""
        object.__setattr__(self, "canonical", unparse(self.tree))

    def __str__(self) -> str:
        """Give the text as written."""
        return self.text

    def __reduce__(self) -> tuple[Callable[[str], "Expression"], tuple[str]]:
        """Pickle as text."""
        return parse, (self.text,)

    @property
    def names(self) -> frozenset[str]:
        """Names of scalars, those inside rate() included; without `t`, `pi` and the frames of distance()."""
        return frozenset(word.name for word in self._scalars())

    @property
    def frames(self) -> frozenset[str]:
        """Names of the frames in distance()."""
        return frozenset(word.name for word in self._frames())

    @property
    def reads(self) -> tuple["Expression", ...]:
        """Itself: what it depends on, as a row of a recorded callable tells of its arguments."""
        return (self,)

    @property
    def has_rate(self) -> bool:
        """Whether rate() occurs."""
        return any(isinstance(node, Rate) for node in postorder(self.tree))

    @property
    def uses_time(self) -> bool:
        """Whether `t` occurs."""
        return any(isinstance(node, Name) and node.name == TIME for node in postorder(self.tree))

    @property
    def constant(self) -> float | None:
        """The value if numbers alone make it up, otherwise None."""
        changing = self.names or self.frames or self.has_rate or self.uses_time
        return None if changing else number(self, Values({}))

    def renamed(self, rename: Callable[[str], str]) -> "Expression":
        """Replace each name of a scalar or a frame in the text; `t` and `pi` stay."""
        for word in self._words():
            new = rename(word.name)
            if not is_name(new):
                raise ExpressionError(f"new name {new!r} for {word.name!r} is no name", self.text, word.position)
        return self.with_words(rename)

    def with_words(self, text_of: Callable[[str], str]) -> "Expression":
        """Put a text, such as an expression in brackets, in the place of each name of a scalar or a frame."""
        pieces, end = [], 0
        for word in self._words():
            pieces += [self.text[end : word.position], text_of(word.name)]
            end = word.position + len(word.name)
        return parse("".join([*pieces, self.text[end:]]))

    def _words(self) -> list[Name]:
        """Names of scalars and frames, in the order of the text."""
        return sorted([*self._scalars(), *self._frames()], key=lambda word: word.position)

    def position_of(self, name: str) -> int:
        """Where a scalar or a frame first stands in the text."""
        words = [*self._scalars(), *self._frames()]
        positions = [word.position for word in words if word.name == name]
        if not positions:
            raise ExpressionError(
                f"expected the name {name!r} somewhere", self.text, 0, near(name, (word.name for word in words))
            )
        return min(positions)

    def _scalars(self) -> list[Name]:
        words = [node for node in postorder(self.tree) if isinstance(node, Name)]
        return [word for word in words if word.name != TIME and word.name not in CONSTANTS]

    def _frames(self) -> list[Name]:
        pairs = [(node.first, node.second) for node in postorder(self.tree) if isinstance(node, Distance)]
        return [frame for pair in pairs for frame in pair]


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of two expressions."""

    left: Expression
    right: Expression
    operator: str  # > < >= <=

    def __str__(self) -> str:
        """Write the condition."""
        return f"{self.left} {self.operator} {self.right}"

    @property
    def crossing(self) -> Expression:
        """An expression that goes from below zero to zero or more when the condition becomes true."""
        high, low = (self.left, self.right) if self.operator.startswith(">") else (self.right, self.left)
        return high if low.tree == Number(0.0) else parse(unparse(Binary("-", high.tree, low.tree)))

    def renamed(self, rename: Callable[[str], str]) -> "Condition":
        """Rename both sides, as `Expression.renamed`."""
        return Condition(self.left.renamed(rename), self.right.renamed(rename), self.operator)


def parse(text: str | float | Expression) -> Expression:
    """Read an expression; a number becomes one, an Expression is returned as it is."""
    if isinstance(text, Expression):
        return text
    if isinstance(text, str) and is_text(text):
        return _parse_text(text)
    if not is_real(text) or not math.isfinite(float(text)):
        raise ExpressionError("expected text or a finite number", shown(text), 0)
    value = float(text)
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    return _parse_text(sign + number_text(abs(value)))


def parse_condition(text: str) -> Condition:
    """Read a condition such as `crank.angle > pi/2`."""
    comparison = read_condition(text)
    left, right = text[: comparison.position], text[comparison.position + len(comparison.text) :]
    return Condition(parse(left.strip()), parse(right.strip()), comparison.text)


def evaluate(expression: Expression, environment: Environment) -> Value:
    """Work out an expression with the values and functions of an environment."""
    return evaluate_tree(expression.tree, expression.text, environment)


def number(expression: Expression, environment: Environment) -> float:
    """Work out an expression whose value must be one finite real number."""
    with np.errstate(all="ignore"):
        value = float(evaluate(expression, environment))
    if not math.isfinite(value):
        raise ExpressionError(f"expected a finite number but the value is {value}", expression.text, 0)
    return value


@lru_cache(maxsize=CACHED_TEXTS)
def _parse_text(text: str) -> Expression:
    return Expression(text, read_expression(text))
