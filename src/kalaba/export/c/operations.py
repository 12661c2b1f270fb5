"""How each operation is written in C99; the meaning is CasADi's own, for zero, NaN and infinity too."""

from __future__ import annotations

import math

from kalaba.native.operations import FUNCTIONS

_TEMPLATES = {
    "add": "{x} + {y}",
    "sub": "{x} - {y}",
    "mul": "{x} * {y}",
    "div": "{x} / {y}",
    "neg": "-{x}",
    "sq": "{x} * {x}",
    "twice": "2.0 * {x}",
    "inv": "1.0 / {x}",
    "sqrt": "sqrt({x})",
    "fabs": "fabs({x})",
    "floor": "floor({x})",
    "ceil": "ceil({x})",
    "copysign": "copysign({x}, {y})",
    "lt": "({x} < {y}) ? 1.0 : 0.0",
    "le": "({x} <= {y}) ? 1.0 : 0.0",
    "eq": "({x} == {y}) ? 1.0 : 0.0",
    "ne": "({x} != {y}) ? 1.0 : 0.0",
    "not": "({x} == 0.0) ? 1.0 : 0.0",
    "and": "({x} != 0.0 && {y} != 0.0) ? 1.0 : 0.0",
    "or": "({x} != 0.0 || {y} != 0.0) ? 1.0 : 0.0",
    "if_else_zero": "({x} == 0.0) ? 0.0 : {y}",
    "sign": "({x} < 0.0) ? -1.0 : (({x} > 0.0) ? 1.0 : {x})",
    # spelt out, since the library's own are calls; like those they pass over a NaN
    "fmin": "({y} < {x} || {x} != {x}) ? {y} : {x}",
    "fmax": "({y} > {x} || {x} != {x}) ? {y} : {x}",
}
_KINDS = {
    **dict.fromkeys(("add", "sub"), "additions"),
    **dict.fromkeys(("mul", "sq", "twice"), "multiplications"),
    **dict.fromkeys(("div", "inv"), "divisions"),
    "sqrt": "square roots",
    **dict.fromkeys(FUNCTIONS, "functions of math.h"),
}
OTHER = "comparisons and signs"
KINDS = ("additions", "multiplications", "divisions", "square roots", "functions of math.h", OTHER)
FLOPS = KINDS[:4]  # what is counted as a floating-point operation


def expression(op: str, args: list[str]) -> str:
    """An operation on operands that are names, elements or numbers in brackets."""
    if op in FUNCTIONS:
        return f"{op}({', '.join(args)})"
    x, y = (*args, "")[:2]
    return _TEMPLATES[op].format(x=x, y=y)


def kind(op: str) -> str:
    """What an operation is counted as."""
    return _KINDS.get(op, OTHER)


def number(value: float) -> str:
    """A double in C with all its digits, in brackets where it has a sign."""
    if math.isnan(value):
        return "NAN"
    text = "INFINITY" if math.isinf(value) else repr(abs(value))
    return f"(-{text})" if math.copysign(1.0, value) < 0 else text
