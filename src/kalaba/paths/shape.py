"""What every curve gives: its points and how they go on along it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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
