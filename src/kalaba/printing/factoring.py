"""The short form: common factors taken out, terms grouped, squares seen; of several ways to write the shortest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import isqrt

from kalaba.printing.polynomial import Kind, Monomial, Polynomial, Ring, over, plus, times
from kalaba.printing.tree import SIMPLE, Node, Product, Sum, negative, product, size

DEEPEST = 4  # how many times groups are looked for in groups
TRIALS, TRIALS_EACH = 3000, 250  # groupings that are tried, for all polynomials of a writer and for one
MOSTLY = 0.6  # part of the terms
TRIED = 4  # generators that are tried alone, the most frequent ones

Split = Callable[[Monomial], tuple[Monomial, Monomial]]


class ShortWriter:
    """Writes polynomials with few operations. How long it looks for the best way is bounded, for one and for all."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self.left, self.left_here = TRIALS, 0
        self.known: dict[tuple[frozenset[tuple[Monomial, Fraction]], int], Node] = {}

    def shortest(self, polynomial: Polynomial) -> Node:
        """A polynomial as a tree with few operations."""
        self.left_here = min(TRIALS_EACH, self.left)
        node = self.write(polynomial, DEEPEST)
        self.left -= min(TRIALS_EACH, self.left) - self.left_here
        return node

    def write(self, polynomial: Polynomial, depth: int) -> Node:
        """Take out what is common, then group what is left."""
        key = (frozenset(polynomial.items()), depth)
        if key not in self.known:
            scale, common, rest = content(polynomial)
            self.known[key] = self._joined(scale, common, self._inside(rest, depth))
        return self.known[key]

    def _joined(self, scale: Fraction, common: Monomial, inside: Node) -> Node:
        """A common factor and what it multiplies, parameters before the bracket and functions after it."""
        before = tuple((g, e) for g, e in common if self.ring.kinds[g] <= Kind.PARAMETER)
        after = tuple((g, e) for g, e in common if self.ring.kinds[g] > Kind.PARAMETER)
        if not common and abs(scale) == 1:
            return inside if scale == 1 else negative(inside)
        return self._arranged(product((Product(scale), self.ring.term(before), inside, self.ring.term(after))))

    def _arranged(self, node: Node) -> Node:
        """Factors of a product in order: parameters, brackets, other letters, functions."""
        if not isinstance(node, Product):
            return node
        after = len(Kind)

        def place(entry: tuple[Node, int]) -> tuple[float, int]:
            number = self.ring.numbers.get(entry[0], -1)
            return (self.ring.kinds[number], number) if number >= 0 else (Kind.PARAMETER + 0.5, after)

        return Product(node.number, tuple(sorted(node.powers, key=place)))

    def _inside(self, rest: Polynomial, depth: int) -> Node:
        """A polynomial without common factor."""
        if len(rest) == 1:
            return self.ring.tree(rest)
        root = square_root(rest)
        if root is not None:
            return product((self.write(root, depth), self.write(root, depth)))
        best = self.ring.tree(rest)
        if depth and len(rest) > 2:
            for split in self._splits(rest):
                if self.left_here <= 0:
                    break
                self.left_here -= 1
                trial = self._grouped(rest, split, depth)
                if trial is not None and size(trial) < size(best):
                    best = trial
        return best

    def _splits(self, rest: Polynomial) -> Iterable[Split]:
        """Ways to tell the factors of a term apart: by what they are, or one generator from all the others."""
        kinds = self.ring.kinds
        for chosen in (
            {Kind.MASS},
            {Kind.VELOCITY},
            {Kind.FUNCTION},
            {Kind.FUNCTION, Kind.VELOCITY},
            {Kind.SHORT, Kind.FUNCTION, Kind.VELOCITY, Kind.COORDINATE},
            {Kind.SHORT, Kind.FUNCTION, Kind.VELOCITY, Kind.COORDINATE, Kind.PARAMETER},
        ):
            yield lambda m, chosen=chosen: split_by(m, lambda g: kinds[g] in chosen)  # type: ignore[misc]
        counts: dict[int, int] = {}
        for monomial in rest:
            for g, _ in monomial:
                counts[g] = counts.get(g, 0) + 1
        often = sorted((g for g, n in counts.items() if n > 1), key=lambda g: (-counts[g], g))
        for one in often[:TRIED]:
            yield lambda m, one=one: split_by(m, lambda g: g == one)  # type: ignore[misc]

    def _grouped(self, rest: Polynomial, split: Split, depth: int) -> Node | None:
        """Group the terms by one part of each; groups with the same bracket are joined."""
        groups: dict[Monomial, Polynomial] = {}
        for monomial, c in rest.items():
            part, other = split(monomial)
            groups.setdefault(part, {})[other] = c
        if len(groups) in {1, len(rest)}:
            return None
        brackets: dict[frozenset[tuple[Monomial, Fraction]], tuple[Polynomial, Polynomial]] = {}
        for part, inner in groups.items():
            scale, common, bracket = content(inner)
            lead = bracket[min(bracket)]
            key = frozenset((m, c / lead) for m, c in bracket.items())  # brackets may differ by a number
            shown, factor = brackets.get(key, (bracket, {}))
            brackets[key] = shown, plus(factor, {times(part, common): scale * lead / shown[min(shown)]})
        written = [self._term(bracket, factor, depth - 1) for bracket, factor in brackets.values()]
        flat: list[tuple[tuple[tuple[int, int, int], ...], Node]] = []
        for place, node in written:
            flat += [(place, term) for term in node.terms] if isinstance(node, Sum) else [(place, node)]
        if len(flat) == 1:
            return flat[0][1]
        return Sum(tuple(node for _, node in sorted(flat, key=lambda entry: entry[0])))

    def _term(
        self, bracket: Polynomial, factor: Polynomial, depth: int
    ) -> tuple[tuple[tuple[int, int, int], ...], Node]:
        """One bracket with its factor, and where it stands among the others."""
        place = min(self.ring.order(times(m, n)) for m in bracket for n in factor)
        if len(factor) == 1:
            ((monomial, c),) = factor.items()
            return place, self.write({times(monomial, m): c * d for m, d in bracket.items()}, depth)
        if len(bracket) == 1:
            ((monomial, c),) = bracket.items()
            return place, self.write({times(monomial, m): c * d for m, d in factor.items()}, depth)
        inside, outside = self.write(bracket, depth), self.write(factor, depth)
        first, second = (inside, outside) if self._weight(bracket) <= self._weight(factor) else (outside, inside)
        return place, self._arranged(product((first, second)))

    def _weight(self, polynomial: Polynomial) -> tuple[int, int]:
        """Brackets of masses come before brackets of functions."""
        return min((int(self.ring.kinds[g]), g) for monomial in polynomial for g, _ in monomial)


def split_by(monomial: Monomial, chosen: Callable[[int], bool]) -> tuple[Monomial, Monomial]:
    """The factors that are chosen, and the others."""
    return tuple(x for x in monomial if chosen(x[0])), tuple(x for x in monomial if not chosen(x[0]))


def content(polynomial: Polynomial) -> tuple[Fraction, Monomial, Polynomial]:
    """A number and a monomial that all terms share, and what is left.

    The number is one that most terms have, if there is such a one, so that m₁/2 + m₂ + m₃ stays as it is; it is below
    zero where all terms are.
    """
    monomials = list(polynomial)
    shared = dict(monomials[0])
    for monomial in monomials[1:]:
        powers = dict(monomial)
        shared = {g: min(e, powers.get(g, 0)) for g, e in shared.items()}
        for g, e in powers.items():
            if e < 0 and g not in shared:
                shared[g] = e
    for monomial in monomials:  # a power below zero is taken out of all terms
        for g, e in monomial:
            if e < 0:
                shared[g] = min(shared.get(g, 0), e)
    common = tuple(sorted((g, e) for g, e in shared.items() if e))
    sizes = [abs(c) for c in polynomial.values()]
    scale = max(set(sizes), key=sizes.count)
    if sizes.count(scale) < MOSTLY * len(sizes):
        scale = min(max(sizes), Fraction(1))
    if scale.denominator > SIMPLE and len(set(sizes)) > 1:
        scale = Fraction(1)
    if all(c < 0 for c in polynomial.values()):
        scale = -scale
    return scale, common, {over(monomial, common): c / scale for monomial, c in polynomial.items()}


def square_root(polynomial: Polynomial) -> Polynomial | None:
    """The polynomial whose square this is, if there is one."""
    count = len(polynomial)
    roots = (isqrt(8 * count + 1) - 1) // 2
    if count < 3 or roots * (roots + 1) // 2 != count:
        return None
    root_terms: Polynomial = {}
    for monomial, c in sorted(polynomial.items()):
        root = _root(c)
        if root is not None and all(e % 2 == 0 for _, e in monomial):
            root_terms[tuple((g, e // 2) for g, e in monomial)] = root
    if len(root_terms) != roots:
        return None
    first = next(iter(root_terms))
    for monomial in root_terms:
        cross = polynomial.get(times(first, monomial), Fraction(0))
        root_terms[monomial] = -root_terms[monomial] if cross < 0 else root_terms[monomial]
    return root_terms if _square(root_terms) == polynomial else None


def _square(polynomial: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for a, c in polynomial.items():
        total = plus(total, {times(a, b): c * d for b, d in polynomial.items()})
    return total


def _root(value: Fraction) -> Fraction | None:
    if value <= 0:
        return None
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root * root == value else None
