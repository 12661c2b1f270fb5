"""Second stage: what is done to a listing before it is written, in this order.

share_reciprocals   divide once by a divisor that several quotients share
with_twins          let signs travel with values, and put together what parts that are alike do (in `twins.py`)
hoist               take out what depends on the parameters only, to be computed once instead of at every call
contract            write products and sums as fused multiply-adds, the same ones whatever the number of lanes
cut                 divide a long listing into pieces, since a compiler's time grows faster than a function's length
"""

from collections import Counter, defaultdict
from dataclasses import dataclass

from kalaba.native.program import LEAVES, Instruction, Listing, ListingWriter

LONGEST_PIECE = 4000  # instructions
_PRODUCTS = frozenset({"mul", "sq"})


def share_reciprocals(listing: Listing) -> Listing:
    """Divide once by a divisor that several quotients share: x/d and y/d become x·(1/d) and y·(1/d).

    CasADi writes x·(1/d) as x/d again, so the eliminations, which divide once per pivot, arrive here with a division
    for every entry of a row: 107 in place of 17 on a machine of 12 rows, a fifth of the time of 8 lanes. The last bit
    of a quotient may differ.
    """
    uses = Counter(instruction.args[1] for instruction in listing.instructions if instruction.op == "div")
    writer = ListingWriter()
    moved: list[int] = []
    for instruction in listing.instructions:
        args = [moved[arg] for arg in instruction.args]
        if instruction.op == "div" and uses[instruction.args[1]] > 1:
            moved.append(writer.add("mul", args[0], writer.add("inv", args[1])))
        else:
            moved.append(writer.add(instruction.op, *args, number=instruction.number))
    return writer.listing(tuple(moved[position] for position in listing.results))


@dataclass(frozen=True, slots=True)
class Hoisted:
    """One listing in two: `prepare` gives the constants that `main` reads through its `stored` leaves.

    Result k of `prepare` is stored leaf k of `main`. The `input` leaves of `prepare` are the parameters.
    """

    prepare: Listing
    main: Listing


def hoist(listing: Listing) -> Hoisted:
    """Split a listing into what varies with the inputs and what does not.

    Numbers stay where they are used. Everything else that depends on parameters and numbers only moves to
    `prepare`, and so does a parameter itself; of these only the values that `main` reads are stored as constants.
    """
    prepare, main = ListingWriter(), ListingWriter()
    fixed: dict[int, int] = {}  # position in the listing → position in prepare
    moving: dict[int, int] = {}  # position in the listing → position in main
    slots: dict[int, int] = {}  # position in the listing → constant

    def in_main(position: int) -> int:
        if position not in moving:
            moving[position] = main.add("stored", number=slots.setdefault(position, len(slots)))
        return moving[position]

    twin_of = dict(listing.twins)
    for position, instruction in enumerate(listing.instructions):
        op, args, number = instruction.op, instruction.args, instruction.number
        if op == "constant":
            fixed[position], moving[position] = prepare.add(op, number=number), main.add(op, number=number)
        elif op == "parameter":
            fixed[position] = prepare.add("input", number=number)
        elif op != "input" and all(arg in fixed for arg in args):
            fixed[position] = prepare.add(op, *(fixed[arg] for arg in args))
        else:
            if position in twin_of:  # the constants that twins read stand side by side
                for both in zip(args, listing.instructions[twin_of[position]].args, strict=True):
                    if all(arg in fixed and arg not in moving for arg in both):
                        tuple(map(in_main, both))
            moving[position] = main.add(op, *map(in_main, args), number=number)
    main.twins += [(moving[a], moving[b]) for a, b in listing.twins if a not in fixed and b not in fixed]
    results = tuple(map(in_main, listing.results))
    return Hoisted(prepare.listing(tuple(fixed[position] for position in slots)), main.listing(results))


def contract(listing: Listing) -> Listing:
    """Write a·b + c, a·b − c and c − a·b as one operation with one rounding.

    A product is taken in only if that sum is its one use, so no product is computed twice. In a sum of two products
    the second is taken in. Left to the compiler the choice could differ between scalar and vector code, and with it
    the last bit of a result.
    """
    uses = Counter(arg for instruction in listing.instructions for arg in instruction.args)
    uses.update(listing.results)
    writer = ListingWriter()
    moved: list[int] = []
    twin_of = dict(listing.twins) | {second: first for first, second in listing.twins}
    for position, instruction in enumerate(listing.instructions):
        twin = twin_of.get(position, position)
        fused = _fused(instruction, listing.instructions[twin], listing.instructions, uses)
        moved.append(writer.add(fused.op, *(moved[arg] for arg in fused.args), number=fused.number))
    places = [(moved[first], moved[second]) for first, second in listing.twins]
    writer.twins += [(first, second) for first, second in places if first < second]
    return writer.listing(tuple(moved[position] for position in listing.results))


def _fused(
    instruction: Instruction, twin: Instruction, instructions: tuple[Instruction, ...], uses: Counter[int]
) -> Instruction:
    """A sum with the product that it takes in, if any; twins take in the same one or none."""
    if instruction.op not in {"add", "sub"}:
        return instruction
    for product, op in (
        (1, "fma" if instruction.op == "add" else "fnma"),
        (0, "fma" if instruction.op == "add" else "fms"),
    ):
        places = (instruction.args[product], twin.args[product])
        if all(instructions[place].op in _PRODUCTS and uses[place] == 1 for place in places):
            factors = instructions[places[0]].args
            return Instruction(op, (factors[0], factors[-1], instruction.args[1 - product]))
    return instruction


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
    twins: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """Pieces to be run in this order, and the number of slots in which they hand values over."""

    pieces: tuple[Piece, ...]
    n_work: int


def cut(listing: Listing, first_slot: int, longest: int = LONGEST_PIECE) -> Cut:
    """Divide a listing into pieces of at most `longest` instructions, since compiling takes more than linear time.

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
    twins = [(local[a], local[b]) for a, b in listing.twins if a in positions and b in positions]
    return Piece(tuple(instructions), tuple(writes), tuple(twins))
