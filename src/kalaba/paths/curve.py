"""What every curve gives, its points and how they go on along it; and numbers that change at breaks.

A Table is looked up by NumPy, and by CasADi without branches. Piece k holds for starts[k] ≤ x < starts[k + 1], the
first also below and the last also above. Both ways of looking up choose the same piece at a break, and exactly one, so
that a derivative never counts two pieces there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import casadi as ca
import numpy as np

from kalaba.space.arrays import Array


class Shape(NamedTuple):
    """A curve at n places: x, dx/ds and d²x/ds², shape (n, 3)."""

    position: Array
    tangent: Array
    curvature: Array


class Curve(Protocol):
    """A curve in space as a function of one number: its arc length, unless it says otherwise."""

    @property
    def length(self) -> float:
        """Arc length, m."""

    def at(self, s: Array) -> Shape:
        """The curve and its derivatives at places of shape (n,)."""

    def expression(self, s: ca.SX) -> ca.SX:
        """Its point, (3,)."""

    def text(self, s: str) -> tuple[str, ...]:
        """Its three coordinates as texts of a text for s."""


@dataclass(frozen=True, slots=True)
class Table:
    """One row of numbers per piece of a line."""

    starts: tuple[float, ...]  # not descending
    rows: tuple[tuple[float, ...], ...]

    def at(self, x: Array) -> Array:
        """The numbers at each x: one column per number, shape (columns, *x.shape)."""
        chosen = np.searchsorted(np.array(self.starts[1:]), x, side="right")
        return np.moveaxis(np.array(self.rows)[chosen], -1, 0)

    def expressions(self, x: ca.SX) -> list[ca.SX]:
        """The numbers as expressions of x: a sum over the pieces, of which only one is not zero."""
        masks = self._masks(x)
        return [_chosen(masks, column) for column in zip(*self.rows, strict=True)]

    def _masks(self, x: ca.SX) -> list[ca.SX]:
        reached = [start <= x for start in self.starts[1:]]
        inner = [ca.logic_and(first, ca.logic_not(later)) for first, later in pairwise(reached)]
        return [ca.logic_not(reached[0]), *inner, reached[-1]] if reached else [ca.SX(1)]


def _chosen(masks: Sequence[ca.SX], column: Sequence[float]) -> ca.SX:
    if len(set(column)) == 1:
        return ca.SX(column[0])
    total = ca.SX(0)
    for mask, value in zip(masks, column, strict=True):
        if value != 0:
            total += ca.if_else(mask, value, 0)
    return total
