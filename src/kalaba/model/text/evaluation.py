"""Trees worked out for any kind of number: floats, NumPy arrays or CasADi symbols.

An `Environment` gives the values of names and the functions of its kind of number; `Values` is the plain one.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

import numpy as np

from kalaba.errors import ExpressionError, near
from kalaba.model.text.grammar import CONSTANTS, TIME
from kalaba.model.text.syntax import Binary, Call, Distance, Name, Node, Number, Rate, Unary, fold

Value: TypeAlias = Any  # a float, a NumPy array or a CasADi SX
Function: TypeAlias = Callable[..., Value]

NUMPY_FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {name: getattr(np, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign")}
    | {"asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2}
    | {"abs": np.abs, "min": np.minimum, "max": np.maximum}
)
_OPERATORS: Mapping[str, Function] = MappingProxyType(
    {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}
)


class Environment(Protocol):
    """What an evaluation asks for. Raise KeyError for what is not known: the caller says where in the text it is."""

    @property
    def time(self) -> Value:
        """The value of `t`."""

    def scalar(self, name: str) -> Value:
        """Look up a name."""

    def position(self, frame: str) -> Sequence[Value]:
        """Look up the origin of a frame: three components in world axes."""

    def rate(self, value: Value) -> Value:
        """Differentiate a value by time."""

    def function(self, name: str) -> Function:
        """Look up a function for this kind of number; `min` and `max` are called with two arguments."""

    def known(self) -> Iterable[str]:
        """List the names of scalars and frames, for error messages."""


@dataclass(frozen=True, slots=True)
class Values:
    """The environment of plain numbers and NumPy arrays: a table of names. Nothing moves in it, so no rates."""

    values: Mapping[str, Value]
    time: Value = 0.0
    frames: Mapping[str, Sequence[Value]] = field(default_factory=dict)  # origins, world axes

    def scalar(self, name: str) -> Value:
        """Look up a name."""
        return self.values[name]

    def position(self, frame: str) -> Sequence[Value]:
        """Look up the origin of a frame."""
        return self.frames[frame]

    def rate(self, value: Value) -> Value:
        """Refuse: a table of values does not know how they change."""
        raise KeyError(value)

    def function(self, name: str) -> Function:
        """Look up a NumPy function."""
        return NUMPY_FUNCTIONS[name]

    def known(self) -> Iterable[str]:
        """List all names."""
        return [*self.values, *self.frames]


def evaluate_tree(tree: Node, text: str, environment: Environment) -> Value:
    """Work out a tree; the text is the one it was read from, for error messages."""
    return fold(tree, _Evaluation(text, environment).value)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    text: str
    environment: Environment

    def value(self, node: Node, below: list[Value]) -> Value:
        match node:
            case Number(value):
                return value
            case Name():
                return self._name(node)
            case Unary():
                return -below[0]
            case Binary():
                return self._binary(node, *below)
            case Call() | Distance():
                return self._call(node, below)
            case Rate():
                return self._rate(node, below[0])

    def _name(self, word: Name) -> Value:
        if word.name == TIME:
            return self.environment.time
        if word.name in CONSTANTS:
            return CONSTANTS[word.name]
        try:
            return self.environment.scalar(word.name)
        except KeyError as error:
            raise self._unknown("word", word) from error

    def _binary(self, node: Binary, left: Value, right: Value) -> Value:
        try:
            result = _OPERATORS[node.operator](left, right)
        except ArithmeticError as error:
            raise ExpressionError(f"{node.operator!r} has no finite result", self.text, node.position) from error
        if isinstance(result, complex) and isinstance(left, float | int):  # Python's answer to (-8)^(1/3)
            raise ExpressionError(
                f"{node.operator!r} of a negative number has no real result", self.text, node.position
            )
        return result

    def _call(self, node: Call | Distance, below: list[Value]) -> Value:
        if isinstance(node, Distance):
            return self._distance(node)
        function = self.environment.function(node.function)
        return reduce(function, below) if node.function in {"min", "max"} else function(*below)

    def _rate(self, node: Rate, value: Value) -> Value:
        try:
            return self.environment.rate(value)
        except KeyError as error:
            raise ExpressionError("rate() has no value here", self.text, node.position) from error

    def _distance(self, node: Distance) -> Value:
        first, second = self._origin(node.first), self._origin(node.second)
        squares = [(first[axis] - second[axis]) ** 2 for axis in range(3)]
        return self.environment.function("sqrt")(sum(squares[1:], squares[0]))

    def _origin(self, frame: Name) -> Sequence[Value]:
        try:
            return self.environment.position(frame.name)
        except KeyError as error:
            raise self._unknown("frame", frame) from error

    def _unknown(self, kind: str, word: Name) -> ExpressionError:
        remedy = near(word.name, self.environment.known())
        return ExpressionError(f"unknown {kind} {word.name!r}", self.text, word.position, remedy)
