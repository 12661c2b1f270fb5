"""Allocation: rules by which motors share a required force. One file per rule; `rule` says what a rule is."""

from kalaba.control.allocation.bounded import Bounded
from kalaba.control.allocation.least_squares import LeastSquares
from kalaba.control.allocation.min_max import MinMax
from kalaba.control.allocation.rule import (
    Allocation,
    OutOfBoundsError,
    Share,
    checked_rule,
    refuse_mixed_units,
    rule_for_units,
)

__all__ = [
    "Allocation",
    "Bounded",
    "LeastSquares",
    "MinMax",
    "OutOfBoundsError",
    "Share",
    "checked_rule",
    "refuse_mixed_units",
    "rule_for_units",
]
