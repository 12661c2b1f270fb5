"""Reads a CasADi SX function into a Program: plain instructions that no longer need CasADi."""

from collections.abc import Iterator
from dataclasses import dataclass

import casadi

from kalaba.errors import NativeError
from kalaba.native.arrays import Segments
from kalaba.native.listing import Listing, ListingWriter
from kalaba.native.operations import SUPPORTED
from kalaba.space.instructions import instructions

PARAMETERS = "p"  # the input that is constant between calls

_SYNONYMS = {"constpow": "pow"}  # CasADi itself writes small integer powers as products


@dataclass(frozen=True, slots=True)
class Program:
    """What a function computes, with its arguments flattened into slots.

    Leaves are `input` (a slot of the inputs, concatenated without p), `parameter` (an entry of p) and `constant`.
    """

    name: str
    inputs: Segments
    outputs: Segments
    n_parameters: int
    listing: Listing


def read_program(function: casadi.Function) -> Program:
    """Turn a CasADi function into single-assignment form.

    CasADi's list works on numbered registers that are used again and again; here every value gets its own position.
    """
    _check(function)
    writer = ListingWriter()
    results = _read_instructions(function, writer)
    outputs = _segments(function.name_out(), function.numel_out)
    zero = writer.constant(0.0)  # entries outside an output's sparsity pattern
    size = sum(size for _, size in outputs)
    inputs = _segments(function.name_in(), function.numel_in)
    return Program(
        name=function.name(),
        inputs=tuple(segment for segment in inputs if segment[0] != PARAMETERS),
        outputs=outputs,
        n_parameters=dict(inputs).get(PARAMETERS, 0),
        listing=writer.listing(tuple(results.get(slot, zero) for slot in range(size))),
    )


def _check(function: casadi.Function) -> None:
    name = function.name()
    if not function.is_a("SXFunction"):
        raise NativeError(f"{name}: {function.class_name()} has no scalar instructions; pass function.expand()")
    if function.has_free():
        free = ", ".join(function.get_free())
        raise NativeError(f"{name}: the symbols {free} are not among its inputs {', '.join(function.name_in())}")
    for k, argument in enumerate(function.name_in()):
        if not function.sparsity_in(k).is_dense():
            raise NativeError(f"{name}: input {argument} is sparse; native code reads dense arrays, use densify")


def _segments(names: list[str], size: "casadi.Function") -> Segments:
    return tuple((name, int(size(k))) for k, name in enumerate(names))


def _read_instructions(function: casadi.Function, writer: ListingWriter) -> dict[int, int]:
    """Append all instructions to `writer`; give output slot → position."""
    input_leaves = tuple(_input_leaves(function))
    output_slots = tuple(_output_slots(function))
    positions: list[int] = []  # of every value of the function
    results: dict[int, int] = {}
    for word, operands, (argument, nonzero), constant in instructions(function):
        if word == "output":
            results[output_slots[argument][nonzero]] = positions[operands[0]]
        elif word == "input":
            leaf, first = input_leaves[argument]
            positions.append(writer.add(leaf, number=first + nonzero))
        elif word == "const":
            positions.append(writer.constant(constant))
        else:
            positions.append(writer.add(_operation(word, function), *[positions[value] for value in operands]))
    return results


def _input_leaves(function: casadi.Function) -> Iterator[tuple[str, int]]:
    """Give the kind of leaf and the first slot of every input."""
    first = 0
    for k, name in enumerate(function.name_in()):
        if name == PARAMETERS:
            yield "parameter", 0
        else:
            yield "input", first
            first += function.numel_in(k)


def _output_slots(function: casadi.Function) -> Iterator[list[int]]:
    """Give the slot of every nonzero of every output; outputs are stored dense, column by column."""
    first = 0
    for k in range(function.n_out()):
        yield [first + index for index in function.sparsity_out(k).find()]
        first += function.numel_out(k)


def _operation(word: str, function: casadi.Function) -> str:
    """The name of an operation in a listing; refuses what has no native code."""
    name = _SYNONYMS.get(word, word)
    if name not in SUPPORTED:
        remedy = "rewrite the expression or use backend=Interpreted()"
        raise NativeError(f"{function.name()}: the operation {word} has no native code; {remedy}")
    return name
