"""Straight-line code: instructions in single-assignment form and the values they are to deliver."""

import struct
from dataclasses import dataclass
from typing import NamedTuple

LEAVES = frozenset({"constant", "input", "parameter", "stored"})


class Instruction(NamedTuple):
    """One value: an operation on earlier values, or a leaf. A tuple, since thousands are made, compared and hashed.

    Operations carry CasADi's names in lower case. A leaf has no arguments; its `number` is the slot it reads, or
    for a constant the 64 bits of the double (so that 0.0, −0.0 and NaN are told apart by plain equality).
    """

    op: str
    args: tuple[int, ...] = ()  # positions of earlier instructions
    number: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """Instructions, each reading only earlier ones, and where the results stand among them."""

    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]  # results[slot] is the position of the instruction that gives it

    def count_operations(self) -> int:
        """Count the operations; leaves cost nothing or a load."""
        return sum(instruction.op not in LEAVES for instruction in self.instructions)


class ListingWriter:
    """Collects instructions and merges those that are equal."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
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
        return pruned(Listing(tuple(self.instructions), results))


def pruned(listing: Listing) -> Listing:
    """Remove the instructions that no result depends on."""
    needed = set(listing.results)
    for position in range(len(listing.instructions) - 1, -1, -1):
        if position in needed:
            needed.update(listing.instructions[position].args)
    if len(needed) == len(listing.instructions):
        return listing
    kept = sorted(needed)
    moved = {old: new for new, old in enumerate(kept)}
    return Listing(
        tuple(_renumbered(listing.instructions[position], moved) for position in kept),
        tuple(moved[position] for position in listing.results),
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
