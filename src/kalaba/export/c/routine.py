"""C functions of straight-line code from CasADi functions: one constant per value, long lists in several functions.

CasADi's own generator writes code of the same speed and size, but not without warnings, and all in one function, whose
compiling takes twice as long. What an operation means in C99 is CasADi's own, for zero, NaN and infinity too.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain

import casadi as ca

from kalaba.native.operations import FUNCTIONS
from kalaba.native.passes import Cut, Piece, cut, share_reciprocals
from kalaba.native.program import LEAVES, PARAMETERS, Instruction, Program, read_program, value_of

LONGEST_PIECE = 500  # instructions in one C function
WORK = "work"
DOUBLE = 8  # bytes

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


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call takes."""

    counts: tuple[int, ...]  # operations of each of KINDS
    work: int = 0  # numbers handed from piece to piece, on the stack
    locals: int = 0  # most values of one piece: an upper bound of what a compiler keeps on the stack

    def __add__(self, other: Cost) -> Cost:
        """Both, one after the other."""
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        bigger = max(self, other, key=lambda cost: cost.work + cost.locals)
        return Cost(counts, bigger.work, bigger.locals)

    def __mul__(self, times: int) -> Cost:
        """So many calls."""
        return Cost(tuple(times * count for count in self.counts), self.work, self.locals)

    @property
    def flops(self) -> int:
        """Additions, multiplications, divisions and square roots."""
        return sum(count for count, name in zip(self.counts, KINDS, strict=True) if name in FLOPS)

    @property
    def stack(self) -> int:
        """Bytes of the stack, at most."""
        return DOUBLE * (self.work + self.locals)

    @property
    def text(self) -> str:
        """For people."""
        parts = [f"{count} {name}" for count, name in zip(self.counts, KINDS, strict=True) if count]
        return ", ".join(parts) or "nothing"


@dataclass(frozen=True, slots=True)
class Routine:
    """A C function `static void name(inputs, outputs)` of arrays."""

    name: str
    arguments: tuple[str, ...]  # names of its arrays, those without entries left out
    text: str
    cost: Cost

    def call(self, **arrays: str) -> str:
        """A call with an array for each argument, by default of the argument's own name."""
        return f"{self.name}({', '.join(arrays.get(argument, argument) for argument in self.arguments)});"


def routine(name: str, function: ca.Function, longest: int = LONGEST_PIECE) -> Routine:
    """Write a CasADi function in C. Its arrays must not overlap."""
    program = read_program(function)
    listing = share_reciprocals(program.listing)
    pieces = cut(listing, 0, longest)
    inputs = [entry for entry in function.name_in() if function.numel_in(entry)]
    outputs = [entry for entry in function.name_out() if function.numel_out(entry)]
    places = _Places(program)
    counts = Counter(kind(i.op) for i in listing.instructions if i.op not in LEAVES)
    most = max((sum(i.op not in LEAVES for i in piece.instructions) for piece in pieces.pieces), default=0)
    cost = Cost(tuple(counts[name] for name in KINDS), pieces.n_work, most)
    arrays = [*(f"const double *restrict {n}" for n in inputs), *(f"double *restrict {n}" for n in outputs)]
    text = "\n".join(_functions(name, arrays, [*inputs, *outputs], pieces, places))
    return Routine(name, (*inputs, *outputs), text, cost)


class _Places:
    """Where the slots of a program stand in its arrays."""

    def __init__(self, program: Program) -> None:
        self.inputs = [f"{name}[{i}]" for name, size in program.inputs for i in range(size)]
        self.outputs = [f"{name}[{i}]" for name, size in program.outputs for i in range(size)]

    def leaf(self, instruction: Instruction) -> str:
        """How a leaf is read."""
        if instruction.op == "constant":
            return number(value_of(instruction.number))
        if instruction.op == "input":
            return self.inputs[instruction.number]
        return f"{PARAMETERS if instruction.op == 'parameter' else WORK}[{instruction.number}]"

    def target(self, array: str, slot: int) -> str:
        """Where a result is written."""
        return self.outputs[slot] if array == "outputs" else f"{WORK}[{slot}]"


def _functions(name: str, arrays: list[str], names: list[str], pieces: Cut, places: _Places) -> list[str]:
    """One function, or several and one that calls them."""
    if len(pieces.pieces) == 1:
        return [_head(name, arrays), *_body(pieces.pieces[0], names, places), ""]
    shared, handed = ([f"double *restrict {WORK}"], [WORK]) if pieces.n_work else ([], [])
    parts = [
        (_head(f"{name}_{k}", arrays + shared), *_body(piece, names + handed, places), "")
        for k, piece in enumerate(pieces.pieces, 1)
    ]
    calls = [f"    {name}_{k}({', '.join(names + handed)});" for k in range(1, len(parts) + 1)]
    work = [f"    double {WORK}[{pieces.n_work}];"] if pieces.n_work else []
    return [*chain(*parts), _head(name, arrays), "{", *work, *calls, "}", ""]


def _head(name: str, arguments: list[str]) -> str:
    return f"static void {name}(\n    {', '.join(arguments)})"


def _body(piece: Piece, names: list[str], places: _Places) -> list[str]:
    """The lines of one piece; every value is written where it is needed as soon as it is there."""
    writes = defaultdict(list)
    for write in piece.writes:
        writes[write.position].append(places.target(write.array, write.slot))
    values: list[str] = []
    lines: list[str] = []
    touched: set[str] = set()
    for position, instruction in enumerate(piece.instructions):
        if instruction.op in LEAVES:
            values.append(places.leaf(instruction))
            touched.add(values[-1].partition("[")[0])
        else:
            values.append(f"a{position}")
            value = expression(instruction.op, [values[arg] for arg in instruction.args])
            lines.append(f"    const double a{position} = {value};")
        lines += [f"    {target} = {values[position]};" for target in writes[position]]
        touched.update(target.partition("[")[0] for target in writes[position])
    unused = [f"    (void){name};" for name in names if name not in touched]
    return ["{", *unused, *lines, "}"]


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
