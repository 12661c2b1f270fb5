"""In which order to eliminate the velocities of a mass matrix: by counting, on structural nonzeros alone.

M is block diagonal, one block per tree and whatever is coupled to it. In each block the shortest of three orders is
taken: from the root to the leaves, from the leaves to the root, which fills in nothing (Featherstone 2008, section 6.5:
branch-induced sparsity), and that of fewest neighbours. The rows count too: a row on the outer joints of an arm alone
stays short where the inner joints are eliminated first.

Patterns are integers, one bit per velocity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import casadi as ca


def shortest_order(mass_matrix: ca.SX, matrix: ca.SX) -> list[int]:
    """The order of elimination that takes the fewest operations for L D Lᵀ = M, L⁻¹ Aᵀ and A M⁻¹ Aᵀ."""
    size = mass_matrix.shape[0]
    neighbours, rows = _neighbours(mass_matrix), _patterns(matrix)
    order: list[int] = []
    seen = 0
    for first in range(size):
        if not seen >> first & 1:
            block = _block(neighbours, first)
            seen |= block
            own = [row & block for row in rows if row & block]
            ascending = list(_bits(block))
            candidates = (ascending, ascending[::-1], _fewest_neighbours(neighbours, ascending))
            counts = [operations(neighbours, own, candidate) for candidate in candidates]
            order += candidates[counts.index(min(counts))]
    return order


def operations(neighbours: Sequence[int], rows: Sequence[int], order: Sequence[int]) -> int:
    """Products that an order takes: for the factors, L⁻¹ Aᵀ, A M⁻¹ Aᵀ and one solve."""
    left = list(neighbours)
    remaining = sum(1 << k for k in order)
    columns: dict[int, int] = {}  # of L
    count = 0
    for k in order:
        remaining &= ~(1 << k)
        columns[k] = later = left[k] & remaining
        for i in _bits(later):
            left[i] |= later
        length = later.bit_count()
        count += length * (length + 3) // 2 + 2 * length
    uses = dict.fromkeys(order, 0)
    for row in rows:
        spread = row
        for k in order:
            if spread >> k & 1:
                spread |= columns[k]
                count += columns[k].bit_count() + 2
                uses[k] += 1
    return count + sum(times * (times + 1) // 2 for times in uses.values())


def _fewest_neighbours(neighbours: Sequence[int], block: Sequence[int]) -> list[int]:
    """Eliminate always what has the fewest neighbours, of several the last."""
    left, order = dict(zip(block, (neighbours[k] for k in block), strict=True)), []
    while left:
        k = min(left, key=lambda i: (left[i].bit_count(), -i))
        around = left.pop(k) & ~(1 << k)
        order.append(k)
        for i in _bits(around):
            left[i] = (left[i] | around) & ~(1 << k)
    return order


def _neighbours(matrix: ca.SX) -> list[int]:
    """Of each row of a symmetric matrix, given by its lower triangle, where it has nonzeros; always on the diagonal."""
    neighbours = [1 << i for i in range(matrix.shape[0])]
    for i, j in _places(matrix):
        if i > j:
            neighbours[i] |= 1 << j
            neighbours[j] |= 1 << i
    return neighbours


def _patterns(matrix: ca.SX) -> list[int]:
    """Of each row of a matrix where it has nonzeros."""
    patterns = [0] * matrix.shape[0]
    for i, j in _places(matrix):
        patterns[i] |= 1 << j
    return patterns


def _places(matrix: ca.SX) -> Iterator[tuple[int, int]]:
    for i, j, entry in zip(*matrix.sparsity().get_triplet(), matrix.nonzeros(), strict=True):
        if not entry.is_zero():
            yield i, j


def _block(neighbours: Sequence[int], first: int) -> int:
    """All that is coupled with a velocity."""
    block, frontier = 0, 1 << first
    while frontier:
        block |= frontier
        reached = 0
        for i in _bits(frontier):
            reached |= neighbours[i]
        frontier = reached & ~block
    return block


def _bits(pattern: int) -> Iterator[int]:
    """The places of a pattern, ascending."""
    while pattern:
        lowest = pattern & -pattern
        yield lowest.bit_length() - 1
        pattern ^= lowest
