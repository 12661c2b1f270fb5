"""Polynomials in symbols, sines and cosines: what an entry looks like when everything is multiplied out."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from fractions import Fraction

from kalaba.printing.tree import PI, Call, Node, Product, Symbol, number, parts, power, product, summed

Monomial = tuple[tuple[int, int], ...]  # (generator, exponent), ascending
Polynomial = dict[Monomial, Fraction]
MOST = 160  # terms; more than that nobody reads
NONE = Fraction(0)
FINE = 2**220  # denominators; products of so many measured numbers are not multiplied out
WORK = 200_000  # products of two terms, for all that one ring works out


class Kind(IntEnum):
    """What a generator is, in the order in which factors are written."""

    CONSTANT = 0
    MASS = 1
    PARAMETER = 2
    COORDINATE = 3
    SHORT = 4  # an abbreviation
    VELOCITY = 5
    INPUT = 6
    FUNCTION = 7


def times(a: Monomial, b: Monomial) -> Monomial:
    """Multiply two monomials."""
    powers = dict(a)
    for generator, exponent in b:
        powers[generator] = powers.get(generator, 0) + exponent
    return tuple(sorted((g, e) for g, e in powers.items() if e))


def over(a: Monomial, b: Monomial) -> Monomial:
    """Divide two monomials."""
    return times(a, tuple((generator, -exponent) for generator, exponent in b))


class Ring:
    """Generators by number, and an algebra of polynomials in them. A value of None was too long."""

    def __init__(self, names: Sequence[str], kinds: Sequence[Kind]) -> None:
        self.generators: list[Node] = [Symbol(PI), *(Symbol(name) for name in names)]
        self.kinds: list[Kind] = [Kind.CONSTANT, *kinds]
        self.numbers = {node: index for index, node in enumerate(self.generators)}
        self.arguments: dict[int, tuple[str, frozenset[tuple[Monomial, Fraction]]]] = {}  # of sines and cosines
        self.work = WORK
        self.spheres: tuple[tuple[int, ...], ...] = ()  # generators whose squares make 1: unit quaternions
        self.cosines: dict[int, int] = {}  # the cosine of every sine's angle
        self.sines: dict[int, int] = {}  # and the other way about

    def generator(self, node: Node, kind: Kind = Kind.FUNCTION) -> int:
        """The number of a generator, new if need be."""
        if node not in self.numbers:
            self.numbers[node] = len(self.generators)
            self.generators.append(node)
            self.kinds.append(kind)
        return self.numbers[node]

    def symbol(self, index: int) -> Polynomial | None:
        """The symbol of a place in the input."""
        return {((index + 1, 1),): Fraction(1)}

    def constant(self, value: float) -> Polynomial | None:
        """A number."""
        coefficient, powers = parts(number(value))
        return {tuple((self.numbers[base], e) for base, e in powers): coefficient} if coefficient else {}

    def add(self, a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
        """Give a + b."""
        return None if a is None or b is None else plus(a, b)

    def multiply(self, a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
        """Give a b, multiplied out."""
        if a is None or b is None:
            return None
        pairs = len(a) * len(b)
        self.work -= pairs
        if pairs > MOST * 20 or self.work < 0:
            return None
        total: Polynomial = {}
        for left, c in a.items():
            for right, d in b.items():
                both = times(left, right)
                total[both] = total.get(both, NONE) + c * d
        reduced = self._without_squares({monomial: c for monomial, c in total.items() if c})
        return reduced if len(reduced) <= MOST and all(c.denominator < FINE for c in reduced.values()) else None

    def _without_squares(self, polynomial: Polynomial) -> Polynomial:
        """Write 1 − cos²α for every sin²α, so that equal polynomials have equal terms."""
        total: Polynomial = {}
        waiting = list(polynomial.items())
        while waiting:
            monomial, c = waiting.pop()
            high = next((g for g, e in monomial if e > 1 and g in self.cosines), None)
            if high is None:
                total[monomial] = total.get(monomial, NONE) + c
            else:
                lower = over(monomial, ((high, 2),))
                waiting += [(lower, c), (times(lower, ((self.cosines[high], 2),)), -c)]
        return {monomial: c for monomial, c in total.items() if c}

    def raised(self, a: Polynomial | None, exponent: int) -> Polynomial | None:
        """A whole power; of a sum, one below zero is a generator of its own."""
        if a is None or not a:
            return a if exponent > 0 else None
        if len(a) == 1:
            ((monomial, c),) = a.items()
            return {tuple((g, e * exponent) for g, e in monomial): c**exponent}
        if exponent < 0:
            return {((self.generator(self.tree(a)), exponent),): Fraction(1)}
        result: Polynomial | None = {(): Fraction(1)}
        for _ in range(exponent):
            result = self.multiply(result, a)
        return result

    def call(self, name: str, arguments: Sequence[Polynomial | None]) -> Polynomial | None:
        """A function is a generator; sines and cosines take the sign of their argument out."""
        if any(argument is None for argument in arguments):
            return None
        polynomials = [argument for argument in arguments if argument is not None]
        if name not in {"sin", "cos"}:
            return {((self.generator(Call(name, tuple(self.tree(a) for a in polynomials))), 1),): Fraction(1)}
        return self._expanded(name, polynomials[0])

    def turned(self, name: str, angle: Polynomial) -> Polynomial:
        """The sine or cosine of an angle, whose first term is made positive."""
        if not angle:
            return {(): Fraction(1)} if name == "cos" else {}
        first = min(angle, key=self.order)
        sign = Fraction(1)
        if angle[first] < 0:
            angle = {monomial: -c for monomial, c in angle.items()}
            sign = Fraction(-1) if name == "sin" else sign
        cosine, sine = (self.generator(Call(function, (self.tree(angle),))) for function in ("cos", "sin"))
        self.arguments[cosine], self.arguments[sine] = (
            ("cos", frozenset(angle.items())),
            ("sin", frozenset(angle.items())),
        )
        self.cosines[sine], self.sines[cosine] = cosine, sine
        return {((sine if name == "sin" else cosine, 1),): sign}

    def _expanded(self, name: str, angle: Polynomial) -> Polynomial | None:
        """The sine or cosine of a sum by those of its terms."""
        if len(angle) <= 1:
            return self.turned(name, angle)
        first = min(angle, key=self.order)
        head, rest = {first: angle[first]}, {m: c for m, c in angle.items() if m != first}
        sin, cos = (self.turned(function, head) for function in ("sin", "cos"))
        more_sin, more_cos = (self._expanded(function, rest) for function in ("sin", "cos"))
        if name == "sin":
            return self.add(self.multiply(sin, more_cos), self.multiply(cos, more_sin))
        minus = self.multiply(self.constant(-1.0), self.multiply(sin, more_sin))
        return self.add(self.multiply(cos, more_cos), minus)

    def keep(self, value: Polynomial | None, uses: int) -> Polynomial | None:  # nothing gets a name here
        """Give the value as it is."""
        return value

    def order(self, monomial: Monomial) -> tuple[tuple[int, int, int], ...]:
        """Where a monomial stands in a sum."""
        return tuple(sorted((int(self.kinds[g]), g, -e) for g, e in monomial))

    def term(self, monomial: Monomial, number_of: Fraction = Fraction(1)) -> Node:
        """A monomial as a tree, factors in their order."""
        powers = sorted(monomial, key=lambda entry: (self.kinds[entry[0]], entry[0]))
        return product((Product(number_of), *(power(self.generators[g], e) for g, e in powers)))

    def tree(self, polynomial: Polynomial) -> Node:
        """A polynomial as a plain sum."""
        monomials = sorted(polynomial, key=self.order)
        return summed(self.term(monomial, polynomial[monomial]) for monomial in monomials)


def plus(a: Polynomial, b: Polynomial) -> Polynomial:
    """Give a + b without the terms that cancel."""
    total = dict(a)
    for monomial, c in b.items():
        total[monomial] = total.get(monomial, NONE) + c
    return {monomial: c for monomial, c in total.items() if c}
