"""A sheet of equations: fields in letters, each entry short where it can be, listed in common parts where not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from kalaba.errors import KalabaError
from kalaba.model.text.expressions import Values, parse
from kalaba.model.text.expressions import evaluate as evaluate_text
from kalaba.model.text.symbolic import FUNCTIONS
from kalaba.printing.factoring import ShortWriter
from kalaba.printing.notation import Letter, Notation, letters
from kalaba.printing.polynomial import Kind, Monomial, Polynomial, Ring, over, times
from kalaba.printing.reading import counted, listed, operation_count, read
from kalaba.printing.tree import ZERO, Node, Symbol, evaluate, size
from kalaba.printing.trigonometry import gathered
from kalaba.tolerances import PRINT_AGREES, RELATION_HOLDS

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations

READABLE = 110  # operations; a longer entry is listed with named parts
TERMS = 60  # of an entry that is multiplied out; one with more is listed
LARGE = 2500  # operations of a whole field; nothing is multiplied out in a larger one
COMMON = "common "  # common parts are called so, with a number


@dataclass(frozen=True)
class Field:
    """One field in print: named common parts, in order, then every entry that is not zero."""

    name: str
    shape: tuple[int, int]
    common: tuple[tuple[str, Node], ...]
    entries: tuple[tuple[tuple[int, int], Node], ...]
    operations: int  # of the expression, common parts worked out once


@dataclass(frozen=True)
class Words(Values):
    """The words of abbreviations: coordinates and parameters, with CasADi's functions."""

    def function(self, name: str) -> Callable[..., Any]:
        """The CasADi function of a name."""
        return FUNCTIONS[name]


@dataclass(frozen=True)
class Sheet:
    """The equations of a machine in the letters of a notation."""

    equations: Equations
    notation: Notation = field(default_factory=Notation)
    large: int = LARGE  # operations of a field above which nothing is multiplied out

    @cached_property
    def letters(self) -> tuple[Letter, ...]:
        """The letters of q, v, t, u and p."""
        return letters(self.equations.machine, self.notation)

    @cached_property
    def inputs(self) -> ca.SX:
        """The symbols that the letters stand for, in the same order."""
        s = self.equations.symbols
        return ca.vertcat(s.q, s.v, s.t, s.u, s.p)

    @cached_property
    def relations(self) -> dict[str, ca.SX]:
        """Parameters that are put as expressions of others, because the numbers of the machine allow it."""
        p, values = self.equations.symbols.p, [x.value for x in self.equations.machine.free_parameters]
        numbers = {p[i].name(): values[i] for i in range(p.shape[0])}
        holding: dict[str, ca.SX] = {}
        for path, text in self.notation.relations.items():
            if path not in numbers:
                continue
            try:
                expression = self.equations.kinematics.number(parse(text))
            except (KalabaError, KeyError):
                continue
            value = float(ca.Function("value", [p], [expression])(values))
            if abs(value - numbers[path]) <= RELATION_HOLDS * abs(numbers[path]):
                holding[path] = expression
        return holding

    @cached_property
    def abbreviations(self) -> tuple[tuple[str, Node, ca.SX], ...]:
        """Letters for products: LaTeX, the tree that it stands for, the expression."""
        listed: list[tuple[str, Node, ca.SX]] = []
        for latex, text in self.notation.abbreviations.items():
            try:
                expression = self._related(ca.SX(evaluate_text(parse(text), self._words)))
            except (KalabaError, KeyError):
                continue
            ring = self._ring()
            polynomial = read(counted(expression, self.inputs), ring)[0]
            if polynomial is not None and len(polynomial) == 1:
                listed.append((latex, ring.tree(polynomial), expression))
        return tuple(listed)

    @cached_property
    def _words(self) -> Words:
        """Coordinates and parameters by their paths."""
        s = self.equations.symbols
        return Words({x.name(): x for vector in (s.q, s.p) for x in ca.vertsplit(vector)})

    def _related(self, expression: ca.SX) -> ca.SX:
        """An expression in the letters: relations and signs put in."""
        p = self.equations.symbols.p
        places = {p[i].name(): p[i] for i in range(p.shape[0])}
        turned = [places[x.name] for x in self.letters if x.sign < 0]
        old = [*(places[path] for path in self.relations)]
        new = [*self.relations.values()]
        for _ in range(2):  # a relation may name what another one gives
            expression = ca.substitute(expression, ca.vertcat(*old), ca.vertcat(*new)) if old else expression
        if turned:
            both = ca.vertcat(*turned)
            expression = ca.substitute(expression, both, -both)
        return expression

    def _ring(self) -> Ring:
        ring = Ring([x.name for x in self.letters], [x.kind for x in self.letters])
        ring.spheres = tuple(tuple(row + 1 + k for k in range(4)) for row, _ in self.equations.machine.quaternions)
        return ring

    def field(self, name: str, first: int = 1) -> Field:
        """One field of the equations in print; common parts are numbered from `first`."""
        return self.printed(name, getattr(self.equations, name), first)

    def printed(self, name: str, value: ca.SX, first: int = 1) -> Field:
        """Any expression of the machine's symbols in print."""
        expression = ca.sparsify(ca.cse(self._related(ca.SX(value))))
        places = [(int(i), int(j)) for j, i in _columns(expression)]
        operations = operation_count(expression, self.inputs)
        nodes = self._short(expression, operations) if places else []
        long = [k for k, node in enumerate(nodes) if node is None]
        common: list[tuple[str, Node]] = []
        if long:
            part = ca.vertcat(*(expression.nonzeros()[k] for k in long))
            names = [x.name for x in self.letters]
            common, rest = listed(counted_all(part, self.inputs), names, lambda k: f"{COMMON}{k}", first)
            for k, node in zip(long, rest, strict=True):
                nodes[k] = node
        entries = tuple((place, node) for place, node in zip(places, nodes, strict=True) if node not in {None, ZERO})
        return Field(name, expression.shape, tuple(common), tuple(sorted(entries, key=_row)), operations)

    def _short(self, expression: ca.SX, operations: int) -> list[Node | None]:
        """Every entry in its short form; None where that is no help, or does not give the same numbers."""
        if operations > self.large:
            return [None] * expression.nnz()
        ring = self._ring()
        short = self._abbreviate(ring)
        function = counted_all(ca.vertcat(*expression.nonzeros()), self.inputs)
        nodes: list[Node | None] = []
        writer = ShortWriter(ring)
        for polynomial in read(function, ring):
            node: Node | None = ZERO if polynomial == {} else None
            if polynomial and len(polynomial) <= 2 * TERMS:
                fewer = _abbreviated(gathered(ring, polynomial), short)
                node = writer.shortest(fewer) if 0 < len(fewer) <= TERMS else ZERO if not fewer else None
            nodes.append(node if node is not None and size(node) <= READABLE else None)
        return self._checked(function, nodes)

    def _abbreviate(self, ring: Ring) -> list[tuple[int, Monomial]]:
        """The abbreviations as generators, with the monomials that they stand for."""
        listed = []
        for latex, _, expression in self.abbreviations:
            generator = ring.generator(Symbol(latex), Kind.SHORT)
            polynomial = read(counted(expression, self.inputs), ring)[0]
            if polynomial:
                listed.append((generator, next(iter(polynomial))))
        return listed

    def _checked(self, function: ca.Function, nodes: list[Node | None]) -> list[Node | None]:
        """Drop what does not agree with the expression at some states."""
        rng = np.random.default_rng(7)
        agreeing = list(nodes)
        for _ in range(2):
            inputs = self.sample(rng)
            wanted = np.asarray(function(inputs)).ravel()
            values = self.values(inputs)
            for k, node in enumerate(agreeing):
                if node is not None and abs(evaluate(node, values) - wanted[k]) > PRINT_AGREES * max(
                    1.0, abs(wanted[k])
                ):
                    agreeing[k] = None
        return agreeing

    def sample(self, rng: np.random.Generator) -> list[float]:
        """Numbers for every letter: those of the parameters, random ones for all else; quaternions of length 1."""
        numbers = [float(rng.uniform(-1.5, 1.5)) if x.value is None else x.value for x in self.letters]
        for row, _ in self.equations.machine.quaternions:
            length = float(np.linalg.norm(numbers[row : row + 4]))
            numbers[row : row + 4] = [entry / length for entry in numbers[row : row + 4]]
        return numbers

    def values(self, inputs: Sequence[float]) -> dict[str, float]:
        """Numbers by name, for trees: the letters and the abbreviations made of them."""
        values = {x.name: value for x, value in zip(self.letters, inputs, strict=True)}
        return values | {latex: evaluate(node, values) for latex, node, _ in self.abbreviations}


def _abbreviated(polynomial: Polynomial, short: list[tuple[int, Monomial]]) -> Polynomial:
    """Put abbreviations for the products that they stand for."""
    for generator, monomial in short:
        total: Polynomial = {}
        for term, c in polynomial.items():
            powers = dict(term)
            count = min(max(powers.get(g, 0), 0) // e for g, e in monomial)
            new = times(over(term, tuple((g, e * count) for g, e in monomial)), ((generator, count),) if count else ())
            total[new] = total.get(new, c * 0) + c
        polynomial = total
    return polynomial


def counted_all(expression: ca.SX, symbols: ca.SX) -> ca.Function:
    """A function of one vector whose outputs are all entries of a dense column."""
    return ca.Function("printed", [symbols], [ca.densify(ca.cse(expression))])


def _columns(expression: ca.SX) -> list[tuple[int, int]]:
    """(column, row) of every entry that is not zero by structure, in CasADi's order."""
    rows, columns = expression.sparsity().get_triplet()
    return list(zip(columns, rows, strict=True))


def _row(entry: tuple[tuple[int, int], Node | None]) -> tuple[int, int]:
    return entry[0]
