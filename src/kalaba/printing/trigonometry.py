"""Sines and cosines gathered: sin²α + cos²α = 1, and products of two angles that make one of their sum or difference.

cos α cos β ± sin α sin β = cos(α ∓ β)        sin α cos β ± cos α sin β = sin(α ± β)
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from kalaba.printing.polynomial import Monomial, Polynomial, Ring, over, plus, times

Angle = frozenset[tuple[Monomial, Fraction]]


def gathered(ring: Ring, polynomial: Polynomial) -> Polynomial:
    """Rewrite while that takes terms away."""
    shorter = _squares(ring, polynomial)
    while True:
        before = len(shorter)
        shorter = _pairs(ring, shorter)
        shorter = _squares(ring, shorter)
        if len(shorter) >= before:
            return shorter


def _angles(ring: Ring, polynomial: Polynomial) -> dict[Angle, dict[str, int]]:
    """The angles that occur, each with the generators of its sine and cosine."""
    present = {g for monomial in polynomial for g, _ in monomial if g in ring.arguments}
    angles: dict[Angle, dict[str, int]] = {}
    for g in sorted(present):
        name, angle = ring.arguments[g]
        angles.setdefault(angle, {})[name] = g
    return angles


def _squares(ring: Ring, polynomial: Polynomial) -> Polynomial:
    """Put 1 − cos²α for sin²α, or the other way about, where terms vanish by it; the same in unit quaternions."""
    best = polynomial
    groups = [tuple(names.values()) for names in _angles(ring, polynomial).values() if len(names) == 2]
    for group in (*groups, *ring.spheres):
        trials = [_replaced(best, gone, tuple(g for g in group if g != gone)) for gone in group]
        best = min([best, *trials], key=len)
    return best


def _replaced(polynomial: Polynomial, gone: int, others: tuple[int, ...]) -> Polynomial:
    """Every even power of one generator as a power of 1 less the squares of others."""
    total: Polynomial = {}
    for monomial, c in polynomial.items():
        exponent = dict(monomial).get(gone, 0)
        piece: Polynomial = {monomial: c}
        for _ in range(max(exponent, 0) // 2):
            lower = {over(m, ((gone, 2),)): d for m, d in piece.items()}
            piece = lower
            for other in others:
                piece = plus(piece, {times(m, ((other, 2),)): -d for m, d in lower.items()})
        for m, d in piece.items():
            total[m] = total.get(m, Fraction(0)) + d
    return {m: d for m, d in total.items() if d}


def _pairs(ring: Ring, polynomial: Polynomial) -> Polynomial:
    """Merge pairs of terms, as long as some are left."""
    waiting = sorted(polynomial, key=ring.order, reverse=True)
    while waiting:
        monomial = waiting.pop()
        if monomial not in polynomial:
            continue
        match = next(_partners(ring, polynomial, monomial), None)
        if match is not None:
            partner, angle, name = match
            before = polynomial
            polynomial = _merge(ring, polynomial, (monomial, partner), angle, name)
            waiting += [m for m in polynomial if m not in before or polynomial[m] != before[m]]
    return polynomial


def _partners(ring: Ring, polynomial: Polynomial, monomial: Monomial) -> Iterator[tuple[Monomial, Polynomial, str]]:
    """The other term of an identity for two factors of a monomial, with the angle and function that both make."""
    factors = [g for g, e in monomial if e > 0 and g in ring.arguments]
    for place, g in enumerate(factors):
        for h in factors[place + 1 :]:
            (one, alpha), (other, beta) = ring.arguments[g], ring.arguments[h]
            if alpha == beta or (one, other) == ("sin", "sin"):
                continue
            rest = over(monomial, tuple(sorted(((g, 1), (h, 1)))))
            partner = times(rest, tuple(sorted(((_swapped(ring, g), 1), (_swapped(ring, h), 1)))))
            if partner not in polynomial or abs(polynomial[partner]) != abs(polynomial[monomial]):
                continue
            is_same = polynomial[partner] == polynomial[monomial]
            first, second = (beta, alpha) if (one, other) == ("cos", "sin") else (alpha, beta)
            is_sum = is_same == (one != other)  # cos cos + sin sin is of the difference, sin cos + cos sin of the sum
            turned = dict(second) if is_sum else {m: -c for m, c in second}
            yield partner, plus(dict(first), turned), "cos" if one == other else "sin"


def _swapped(ring: Ring, generator: int) -> int:
    """The generator of the cosine of a sine's angle, or the other way about."""
    return ring.cosines[generator] if generator in ring.cosines else ring.sines[generator]


def _merge(
    ring: Ring, polynomial: Polynomial, pair: tuple[Monomial, Monomial], angle: Polynomial, name: str
) -> Polynomial:
    """Put one sine or cosine for two terms."""
    monomial, partner = pair
    c = polynomial[monomial]
    taken = {m: d for m, d in polynomial.items() if m not in {monomial, partner}}
    shared = tuple((g, min(e, dict(partner).get(g, 0))) for g, e in monomial if g in dict(partner))
    rest = tuple((g, e) for g, e in shared if e)
    made = {times(rest, m): c * d for m, d in ring.turned(name, angle).items()}
    return plus(taken, made)
