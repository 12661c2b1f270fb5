"""Cuts a long listing into pieces, since a compiler's time grows faster than the length of a function."""

from collections import defaultdict
from dataclasses import dataclass

from kalaba.native.listing import LEAVES, Instruction, Listing

LONGEST_PIECE = 4000  # instructions


@dataclass(frozen=True, slots=True)
class Write:
    """A value that a piece writes into one of its arrays."""

    array: str  # "outputs" or "store"
    slot: int
    position: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Code for one machine function: what it computes and what it writes."""

    instructions: tuple[Instruction, ...]
    writes: tuple[Write, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """Pieces to be run in this order, and the number of slots in which they hand values over."""

    pieces: tuple[Piece, ...]
    n_work: int


def cut(listing: Listing, first_slot: int, longest: int = LONGEST_PIECE) -> Cut:
    """Divide a listing into pieces of at most `longest` instructions.

    A value used in a later piece than its own is handed over in the store, at `first_slot` or beyond. Leaves are
    simply read again.
    """
    ranges = _even_ranges(len(listing.instructions), longest)
    slots, n_work = _work_slots(listing, ranges)
    slots = {position: first_slot + slot for position, slot in slots.items()}
    results: dict[int, list[int]] = defaultdict(list)
    for slot, position in enumerate(listing.results):
        results[position].append(slot)
    return Cut(tuple(_piece(listing, positions, slots, results) for positions in ranges), n_work)


def _even_ranges(count: int, longest: int) -> list[range]:
    """Divide a count into as few ranges as will do, all of nearly the same length."""
    number = -(-count // longest)
    return [range(count * k // number, count * (k + 1) // number) for k in range(number)]


def _work_slots(listing: Listing, ranges: list[range]) -> tuple[dict[int, int], int]:
    """Give a slot to every value that crosses a cut, and the number of slots used.

    A slot is free again in the piece after the one that reads it last.
    """
    last_use: dict[int, int] = {}
    for number, positions in enumerate(ranges):
        for position in positions:
            last_use.update(dict.fromkeys(listing.instructions[position].args, number))
    slots: dict[int, int] = {}
    free: list[int] = []
    read_last_in: dict[int, list[int]] = defaultdict(list)
    size = 0
    for number, positions in enumerate(ranges):
        free += read_last_in[number - 1]
        for position in positions:
            if last_use.get(position, number) == number or listing.instructions[position].op in LEAVES:
                continue
            if not free:
                free.append(size)
                size += 1
            slots[position] = free.pop()
            read_last_in[last_use[position]].append(slots[position])
    return slots, size


def _piece(listing: Listing, positions: range, slots: dict[int, int], results: dict[int, list[int]]) -> Piece:
    """Copy a range of instructions, reading from the store what earlier pieces have left there."""
    instructions: list[Instruction] = []
    local: dict[int, int] = {}

    def here(position: int) -> int:
        if position not in local:
            original = listing.instructions[position]
            leaf = original if original.op in LEAVES else Instruction("stored", number=slots[position])
            local[position] = append(leaf)
        return local[position]

    def append(instruction: Instruction) -> int:
        instructions.append(instruction)
        return len(instructions) - 1

    writes = []
    for position in positions:
        original = listing.instructions[position]
        if original.op not in LEAVES:
            local[position] = append(Instruction(original.op, tuple(map(here, original.args))))
            if position in slots:
                writes.append(Write("store", slots[position], local[position]))
        writes += [Write("outputs", slot, here(position)) for slot in results.get(position, ())]
    return Piece(tuple(instructions), tuple(writes))
