"""The functions of the grammar on CasADi expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca


def _fold(function: Callable[[Any, Any], Any], values: tuple[Any, ...]) -> Any:
    result = values[0]
    for value in values[1:]:
        result = function(result, value)
    return result


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(ca, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2")},
    **{name: getattr(ca, name) for name in ("sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign")},
    "abs": ca.fabs,
    "min": lambda *values: _fold(ca.fmin, values),
    "max": lambda *values: _fold(ca.fmax, values),
}
