"""What an allocation rule is: of all torques τ that give a required force, W τ = F, it chooses one."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Protocol, cast, runtime_checkable

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import is_a
from kalaba.control.allocation.excess import least_beyond
from kalaba.control.allocation.solutions import least_squares, solutions
from kalaba.errors import ControlError
from kalaba.space.arrays import Array

Share = Callable[[Array, Array], Array]  # of W and F: τ


class OutOfBoundsError(ControlError):
    """No efforts within the bounds give the required force; `excess` has what motors would need beyond them."""

    def __init__(self, message: str, excess: dict[int, float]) -> None:
        super().__init__(message)
        self.excess = excess  # of the motors that set it, N or N·m; empty where no efforts of any size do


@runtime_checkable
class Allocation(Protocol):
    """A rule by which motors share a required force; W has one row per entry of the force and one column per motor.

    Write a frozen dataclass that inherits from it, so that its `repr` holds all its numbers. `allocate` is all that a
    rule must have: it is then solved at each sample. With `expression`, and `closed_form_spare` that says for how many
    spare motors (columns of W less rows) it holds, the rule is compiled into the control law, evaluated at every stage
    of a step, and exported to C.
    """

    @abstractmethod
    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """Solve once: τ with W τ = F for numbers; a force out of reach is a ControlError.

        Arguments:
            force_map: W, (rows, motors)
            force: F, one number per row
            limits: largest |τ| of each motor, N or N·m; infinite where nothing limits it
            rows: names of the rows, for messages
        """

    @property
    def name(self) -> str:
        """Its name, for messages."""
        return type(self).__name__

    @property
    def closed_form_spare(self) -> float:
        """The most spare motors for which `expression` holds; math.inf for any number of them."""
        return 0

    def expression(self, force_map: ca.SX, force: ca.SX, limits: Array) -> ca.SX:
        """τ as CasADi expressions of W and F, for at most `closed_form_spare` spare motors; with none it is W⁻¹ F."""
        return least_squares(force_map, force)

    def square_weights(self, motors: int) -> tuple[float, ...] | None:
        """The diagonal of D, one number per motor, if the rule is the least τᵀ D τ; arms then share limb by limb."""
        return None

    def label(self, size: tuple[int, int], limits: Array) -> str:
        """What tells compiled code with its closed form for a W of this size apart: a digest of the expression itself.

        Its `repr` would not do, as the code of a rule may be changed while its name and numbers stay.
        """
        W, F = ca.SX.sym("W", *size), ca.SX.sym("F", size[0])
        written = ca.Function("allocation", [W, F], [self.expression(W, F, limits)]).serialize()
        return hashlib.sha256(written.encode()).hexdigest()

    def solver(self, limits: Array, rows: Sequence[str]) -> Share:
        """A function of W and F that is called sample after sample, and may begin from its last answer.

        Where no efforts within its bounds do, it wants those that go beyond them least: motors give what they may.
        """
        low, high = self.bounds(limits)

        def allocated(force_map: Array, force: Array) -> Array:
            try:
                return self.allocate(force_map, force, limits, rows)
            except OutOfBoundsError:
                return least_beyond(*solutions(force_map, force, None, rows), low, high)

        return allocated

    def check(self, limits: Array) -> None:
        """Refuse numbers of the rule that do not fit motors with these limits."""

    def bounds(self, limits: Array) -> tuple[Array, Array]:
        """The lowest and the highest effort that it promises per motor with these limits, N or N·m."""
        return -limits, limits

    def unit_remedy(self, limits: Array) -> str:
        """What to do so that it may compare forces with torques; empty where it can as it is."""
        return "Let motors of one unit share"

    def weighted_by_limits(self, limits: Array) -> Allocation:
        """The rule that it stands for where forces and torques share and every motor has a limit; by default itself."""
        return self


class SumOfSquares(Allocation):
    """A rule that sums squares by its `weights`: where it has none, forces and torques cannot share as they are."""

    weights: tuple[float, ...] | None

    @abstractmethod
    def with_weights(self, weights: tuple[float, ...] | None) -> Allocation:
        """The same with other weights."""

    def unit_remedy(self, limits: Array) -> str:
        """Squares of forces and torques add up by their weights."""
        if self.weights is not None:
            return ""
        return "Give weights=, one number per motor" + ("" if np.isfinite(limits).all() else ", or every motor a limit")

    def weighted_by_limits(self, limits: Array) -> Allocation:
        """The same with weights 1/limit², if it has none and every motor has a limit."""
        return self if self.weights is not None else self.with_weights(limit_weights(limits))


def limit_weights(limits: Array) -> tuple[float, ...] | None:
    """Weights 1/limit², made such that the largest is 1: squares are then of parts of limits. None if one has none."""
    return tuple(((limits.min() / limits) ** 2).tolist()) if np.isfinite(limits).all() else None


def rule_for_units(rule: Allocation, motors: Sequence[str], units: Sequence[str], limits: Array) -> Allocation:
    """A rule that may compare these motors: with weights of limits where units differ and it has none of its own.

    Arguments:
        rule: how they share
        motors: their names
        units: N or N*m, one per motor; an empty text where it is not known
        limits: largest effort of each motor

    Raises: ControlError where forces and torques would be summed, which depends on the units of length chosen.
    """
    weighted = rule.weighted_by_limits(limits) if len(set(units)) > 1 else rule
    refuse_mixed_units(weighted, motors, units, limits)
    return weighted


def refuse_mixed_units(rule: Allocation, motors: Sequence[str], units: Sequence[str], limits: Array) -> None:
    """Refuse to sum forces and torques by a rule that has no weights for them."""
    first: dict[str, str] = {}
    for name, unit in zip(motors, units, strict=True):
        first.setdefault(unit, name)
    remedy = rule.unit_remedy(limits)
    if len(first) < 2 or not remedy:
        return
    listed = ", ".join(f"{name} in {unit or 'a unit that is not known'}" for unit, name in first.items())
    raise ControlError(f"{rule.name}: motors of different units cannot be summed: {listed}. {remedy}.")


def checked_rule(rule: object, what: str) -> Allocation:
    """The same rule, if it is one; `what` asks for it."""
    if is_a(rule, Allocation) and not isinstance(rule, type):
        return cast("Allocation", rule)
    raise ControlError(
        f"{what}: expected kb.LeastSquares(), MinMax(), Bounded() or a rule of your own with all members of "
        f"kalaba.control.allocation.Allocation, got {rule!r}."
    )
