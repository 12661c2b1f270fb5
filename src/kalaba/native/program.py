"""First stage: a CasADi SX function is read into a Program, straight-line code that no longer needs CasADi.

A `Listing` is the form that all later stages work on: instructions in single-assignment form, equal ones merged, and
the values that they are to deliver.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import casadi

from kalaba.errors import NativeError
from kalaba.space.instructions import ARITY, instructions

Segments = tuple[tuple[str, int], ...]  # names and sizes of what stands one after the other in an array

PARAMETERS = "p"  # the input that is constant between calls
LEAVES = frozenset({"constant", "input", "parameter", "stored"})
_SYNONYMS = {"constpow": "pow"}  # CasADi itself writes small integer powers as products

SUPPORTED = frozenset(ARITY) - _SYNONYMS.keys()
"""The operations of a listing that was just read; contracting adds fused ones."""


class Instruction(NamedTuple):
    """One value: an operation on earlier values, or a leaf. A tuple, since thousands are made, compared and hashed.

    Operations carry CasADi's names in lower case. A leaf has no arguments; its `number` is the slot it reads, or
    for a constant the 64 bits of the double (so that 0.0, −0.0 and NaN are told apart by plain equality).
    """

    op: str
    args: tuple[int, ...] = ()  # positions of earlier instructions
    number: int = 0


class Arrays:
    """What has arrays of inputs and outputs, and how many slots they take."""

    __slots__ = ()

    inputs: Segments
    outputs: Segments

    @property
    def n_inputs(self) -> int:
        """Slots of the inputs."""
        return sum(size for _, size in self.inputs)

    @property
    def n_outputs(self) -> int:
        """Slots of the outputs."""
        return sum(size for _, size in self.outputs)


@dataclass(frozen=True, slots=True)
class Listing:
    """Instructions, each reading only earlier ones, and where the results stand among them."""

    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]  # results[slot] is the position of the instruction that gives it
    twins: tuple[tuple[int, int], ...] = ()  # positions of operations that may be done as one, see `twins.py`

    def count_operations(self) -> int:
        """Count the operations; leaves cost nothing or a load."""
        return sum(instruction.op not in LEAVES for instruction in self.instructions)


class ListingWriter:
    """Collects instructions and merges those that are equal."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.twins: list[tuple[int, int]] = []
        self._positions: dict[Instruction, int] = {}

    def add(self, op: str, *args: int, number: int = 0) -> int:
        """Give the position of this value, appending the instruction unless it stands there already."""
        instruction = Instruction(op, args, number)
        position = self._positions.setdefault(instruction, len(self.instructions))
        if position == len(self.instructions):
            self.instructions.append(instruction)
        return position

    def constant(self, value: float) -> int:
        """Give the position of a number."""
        return self.add("constant", number=bits_of(value))

    def listing(self, results: tuple[int, ...]) -> Listing:
        """Close the list, leaving out what no result needs."""
        return pruned(Listing(tuple(self.instructions), results, tuple(self.twins)))


def pruned(listing: Listing) -> Listing:
    """Remove the instructions that no result depends on."""
    needed = set(listing.results)
    for position in range(len(listing.instructions) - 1, -1, -1):
        if position in needed:
            needed.update(listing.instructions[position].args)
    if len(needed) == len(listing.instructions):
        return listing
    remaining = sorted(needed)
    moved = {old: new for new, old in enumerate(remaining)}
    return Listing(
        tuple(_renumbered(listing.instructions[position], moved) for position in remaining),
        tuple(moved[position] for position in listing.results),
        tuple((moved[first], moved[second]) for first, second in listing.twins if {first, second} <= needed),
    )


def bits_of(value: float) -> int:
    """Give the 64 bits of a double as an integer."""
    bits: int = struct.unpack("<Q", struct.pack("<d", value))[0]
    return bits


def value_of(bits: int) -> float:
    """Give the double that has these 64 bits."""
    value: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return value


def _renumbered(instruction: Instruction, moved: dict[int, int]) -> Instruction:
    return Instruction(instruction.op, tuple(moved[arg] for arg in instruction.args), instruction.number)


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
