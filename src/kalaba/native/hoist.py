"""Takes what depends on the parameters only out of a listing, to be computed once instead of at every call."""

from dataclasses import dataclass

from kalaba.native.listing import Listing, ListingWriter


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
    `prepare`, and so does a parameter itself; of these only the values that `main` reads are kept as constants.
    """
    prepare, main = ListingWriter(), ListingWriter()
    fixed: dict[int, int] = {}  # position in the listing → position in prepare
    moving: dict[int, int] = {}  # position in the listing → position in main
    slots: dict[int, int] = {}  # position in the listing → constant

    def in_main(position: int) -> int:
        if position not in moving:
            moving[position] = main.add("stored", number=slots.setdefault(position, len(slots)))
        return moving[position]

    for position, instruction in enumerate(listing.instructions):
        op, args, number = instruction.op, instruction.args, instruction.number
        if op == "constant":
            fixed[position], moving[position] = prepare.add(op, number=number), main.add(op, number=number)
        elif op == "parameter":
            fixed[position] = prepare.add("input", number=number)
        elif op != "input" and all(arg in fixed for arg in args):
            fixed[position] = prepare.add(op, *(fixed[arg] for arg in args))
        else:
            moving[position] = main.add(op, *map(in_main, args), number=number)
    results = tuple(map(in_main, listing.results))
    return Hoisted(prepare.listing(tuple(fixed[position] for position in slots)), main.listing(results))
