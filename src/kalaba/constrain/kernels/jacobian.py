"""Jacobians of long expressions in few operations, by elimination of the vertices of their graph.

Forward mode walks through an expression once per column, reverse mode once per row; between them lies every other
order. With the derivative of each operation by its arguments on the edges, a vertex j is eliminated by::

    c_ik += c_ij c_jk        for all edges k → j → i

until only edges from the arguments to the results are left: the Jacobian. Next comes the vertex with the fewest pairs
of edges (Markowitz); among equals, the one nearest to the results. Nothing is divided by, so no accuracy is lost.

Reference: Griewank and Walther (2008), Evaluating Derivatives, second edition, sections 9.2 and 10.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TypeAlias

import casadi as ca

from kalaba.space.instructions import applied, instructions

Slope: TypeAlias = "ca.SX | float"  # numbers are kept as such: a product with one is free


@dataclass
class _Graph:
    """One vertex per operation: its value, the slopes by the vertices it reads, and the vertices that read it."""

    values: list[ca.SX] = field(default_factory=list)
    slopes: list[dict[int, Slope]] = field(default_factory=list)
    users: list[set[int]] = field(default_factory=list)
    arguments: dict[int, int] = field(default_factory=dict)  # vertex → column
    results: dict[int, int] = field(default_factory=dict)  # vertex → row

    def add(self, value: ca.SX, slopes: dict[int, Slope]) -> int:
        """Append a vertex."""
        vertex = len(self.values)
        self.values.append(value)
        self.slopes.append(slopes)
        self.users.append(set())
        for source in slopes:
            self.users[source].add(vertex)
        return vertex

    def moves(self, vertex: int) -> bool:
        """Tell whether a vertex depends on the arguments."""
        return bool(self.slopes[vertex]) or vertex in self.arguments

    def is_inner(self, vertex: int) -> bool:
        """Tell whether a vertex is neither an argument nor a result, and is in use."""
        return bool(self.slopes[vertex]) and bool(self.users[vertex])

    def pairs(self, vertex: int) -> int:
        """How many products the elimination of a vertex takes."""
        return len(self.slopes[vertex]) * len(self.users[vertex])


def jacobian(values: ca.SX, arguments: ca.SX) -> ca.SX:
    """∂values/∂arguments; the arguments are symbols."""
    graph = _read(values, arguments)
    _prune(graph)
    _eliminate(graph)
    slopes = ca.SX(values.shape[0], arguments.shape[0])
    for vertex, row in graph.results.items():
        for source, slope in graph.slopes[vertex].items():
            slopes[row, graph.arguments[source]] = slope
    return slopes


def _read(values: ca.SX, arguments: ca.SX) -> _Graph:
    """Draw the graph of an expression; each result is a vertex of its own that nothing reads."""
    columns = {symbol.element_hash(): column for column, symbol in enumerate(ca.vertsplit(arguments))}
    symbols = ca.symvar(values)
    function = ca.Function("values", [ca.vertcat(ca.SX(0, 1), *symbols)], [ca.densify(values)])
    graph = _Graph()
    vertices: list[int] = []  # of every value of the function
    for word, operands, (_, entry), constant in instructions(function):
        if word == "output":
            vertex = vertices[operands[0]]
            if graph.moves(vertex):
                graph.results[graph.add(graph.values[vertex], {vertex: 1.0})] = entry
        elif word == "input":
            symbol = symbols[entry]
            vertices.append(graph.add(symbol, {}))
            if (column := columns.get(symbol.element_hash())) is not None:
                graph.arguments[vertices[-1]] = column
        elif word == "const":
            vertices.append(graph.add(ca.SX(constant), {}))
        else:
            vertices.append(_operation(graph, word, [vertices[value] for value in operands]))
    return graph


def _operation(graph: _Graph, word: str, read: list[int]) -> int:
    """Append an operation with its slopes."""
    arguments = [graph.values[vertex] for vertex in read]
    slopes: dict[int, Slope] = {}
    if any(map(graph.moves, read)):
        for vertex, slope in zip(read, _slopes(word, arguments), strict=True):
            if graph.moves(vertex):
                slopes[vertex] = _plus(slopes[vertex], slope) if vertex in slopes else slope
    return graph.add(applied(word, arguments), slopes)


def _slopes(word: str, arguments: list[ca.SX]) -> Sequence[Slope]:
    """The derivatives of an operation by its arguments; the commonest written out, since CasADi takes its time."""
    if word == "mul":
        return [_number(arguments[1]), _number(arguments[0])]
    if word in _LINEAR:
        return _LINEAR[word]
    symbols = [ca.SX.sym("x") for _ in arguments]
    value = applied(word, symbols)
    slopes = ca.substitute([ca.jacobian(value, symbol) for symbol in symbols], symbols, arguments)
    return [_number(slope) for slope in slopes]


_LINEAR: dict[str, tuple[float, ...]] = {"add": (1.0, 1.0), "sub": (1.0, -1.0), "neg": (-1.0,), "twice": (2.0,)}


def _number(slope: ca.SX) -> Slope:
    return float(slope) if slope.is_constant() else slope


def _prune(graph: _Graph) -> None:
    """Take out the vertices that lead to no result."""
    for vertex in reversed(range(len(graph.values))):
        if not graph.users[vertex] and vertex not in graph.results:
            for source in graph.slopes[vertex]:
                graph.users[source].discard(vertex)
            graph.slopes[vertex] = {}


def _eliminate(graph: _Graph) -> None:
    """Eliminate all inner vertices, the cheapest first."""
    heap = [(graph.pairs(vertex), -vertex) for vertex in range(len(graph.values)) if graph.is_inner(vertex)]
    heapify(heap)
    while heap:
        pairs, negative = heappop(heap)
        vertex = -negative
        if not graph.is_inner(vertex):
            continue
        if pairs == graph.pairs(vertex):
            for near in _bridge(graph, vertex):
                if graph.is_inner(near):
                    heappush(heap, (graph.pairs(near), -near))


def _bridge(graph: _Graph, vertex: int) -> set[int]:
    """Join what a vertex reads to what reads it, and take it out; give its neighbours."""
    before, users = graph.slopes[vertex], graph.users[vertex]
    for user in users:
        slopes = graph.slopes[user]
        outer = slopes.pop(vertex)
        for source, inner in before.items():
            product = _times(outer, inner)
            slopes[source] = _plus(slopes[source], product) if source in slopes else product
            graph.users[source].add(user)
    for source in before:
        graph.users[source].discard(vertex)
    graph.slopes[vertex], graph.users[vertex] = {}, set()
    return {*before, *users}


def _times(one: Slope, other: Slope) -> Slope:
    if isinstance(one, float):
        return other if one == 1.0 else _scaled(other, one)
    if isinstance(other, float):
        return one if other == 1.0 else _scaled(one, other)
    return applied("mul", [one, other])


def _scaled(slope: Slope, factor: float) -> Slope:
    if isinstance(slope, float):
        return slope * factor
    return applied("neg", [slope]) if factor == -1.0 else applied("mul", [ca.SX(factor), slope])


def _plus(one: Slope, other: Slope) -> Slope:
    if isinstance(one, float) or isinstance(other, float):
        return one + other
    return applied("add", [one, other])
