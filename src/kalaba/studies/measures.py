"""Measures: what is kept of a run, one number each.

A measure is text of the expression grammar with reductions over time (see model/text/measures.py), such as
`peak(abs(cut.x)) / load.mass`, or a Python function of a Run that gives a number.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from kalaba.boundary import called, shown
from kalaba.errors import ExpressionError, ModelError, near
from kalaba.hints import is_real
from kalaba.model.text.evaluation import Values, evaluate_tree
from kalaba.model.text.grammar import Reduction
from kalaba.model.text.measures import MeasureText, parse_measure, reduced
from kalaba.model.text.syntax import Binary, Call, Name, Node, Unary, fold, unparse
from kalaba.plant.laws import read
from kalaba.results.observe import named
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.results.run import Run

MeasureFunction = Callable[["Run"], float]


class Measure(Protocol):
    """One number of a run."""

    def check(self, plant: Plant, name: str) -> None:
        """Refuse what the machine does not know; `name` is the measure's, for messages."""

    def value(self, run: Run, name: str) -> float:
        """The number; nan where the run has none."""

    @property
    def words(self) -> str:
        """What it is, for manifests and figures."""


def measure_of(written: str | MeasureFunction, name: str) -> Measure:
    """A measure of what people write; `name` is what they call it, for messages."""
    if callable(written):
        return FunctionMeasure(written)
    try:
        return TextMeasure(parse_measure(written))
    except ExpressionError as error:
        raise ExpressionError(f"measure.{name}: {error.problem}", error.text, error.position, error.remedy) from None


@dataclass(frozen=True, slots=True)
class TextMeasure:
    """A measure that is text."""

    measure: MeasureText

    @property
    def words(self) -> str:
        """The text."""
        return self.measure.text

    def check(self, plant: Plant, name: str) -> None:
        """Look every word up."""
        parameters = [parameter.name for parameter in plant.machine.parameters]
        for word in sorted(self.measure.parameters - set(parameters)):
            raise ModelError(
                f"measure.{name}: no parameter {word!r} in {self.measure.text!r}; {near(word, parameters)}. Quantities "
                "of the run stand inside a reduction, such as peak(...)."
            )
        known = frozenset(named(plant))
        for reduction in self.measure.reductions:
            for tree in reduction.arguments:
                for part in fold(tree, lambda node, below: _split(node, below, known)).parts:
                    read(plant, unparse(part), f"measure.{name}", known)

    def value(self, run: Run, name: str) -> float:
        """Reduce what it is taken of, and work it out."""
        numbers = {reduction.text: _reduced(reduction, run) for reduction in self.measure.reductions}
        if self.measure.parameters:
            numbers |= {parameter.name: parameter.value for parameter in run.plant.machine.parameters}
        return self.measure.value(numbers)


@dataclass(frozen=True, slots=True)
class FunctionMeasure:
    """A measure that is a Python function of a Run. It must pickle: worker processes get a copy."""

    function: MeasureFunction

    @property
    def words(self) -> str:
        """Where the function is found, and a digest of what pickle keeps of it."""
        function = self.function
        place = function if isinstance(function, FunctionType | BuiltinFunctionType | type) else type(function)
        try:
            digest = sha256(pickle.dumps(self.function, protocol=4)).hexdigest()[:16]
        except Exception:  # noqa: BLE001  (whatever its class raises; workers are refused with a reason elsewhere)
            digest = "unpickled"
        return f"{place.__module__}:{place.__qualname__} {digest}"

    def check(self, plant: Plant, name: str) -> None:
        """Nothing is known before it is called."""

    def value(self, run: Run, name: str) -> float:
        """Call it."""
        value = called(self.function, f"measure.{name}", run)
        if not is_real(value):
            raise ModelError(f"measure.{name}: expected a number from the function, got {shown(value)}.")
        return float(value)


def _reduced(reduction: Reduction, run: Run) -> float:
    return reduced(reduction, run.time, tuple(series(run, tree) for tree in reduction.arguments))


class _Split(NamedTuple):
    """Whether names that a run alone knows occur in a tree, and its largest parts in which none does."""

    reads_run: bool
    parts: tuple[Node, ...]


def _split(node: Node, below: list[_Split], known: frozenset[str]) -> _Split:
    is_known = isinstance(node, Name) and node.name in known
    if not is_known and not any(child.reads_run for child in below):
        return _Split(reads_run=False, parts=(node,))
    return _Split(reads_run=True, parts=tuple(part for child in below for part in child.parts))


def series(run: Run, tree: Node) -> Array:
    """A quantity at every sample, (N,): an expression of words of the machine and of outputs, motors and rows."""
    known = frozenset(named(run.plant))

    def value(node: Node, below: list[Node | Array]) -> Node | Array:
        """The node itself as long as the run can read it as a whole; then its values."""
        if isinstance(node, Name) and node.name in known:
            return run[node.name]
        if not any(isinstance(child, np.ndarray) for child in below):
            return node
        values = [child if isinstance(child, np.ndarray) else _plain(run, child) for child in below]
        return np.asarray(_operated(node, values))

    with np.errstate(all="ignore"):
        whole = fold(tree, value)
        return whole if isinstance(whole, np.ndarray) else _plain(run, whole)


def _operated(node: Node, values: list[Array]) -> Array:
    """One operation on values."""
    places = tuple(Name(f"{i}") for i in range(len(values)))
    match node:
        case Unary():
            alone: Node = Unary(places[0])
        case Binary(operator):
            alone = Binary(operator, places[0], places[1])
        case Call(function):
            alone = Call(function, places)
        case _:
            raise ExpressionError("motors, rows and outputs have no rate() here", unparse(node.children[0]), 0)
    return evaluate_tree(alone, "", Values({place.name: v for place, v in zip(places, values, strict=True)}))  # type: ignore[no-any-return]


def _plain(run: Run, node: Node) -> Array:
    """What a run reads by itself; a coordinate, which it holds, needs no code."""
    if isinstance(node, Name) and node.name in run.plant.coordinates and node.name not in run.plant.outputs:
        return run.q[:, run.plant.coordinates.index(node.name)]
    return run[unparse(node)]
