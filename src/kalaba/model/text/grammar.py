"""The one grammar of kalaba's expressions: text → tree, with errors that point at the place.

::

    expression = value, or expression (+ - * / ^) expression, or - expression
    value      = number | name | (expression) | function(expression, ...)
               | distance(frame, frame) | rate(expression)

`^` (also written `**`) groups to the right and binds tighter than a minus sign before it. A name is dotted words:
`left.link3.tip.x`. The names `t` and `pi` and those of the functions are taken. Nothing is ever executed.

Measures of a run, and they alone, have reductions over time among their values::

    reduction = peak(expression) | rms(...) | mean(...) | final(...) | at(expression, expression) | first(condition)
"""

import math
import re
from types import MappingProxyType
from typing import NamedTuple

from kalaba.errors import ExpressionError, near
from kalaba.model.text.syntax import PRECEDENCE, UNARY, Binary, Call, Distance, Name, Node, Number, Rate, Unary, unparse

MAX_DEPTH = 200  # values nested in one another; some 600 Python frames, which leaves room for the caller's

_ONE_ARGUMENT = (
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sign",
)
ARGUMENT_COUNTS = MappingProxyType(  # function: least, most
    dict.fromkeys(_ONE_ARGUMENT, (1, 1.0)) | {"atan2": (2, 2.0), "min": (2, math.inf), "max": (2, math.inf)}
)
FUNCTIONS = frozenset(ARGUMENT_COUNTS)
FORMS = frozenset({"distance", "rate"})
CONSTANTS = MappingProxyType({"pi": math.pi})
TIME = "t"
RESERVED = FUNCTIONS | FORMS | {TIME, *CONSTANTS}
COMPARISONS = frozenset({">", "<", ">=", "<="})
REDUCTIONS = MappingProxyType({"peak": 1, "rms": 1, "mean": 1, "final": 1, "at": 2, "first": 1})  # word: arguments
CONDITIONAL = "first"  # the reduction of a condition

_NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<name>{_NAME})|(?P<operator>\*\*|[<>]=|[-+*/^(),<>])|(?P<end>\Z))"
)


class Token(NamedTuple):
    """One word of the text."""

    kind: str  # number, name, operator or end
    text: str
    position: int


class Reduction(NamedTuple):
    """A value of a measure that is taken of a whole run: a word, and what it is taken of."""

    word: str  # of REDUCTIONS
    arguments: tuple[Node, ...]  # of a condition both sides
    comparison: str  # of a condition; otherwise ""
    text: str  # as its place in the tree around it is named
    position: int


def is_name(text: str) -> bool:
    """Whether the text can name a scalar in an expression: dotted words, none of them taken by the grammar."""
    return re.fullmatch(_NAME, text) is not None and text not in RESERVED


def read_expression(text: str) -> Node:
    """Read a text that holds one expression."""
    parser = _Parser(text)
    tree = parser.expression()
    parser.finish()
    return tree


def read_condition(text: str) -> Token:
    """Check a text that holds two expressions with a comparison between them, and give the comparison."""
    parser = _Parser(text)
    parser.expression()
    comparison = parser.comparison()
    parser.expression()
    parser.finish()
    return comparison


def read_measure(text: str) -> tuple[Node, tuple[Reduction, ...]]:
    """Read a measure: its tree, in which each reduction is a name, and the reductions."""
    reductions: list[Reduction] = []
    parser = _Parser(text, reductions)
    tree = parser.expression()
    parser.finish()
    return tree, tuple(reductions)


def _tokens(text: str) -> tuple[Token, ...]:
    """Cut a text into words; the last is always the end."""
    tokens: list[Token] = []
    position = 0
    while not tokens or tokens[-1].kind != "end":
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            position = len(text) - len(text[position:].lstrip())
            raise ExpressionError(f"unexpected character {text[position]!r}", text, position)
        kind = match.lastgroup
        tokens.append(Token(kind, match[kind].replace("**", "^"), match.start(kind)))
        position = match.end()
    return tuple(tokens)


class _Parser:
    """Reads words from left to right by operator precedence."""

    def __init__(self, text: str, reductions: list[Reduction] | None = None) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._index = 0
        self._depth = 0
        self._in_rate = False
        self._reductions = reductions  # those of a measure so far; None: the text is no measure
        self._in_reduction = False

    def expression(self, least: int = 1) -> Node:
        """Read a value and all that binds to it at least as tightly as `least`."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} values nested in one another", self._next, "split the expression")
        left = self._value()
        while self._next.kind == "operator" and (strength := PRECEDENCE.get(self._next.text, 0)) >= least:
            operator = self._advance()
            right = self.expression(UNARY if operator.text == "^" else strength + 1)
            left = Binary(operator.text, left, right, operator.position)
        self._depth -= 1
        return left

    def comparison(self) -> Token:
        """Read the comparison of a condition."""
        if self._next.text not in COMPARISONS:
            raise self._error("expected a comparison", self._next, "a condition is like 'crank.angle > pi'")
        return self._advance()

    def finish(self) -> None:
        """Make sure that nothing is left."""
        token = self._next
        if token.text == ")":
            raise self._error("')' without its '('", token)
        if token.text in COMPARISONS:
            raise self._error(f"unexpected comparison {token.text!r}", token, "only a condition has one, and only one")
        if token.kind != "end":
            raise self._error(f"expected an operator before {token.text!r}", token)

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def _advance(self) -> Token:
        token = self._next
        self._index += token.kind != "end"
        return token

    def _error(self, problem: str, token: Token, remedy: str = "") -> ExpressionError:
        return ExpressionError(problem, self._text, token.position, remedy)

    def _value(self) -> Node:
        token = self._advance()
        if token.kind == "number":
            return self._number(token)
        if token.kind == "name":
            return self._call(token) if self._next.text == "(" else self._word(token)
        if token.text == "(":
            inner = self.expression()
            self._close(token)
            return inner
        if token.text == "-":
            return Unary(self.expression(UNARY), token.position)
        if token.text == "+":
            return self.expression(UNARY)
        what = "the text ends" if token.kind == "end" else f"found {token.text!r}"
        raise self._error(f"expected a number, a name or '(' but {what}", token)

    def _number(self, token: Token) -> Number:
        value = float(token.text)
        if math.isinf(value):
            raise self._error(f"number {token.text} is too large", token)
        return Number(value, token.position)

    def _word(self, token: Token) -> Name:
        if token.text in FUNCTIONS | FORMS:
            raise self._error(f"function {token.text!r} without arguments", token, f"write {token.text}(...)")
        return Name(token.text, token.position)

    def _call(self, token: Token) -> Node:
        if token.text == "distance":
            return self._distance(token)
        if token.text == "rate":
            return self._rate(token)
        if self._reductions is not None and token.text in REDUCTIONS:
            return self._reduction(token, self._reductions)
        if token.text not in FUNCTIONS:
            raise self._error(f"unknown function {token.text!r}", token, near(token.text, self._functions))
        arguments = self._arguments()
        least, most = ARGUMENT_COUNTS[token.text]
        if not least <= len(arguments) <= most:
            raise self._wrong_count(token, f"{least}" if least == most else f"{least} or more", len(arguments))
        return Call(token.text, arguments, token.position)

    def _rate(self, token: Token) -> Rate:
        if self._in_rate:
            raise self._error("rate() inside rate()", token, "an expression knows first derivatives only")
        self._in_rate = True
        arguments = self._arguments()
        self._in_rate = False
        if len(arguments) != 1:
            raise self._wrong_count(token, "1", len(arguments))
        return Rate(arguments[0], token.position)

    @property
    def _functions(self) -> frozenset[str]:
        """Words that may stand before a bracket."""
        return FUNCTIONS | FORMS | (frozenset() if self._reductions is None else frozenset(REDUCTIONS))

    def _reduction(self, token: Token, known: list[Reduction]) -> Name:
        """Read a reduction; what stands for it in the tree is a name that no text can have, with its brackets."""
        if self._in_reduction or self._in_rate:
            raise self._error(f"{token.text}() inside another reduction or rate()", token, "it is one number per run")
        self._in_reduction = True
        comparison = ""
        if token.text == CONDITIONAL:
            opening = self._advance()
            left = self.expression()
            comparison = self.comparison().text
            arguments: tuple[Node, ...] = (left, self.expression())
            self._close(opening)
        else:
            arguments = self._arguments()
            if len(arguments) != REDUCTIONS[token.text]:
                raise self._wrong_count(token, f"{REDUCTIONS[token.text]}", len(arguments))
        self._in_reduction = False
        inner = (f" {comparison} " if comparison else ", ").join(map(unparse, arguments))
        known.append(Reduction(token.text, arguments, comparison, f"{token.text}({inner})", token.position))
        return Name(known[-1].text, token.position)

    def _distance(self, token: Token) -> Distance:
        frames = self._arguments()
        match frames:
            case (Name() as first, Name() as second):
                return Distance(first, second, token.position)
        raise self._error("distance() takes the names of two frames", token, "write distance(left.tip, right.tip)")

    def _arguments(self) -> tuple[Node, ...]:
        opening = self._advance()
        arguments: list[Node] = []
        while not arguments or self._next.text == ",":
            if arguments:
                self._advance()
            elif self._next.text == ")":
                break
            arguments.append(self.expression())
        self._close(opening)
        return tuple(arguments)

    def _close(self, opening: Token) -> None:
        token = self._advance()
        if token.kind == "end":
            raise self._error("'(' that is never closed", opening)
        if token.text != ")":
            raise self._error(f"expected ')' before {token.text!r}", token)

    def _wrong_count(self, token: Token, expected: str, count: int) -> ExpressionError:
        noun = "argument" if expected == "1" else "arguments"
        return self._error(f"{token.text}() takes {expected} {noun}, not {count},", token)
