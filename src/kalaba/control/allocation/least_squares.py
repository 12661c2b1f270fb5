"""LeastSquares: the least ½ (τ − τ_p)ᵀ D (τ − τ_p)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca
from numpy.typing import ArrayLike

from kalaba.boundary import check_arguments, finite_array
from kalaba.control.allocation.rule import Allocation, SumOfSquares
from kalaba.control.allocation.solutions import finite_numbers, least_squares, matching, positive_numbers, solutions
from kalaba.errors import ControlError
from kalaba.space.arrays import Array
from kalaba.space.number import measured
from kalaba.space.pose import Floats


@dataclass(frozen=True, slots=True)
class LeastSquares(SumOfSquares):
    """The least ½ (τ − τ_p)ᵀ D (τ − τ_p): τ = τ_p + D⁻¹ Wᵀ (W D⁻¹ Wᵀ)⁻¹ (F − W τ_p).

    `weights` is the diagonal of D, one number per motor. `preload` is τ_p, one effort per motor: what the motors push
    against each other, as far as that moves nothing; it takes play out of joints. Limits play no part.

    Arguments:
        weights: D, one number above zero per motor; None: 1 for all, or 1/limit² where forces and torques share
        preload: τ_p, one effort per motor, N or N·m; None: none
    """

    weights: tuple[float, ...] | None = None
    preload: tuple[float, ...] | None = measured("N", "N*m", default=None)

    if TYPE_CHECKING:

        def __init__(self, weights: Floats | None = None, preload: Floats | None = None) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", positive_numbers(self.weights, "LeastSquares.weights"))
        object.__setattr__(self, "preload", finite_numbers(self.preload, "LeastSquares.preload"))

    @property
    def closed_form_spare(self) -> float:
        """Any number."""
        return math.inf

    def expression(self, force_map: ca.SX, force: ca.SX, limits: Array) -> ca.SX:
        """The τ of least weighted squares."""
        return least_squares(force_map, force, self.weights, self.preload)

    def square_weights(self, motors: int) -> tuple[float, ...] | None:
        """D, unless a preload shifts the squares."""
        if self.preload is not None:
            return None
        return (1.0,) * motors if self.weights is None else self.weights

    def label(self, size: tuple[int, int], limits: Array) -> str:
        """Its numbers say all, as every change of kalaba's own code is compiled anew."""
        return repr(self)

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """The τ of least weighted squares."""
        check_arguments(LeastSquares.allocate, locals(), ControlError)
        if self.preload is None:
            return solutions(force_map, force, self.weights, rows).least
        force_map = finite_array(force_map, "force_map", (None, None), ControlError)
        force = finite_array(force, "force", (len(force_map),), ControlError)
        offset = matching(self.preload, force_map.shape[1], "preload")
        return offset + solutions(force_map, force - force_map @ offset, self.weights, rows).least

    def with_weights(self, weights: tuple[float, ...] | None) -> Allocation:
        """The same with other weights."""
        return replace(self, weights=weights)

    def check(self, limits: Array) -> None:
        """One weight and one preload per motor."""
        for name, numbers in (("weights", self.weights), ("preload", self.preload)):
            if numbers is not None:
                matching(numbers, len(limits), name)
